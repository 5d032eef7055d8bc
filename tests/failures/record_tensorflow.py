"""The messages of TensorFlow for small graphs of which only one node can fail; it has the name `target`.

This module needs TensorFlow: `tools/make_runtime_messages.py` imports it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf  # type: ignore[import-not-found,import-untyped,unused-ignore]

GRID = (1, 2, 3, 4, 5, 6, 8, 9)
v1 = tf.compat.v1

Inputs = Mapping[str, Sequence[int | str]]


class Case(NamedTuple):
    """A graph of placeholders `inputs`, whose dims are numbers or names, and sizes of these names."""

    name: str
    inputs: Inputs
    build: Callable[..., Any]
    legal: Mapping[str, int]
    illegal: Sequence[Mapping[str, int]]
    values: Mapping[str, Any] = {}
    data: bool = False


def _ones(*shape: int) -> Any:
    return tf.ones(shape)


def _scan(x: Any, z: Any) -> Any:
    return tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, tf.tanh(tf.add(a, z, name="target"))), [tf.constant(0), x]
    )[1]


def _branch(x: Any, w: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > -1.0, lambda: tf.tanh(tf.matmul(x, w, name="target")), lambda: x[:, :1] * w[:1])


T = "target"
CASES = [
    Case(
        "matmul",
        {"x": ["n", "k"]},
        lambda x: tf.matmul(tf.nn.relu(x), _ones(4, 5), name=T),
        {"n": 2, "k": 4},
        [{"k": 3}, {"k": 7}],
    ),
    Case(
        "batch_matmul",
        {"x": ["b", "n", "k"], "y": ["b", "m", 5]},
        lambda x, y: tf.matmul(x, y, name=T),
        {"b": 2, "n": 3, "k": 4, "m": 4},
        [{"k": 3}, {"m": 6}],
    ),
    Case(
        "batch_matmul_batch",
        {"x": ["b", 3, 4], "y": ["c", 4, 5]},
        lambda x, y: tf.matmul(x, y, name=T),
        {"b": 2, "c": 2},
        [{"b": 3}, {"c": 5}],
    ),
    Case(
        "dense",
        {"x": ["n", "k"]},
        lambda x: tf.nn.relu(tf.nn.bias_add(tf.matmul(x, _ones(6, 5), name=T), _ones(5))),
        {"n": 2, "k": 6},
        [{"k": 5}, {"k": 2}],
    ),
    Case(
        "bias",
        {"x": ["n", "c"], "b": ["d"]},
        lambda x, b: tf.nn.relu(tf.nn.bias_add(x, b, name=T)),
        {"n": 2, "c": 3, "d": 3},
        [{"d": 2}, {"c": 5}],
    ),
    Case(
        "add",
        {"x": ["n", 4], "y": ["m", 4]},
        lambda x, y: tf.exp(tf.add(tf.exp(x), y, name=T)),
        {"n": 3, "m": 3},
        [{"m": 2}, {"n": 5}, {"n": 7}],
    ),
    Case(
        "mul",
        {"x": ["n", "c"]},
        lambda x: tf.multiply(tf.abs(x), _ones(3), name=T),
        {"n": 2, "c": 3},
        [{"c": 2}, {"c": 4}],
    ),
    Case(
        "sub",
        {"x": ["b", "s", 8], "y": ["b", "t", 8]},
        lambda x, y: tf.subtract(tf.abs(x), y, name=T),
        {"b": 2, "s": 5, "t": 5},
        [{"t": 3}, {"s": 4}],
    ),
    Case(
        "div",
        {"x": ["b", "h", "s", "t"], "m": ["b", 1, 1, "u"]},
        lambda x, m: tf.divide(x, m, name=T),
        {"b": 1, "h": 2, "s": 3, "t": 4, "u": 4},
        [{"u": 3}, {"t": 5}],
    ),
    Case(
        "maximum",
        {"x": ["n"], "y": ["m"]},
        lambda x, y: tf.maximum(x, y, name=T),
        {"n": 3, "m": 3},
        [{"m": 2}, {"n": 4}],
    ),
    Case(
        "less",
        {"x": ["n", "c"], "y": ["n", "d"]},
        lambda x, y: tf.less(x, y, name=T),
        {"n": 3, "c": 4, "d": 4},
        [{"d": 3}, {"c": 2}],
    ),
    Case(
        "squared_difference",
        {"x": ["n", "c"], "y": ["n", "d"]},
        lambda x, y: tf.math.squared_difference(x, y, name=T),
        {"n": 3, "c": 4, "d": 4},
        [{"d": 3}, {"c": 2}],
    ),
    Case(
        "add_n",
        {"x": ["n", 3], "y": ["m", 3]},
        lambda x, y: tf.add_n([tf.abs(x), y], name=T),
        {"n": 3, "m": 3},
        [{"m": 2}, {"n": 4}],
    ),
    Case(
        "where",
        {"x": ["n", "k"], "y": ["n", "m"]},
        lambda x, y: tf.where(tf.greater(x, 0.0), y, 0.0, name=T),
        {"n": 2, "k": 3, "m": 3},
        [{"m": 4}, {"k": 2}],
    ),
    Case(
        "concat",
        {"x": ["a", "c"], "y": ["b", "d"]},
        lambda x, y: tf.concat([tf.abs(x), y], 0, name=T),
        {"a": 2, "b": 3, "c": 4, "d": 4},
        [{"c": 3}, {"d": 6}],
    ),
    Case(
        "concat_channels",
        {"x": ["b", "h", 4, 3], "y": ["b", "g", 4, 5]},
        lambda x, y: tf.concat([x, y], 3, name=T),
        {"b": 1, "h": 4, "g": 4},
        [{"h": 5}, {"g": 3}],
    ),
    Case(
        "stack",
        {"x": ["n"], "y": ["m"]},
        lambda x, y: tf.stack([tf.abs(x), y], name=T),
        {"n": 3, "m": 3},
        [{"m": 2}, {"n": 4}],
    ),
    Case(
        "conv",
        {"x": ["n", "h", "w", "c"]},
        lambda x: tf.nn.conv2d(tf.abs(x), _ones(3, 3, 3, 6), 1, "SAME", name=T),
        {"n": 1, "h": 5, "w": 5, "c": 3},
        [{"c": 4}, {"c": 2}],
    ),
    Case(
        "conv_window",
        {"x": ["n", "h", "w", 3]},
        lambda x: tf.nn.conv2d(tf.abs(x), _ones(3, 3, 3, 6), 1, "VALID", name=T),
        {"n": 1, "h": 5, "w": 5},
        [{"h": 1}, {"w": 2}],
    ),
    Case(
        "conv_depthwise",
        {"x": ["n", "h", "w", "c"]},
        lambda x: tf.nn.depthwise_conv2d(x, _ones(3, 3, 3, 1), [1, 1, 1, 1], "SAME", name=T),
        {"n": 1, "h": 5, "w": 5, "c": 3},
        [{"c": 4}, {"c": 2}],
    ),
    Case(
        "conv3d",
        {"x": ["n", "d", 4, 4, "c"]},
        lambda x: tf.nn.conv3d(x, _ones(2, 2, 2, 3, 4), [1] * 5, "SAME", name=T),
        {"n": 1, "d": 3, "c": 3},
        [{"c": 2}, {"c": 4}],
    ),
    Case(
        "pool",
        {"x": ["n", "h", "w", 3]},
        lambda x: tf.nn.max_pool2d(tf.abs(x), 3, 1, "VALID", name=T),
        {"n": 1, "h": 5, "w": 5},
        [{"h": 1}, {"w": 1}],
    ),
    Case(
        "batch_norm",
        {"x": ["n", 3, 3, "c"]},
        lambda x: v1.nn.fused_batch_norm(x, _ones(4), _ones(4), _ones(4), _ones(4), is_training=False, name=T)[0],
        {"n": 1, "c": 4},
        [{"c": 3}, {"c": 5}],
    ),
    Case(
        "reshape",
        {"x": ["n", "c"]},
        lambda x: tf.reshape(tf.abs(x), [-1, 6], name=T),
        {"n": 3, "c": 4},
        [{"c": 5}, {"n": 1}],
    ),
    Case(
        "reshape_exact",
        {"x": ["n", "s"]},
        lambda x: tf.reshape(tf.abs(x), [2, 12], name=T),
        {"n": 4, "s": 6},
        [{"s": 5}, {"n": 3}],
    ),
    Case(
        "reshape_of_shape",
        {"x": ["n", "s"], "y": ["m", "t"]},
        lambda x, y: tf.reshape(x, tf.shape(y), name=T),
        {"n": 4, "s": 6, "m": 3, "t": 8},
        [{"m": 2}, {"s": 5}],
    ),
    Case(
        "reshape_heads",
        {"x": ["b", "s", "h"]},
        lambda x: tf.reshape(x, tf.stack([tf.shape(x)[0], tf.shape(x)[1], 4, -1]), name=T),
        {"b": 2, "s": 3, "h": 8},
        [{"h": 6}, {"h": 9}],
    ),
    Case(
        "gather",
        {"x": ["n", "s"]},
        lambda x: tf.gather(tf.abs(x), [5], axis=1, name=T),
        {"n": 2, "s": 7},
        [{"s": 5}, {"s": 2}],
    ),
    Case(
        "gather_positions",
        {"x": ["n", "s"]},
        lambda x: tf.gather(_ones(8, 4), tf.range(tf.shape(x)[1]), name=T),
        {"n": 2, "s": 5},
        [{"s": 9}],
    ),
    Case(
        "gather_value",
        {"x": ["n", 4], "i": ["k"]},
        lambda x, i: tf.gather(x, tf.cast(i, tf.int32), name=T),
        {"n": 2, "k": 2},
        [{"k": 3}],
        {"i": 7},
        True,
    ),
    Case(
        "gather_nd",
        {"x": ["n", "s"], "i": ["m", "r"]},
        lambda x, i: tf.gather_nd(x, tf.cast(i, tf.int32) * 0, name=T),
        {"n": 3, "s": 4, "m": 3, "r": 2},
        [{"r": 3}, {"r": 5}],
    ),
    Case(
        "scatter_nd",
        {"u": ["m", "t"]},
        lambda u: tf.scatter_nd([[0], [1]], u, [5, 4], name=T),
        {"m": 2, "t": 4},
        [{"m": 3}, {"t": 3}],
    ),
    Case(
        "segment_sum",
        {"x": ["n", 3], "i": ["m"]},
        lambda x, i: tf.math.unsorted_segment_sum(x, tf.cast(i, tf.int32) * 0, 2, name=T),
        {"n": 3, "m": 3},
        [{"m": 2}, {"n": 4}],
    ),
    Case(
        "broadcast_to",
        {"x": ["n", "c"]},
        lambda x: tf.broadcast_to(tf.abs(x), [2, 3], name=T),
        {"n": 2, "c": 3},
        [{"c": 2}, {"n": 3}],
    ),
    Case(
        "split",
        {"x": ["n", "c"]},
        lambda x: tf.split(tf.abs(x), 3, 1, name=T)[0],
        {"n": 2, "c": 6},
        [{"c": 5}, {"c": 7}],
    ),
    Case(
        "split_sizes",
        {"x": ["n", "c"]},
        lambda x: tf.split(tf.abs(x), [3, 3], 1, name=T)[0],
        {"n": 2, "c": 6},
        [{"c": 5}, {"c": 8}],
    ),
    Case(
        "unstack",
        {"x": ["n", "c"]},
        lambda x: tf.unstack(tf.abs(x), 3, 1, name=T)[0],
        {"n": 2, "c": 3},
        [{"c": 2}, {"c": 4}],
    ),
    Case(
        "squeeze",
        {"x": ["n", "c", 3]},
        lambda x: tf.squeeze(tf.abs(x), [1], name=T),
        {"n": 2, "c": 1},
        [{"c": 2}, {"c": 4}],
    ),
    Case(
        "slice",
        {"x": ["n", "c"]},
        lambda x: tf.slice(tf.abs(x), [0, 2], [-1, 3], name=T),
        {"n": 2, "c": 6},
        [{"c": 4}, {"c": 2}],
    ),
    Case(
        "mirror_pad",
        {"x": ["n", "c"]},
        lambda x: tf.pad(tf.abs(x), [[0, 0], [3, 3]], "REFLECT", name=T),
        {"n": 2, "c": 6},
        [{"c": 2}, {"c": 3}],
    ),
    Case(
        "depth_to_space",
        {"x": ["n", 2, 2, "c"]},
        lambda x: tf.nn.depth_to_space(tf.abs(x), 2, name=T),
        {"n": 1, "c": 8},
        [{"c": 6}, {"c": 3}],
    ),
    Case(
        "space_to_depth",
        {"x": ["n", "h", "w", 2]},
        lambda x: tf.nn.space_to_depth(tf.abs(x), 2, name=T),
        {"n": 1, "h": 4, "w": 6},
        [{"h": 3}, {"w": 5}],
    ),
    Case(
        "space_to_batch",
        {"x": ["n", "h", 4, 2]},
        lambda x: tf.space_to_batch(tf.abs(x), [2, 2], [[0, 0], [0, 0]], name=T),
        {"n": 1, "h": 4},
        [{"h": 3}, {"h": 5}],
    ),
    Case(
        "batch_to_space",
        {"x": ["n", 2, 2, 2]},
        lambda x: tf.batch_to_space(tf.abs(x), [2, 2], [[0, 0], [0, 0]], name=T),
        {"n": 4},
        [{"n": 3}, {"n": 6}],
    ),
    Case(
        "top_k",
        {"x": ["n", "c"]},
        lambda x: tf.math.top_k(tf.abs(x), 4, name=T)[0],
        {"n": 2, "c": 6},
        [{"c": 3}, {"c": 2}],
    ),
    Case(
        "einsum",
        {"x": ["b", "i", "j"], "y": ["b", "k", 5]},
        lambda x, y: tf.einsum("bij,bjd->bid", x, y, name=T),
        {"b": 2, "i": 3, "j": 4, "k": 4},
        [{"k": 3}, {"j": 2}],
    ),
    Case(
        "tile_add",
        {"x": ["n", "c"], "y": ["n", "d"]},
        lambda x, y: tf.add(tf.tile(x, [1, 2]), y, name=T),
        {"n": 2, "c": 3, "d": 6},
        [{"c": 2}, {"d": 5}],
    ),
    Case(
        "strided_add",
        {"x": ["n", "s"], "y": ["n", 4]},
        lambda x, y: tf.add(x[:, 2:6], y, name=T),
        {"n": 2, "s": 8},
        [{"s": 4}, {"s": 5}],
    ),
    Case(
        "u_net",
        {"x": ["n", "h", "w", 3]},
        lambda x: tf.concat(
            [
                x,
                tf.image.resize(
                    tf.nn.max_pool2d(x, 2, 2, "VALID"), tf.shape(tf.nn.max_pool2d(x, 2, 2, "VALID"))[1:3] * 2
                ),
            ],
            3,
            name=T,
        ),
        {"n": 1, "h": 8, "w": 8},
        [{"h": 7}, {"w": 5}],
    ),
    Case(
        "residual",
        {"x": ["n", "h", 8, 4]},
        lambda x: tf.add(tf.nn.max_pool2d(x, 2, 2, "SAME"), tf.nn.max_pool2d(x, 2, 2, "VALID"), name=T),
        {"n": 1, "h": 8},
        [{"h": 7}, {"h": 5}],
    ),
    Case("while", {"x": ["n", 3], "z": ["m", 3]}, _scan, {"n": 3, "m": 3}, [{"m": 2}, {"m": 4}]),
    Case("cond", {"x": ["n", "k"], "w": ["m", 4]}, _branch, {"n": 2, "k": 3, "m": 3}, [{"k": 2}, {"m": 5}]),
    Case(
        "cross_entropy",
        {"x": ["n", "c"], "y": ["m", "c"]},
        lambda x, y: tf.nn.softmax_cross_entropy_with_logits(y, x, name=T),
        {"n": 2, "m": 2, "c": 4},
        [{"m": 3}, {"n": 5}],
    ),
    Case(
        "sparse_cross_entropy",
        {"x": ["n", 4], "y": ["m"]},
        lambda x, y: tf.nn.sparse_softmax_cross_entropy_with_logits(tf.cast(y, tf.int32) * 0, x, name=T),
        {"n": 2, "m": 2},
        [{"m": 3}, {"n": 5}],
    ),
    Case(
        "matrix_inverse",
        {"x": ["n", "m"]},
        lambda x: tf.linalg.cholesky(x + 3.0, name=T),
        {"n": 1, "m": 1},
        [{"m": 2}, {"n": 3}],
    ),
    Case(
        "cross",
        {"x": ["n", "c"], "y": ["n", "c"]},
        lambda x, y: tf.linalg.cross(x, y, name=T),
        {"n": 2, "c": 3},
        [{"c": 2}, {"c": 4}],
    ),
    Case(
        "ensure_shape",
        {"x": ["n", "c"]},
        lambda x: tf.ensure_shape(tf.abs(x), [None, 3], name=T),
        {"n": 2, "c": 3},
        [{"c": 2}, {"c": 4}],
    ),
    Case("declared", {"x": ["n", 5]}, lambda x: tf.abs(x, name=T), {"n": 2}, []),
]


def messages() -> Iterator[dict[str, Any]]:
    """The messages of sessions for all cases, then for graphs of the corpus."""
    yield from case_messages()
    yield from corpus_messages()


def case_messages() -> Iterator[dict[str, Any]]:
    """The messages for the cases."""
    for number, case in enumerate(CASES):
        graph = tf.Graph()
        with graph.as_default():
            places = {
                name: v1.placeholder(tf.float32, [d if isinstance(d, int) else None for d in dims], name=name)
                for name, dims in case.inputs.items()
            }
            scope = ("", "model/block_1")[number % 2]
            with tf.name_scope(scope) if scope else tf.name_scope(""):
                try:
                    result = case.build(**places)
                except ValueError as error:
                    raise ValueError(case.name) from error
                tf.identity(result, name="result")
        session = v1.Session(graph=graph)
        output = f"{scope}/result:0" if scope else "result:0"
        definition = graph.as_graph_def()
        for sizes in ({**case.legal, **change} for change in case.illegal):
            text = run_text(session, output, case, sizes)
            if text:
                yield {
                    "case": case.name,
                    "model": definition.SerializeToString(deterministic=True),
                    "sizes": None,
                    "dims": sizes,
                    "shapes": {
                        f"{n}": [sizes[d] if isinstance(d, str) else d for d in s] for n, s in case.inputs.items()
                    },
                    "values": {},
                    "data": case.data,
                    "node": {"op": "", "name": T, "output": T},
                    "runs": [[at, not run_text(session, output, case, at)] for at in grid(case, sizes)],
                    "axes": {name: list(dims) for name, dims in case.inputs.items()},
                    "text": text,
                }
        if case.name == "declared":
            for shape in ((2, 6), (2, 5, 1), (5,)):
                try:
                    session.run(output, {"x:0": np.ones(shape, np.float32)})
                except ValueError as error:
                    yield {
                        "case": case.name,
                        "model": definition.SerializeToString(deterministic=True),
                        "sizes": None,
                        "shapes": {"x": list(shape)},
                        "values": {},
                        "data": False,
                        "node": {"op": "Abs", "name": T, "output": T},
                        "runs": [],
                        "text": str(error),
                    }


def corpus_messages() -> Iterator[dict[str, Any]]:
    """The messages of sessions for graphs of the corpus, of which one axis of one input has another size."""
    folder = Path(os.environ["SHAPEINF_CONFORMANCE"]) / "tf_graphs"
    for path in sorted(folder.glob("*.pb")):
        truth = json.loads((folder / f"{path.stem}.truth.json").read_text(encoding="utf-8"))
        inputs = {entry["name"]: entry for entry in truth["inputs"]}
        if (
            truth["kind"] != "graph_def"
            or not inputs
            or any(e["dims"] is None or e["dtype"] == "string" for e in inputs.values())
        ):
            continue
        sizes = truth["bindings"][0]
        shapes = {name: [sizes.get(d, d) for d in entry["dims"]] for name, entry in inputs.items()}
        if any(not isinstance(d, int) for shape in shapes.values() for d in shape):
            continue
        definition = v1.GraphDef()
        definition.ParseFromString(path.read_bytes())
        graph = tf.Graph()
        with graph.as_default():
            tf.import_graph_def(definition, name="")
        session = v1.Session(graph=graph)
        outputs = [o for o in (f"{name}:0" for name in _last_nodes(definition)) if _is_tensor(graph, o)]
        if _corpus_error(session, outputs, inputs, shapes):
            continue
        for changed in list(_changed_shapes(shapes))[:MOST_OF_A_MODEL]:
            text = _corpus_error(session, outputs, inputs, changed)
            named = re.search(r"\[\[\{\{node ([^}]+)\}\}\]\]", text)
            if named:
                yield {
                    "case": path.name,
                    "model": f"tf_graphs/{path.name}",
                    "sizes": None,
                    "shapes": changed,
                    "values": {},
                    "data": False,
                    "node": {"op": "", "name": named[1], "output": named[1]},
                    "runs": [],
                    "text": text,
                }


MOST_OF_A_MODEL = 3


def _changed_shapes(shapes: Mapping[str, Sequence[int]]) -> Iterator[dict[str, list[int]]]:
    for axis in range(5):
        for name, shape in shapes.items():
            if axis < len(shape):
                changed = [size + (i == len(shape) - 1 - axis) for i, size in enumerate(shape)]
                yield {**{n: list(s) for n, s in shapes.items()}, name: changed}


def _last_nodes(definition: Any) -> list[str]:
    """The nodes that no other node reads."""
    read = {name.lstrip("^").split(":")[0] for node in definition.node for name in node.input}
    return [node.name for node in definition.node if node.name not in read]


def _is_tensor(graph: Any, name: str) -> bool:
    try:
        graph.get_tensor_by_name(name)
    except (KeyError, ValueError):
        return False
    return True


def _corpus_error(
    session: Any, outputs: Sequence[str], inputs: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]
) -> str:
    feed = {
        name if ":" in name else f"{name}:0": np.ones(shape, inputs[name]["dtype"]) for name, shape in shapes.items()
    }
    try:
        session.run(list(outputs), feed)
    except (tf.errors.OpError, ValueError, TypeError) as error:
        return shorten(str(error))
    return ""


def grid(case: Case, sizes: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Sizes in which one dim differs."""
    for name in case.legal:
        for size in GRID:
            yield {**sizes, name: size}


def run_text(session: Any, output: str, case: Case, sizes: Mapping[str, int]) -> str:
    """The error text of a run; empty where it succeeds."""
    feed = {
        f"{name}:0": np.full(
            [sizes[d] if isinstance(d, str) else d for d in dims], case.values.get(name, 1), np.float32
        )
        for name, dims in case.inputs.items()
    }
    try:
        session.run(output, feed)
    except (tf.errors.OpError, ValueError) as error:
        return shorten(str(error))
    return ""


def shorten(text: str) -> str:
    """The text without the frames of TensorFlow itself and of this module, which have paths of the machine."""
    lines = text.split("\n")
    kept = [line for line in lines if 'File "' not in line]
    return "\n".join(kept)
