"""Run the cases of a family in TensorFlow and record the shapes: `python -m tests.differential.tf.record FAMILY...`."""

from __future__ import annotations

import inspect
import json
import os
import sys
from pathlib import Path

RECORDED = Path(__file__).parent / "recorded"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # oneDNN's kernels return the input for empty results

RENAMED = {
    "dim": "axis",
    "squeeze_dims": "axis",
    "split_dim": "axis",
    "concat_dim": "axis",
    "reduction_indices": "axis",
    "input": "condition",
    "t": "x",
    "e": "y",
}
"""Arguments whose name in Python functions differs from the one in the OpDef."""


def run(case):
    """[element type, sizes] of each output of TensorFlow's kernel."""
    return [[tensor.dtype.name, list(tensor.shape)] for tensor in outputs(case)]


def outputs(case):
    """The outputs of TensorFlow's kernel."""
    import tensorflow

    from opdefs.tf import tf
    from tests.differential.tf.cases_web import FUNCTIONS

    op_def = tf.lookup("", case.op, 0)
    names = [arg.name for arg in op_def.inputs]
    constants = [
        [tensorflow.constant(item) for item in argument]
        if isinstance(argument, list)
        else tensorflow.constant(argument)
        for argument in case.arguments()
    ]
    attributes = {name: _attribute(op_def.attributes[name].type, value) for name, value in case.attributes.items()}
    function = FUNCTIONS.get(case.op) or getattr(tensorflow.raw_ops, case.op)
    accepted = inspect.signature(function).parameters
    arguments = dict(zip(names, constants, strict=True)) | attributes
    result = function(**{name if name in accepted else RENAMED[name]: value for name, value in arguments.items()})
    return tensorflow.nest.flatten(result)


def _attribute(kind, value):
    import tensorflow

    if kind == "type":
        return tensorflow.as_dtype(value)
    return [tensorflow.as_dtype(item) for item in value] if kind == "list(type)" else value


def main(families):
    from tests.differential.tf.families import FAMILIES

    for family in families or FAMILIES:
        records = {}
        for case in FAMILIES[family]:
            try:
                records[str(case)] = run(case)
            except Exception as error:
                sys.exit(f"{case}: {type(error).__name__}: {str(error)[:300]}")
        lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(record)}" for name, record in sorted(records.items()))
        (RECORDED / f"{family}.json").write_text("{\n" + lines + "\n}\n", encoding="utf8")
        print(family, len(records))


if __name__ == "__main__":
    main(sys.argv[1:])
