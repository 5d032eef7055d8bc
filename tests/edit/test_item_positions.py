"""Positions that are computed from the numbers of the items: what selects the own item is accepted, all else refused.

The oracle is onnxruntime: what is accepted runs as a batch and in parts.
"""

from __future__ import annotations

import random
from typing import Any

import attrs
import numpy as np
import onnx
import pytest
from onnx import TensorProto

pytest.importorskip("onnxruntime", reason="the oracle is onnxruntime")

from shapeinf import RebatchError, rebatch
from shapeinf.edit.rebatch.flows import is_integer_list
from shapeinf.inputs.options import InferenceOptions
from shapeinf.lattice import PartialTensor, Shape, Type
from shapeinf.runtime.rebatched import verify_rebatched
from tests.edit.test_rebatch_items import Case, ints, node
from tests.edit.test_rebatching import run

NUMBERS = [
    node("Shape", ["x"], ["s"], end=1),
    node("Squeeze", ["s"], ["n"]),
    node("Range", ["zero", "n", "one"], ["items"], name="range"),
    node("Unsqueeze", ["items", "a1"], ["i"]),  # [batch, 1]
    node("Shape", ["x"], ["t"], start=1, end=2),
    node("Squeeze", ["t"], ["k"]),
    node("Range", ["zero", "k", "one"], ["j"]),  # [length]
    node("Shape", ["x"], ["all"]),
    node("Expand", ["i", "all"], ["rows"]),
    node("Expand", ["j", "all"], ["columns"]),
]
SCALARS = {
    "zero": np.int64(0),
    "one": np.int64(1),
    "two": np.int64(2),
    "three": np.int64(3),
    "a1": ints(1),
    "a2": ints(-1),
}
FLAT = [node("Flatten", ["x"], ["flat"], axis=2)]  # [batch*length, 1]


def case(*nodes: onnx.NodeProto, **constants: Any) -> Case:
    return Case([*NUMBERS, *nodes], {**SCALARS, **constants}, x=(2, 4))


def pairs(first: str, second: str, *others: onnx.NodeProto) -> list[onnx.NodeProto]:
    """Rows and columns as indices of GatherND."""
    return [
        *others,
        node("Unsqueeze", [first, "a2"], ["c0"]),
        node("Unsqueeze", [second, "a2"], ["c1"]),
        node("Concat", ["c0", "c1"], ["pairs"], axis=-1),
    ]


