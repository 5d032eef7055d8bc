"""Sizes that data decides have the bounds that torch knows, in live programs and in files; torch is the oracle."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from shapeinf import Result, infer_shapes

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

FINITE = 2**62


def checked_number(x: Any) -> Any:
    count = x[0, 0].abs().long().item()
    torch._check(count >= 2)
    torch._check(count <= 10)
    return torch.zeros(count), torch.ones(2 * count + 1)


def checked_count(x: Any) -> Any:
    chosen = torch.nonzero(x)
    torch._check(chosen.shape[0] > 3)
    torch._check(chosen.shape[0] < 20)
    return chosen * 2


def equal_counts(x: Any) -> Any:
    chosen, listed = x[x > 0], x.flatten().nonzero()
    torch._check(chosen.shape[0] == listed.shape[0])
    return chosen + listed[:, 0]


def branches(x: Any) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x[:2].clone(), lambda x: x[:4].clone(), (x,))


FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda x: torch.masked_select(x, x[:1] > 0),
    lambda x: (torch.nonzero(x), torch.argwhere(x), torch.where(x > 0)),
    lambda x: (x[x > 0], x[x[:, 0] > 0], x[:, x[0] > 0], x[x[:, 0] > 0, 0]),
    lambda x: (torch.unique(x, return_inverse=True, return_counts=True), torch.unique(x, dim=0)),
    lambda x: (torch.unique_consecutive(x, return_counts=True), torch.unique_consecutive(x, dim=1)),
    lambda x: torch.repeat_interleave(x, (x[:, 0] > 0).long(), dim=0),
    lambda x: torch.bincount(x.flatten().abs().long(), minlength=5),
    lambda x: (lambda y: y[y > 1])(x[x > 0]),
    lambda x: x[x > 0].topk(2).values,
    lambda x: torch.cat([x[x > 0], x[x <= 0]]),
    lambda x: torch.zeros(max(0, min(x.abs().long().max().item(), 7))),
    lambda x: torch.split(x, x[:2, 0].abs().long().tolist()),
    checked_number,
    checked_count,
    equal_counts,
    branches,
]


def results(program: Any) -> Iterator[tuple[str, Any]]:
    """The tensors that the nodes of a program compute, with what torch knows of them."""
    for node in program.graph.nodes:
        value = node.meta.get("val")
        if node.op == "call_function" and isinstance(value, torch.Tensor):
            yield node.name, value


def bounds(size: Any) -> tuple[int | None, int | None]:
    """What torch knows of a size; None for no bound."""
    if isinstance(size, int):
        return size, size
    known = size.node.shape_env.bound_sympy(size.node.expr)
    return tuple(int(end) if end.is_finite and abs(end) < FINITE else None for end in (known.lower, known.upper))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("free", [False, True])
def test_a_size_has_the_bounds_of_torch(function: Callable[[Any], Any], free: bool) -> None:
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return function(x)

    axes = {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO} if free else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(Model(), (torch.ones(6, 4),), dynamic_shapes=(axes,) if axes else None)
    file = io.BytesIO()
    torch.export.save(program, file)
    for model in (program, file.getvalue()):
        result = infer_shapes(model, inputs={"x": {0: "2..", 1: "2.."}} if free else None)  # as torch assumes
        assert list(looser_sizes(result, program)) == []


def looser_sizes(result: Result, program: Any) -> Iterator[str]:
    """The sizes of which torch knows more than the result."""
    for name, value in results(program):
        dims = result.tensors[name].shape.dims
        assert dims is not None and len(dims) == value.dim(), name
        for wanted, dim in zip(value.shape, dims, strict=True):
            (low, high), own = bounds(wanted), result.interval(dim)
            too_low = low is not None and (own.lo is None or own.lo < low)
            if too_low or (high is not None and (own.hi is None or own.hi > high)):
                yield f"{name}: torch has {low}..{high}, the result {own}"


TEXT = """7767517
4 4
pnnx.Input  a 0 1 x #x=(6,4)f32
pnnx.Input  b 0 1 m #m=(6,4)bool
{operator} n {inputs} y
pnnx.Output o 1 0 y
"""
RAW = [
    ("aten::nonzero", "1 1 x", 24),
    ("aten::argwhere", "1 1 x", 24),
    ("aten::masked_select", "2 1 x m", 24),
    ("torch.masked_select", "2 1 x m", 24),
    ("Tensor.index", "2 1 x m", 24),
]
"""Calls of a PNNX network with an input of 24 elements, and the most that torch counts."""


@pytest.mark.parametrize(("operator", "inputs", "most"), RAW)
def test_a_count_in_a_pnnx_network_has_bounds(operator: str, inputs: str, most: int) -> None:
    result = infer_shapes(TEXT.format(operator=operator, inputs=inputs))
    count = result.tensors["y"].shape[0]
    own = result.interval(count)
    assert (own.lo, own.hi) == (0, most)
