"""One policy of depth: what operators build nests no deeper than what files may declare, and no query recurses deeper.

Every query runs with few frames of Python's stack left, as where a framework or a notebook calls it.
"""

import contextlib
import itertools
import sys

import pytest

from shapeinf import ShapeInferenceError, infer_shapes
from shapeinf.engine.type_table import unknown_type
from shapeinf.errors import NotKnown
from shapeinf.expr import Dimension, Scope, maximum
from shapeinf.expr.dimension import MAX_DEPTH, depth_of
from shapeinf.expr.evaluation import evaluate, simplify_maxima, substitute
from shapeinf.expr.printing import format_dim
from shapeinf.lattice import MAX_TYPE_DEPTH, HandleType, MapType, OptionalType, SequenceType, Shape, map_dims
from tests.limits.child import QUERIES
from tests.limits.hostile import nested_types, tower

FRAMES = 600
"""The frames of Python's stack that a query has, of 1,000 by default."""

STEPS = {
    "floor": lambda d, n: (3 * d + n) // 2,
    "floor by a symbol": lambda d, n: (d + 1) // n,
    "maximum": lambda d, n: maximum(2 * d, 3 * n + 1),
    "minimum": lambda d, n: -maximum(-2 * d, -3 * n - 1),
    "product": lambda d, n: (d * n + 1) // 5,
}
"""A dim one level deeper."""

TOWERS = {
    "divisions": ("Add", "Div"),
    "maxima": ("Max", "Div"),
    "differences": ("Sub", "Div"),
    "products": ("Mul", "Div", "Add"),
    "minima and maxima": ("Min", "Max", "Div"),
}


class FewFrames:
    """A context in which only some frames of the stack are left."""

    def __enter__(self):
        self.before = sys.getrecursionlimit()
        depth = next(i for i in itertools.count() if not _has_frame(i))
        sys.setrecursionlimit(depth + FRAMES)

    def __exit__(self, *_):
        sys.setrecursionlimit(self.before)


def _has_frame(number):
    try:
        sys._getframe(number)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("names", [*((name,) for name in STEPS), ("floor", "maximum"), ("product", "minimum")])
def test_expressions_are_at_most_so_deep_and_every_walk_ends(names):
    scope = Scope()
    n = scope.symbol("n")
    d, deepest = scope.symbol("m"), 0
    with FewFrames():
        for level in range(2 * MAX_DEPTH):
            d = STEPS[names[level % len(names)]](d, n)
            deepest = max(deepest, depth_of(d))
            assert isinstance(d, Dimension)
            format_dim(d)
            substitute(d, {n: n + 1})
            simplify_maxima(d, lambda _: False)
            evaluate(d, {symbol.name: 7 for symbol in d.symbols()})
    assert deepest <= MAX_DEPTH


@pytest.mark.parametrize("name", TOWERS)
def test_every_query_of_a_tower_ends(name):
    result = infer_shapes(tower(*TOWERS[name], levels=100))
    for query in QUERIES.values():
        with FewFrames(), contextlib.suppress(ShapeInferenceError):
            query(result)


CONSTRUCTORS = {
    "sequence": SequenceType,
    "items": lambda inner: SequenceType(inner, items=(inner, inner)),
    "optional": OptionalType,
    "map": lambda inner: MapType("int64", inner),
    "handle": lambda inner: HandleType("variant", Shape(()), (inner,)),
}


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_types_nest_as_deep_as_in_files(name):
    nested = unknown_type()
    for _ in range(MAX_TYPE_DEPTH):
        nested = CONSTRUCTORS[name](nested)
    assert nested == nested
    if name != "items":  # as a tree, shared items are too many to walk
        repr(nested), hash(nested), map_dims(nested, lambda d: d)
    with pytest.raises(NotKnown, match=f"deeper than {MAX_TYPE_DEPTH}"):
        CONSTRUCTORS[name](nested)


@pytest.mark.parametrize("operators", [("Optional",), ("Optional", "SequenceConstruct"), ("SequenceConstruct",)])
def test_every_query_of_nested_types_ends(operators):
    result = infer_shapes(nested_types(*operators, levels=200))
    notes = [note.message for note in result.diagnostics]
    if operators == ("Optional",):
        assert any("types nest deeper than 32" in note for note in notes)
    for query in QUERIES.values():
        with FewFrames(), contextlib.suppress(ShapeInferenceError, IndexError):  # some need the name of a dim
            query(result)
