"""Contracts of traced programs are those of the module: the recorded answers are those of torch 2.13."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from opdefs.torch.dialect import torch
from shapeinf import Result, infer_shapes
from shapeinf.ops import OpRegistry
from tests.formats.torch_export.programs import graph, node, number, program, symbol, tensor

REGISTRY = OpRegistry(torch)
Json = dict[str, Any]


def sizes_of(*values: str | int) -> Json:
    """An argument that is a list of sizes: numbers, and names of computed ones."""
    return {"as_sym_ints": [{"as_name": v} if isinstance(v, str) else {"as_int": v} for v in values]}


def size(of: str, dim: int, name: str) -> Json:
    return node("torch.ops.aten.sym_size.int", {"self": of, "dim": dim}, number(name))


def infer(
    tensors: Mapping[str, Json],
    nodes: Sequence[Json],
    output: str,
    shapes: Mapping[str, Sequence[int]] | None = None,
    guards: Sequence[str] = (),
) -> Result:
    top = graph(list(tensors), nodes, [output], tensors=tensors)
    text = json.dumps(program(top, guards_code=list(guards))).encode()
    return infer_shapes(
        text, inputs={n: list(s) for n, s in (shapes or {}).items()}, declared="ignore", registry=REGISTRY
    )


def verdict(*arguments: Any, **named: Any) -> bool | None:
    return infer(*arguments, **named).contract.check().verdict


# -- numbers that stand for other sizes --------------------------------------------------------------------------------

SCALED = {"x": tensor(symbol("s1"), 4), "t": tensor(symbol("s1"), 1)}
"""`(x * t).view(t.shape[0], 2, 2)`, for which torch may write `x.shape[0]` as well: both sizes are equal in its run."""
SCALE = [
    node("torch.ops.aten.mul.Tensor", {"self": "x", "other": "t"}, "p"),
    size("t", 0, "n"),
    node("torch.ops.aten.view.default", {"self": "p", "size": sizes_of("n", 2, 2)}, "y"),
]
EQUAL = ["L['x'].size()[0] == L['t'].size()[0]"]


@pytest.mark.parametrize(("rows", "others", "runs"), [(3, 3, True), (3, 1, None), (3, 2, False)])
def test_a_size_that_another_one_stands_for(rows: int, others: int, runs: bool | None) -> None:
    """With 1 the module broadcasts; whether it runs then depends on which of the two sizes it reads."""
    assert verdict(SCALED, SCALE, "y", {"x": [rows, 4], "t": [others, 1]}, EQUAL) is runs


@pytest.mark.parametrize(("rows", "runs"), [(10, True), (11, None)])
def test_a_number_that_a_size_was(rows: int, runs: bool | None) -> None:
    """`x + torch.linspace(0, 1, len(x))` runs for every length; `x + torch.linspace(0, 1, 10)` does not."""
    nodes = [
        node("torch.ops.aten.linspace.default", {"start": 0, "end": 1, "steps": 10}, "l"),
        node("torch.ops.aten.add.Tensor", {"self": "x", "other": "l"}, "y"),
    ]
    assert verdict({"x": tensor(10)}, nodes, "y", {"x": [rows]}, ["L['x'].size()[0] == 10"]) is runs


ROWS = {"x": tensor(symbol("s1"), 4), "i": tensor(symbol("s1"), dtype=5)}
"""`x[torch.arange(x.shape[0]), i]`, for which torch writes the length of `i`."""
PICK = [
    size("i", 0, "n"),
    node("torch.ops.aten.arange.default", {"end": number("n")}, "r"),
    node("torch.ops.aten.index.Tensor", {"self": "x", "indices": {"as_tensors": [{"name": "r"}, {"name": "i"}]}}, "y"),
]


@pytest.mark.parametrize(("rows", "length", "runs"), [(3, 3, True), (3, 2, None), (3, 1, True)])
def test_a_run_with_one_size_for_another_is_no_run_of_the_module(rows: int, length: int, runs: bool | None) -> None:
    """The program runs for every length of `i`, and the module only for that of `x`, and for 1."""
    guards = ["L['i'].size()[0] == L['x'].size()[0]"]
    picked = infer(ROWS, PICK, "y", {"x": [rows, 4], "i": [length]}, guards)
    contents = [d.message for d in picked.diagnostics if d.severity == "error"]
    assert (picked.contract.check().verdict, contents) == (runs, [])


@pytest.mark.parametrize(("rows", "runs"), [(4, True), (1, None)])
def test_a_check_of_the_exporter_is_none_of_the_module(rows: int, runs: bool | None) -> None:
    """Torch concludes from `x.shape[0] >= 3` that each branch, `x[:2]` and `x[:3]`, has at least 2 rows."""
    nodes = [
        node("torch.ops.aten.slice.Tensor", {"self": "x", "dim": 0, "start": 0, "end": 2}, "y"),
        size("y", 0, "u"),
        node("_operator.ge", {"a": number("u"), "b": 2}, {"as_sym_bool": {"as_name": "c"}}),
        node("torch.ops.aten._assert_scalar.default", {"self": {"as_sym_bool": {"as_name": "c"}}, "assert_msg": None}),
    ]
    assert verdict({"x": tensor(symbol("s1"))}, nodes, "y", {"x": [rows]}, ["L['x'].size()[0] >= 3"]) is runs


def test_a_failure_without_numbers_is_one_of_the_module() -> None:
    nodes = [node("torch.ops.aten.add.Tensor", {"self": "x", "other": "w"}, "y")]
    tensors = {"x": tensor(10), "w": tensor(10)}
    assert verdict(tensors, nodes, "y", {"x": [11], "w": [10]}, ["L['x'].size()[0] == 10"]) is False


def test_a_module_that_checks_guards() -> None:
    """A program of a program: its module refuses what the guards of the first one refuse."""
    nodes = [node("torch.ops.aten.relu.default", {"self": "x"}, "y")]
    top = graph(["x"], nodes, ["y"], tensors={"x": tensor(symbol("s1"))})
    data = program(top, guards_code=["L['x'].size()[0] != 1"])
    data["graph_module"]["module_call_graph"] = [
        {"fqn": "", "signature": None},
        {"fqn": "m._guards_fn", "signature": None},
    ]
    answers = [
        infer_shapes(json.dumps(data).encode(), inputs={"x": [n]}, registry=REGISTRY).contract.check().verdict
        for n in (2, 1)
    ]
    assert answers == [True, None]


# -- quotients ---------------------------------------------------------------------------------------------------------


def window(count: str | int) -> list[Json]:
    """`x.view(n // 8, 8)`, whose columns torch states as `n // (n // 8)`."""
    return [
        size("x", 0, "n"),
        node("_operator.floordiv", {"a": number("n"), "b": 8}, number("q")),
        node("torch.ops.aten.view.default", {"self": "x", "size": sizes_of("q", 8)}, "v"),
        node("_operator.floordiv", {"a": number("n"), "b": number("q")}, number("k")),
        node("torch.ops.aten.new_zeros.default", {"self": "v", "size": sizes_of("q", count)}, "y"),
    ]


def test_a_size_divided_by_its_part() -> None:
    result = infer({"x": tensor(symbol("s1"))}, window("k"), "y")
    assert str(result.tensors["y"].shape) == "[x_0//8, 8]"


@pytest.mark.parametrize(("size", "runs"), [(16, True), (12, False), (0, None)])
def test_a_quotient_by_zero_may_be_another_size(size: int, runs: bool | None) -> None:
    assert verdict({"x": tensor(symbol("s1"))}, window("k"), "y", {"x": [size]}) is runs


def test_all_axes_are_divided_into_parts() -> None:
    """[h, w] viewed as [h // 4, 4, w // 2, 2]: 4 divides h, and 2 divides w."""
    nodes = [
        size("x", 0, "h"),
        size("x", 1, "w"),
        node("_operator.floordiv", {"a": number("h"), "b": 4}, number("p")),
        node("_operator.floordiv", {"a": number("w"), "b": 2}, number("q")),
        node("torch.ops.aten.view.default", {"self": "x", "size": sizes_of("p", 4, "q", 2)}, "y"),
    ]
    result = infer({"x": tensor(symbol("s1"), symbol("s2"))}, nodes, "y")
    assert [str(p).partition(",")[0] for p in result.contract.preconditions] == ["x_0 % 4 == 0", "x_1 % 2 == 0"]


def test_products_of_numbers_do_not_wrap() -> None:
    nodes = [
        size("x", 0, "h"),
        size("x", 1, "w"),
        node("_operator.mul", {"a": number("h"), "b": number("w")}, number("hw")),
        node("_operator.mul", {"a": number("hw"), "b": number("hw")}, number("n")),
        node("torch.ops.aten.new_zeros.default", {"self": "x", "size": sizes_of("n")}, "y"),
    ]
    result = infer({"x": tensor(symbol("s1"), symbol("s2"))}, nodes, "y")
    assert str(result.tensors["y"].shape) == "[x_0*x_0*x_1*x_1]"


# -- indices that data chooses -----------------------------------------------------------------------------------------

CHOSEN = {
    "nonzero": [
        node("torch.ops.aten.nonzero.default", {"self": "s"}, "p"),
        node("torch.ops.aten.squeeze.dim", {"self": "p", "dim": 1}, "i"),
    ],
    "argsort": [node("torch.ops.aten.argsort.default", {"self": "s"}, "i")],
    "topk": [node("torch.ops.aten.topk.default", {"self": "s", "k": 2}, "v", "i")],
    "max": [node("torch.ops.aten.max.dim", {"self": "s", "dim": 0, "keepdim": True}, "v", "i")],
    "argmax": [node("torch.ops.aten.argmax.default", {"self": "s", "dim": 0, "keepdim": True}, "i")],
    "searchsorted": [node("torch.ops.aten.searchsorted.Tensor", {"sorted_sequence": "t", "self": "s"}, "i")],
    "clamp": [
        node("torch.ops.aten.to.dtype", {"self": "s", "dtype": {"as_scalar_type": 5}}, "j"),
        node("torch.ops.aten.clamp.default", {"self": "j", "min": 0, "max": 7}, "i"),
    ],
    "quotient": [
        node("torch.ops.aten.argsort.default", {"self": "s"}, "j"),
        node("torch.ops.aten.floor_divide.default", {"self": "j", "other": 2}, "i"),
    ],
}


@pytest.mark.parametrize("kind", CHOSEN)
def test_indices_that_data_chooses(kind: str) -> None:
    """They lie inside an axis that is as large as the one that they were chosen from; else data decides."""
    nodes = [
        *CHOSEN[kind],
        node(
            "torch.ops.aten.index.Tensor",
            {"self": "d", "indices": {"as_optional_tensors": [{"as_tensor": {"name": "i"}}]}},
            "y",
        ),
    ]
    tensors = {"s": tensor(symbol("s1")), "d": tensor(symbol("s2"), 4), "t": tensor(symbol("s3"))}
    enough = {"searchsorted": 9, "quotient": 4}.get(kind, 8)
    answers = [verdict(tensors, nodes, "y", {"s": [8], "d": [rows, 4], "t": [8]}) for rows in (enough, enough - 1)]
    assert answers == [True, None]


@pytest.mark.parametrize(("batch", "runs"), [(2, True), (0, None)])
def test_transforms_of_empty_batches(batch: int, runs: bool | None) -> None:
    """torch 2.13 with MKL at [0, 8]: "Inconsistent configuration parameters"."""
    transform = node("torch.ops.aten.fft_rfft.default", {"self": "x", "dim": 1}, "y")
    assert verdict({"x": tensor(symbol("s1"), 8)}, [transform], "y", {"x": [batch, 8]}) is runs
