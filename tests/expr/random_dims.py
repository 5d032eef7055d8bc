"""Random dims, each with its value in Python's ints."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping

from shapeinf.expr import DimSize, Scope, ceildiv, maximum, minimum

NAMES = ("h", "w", "batch", "seq_len")

Value = Callable[[Mapping[str, int]], int]
Term = tuple[DimSize, Value]


def random_dims(scope: Scope, seed: int) -> Iterator[Term]:
    """Dims of one to eight operations: sums, products, quotients, remainders, maxima, minima; numbers of both signs."""
    draw = random.Random(seed)
    while True:
        yield _dim(draw, scope, draw.randint(1, 8))


def random_sizes(seed: int, count: int) -> list[dict[str, int]]:
    """Sizes of the names, small ones more often."""
    draw = random.Random(seed)
    return [{name: draw.choice((draw.randint(1, 9), draw.randint(1, 1000))) for name in NAMES} for _ in range(count)]


def _dim(draw: random.Random, scope: Scope, operations: int) -> Term:
    if operations == 0:
        return _leaf(draw, scope)
    left = draw.randrange(operations)
    (a, f), (b, g) = _dim(draw, scope, left), _dim(draw, scope, operations - 1 - left)
    number = draw.randint(2, 9)
    choices: list[Callable[[], Term]] = [
        lambda: (a + b, lambda v: f(v) + g(v)),
        lambda: (a - b, lambda v: f(v) - g(v)),
        lambda: (a * b, lambda v: f(v) * g(v)),
        lambda: (a // number, lambda v: f(v) // number),
        lambda: (a % number, lambda v: f(v) % number),
        lambda: (ceildiv(a, number), lambda v: -(-f(v) // number)),
        lambda: (maximum(a, b), lambda v: max(f(v), g(v))),
        lambda: (minimum(a, b), lambda v: min(f(v), g(v))),
        lambda: (maximum(a, b, number), lambda v: max(f(v), g(v), number)),
        lambda: (a // maximum(b, 1), lambda v: f(v) // max(g(v), 1)),
        lambda: (a % maximum(b, 1), lambda v: f(v) % max(g(v), 1)),
    ]
    return draw.choice(choices)()


def _leaf(draw: random.Random, scope: Scope) -> Term:
    if draw.random() < 0.3:
        number = draw.randint(-9, 32)
        return number, lambda _: number
    name = draw.choice(NAMES)
    return scope.symbol(name), lambda v: v[name]
