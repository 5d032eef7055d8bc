"""Views that torch refuses for the strides of their operand."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest

from opdefs.torch.dialect import torch as dialect
from shapeinf import infer_shapes
from shapeinf.ops import OpRegistry
from tests.formats.torch_export.programs import graph, node, program, symbol, tensor

REGISTRY = OpRegistry(dialect)
OVERLOADS = {
    "permute": "permute.default",
    "transpose": "transpose.int",
    "slice": "slice.Tensor",
    "select": "select.int",
    "unsqueeze": "unsqueeze.default",
    "relu": "relu.default",
    "clone": "clone.default",
    "narrow": "narrow.default",
    "expand": "expand.default",
}
CONTIGUOUS = {"as_memory_format": 1}
Calls = list[tuple[str, dict[str, Any]]]

SWAP: Calls = [("transpose", {"dim0": 1, "dim1": 2})]
HEADS: Calls = [("permute", {"dims": [2, 0, 3, 1, 4]})]
FIRST: Calls = [("select", {"dim": 1, "index": 0})]
PART: Calls = [("slice", {"dim": 2, "start": 0, "end": 3})]
EVERY: Calls = [("slice", {"dim": 0, "start": 0, "end": 9, "step": 2})]

TABLE = [
    ([2, 3, 4], SWAP, [2, 12], False),
    ([2, 3, 4], SWAP, [2, 4, 3, 1], True),
    ([2, 3, 4], SWAP, [2, 2, 2, 3], True),
    ([2, 1, 4], SWAP, [8], True),
    ([2, 3, 1], SWAP, [2, 3], True),
    ([2, 0, 4], SWAP, [0, 5], True),
    ([2, 3, 4], [*SWAP, *SWAP], [24], True),
    ([2, 3, 4], [*SWAP, ("relu", {})], [2, 12], False),
    ([2, 3, 4], [*SWAP, ("clone", {})], [2, 12], False),
    ([2, 3, 4], [*SWAP, ("clone", {"memory_format": CONTIGUOUS})], [2, 12], True),
    ([2, 3, 4, 5, 6], HEADS, [4, 2, 5, 18], False),
    ([2, 3, 4, 5, 6], HEADS, [2, 2, 2, 5, 3, 6], True),
    ([2, 3, 4], FIRST, [8], False),
    ([2, 3, 4], FIRST, [2, 2, 2], True),
    ([2, 3, 4], PART, [2, 9], False),
    ([2, 3, 4], PART, [6, 3], True),
    ([2, 3, 4], PART, [18], False),
    ([4, 3], EVERY, [6], False),
    ([4, 3], EVERY, [2, 3, 1], True),
    ([2, 3], [("unsqueeze", {"dim": 1})], [6], True),
    ([2, 3], [("unsqueeze", {"dim": 1}), *SWAP], [6], True),
]
"""Sizes of a tensor, calls, the sizes of a view of the result, and whether torch 2.13 has it."""
UNDECIDED = [
    ([3, 1, 6], FIRST, [18], True),  # torch: the axis that is removed has one element
    ([2, 3, 3], PART, [18], True),  # the slice is the tensor itself
]


def verdict(shape: list[Any], calls: Calls, size: list[int], **sizes: int) -> bool | None:
    """Whether the program of these calls and a view runs."""
    nodes, name = [], "x"
    for number, (call, arguments) in enumerate(calls):
        nodes.append(node(f"torch.ops.aten.{OVERLOADS[call]}", {"self": name, **arguments}, f"v{number}"))
        name = f"v{number}"
    nodes.append(node("torch.ops.aten.view.default", {"self": name, "size": size}, "y"))
    top = graph(["x"], nodes, ["y"], tensors={"x": tensor(*shape)})
    return infer_shapes(json.dumps(program(top)).encode(), registry=REGISTRY).contract.check(**sizes).verdict


@pytest.mark.parametrize(("shape", "calls", "size", "legal"), TABLE)
def test_a_view_is_legal_where_torch_copies_nothing(
    shape: list[int], calls: Calls, size: list[int], legal: bool
) -> None:
    """The module may have a reshape in place of the view, so that no view is certain to fail."""
    assert verdict(shape, calls, size) is (True if legal else None)


@pytest.mark.parametrize(("shape", "calls", "size", "legal"), UNDECIDED)
def test_a_size_that_is_not_known_leaves_a_view_open(
    shape: list[int], calls: Calls, size: list[int], legal: bool
) -> None:
    assert legal and verdict(shape, calls, size) is None


@pytest.mark.parametrize(("size", "legal"), [(1, True), (2, None)])
def test_a_view_at_sizes_of_a_dim(size: int, legal: bool | None) -> None:
    assert verdict([4, symbol("s0"), 3], SWAP, [-1], x_1=size) is legal


def draw(source: random.Random) -> tuple[list[int], Calls]:
    """Sizes, and calls that are legal for their rank."""
    rank = source.randint(1, 4)
    shape, calls = [source.choice((1, 2, 3, 4, 6)) for _ in range(rank)], []
    for _ in range(source.randint(1, 3)):
        kind = source.choice(("permute", "transpose", "slice", "select", "unsqueeze", "relu", "narrow"))
        axis = source.randrange(-rank, rank)
        arguments: dict[str, Any] = {
            "permute": {"dims": source.sample(range(rank), rank)},
            "transpose": {"dim0": axis, "dim1": source.randrange(-rank, rank)},
            "slice": {"dim": axis, "start": 0, "end": source.choice((1, 2, 3, 9)), "step": source.choice((1, 1, 2))},
            "select": {"dim": axis, "index": 0},
            "unsqueeze": {"dim": source.randrange(-rank - 1, rank + 1)},
            "narrow": {"dim": axis, "start": 0, "length": 1},
        }.get(kind, {})
        if kind == "select" and rank == 1:
            continue
        calls.append((kind, arguments))
        rank += {"select": -1, "unsqueeze": 1}.get(kind, 0)
    return shape, calls


def join_and_split(source: random.Random, dims: list[int]) -> list[int]:
    """Sizes of as many elements: some axes are joined and some split."""
    sizes: list[int] = []
    while dims:
        count = source.randint(1, len(dims))
        joined, dims = math.prod(dims[:count]), dims[count:]
        parts = [d for d in range(1, joined + 1) if joined % d == 0]
        part = source.choice((1, 1, source.choice(parts)))
        sizes += [part, joined // part] if part > 1 else [joined]
    return sizes


@pytest.mark.parametrize("seed", range(4))
def test_drawn_views_are_those_of_torch(seed: int) -> None:
    torch = pytest.importorskip("torch", reason="torch is the oracle of this test")
    source = random.Random(seed)
    accepted = 0
    for _ in range(30):
        shape, calls = draw(source)
        x = torch.zeros(shape)
        for call, arguments in calls:
            x = _call(torch, call)(x, **arguments)
        size = join_and_split(source, list(x.shape))
        inferred = verdict(shape, calls, size)
        accepted += inferred is True
        assert inferred in (True, None) and (inferred is None or _has_view(x, size)), (shape, calls, size)
    assert accepted > 10


def _call(torch: Any, name: str) -> Any:
    packet, _, overload = OVERLOADS[name].partition(".")
    return getattr(getattr(torch.ops.aten, packet), overload)


def _has_view(x: Any, size: list[int]) -> bool:
    try:
        x.view(size)
    except RuntimeError:
        return False
    return True