LINEAR = [*FLAT, node("Mul", ["i", "k"], ["start"]), node("Add", ["start", "j"], ["at"])]
OWN = {
    "a pair of coordinates": case(*pairs("rows", "columns"), node("GatherND", ["x", "pairs"], ["y"], name="get")),
    "the row only": case(node("Unsqueeze", ["items", "a2"], ["c0"]), node("GatherND", ["x", "c0"], ["y"], name="get")),
    "a Gather of rows": case(node("Gather", ["x", "items"], ["y"], name="get", axis=0)),
    "rows in another type": case(
        node("Cast", ["items"], ["small"], to=TensorProto.INT32), node("Gather", ["x", "small"], ["y"], name="get")
    ),
    "rows as many as columns of a second axis": case(node("Gather", ["x", "rows"], ["y"], name="get")),
    "a position in the flattened batch": case(*LINEAR, node("Gather", ["flat", "at"], ["y"], name="get", axis=0)),
    "positions of all elements": case(
        *FLAT,
        node("Size", ["x"], ["size"]),
        node("Range", ["zero", "size", "one"], ["each"]),
        node("Reshape", ["each", "all"], ["at"]),
        node("Gather", ["flat", "at"], ["y"], name="get", axis=0),
    ),
    "two positions by a condition on data": case(
        *LINEAR,
        node("Sub", ["k", "one"], ["last"]),
        node("Sub", ["last", "j"], ["turned"]),
        node("Add", ["start", "turned"], ["other"]),
        node("Greater", ["x", "f"], ["c"]),
        node("Where", ["c", "at", "other"], ["chosen"]),
        node("Gather", ["flat", "chosen"], ["y"], name="get", axis=0),
        f=np.float32(0),
    ),
    "a column that is data": case(
        node("ArgMax", ["x"], ["best"], axis=1, keepdims=0),
        node("Unsqueeze", ["best", "a2"], ["c1"]),
        node("Unsqueeze", ["items", "a2"], ["c0"]),
        node("Concat", ["c0", "c1"], ["pairs"], axis=-1),
        node("GatherND", ["x", "pairs"], ["y"], name="get"),
    ),
    "an update of the own row": case(
        node("ArgMax", ["x"], ["best"], axis=1, keepdims=0),
        node("ReduceSum", ["x", "a1"], ["u"], keepdims=0),
        node("Unsqueeze", ["best", "a2"], ["c1"]),
        node("Unsqueeze", ["items", "a2"], ["c0"]),
        node("Concat", ["c0", "c1"], ["pairs"], axis=-1),
        node("ScatterND", ["x", "pairs", "u"], ["y"], name="get"),
    ),
}
MIXED = {
    "the row before": case(node("Sub", ["items", "one"], ["r"]), node("Gather", ["x", "r"], ["y"], name="get", axis=0)),
    "the rows in reverse": case(
        node("Sub", ["n", "one"], ["last"]),
        node("Sub", ["last", "items"], ["r"]),
        node("Gather", ["x", "r"], ["y"], name="get", axis=0),
    ),
    "half of the rows": case(
        node("Div", ["items", "two"], ["r"]), node("Gather", ["x", "r"], ["y"], name="get", axis=0)
    ),
    "columns by the number of the row": case(
        node("Mod", ["items", "three"], ["r"]),
        node("Unsqueeze", ["r", "a2"], ["u"]),
        node("GatherElements", ["x", "u"], ["y"], name="get", axis=1),
    ),
    "pairs in the wrong order": Case(
        [*NUMBERS, *pairs("columns", "rows"), node("GatherND", ["x", "pairs"], ["y"], name="get")], SCALARS, x=(4, 4)
    ),
    "both coordinates": Case(
        [*NUMBERS, *pairs("items", "items"), node("GatherND", ["x", "pairs"], ["y"], name="get")], SCALARS, x=(2, 9)
    ),
    "a table of rows": case(
        node("Gather", ["table", "items"], ["r"], name="get", axis=0),
        node("Add", ["x", "r"], ["y"]),
        table=np.arange(64, dtype=np.float32).reshape(16, 4),
    ),
    "a position past the row": case(
        *LINEAR, node("Add", ["at", "one"], ["next"]), node("Gather", ["pad", "next"], ["y"], name="get", axis=0)
    ),
    "a position before the row": case(
        *LINEAR, node("Sub", ["at", "one"], ["r"]), node("Gather", ["flat", "r"], ["y"], name="get", axis=0)
    ),
    "steps that are too short": case(
        *FLAT,
        node("Mul", ["i", "two"], ["start"]),
        node("Add", ["start", "j"], ["at"]),
        node("Gather", ["flat", "at"], ["y"], name="get", axis=0),
    ),
    "an update of the row before": case(
        node("Sub", ["items", "one"], ["r"]),
        node("ReduceSum", ["x", "a1"], ["u"], keepdims=0),
        node("Unsqueeze", ["r", "a2"], ["c0"]),
        node("ScatterND", ["x", "c0", "x"], ["y"], name="get"),
    ),
    "numbers in the output": case(node("Cast", ["i"], ["f"], to=1), node("Mul", ["x", "f"], ["y"], name="get")),
    "numbers that are looked up": case(
        node("Unsqueeze", ["items", "a2"], ["c0"]),
        node("GatherND", ["rows", "c0"], ["g"]),
        node("Cast", ["g"], ["f"], to=1),
        node("Add", ["x", "f"], ["y"], name="get"),
    ),
}
MIXED["a position past the row"].nodes.insert(-1, node("Concat", ["flat", "flat"], ["pad"], axis=0))


@pytest.mark.parametrize("kind", OWN)
@pytest.mark.parametrize("length", [4, "length"])
def test_positions_of_the_own_item(kind: str, length: int | str) -> None:
    model = OWN[kind].model()
    if isinstance(length, str):
        model.graph.input[0].type.tensor_type.shape.dim[1].dim_param = length
    comparison = verify_rebatched(model, rebatch(model))
    assert comparison.equal, comparison


@pytest.mark.parametrize("kind", MIXED)
@pytest.mark.parametrize("length", [None, "length"])
def test_other_positions_are_refused(kind: str, length: str | None) -> None:
    model = MIXED[kind].model()
    if length is not None:
        model.graph.input[0].type.tensor_type.shape.dim[1].dim_param = length
    with pytest.raises(RebatchError):
        rebatch(model)


