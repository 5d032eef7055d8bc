"""Generated programs of torch.export: runs of torch must not contradict inference or the contract.

`SHAPEINF_TORCH_PROGRAMS` is how many programs are drawn, or a range of their seeds: `200:400`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

import pytest

from shapeinf import infer_shapes
from tests.differential.torch_export.case import REGISTRY, Case, Counts, problems
from tests.differential.torch_export.record import read
from tests.formats.torch_export.programs import graph, node, number, program, tensor

_FIRST, _, _END = f":{os.environ.get('SHAPEINF_TORCH_PROGRAMS', '1000')}".rpartition(":")
SEEDS = range(int(_FIRST.removeprefix(":") or 0), int(_END))


def check(cases: Iterable[Case]) -> Counts:
    counts = Counts()
    found = [text for case in cases for text in problems(case, counts)]
    assert not found, "\n".join(found)
    return counts


def test_recorded_programs() -> None:
    counts = check(read())
    assert counts.exact > counts.tensors // 2 and counts.yes and counts.no, counts


@pytest.mark.slow
def test_drawn_programs() -> None:
    pytest.importorskip("torch", reason="torch is the oracle of this test")
    from tests.differential.torch_export.running import draw_cases

    counts = check(draw_cases(SEEDS))
    assert counts.runs > 5 * len(SEEDS), counts


def test_more_parts_than_names() -> None:
    """`x.split(2)[:4]` of 12 rows: torch takes the first four of six parts, and the file has names for four."""
    names = ["a", "b", "c", "d"]
    parts = {"as_tensors": [{"name": name} for name in names]}
    top = graph(["x"], [node("torch.ops.aten.split.Tensor", {"self": "x", "split_size": 2}, parts)], names)
    top["tensor_values"] = {"x": tensor(8), **{name: tensor(2) for name in names}}
    result = infer_shapes(json.dumps(program(top)).encode(), inputs={"x": [12]}, registry=REGISTRY)
    assert result.contract.check().verdict is not False


@pytest.mark.parametrize(("rows", "legal"), [(20, True), (21, False)])
def test_positions_lie_inside_of_their_table(rows: int, legal: bool) -> None:
    """torch 2.13 at 21: "index out of range in self"."""
    nodes = [
        node("torch.ops.aten.sym_size.int", {"self": "x", "dim": 0}, number("n")),
        node("torch.ops.aten.arange.start_step", {"start": 0, "end": number("n")}, "i"),
        node("torch.ops.aten.embedding.default", {"weight": "w", "indices": "i"}, "y"),
    ]
    assert verdict(nodes, {"x": [rows], "w": [20, 8]}, "y") is legal


@pytest.mark.parametrize(
    ("overload", "size", "legal"),
    [
        ("adaptive_avg_pool2d", 1, True),  # a mean
        ("adaptive_avg_pool2d", 2, False),
        ("_adaptive_avg_pool2d", 1, False),
    ],
)
def test_pools_of_empty_axes(overload: str, size: int, legal: bool) -> None:
    """torch 2.13 at [1, 4, 3, 0]."""
    pool = node(f"torch.ops.aten.{overload}.default", {"self": "x", "output_size": [size, size]}, "y")
    assert verdict([pool], {"x": [1, 4, 3, 0]}, "y") is legal


def verdict(nodes: list[Any], shapes: dict[str, list[int]], output: str) -> bool | None:
    top = graph(list(shapes), nodes, [output])
    top["tensor_values"] = {name: tensor(*shape) for name, shape in shapes.items()}
    return infer_shapes(json.dumps(program(top)).encode(), registry=REGISTRY).contract.check().verdict
