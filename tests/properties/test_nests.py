"""Nests of maxima and minima: equal functions are one object, and none is wrong; numpy computes their values.

A nest of symbols, numbers, and symbols with a number added has one form. Nests of other sums may have several, since
parts such as `n`, `2*n` and `n + m` have relations of more than two: `min(2*n, 5)` is at most `n + 3` for all `n`.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pytest

from shapeinf.expr import DimSize, Scope, evaluate, interval, maximum, minimum, parse_dim
from shapeinf.expr.extremum import expand_maximum

NAMES = ("n", "m", "k")
Sizes = dict[str, np.ndarray]
Nest = tuple[DimSize, bytes]
"""A dim, and its values at all sizes of a box as numpy computes them."""


def box(symbols: int, low: int, high: int) -> Sizes:
    """All combinations of sizes, as flat arrays."""
    axes = np.meshgrid(*[np.arange(low, high + 1)] * symbols, indexing="ij")
    return {name: axis.ravel() for name, axis in zip(NAMES, axes, strict=False)}


def forms(nests: Iterable[Nest]) -> list[set[DimSize]]:
    """The forms of each function."""
    table: dict[bytes, set[DimSize]] = {}
    for dim, values in nests:
        table.setdefault(values, set()).add(dim)
    return list(table.values())


def texts(several: Iterable[set[DimSize]]) -> list[list[str]]:
    return [sorted(map(str, dims)) for dims in several if len(dims) > 1]


def assert_right(nests: Iterable[Nest], sizes: Sizes, read_back: bool = True) -> None:
    """Each dim has its values, which lie within its bounds, and reads back from its text as the same object."""
    for dim, data in nests:
        values = np.frombuffer(data, dtype=np.int64)
        assert np.array_equal(np.broadcast_to(evaluate(dim, sizes), values.shape), values), str(dim)
        assert int(values.min()) in interval(dim)
        assert int(values.max()) in interval(dim)
        assert not read_back or isinstance(dim, int) or parse_dim(str(dim), dim.scope) is dim


def combine(left: Iterable[Nest], right: Iterable[Nest]) -> list[Nest]:
    """All maxima and minima of two nests, each pair of dim and values once."""
    nests: dict[Nest, None] = {}
    for (a, v), (b, w) in itertools.product(left, right):
        first, second = np.frombuffer(v, dtype=np.int64), np.frombuffer(w, dtype=np.int64)
        nests[maximum(a, b), np.maximum(first, second).tobytes()] = None
        nests[minimum(a, b), np.minimum(first, second).tobytes()] = None
    return list(nests)


@pytest.mark.parametrize(("symbols", "functions"), [(1, 13), (2, 83)])
def test_each_function_has_one_form(symbols: int, functions: int) -> None:
    """All nests of nests of pairs, over the symbols and three numbers."""
    sizes = box(symbols, 1, 25)
    scope = Scope()
    count = len(sizes["n"])
    simple: list[Nest] = [(scope.symbol(name), values.tobytes()) for name, values in sizes.items()]
    simple += [(number, np.full(count, number).tobytes()) for number in (2, 5, 11)]
    pairs = [*simple, *combine(simple, simple)]
    nests = combine(combine(pairs, pairs), simple)
    found = forms(nests)
    assert texts(found) == []
    assert len(found) == functions
    assert_right(nests, sizes)


Build = Callable[[Sequence[DimSize]], DimSize]
Values = Callable[[Sequence[np.ndarray]], np.ndarray]


def random_nest(draw: random.Random, symbols: int, depth: int, operations: Sequence[str]) -> tuple[Build, Values]:
    """A nest as a function of dims, and of arrays."""
    if depth == 0 or draw.random() < 0.2:
        index, number = draw.randrange(symbols), draw.randint(-2, 8)
        if draw.random() < 0.55:
            return (lambda dims: dims[index]), (lambda arrays: arrays[index])
        return (lambda _: number), (lambda arrays: np.full_like(arrays[0], number))
    operation, shift = draw.choice(operations), draw.randint(-2, 3)
    dim, values = random_nest(draw, symbols, depth - 1, operations)
    if operation == "shift":
        return (lambda dims: dim(dims) + shift), (lambda arrays: values(arrays) + shift)
    other, others = random_nest(draw, symbols, depth - 1, operations)
    if operation == "sum":
        return (lambda dims: dim(dims) + other(dims)), (lambda arrays: values(arrays) + others(arrays))
    if operation == "max":
        return (lambda dims: maximum(dim(dims), other(dims))), (lambda a: np.maximum(values(a), others(a)))
    return (lambda dims: minimum(dim(dims), other(dims))), (lambda a: np.minimum(values(a), others(a)))


def random_nests(
    count: int, symbols: int, low: int | None, operations: Sequence[str], read_back: bool = True
) -> list[Nest]:
    """Nests of 2 to 5 levels, each of them right; the box contains all sizes at which one of them may bend."""
    draw = random.Random(29)
    sizes = box(symbols, -36 if low is None else low, 40)
    scope = Scope()
    dims = [scope.symbol(name, low) for name in sizes]
    nests: list[Nest] = []
    for _ in range(count):
        build, values = random_nest(draw, symbols, draw.randint(2, 5), operations)
        nests.append((build(dims), values(list(sizes.values())).tobytes()))
    assert_right(dict.fromkeys(nests), sizes, read_back)
    return nests


SHIFTED = ("max", "min", "max", "min", "shift")
FAMILIES = {
    "one symbol": (1, 1, SHIFTED),
    "two symbols": (2, 1, ("max", "min")),
    "two symbols with numbers added": (2, 1, SHIFTED),
    "symbols of any sign": (2, None, SHIFTED),
    "three symbols": (3, 1, SHIFTED),
}
COUNTS = [100, pytest.param(2000, marks=pytest.mark.slow)]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("count", COUNTS)
def test_random_nests_have_one_form(family: str, count: int) -> None:
    assert texts(forms(random_nests(count, *FAMILIES[family]))) == []


@pytest.mark.parametrize("symbols", [1, 2])
@pytest.mark.slow
def test_few_nests_with_sums_in_them_have_several_forms(symbols: int) -> None:
    found = forms(random_nests(2000, symbols, 1, (*SHIFTED, "sum"), read_back=False))
    assert len(texts(found)) <= len(found) // 20


EQUAL: list[tuple[str, str, Callable[[int, int, int], int]]] = [
    ("max(min(n, 11), 2)", "min(max(n, 2), 11)", lambda n, m, k: max(min(n, 11), 2)),
    ("max(n + 9, max(n, 11)) - 9", "max(n, 2)", lambda n, m, k: max(n + 9, max(n, 11)) - 9),
    ("max(2*max(n, 4), 3)", "2*max(n, 4)", lambda n, m, k: max(2 * max(n, 4), 3)),
    ("max(2*max(n, m), k)", "max(2*n, 2*m, k)", lambda n, m, k: max(2 * max(n, m), k)),
    ("max(k - 3*max(n, m), 0)", "max(min(k - 3*n, k - 3*m), 0)", lambda n, m, k: max(k - 3 * max(n, m), 0)),
    ("2*min(n, 4)", "min(2*n, 8)", lambda n, m, k: 2 * min(n, 4)),
    ("max(min(n, m), k)", "min(max(n, k), max(m, k))", lambda n, m, k: max(min(n, m), k)),
    (
        "max(min(n, m), min(m, k), min(k, n))",
        "min(max(n, m), max(m, k), max(k, n))",
        lambda n, m, k: sorted((n, m, k))[1],
    ),
    ("n - max(min(n, 11), 2)", "max(min(n - 2, 0), n - 11)", lambda n, m, k: n - max(min(n, 11), 2)),
    ("min(n + m, 11) - n", "min(m, 11 - n)", lambda n, m, k: min(m, 11 - n)),
    ("max(max(n, m) + max(m, k), 0)", "max(n, m) + max(m, k)", lambda n, m, k: max(n, m) + max(m, k)),
]


@pytest.mark.parametrize(("left", "right", "value"), EQUAL)
def test_equal_means_identical(left: str, right: str, value: Callable[[int, int, int], int]) -> None:
    scope = Scope()
    a, b = parse_dim(left, scope), parse_dim(right, scope)
    assert a is b
    for sizes in itertools.product((1, 2, 3, 5, 8, 13), repeat=3):
        assert evaluate(a, dict(zip(NAMES, sizes, strict=True))) == value(*sizes)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("max(n, m) + k", ["n + k", "m + k"]),
        ("2*max(n, m) + 1", ["2*n + 1", "2*m + 1"]),
        ("min(n, m)", ["min(n, m)"]),
        ("max(min(n, 11), 2)", ["min(n, 11)", "2"]),
        ("max(n, m) + max(m, k)", ["max(n, m) + max(m, k)"]),
        ("n + 1", ["n + 1"]),
    ],
)
def test_a_maximum_is_that_of_its_parts(text: str, parts: list[str]) -> None:
    scope = Scope()
    for name in NAMES:
        scope.symbol(name)
    assert set(expand_maximum(parse_dim(text, scope))) == {parse_dim(part, scope) for part in parts}
