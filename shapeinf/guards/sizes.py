"""Sizes at which guards are tried: near the example of a program, and around the numbers of guards and operators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from shapeinf.constraints.records import try_evaluate
from shapeinf.expr import Dimension, DimSize

FEW = (1, 2, 3, 4, 5, 7, 8, 16)
"""Sizes that are always tried."""
MOST = 1 << 16
"""Larger numbers of guards are not tried."""
SMALL = 64
"""Numbers up to this may be divisors: the multiples of each that follow other numbers are tried."""
PAIR = 9
"""The sizes of each of two axes that change at once."""

Sizes = Mapping[str, int]


class SizeChoices:
    """Sizes of all axes, most of which are those of the example.

    Args:
        declared: the size that the program declares for each axis, in symbols.
        example: the size of each axis in the example.
        constants: the numbers in guards and requirements; sizes around them are tried.
    """

    def __init__(self, declared: Mapping[str, DimSize], example: Sizes, constants: Iterable[int]) -> None:
        self.declared = declared
        self.example = dict(example)
        self.symbols = _symbol_values(declared, example)
        known = {n for n in constants if n < MOST}
        near = {n + step for n in known for step in (-1, 0, 1)}
        multiples = {(n // step + 1) * step for n in known for step in known if 1 < step <= SMALL}
        self._constants = sorted(near | multiples | set(FEW))

    def candidates(self, size: int | None) -> list[int]:
        """Sizes to try for an axis or symbol: first those near its example."""
        near = [] if size is None else [size + 1, size - 1, 2 * size, size // 2, 4 * size, size // 4, 3 * size]
        return list(dict.fromkeys(n for n in [*near, *self._constants] if n >= 1 and n != size))

    def of_symbols(self, names: Sequence[str]) -> Iterator[Sizes]:
        """Sizes at which one of these symbols changes, or with it another one; all axes are as the program declares."""
        known = [name for name in names if name in self.symbols]
        for name in known:
            for size in self.candidates(self.symbols[name]):
                yield from self._with_symbols({name: size})
        pairs = dict.fromkeys(tuple(sorted((name, other))) for name in known for other in self.symbols if other != name)
        for first, second in pairs:
            sizes = [self.candidates(self.symbols[name])[:PAIR] for name in (first, second)]
            for a, b in product(*sizes):
                yield from self._with_symbols({first: a, second: b})

    def of_axes(self, names: Sequence[str]) -> Iterator[Sizes]:
        """Sizes at which some of these axes change, each for itself, then all of the same example together."""
        for name in names:
            for size in self.candidates(self.example.get(name)):
                yield {**self.example, name: size}
        same = [[axis for axis in self.example if self.declared.get(axis) == self.declared.get(name)] for name in names]
        for axes in same:
            for size in self.candidates(self.example.get(axes[0])) if len(axes) > 1 else ():
                yield {**self.example, **dict.fromkeys(axes, size)}

    def _with_symbols(self, changed: Sizes) -> Iterator[Sizes]:
        values = {**self.symbols, **changed}
        sizes = {axis: try_evaluate(d, values) for axis, d in self.declared.items()}
        known = {axis: size for axis, size in sizes.items() if size is not None and size >= 0}
        if len(known) == len(sizes):
            yield known


def _symbol_values(declared: Mapping[str, DimSize], example: Sizes) -> dict[str, int]:
    """The value of each symbol in the example: of one that is an axis, and of one whose multiple is an axis."""
    values: dict[str, int] = {}
    for axis, d in declared.items():
        symbols = list(d.symbols()) if isinstance(d, Dimension) else []
        if len(symbols) == 1 and axis in example:
            name = symbols[0].name
            exact = [n for n in range(max(example[axis], 1) + 1) if try_evaluate(d, {name: n}) == example[axis]]
            values.setdefault(name, exact[0]) if exact else None
    return values
