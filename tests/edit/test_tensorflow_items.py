"""Axis rules of TensorFlow's operators: what `rebatch` accepts, TensorFlow runs as a batch and in parts.

The nodes are calls of `tf.raw_ops` by the registered operators with axis rules, with equal matrices as inputs, and a
table of calls with other inputs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shapeinf import RebatchError, rebatch
from shapeinf.ops import default_registry

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf: Any = pytest.importorskip("tensorflow", reason="the oracle is TensorFlow")

SHAPE = (2, 4, 4)
"""The inputs: a batch of two matrices."""
PARTS = 2
Build = Callable[..., Any]

RANDOM = {"RandomShuffle", "RandomStandardNormal", "RandomUniform", "TruncatedNormal"}
"""Operators whose results differ from run to run."""

UNDEFINED = {"Cholesky", "MatrixLogarithm", "MatrixSquareRoot"}
"""Operators whose results are arbitrary for most matrices."""


def operators() -> list[str]:
    dialect = default_registry().dialect("tf")
    assert dialect is not None
    dialect.axis_rule("", "", 1)  # imports the rules
    names = sorted(op for _, op in dialect.axis_operators())
    return [op for op in names if hasattr(tf.raw_ops, op) and op not in RANDOM | UNDEFINED]


def call(op: str, count: int, *, last: Any = None) -> Build | None:
    """The call of an operator with its first inputs as tensors and perhaps a number as last input; None for others."""
    dialect = default_registry().dialect("tf")
    assert dialect is not None
    op_def = dialect.lookup("", op, 0)
    assert op_def is not None
    names = [argument.name for argument in op_def.inputs]
    if len(names) != count + (last is not None):
        return None

    def build(*tensors: Any) -> Any:
        values = [*tensors, *([] if last is None else [tf.constant(last)])]
        return getattr(tf.raw_ops, op)(**dict(zip(names, values, strict=True)))

    return build


def generated() -> Iterator[tuple[str, Build, tuple[Any, ...]]]:
    for op in operators():
        for count in (1, 2, 3):
            for last in (None, 0, 1, -1, [1], [2]):
                build = call(op, count, last=last)
                if build is not None:
                    yield f"{op} of {count} and {last}", build, (tf.float32, tf.int32, tf.bool, tf.complex64, tf.string)


raw = tf.raw_ops
ones = tf.ones
TABLE: dict[str, Build] = {
    "MatMul": lambda x: raw.BatchMatMulV2(x=x, y=ones([4, 3])),
    "BiasAdd": lambda x: raw.BiasAdd(value=x, bias=ones([4])),
    "Conv2D": lambda x: raw.Conv2D(input=x[..., None], filter=ones([3, 3, 1, 2]), strides=[1, 1, 1, 1], padding="SAME"),
    "MaxPool": lambda x: raw.MaxPool(input=x[..., None], ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"),
    "FusedBatchNormV3": lambda x: raw.FusedBatchNormV3(
        x=x[..., None], scale=ones([1]), offset=ones([1]), mean=ones([1]), variance=ones([1]), is_training=False
    )[0],
    "FusedBatchNormV3 in training": lambda x: raw.FusedBatchNormV3(
        x=x[..., None], scale=ones([1]), offset=ones([1]), mean=[], variance=[], is_training=True
    )[0],
    "Reshape": lambda x: raw.Reshape(tensor=x, shape=[-1, 16]),
    "Reshape of parts": lambda x: raw.Reshape(tensor=x, shape=[8, -1]),
    "Transpose": lambda x: raw.Transpose(x=x, perm=[0, 2, 1]),
    "ConcatV2": lambda x: raw.ConcatV2(values=[x, x], axis=-1),
    "ConcatV2 of the batch": lambda x: raw.ConcatV2(values=[x, x], axis=0),
    "Pack": lambda x: raw.Pack(values=[x, x], axis=1),
    "Unpack": lambda x: raw.Unpack(value=x, num=4, axis=1)[2],
    "Split": lambda x: raw.Split(axis=1, value=x, num_split=2)[1],
    "SplitV": lambda x: raw.SplitV(value=x, size_splits=[1, 3], axis=2, num_split=2)[1],
    "Split of the batch": lambda x: raw.Split(axis=0, value=x, num_split=2)[1],
    "Pad": lambda x: raw.Pad(input=x, paddings=[[0, 0], [1, 1], [0, 2]]),
    "Pad of the batch": lambda x: raw.Pad(input=x, paddings=[[1, 0], [0, 0], [0, 0]]),
    "Slice": lambda x: raw.Slice(input=x, begin=[0, 1, 0], size=[-1, 2, 4]),
    "StridedSlice": lambda x: x[:, 1:3, ::2],
    "StridedSlice in reverse": lambda x: x[:, ::-1],
    "StridedSlice of the batch in reverse": lambda x: x[::-1],
    "StridedSlice with an ellipsis": lambda x: x[..., 0],
    "StridedSlice of one item": lambda x: x[0] + x,
    "GatherV2": lambda x: raw.GatherV2(params=x, indices=[0, 2], axis=1),
    "GatherNd of own rows": lambda x: tf.gather_nd(x, tf.range(raw.Shape(input=x)[0])[:, None]),
    "GatherNd of rows and columns": lambda x: tf.gather_nd(
        x, tf.stack([tf.range(raw.Shape(input=x)[0]), tf.argmax(x[:, 0], 1, tf.int32)], -1)
    ),
    "GatherNd of rows in reverse": lambda x: tf.gather_nd(
        x, (raw.Shape(input=x)[0] - 1 - tf.range(raw.Shape(input=x)[0]))[:, None]
    ),
    "the numbers of items": lambda x: x + tf.cast(tf.range(raw.Shape(input=x)[0]), tf.float32)[:, None, None],
    "OneHot": lambda x: tf.one_hot(tf.argmax(x, -1), 4),
    "IdentityN": lambda x: raw.IdentityN(input=[x, x + 1])[1],
    "Sum": lambda x: raw.Sum(input=x, axis=[1]),
    "Sum of the batch": lambda x: x - raw.Sum(input=x, axis=[0]),
    "Softmax": lambda x: raw.Softmax(logits=x),
    "Softmax of rows": lambda x: raw.Softmax(logits=raw.Reshape(tensor=x, shape=[-1, 16])),
    "TopKV2 of rows": lambda x: raw.TopKV2(input=raw.Reshape(tensor=x, shape=[-1, 16]), k=3)[0],
    "Softmax of the batch": lambda x: tf.nn.softmax(x, axis=0),
    "MatrixTriangularSolve": lambda x: raw.MatrixTriangularSolve(matrix=x + 9 * tf.eye(4), rhs=x),
    "a function": lambda x: tf.function(lambda y: tf.nn.relu(y) + 1)(x),
    "a function that mixes": lambda x: tf.function(lambda y: y - tf.reduce_mean(y, 0))(x),
    "a function of numbers": lambda x: (
        x + tf.function(lambda y: tf.cast(tf.range(raw.Shape(input=y)[0]), tf.float32))(x)[:, None, None]
    ),
}
MIXED = {name for name in TABLE if name.endswith((" of the batch", " in training", " in reverse", "mixes", " item"))}
MIXED |= {"the numbers of items", "a function of numbers"}
MIXED -= {"StridedSlice in reverse"}


def graph_of(build: Build, dtype: Any, path: Path) -> tuple[Any, list[str]] | None:
    """The GraphDef of a call, with the names of its inputs; None where TensorFlow refuses it."""
    count = build.__code__.co_argcount or 1
    for inputs in range(count, 4) if build.__code__.co_flags & 4 else [count]:
        graph = tf.Graph()
        with graph.as_default():
            try:
                tensors = [tf.compat.v1.placeholder(dtype, SHAPE, name=f"x{i}") for i in range(inputs)]
                outputs = tf.nest.flatten(build(*tensors))
                for i, output in enumerate(outputs):
                    tf.identity(output, name=f"y{i}")
            except (TypeError, ValueError, NotImplementedError, tf.errors.OpError, AttributeError):
                continue
        return graph.as_graph_def(), [f"x{i}" for i in range(inputs)]
    return None


def draw(dtype: Any, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((PARTS * SHAPE[0], *SHAPE[1:]))
    if dtype == tf.string:
        return np.array([f"word {v:.2f}" for v in values.flat], object).reshape(values.shape)
    return (np.abs(values * 3) if dtype == tf.int32 else values).astype(dtype.as_numpy_dtype)


def run(graph_def: Any, feeds: dict[str, Any]) -> list[Any]:
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        names = [op.outputs[0] for op in graph.get_operations() if op.type == "Identity" and op.name.startswith("y")]
        with tf.compat.v1.Session() as session:
            results: list[Any] = session.run(names, {f"{name}:0": value for name, value in feeds.items()})
            return results


def compare(build: Build, dtype: Any, path: Path) -> str:
    """ "refused" by `rebatch`, `invalid` for TensorFlow, `equal`, or a text of what differs."""
    made = graph_of(build, dtype, path)
    if made is None:
        return "invalid"
    graph_def, inputs = made
    path.write_bytes(graph_def.SerializeToString())
    try:
        rebatched = rebatch(path)
    except RebatchError:
        return "refused"
    target = path.with_name("out.pb")
    rebatched.save(target)
    new = tf.compat.v1.GraphDef.FromString(target.read_bytes())
    feeds = {name: draw(dtype, seed) for seed, name in enumerate(inputs)}
    parts = [{name: np.split(a, PARTS)[i] for name, a in feeds.items()} for i in range(PARTS)]
    try:
        singles = [run(graph_def, part) for part in parts]
    except tf.errors.OpError:
        return "invalid"
    for index, together in enumerate(run(new, feeds)):
        values = [single[index] for single in singles]
        if together.shape[:1] == values[0].shape[:1] and np.array_equal(values[0], values[1]):
            continue  # no axis of items
        axis = next((k for k in range(together.ndim) if together.shape[k] != values[0].shape[k]), 0)
        expected = np.concatenate(values, axis) if together.ndim else values[0]
        same = np.array_equal(expected, together) if expected.dtype == object else None
        if same is None:
            same = np.allclose(expected, together, 1e-4, 1e-5, equal_nan=True)
        if expected.shape != together.shape or not same:
            return f"output {index} differs"
    return "equal"


@pytest.mark.parametrize("name", TABLE)
def test_calls(tmp_path: Path, name: str) -> None:
    assert compare(TABLE[name], tf.float32, tmp_path / "m.pb") == ("refused" if name in MIXED else "equal")


def verdicts(tmp_path: Path, step: int) -> dict[str, str]:
    """The verdict of each generated call that is valid for some type of the inputs."""
    answers = dict[str, str]()
    for name, build, dtypes in list(generated())[::step]:
        for dtype in dtypes:
            answer = compare(build, dtype, tmp_path / "m.pb")
            if answer != "invalid":
                answers[f"{name} {dtype.name}"] = answer
                break
    return answers


def test_generated_calls(tmp_path: Path) -> None:
    answers = verdicts(tmp_path, 12)
    assert {name: answer for name, answer in answers.items() if answer not in ("equal", "refused")} == {}
    assert list(answers.values()).count("equal") > 10


@pytest.mark.slow
def test_every_generated_call(tmp_path: Path) -> None:
    answers = verdicts(tmp_path, 1)
    print(f"{list(answers.values()).count('equal')} of {len(answers)} calls accepted")
    assert {name: answer for name, answer in answers.items() if answer not in ("equal", "refused")} == {}
    assert list(answers.values()).count("equal") > 120
