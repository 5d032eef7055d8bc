"""Bounds and sizes past 2**53, where a float is no longer exact, and past 2**63, where a machine word ends.

A compiled build that put one of them into a C double or a C long would infer a wrong size.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest

from shapeinf import infer_shapes
from shapeinf.errors import Contradiction, Source
from shapeinf.expr import DimSize, Interval, Scope, ceildiv, evaluate, interval, maximum, minimum
from shapeinf.lattice import ShapeStore

SIZES = [2**53 - 1, 2**53 + 1, 2**54 + 3, 2**61 - 1, 2**62 + 1, 2**63 - 1, 2**63 + 1, 2**64 + 3, 2**80 + 7]
SOURCE = Source("node", "required")

# The bounds of each are its least and its largest value.
OPERATIONS: dict[str, Callable[[DimSize], DimSize]] = {
    "-x": lambda x: -x,
    "3*x - 2": lambda x: 3 * x - 2,
    "x//3": lambda x: x // 3,
    "ceildiv(x, 2)": lambda x: ceildiv(x, 2) + 1,
    "1 + 5*x//3": lambda x: 1 + x * 5 // 3,
    "5 - 2*(x//2)": lambda x: 5 - 2 * (x // 2),
    "x - x//2": lambda x: x - x // 2,
    "max(x, 2**53 + 2)": lambda x: maximum(x, 2**53 + 2),
    "max(2*x - 5, x + 1)": lambda x: maximum(2 * x - 5, x + 1),
    "1 - min(x, 2**63 + 2)": lambda x: 1 - minimum(x, 2**63 + 2),
    "x*x + 1": lambda x: x * x + 1,
    "x*x - x": lambda x: x * x - x,
    "x - 2**53 - 1": lambda x: x - 2**53 - 1,
    "2**140//x": lambda x: 2**140 // x,
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("text", OPERATIONS)
def test_bounds_are_exact(text: str, size: int) -> None:
    operation = OPERATIONS[text]
    values = [operator.index(operation(n)) for n in range(size, size + 3)]
    store = ShapeStore(Scope())
    declared, narrowed = store.scope.symbol("x", size, size + 2), store.scope.symbol("y")
    store.add_range(narrowed, size, size + 2, SOURCE)
    assert [evaluate(operation(declared), {"x": n}) for n in range(size, size + 3)] == values
    for bounds in (interval(operation(declared)), store.interval(operation(narrowed))):
        assert bounds == Interval(min(values), max(values))
        assert {type(bounds.lo), type(bounds.hi)} == {int}


@pytest.mark.parametrize("size", SIZES)
def test_the_join_is_exact(size: int) -> None:
    store = ShapeStore(Scope())
    assert store.interval(store.relaxer.dim(size, size + 1, "site")) == Interval(size, size + 1)


@pytest.mark.parametrize("size", SIZES)
def test_minimum_and_maximum_separate_neighbors(size: int) -> None:
    x = Scope().symbol("x", size, size + 1)
    assert maximum(x, size) is x
    assert maximum(x, size + 1) == size + 1
    assert minimum(x, size) == size
    assert minimum(x, size + 1) is x


@pytest.mark.parametrize("size", SIZES)
def test_constraints_separate_neighbors(size: int) -> None:
    scope = Scope()
    x, y = scope.symbol("x", 1), scope.symbol("y", 1)
    store = ShapeStore(scope)
    store.add_range(x, 1, size, SOURCE)
    assert store.prove_le(x, size) is True
    assert store.prove_le(x, size - 1) is None
    with pytest.raises(Contradiction, match=str(size + 1)):
        store.add_range(x, size + 1, None, SOURCE)
    store.add_range(x, size, None, SOURCE)
    assert store.canon(x) == size
    store.add_equal(3 * y, 3 * size + 3, SOURCE)
    assert store.canon(y) == size + 1
    with pytest.raises(Contradiction):
        store.add_equal(x + y, 2 * size, SOURCE)
    assert operator.index(store.canon(x + y)) == 2 * size + 1


@pytest.mark.parametrize("size", SIZES)
def test_divisibility_is_exact(size: int) -> None:
    store = ShapeStore(Scope())
    x = store.scope.symbol("x", size, size + 3)
    store.add_divisible(x, 4, SOURCE)
    assert store.canon(x) == (size + 3) // 4 * 4


@pytest.mark.parametrize("size", [n for n in SIZES if 2 * n + 1 < 2**63])
def test_sizes_of_tensors_are_exact(size: int) -> None:
    import networkx as nx

    graph = nx.DiGraph(dialect="onnx", opsets={"": 17}, inputs={"a": [size, 2], "b": [size + 1, 2]}, outputs=["c"])
    graph.add_node("join", op="Concat", inputs=["a", "b"], outputs=["c"], attrs={"axis": 0})
    assert str(infer_shapes(graph).tensors["c"].shape) == f"[{2 * size + 1}, 2]"
