"""Record what TensorFlow's own profiler counts of single operators.

`python -m tests.cost.record_tf` needs TensorFlow; the tests only read `tf_flops.json`.
"""

from __future__ import annotations

import json
from pathlib import Path

RECORDED = Path(__file__).parent / "tf_flops.json"

CALLS = {
    # raw operator: shapes of its inputs, attributes
    "MatMul": [
        ({"a": [4, 6], "b": [6, 5]}, {}),
        ({"a": [6, 4], "b": [5, 6]}, {"transpose_a": True, "transpose_b": True}),
    ],
    "BatchMatMulV2": [({"x": [3, 4, 6], "y": [3, 6, 5]}, {})],
    "Conv2D": [
        ({"input": [2, 9, 8, 3], "filter": [3, 3, 3, 4]}, {"strides": [1, 2, 2, 1], "padding": "SAME"}),
        ({"input": [2, 9, 8, 6], "filter": [3, 2, 3, 4]}, {"strides": [1, 1, 1, 1], "padding": "VALID"}),
    ],
    "Conv3D": [({"input": [2, 5, 9, 8, 3], "filter": [2, 3, 3, 3, 4]}, {"strides": [1] * 5, "padding": "SAME"})],
    "DepthwiseConv2dNative": [
        ({"input": [2, 9, 8, 3], "filter": [3, 3, 3, 2]}, {"strides": [1, 1, 1, 1], "padding": "VALID"})
    ],
    "BiasAdd": [({"value": [2, 5, 4], "bias": [4]}, {})],
    "MaxPool": [
        ({"input": [2, 9, 8, 3]}, {"ksize": [1, 3, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}),
    ],
    "AvgPool": [
        ({"value": [2, 9, 8, 3]}, {"ksize": [1, 3, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}),
    ],
    "Softmax": [({"logits": [3, 7]}, {})],
    "L2Loss": [({"t": [3, 7]}, {})],
    "AddN": [({"inputs": [[3, 7], [3, 7], [3, 7]]}, {})],
    **{name: [({"x": [3, 7], "y": [7]}, {})] for name in ("Add", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow")},
    **{name: [({"x": [3, 7], "y": [7]}, {})] for name in ("Greater", "SquaredDifference", "Equal")},
    **{name: [({"x": [3, 7]}, {})] for name in ("Neg", "Reciprocal", "Square", "Rsqrt", "Log")},
    "Relu": [({"features": [3, 7]}, {})],
}


def count(name, inputs, attributes):
    """The graph of a call as text, and the profiler's floating-point operations."""
    import tensorflow as tf
    from google.protobuf import text_format

    graph = tf.Graph()
    with graph.as_default():

        def placeholder(shape, name):
            return tf.compat.v1.placeholder(tf.float32, shape, name)

        values = {
            key: [placeholder(s, f"{key}_{i}") for i, s in enumerate(shape)]
            if shape and isinstance(shape[0], list)
            else placeholder(shape, key)
            for key, shape in inputs.items()
        }
        getattr(tf.raw_ops, name)(**values, **attributes, name="call")
        options = tf.compat.v1.profiler.ProfileOptionBuilder.float_operation()
        options["output"] = "none"
        flops = tf.compat.v1.profiler.profile(graph, options=options).total_float_ops
    return {"graph": text_format.MessageToString(graph.as_graph_def(), as_one_line=True), "flops": flops}


def main():
    recorded = {
        name: [count(name, inputs, attributes) for inputs, attributes in calls] for name, calls in CALLS.items()
    }
    RECORDED.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print({name: [call["flops"] for call in calls] for name, calls in recorded.items()})


if __name__ == "__main__":
    main()