@pytest.mark.parametrize(
    "kind", [kind for kind in MIXED if kind not in ("pairs in the wrong order", "a table of rows")]
)
def test_what_is_refused_differs_in_onnxruntime(kind: str) -> None:
    """Two runs at the old size, stacked, are not the run of a batch."""
    mixed = MIXED[kind]
    parts = np.random.default_rng(1).standard_normal((2, *mixed.x)).astype(np.float32)
    before = mixed.model().SerializeToString()
    expected = np.concatenate([run(before, {"x": part}) for part in parts])
    together = run(mixed.model("n").SerializeToString(), {"x": np.concatenate(parts)})
    assert together.shape != expected.shape or not np.allclose(together, expected)


def test_an_assumption_bounds_positions() -> None:
    """The mask of a cache has as many columns as there are positions, which the exporter of the model did not state."""
    past = onnx.helper.make_tensor_value_info("p", TensorProto.FLOAT, [2, "past"])
    nodes = [
        node("Concat", ["p", "x"], ["cache"], axis=1),
        node("Shape", ["cache"], ["t"], start=1, end=2),
        node("Squeeze", ["t"], ["all"]),
        node("Range", ["zero", "all", "one"], ["j"]),
        node("Flatten", ["m"], ["flat"], axis=2),
        node("Shape", ["m"], ["u"], start=1, end=2),
        node("Mul", ["i", "u"], ["start"]),
        node("Add", ["start", "j"], ["at"]),
        node("Gather", ["flat", "at"], ["y"], name="get", axis=0),
    ]
    model = Case([*NUMBERS[:4], *nodes], SCALARS, x=(2, 4)).model()
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "seq"
    model.graph.input.extend([past, onnx.helper.make_tensor_value_info("m", TensorProto.FLOAT, [2, "columns"])])
    with pytest.raises(RebatchError, match="Gather get"):
        rebatch(model)
    assert rebatch(model, options=InferenceOptions(assume=["past + seq == columns"])).name == "batch"


# -- random positions ------------------------------------------------------------------------------------------------


@attrs.frozen
class Draw:
    """A Gather at `a*i + b*j + c`, `j` below `m`, in the flattened batch or its rows."""

    length: int
    a: int
    b: int
    c: int
    m: int
    flat: bool

    @classmethod
    def of_seed(cls, seed: int) -> Draw:
        rng = random.Random(seed)
        length = rng.randint(1, 4)
        a = rng.choice((length, length, 1, 0, -length, length + 1))
        return cls(
            length, a, rng.choice((1, 1, 0, 2, -1)), rng.choice((0, 0, 1, -1, 2)), rng.randint(1, 4), rng.random() < 0.8
        )

    def case(self) -> Case:
        nodes = [
            *NUMBERS[:4],
            *FLAT,
            node("Mul", ["i", "a"], ["r"]),
            node("Mul", ["jj", "b"], ["t"]),
            node("Add", ["r", "t"], ["u"]),
            node("Add", ["u", "c"], ["at"]),
            node("Gather", ["flat" if self.flat else "x", "at"], ["y"], name="get", axis=0),
        ]
        numbers = {"a": self.a, "b": self.b, "c": self.c}
        constants = {**SCALARS, **{k: np.int64(v) for k, v in numbers.items()}, "jj": np.arange(self.m, dtype=np.int64)}
        return Case(nodes, constants, x=(2, self.length))

    def selects_own(self) -> bool:
        length = self.length if self.flat else 1
        columns = [self.b * j + self.c for j in range(self.m)]
        return self.a == length and all(0 <= column < length for column in columns)


def test_random_positions() -> None:
    """The rule answers as the definition does, and onnxruntime agrees with what it accepts."""
    accepted = 0
    for seed in range(400):
        draw = Draw.of_seed(seed)
        model = draw.case().model()
        try:
            rebatched = rebatch(model)
        except RebatchError:
            assert not draw.selects_own(), draw
            continue
        assert draw.selects_own() or (draw.a == 0 and not draw.flat), draw
        assert verify_rebatched(model, rebatched).equal, draw
        accepted += 1
    assert accepted > 30


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (PartialTensor("int64", Shape(()), (3,)), True),
        (PartialTensor("int32", Shape((2,)), (3, 4)), True),
        (PartialTensor("int64", Shape((1, 2)), (3, 4)), False),
        (PartialTensor("int64", Shape((2,)), (3, None)), False),
        (PartialTensor("int64", Shape((2,)), None), False),
        (PartialTensor("float32", Shape(()), (3,)), False),
        (None, False),
    ],
)
def test_a_known_integer_and_a_list_of_them_are_integer_lists(value: Type | None, expected: bool) -> None:
    assert is_integer_list(value) is expected
