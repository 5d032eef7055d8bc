"""Temporaries of Einsum: operands are brought to one order of letters, then multiplied pair by pair.

The order of letters is that of their first occurrence, after the axes of an ellipsis. An operand has all letters as
axes, of size 1 where it lacks them. Every permutation that is not the identity is a copy, also of axes of size 1. Which
copies a pair needs depends on which sizes are 1, so that a symbolic size which may be 1 gives two cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from opdefs.onnxruntime.kernels import onnxruntime
from opdefs.rules.operands import is_unit
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize, maximum
from shapeinf.lattice import Shape
from shapeinf.memory.runtimes.kernels import KernelContext, Scratch

MAX_CASES = 5
"""The most symbolic sizes that may be 1: each doubles the cases."""


@onnxruntime.scratch("Einsum")
def einsum(c: KernelContext) -> Scratch:
    """The most bytes of copies and results before the output is written, and when it is."""
    equation = read_equation(c.text("equation"), [c.input(index) for index in range(len(c.types))])
    possible = sorted({str(d): d for d in equation.sizes.values() if _may_be_unit(c, d)}.items())
    if len(possible) > MAX_CASES:
        raise NotKnown("the temporaries depend on which of many symbolic sizes are 1")
    before, last = _cases(c, equation, [d for _, d in possible], frozenset())
    return Scratch([last], before_outputs=[before])


@attrs.frozen
class Equation:
    """The letters of each operand and of the output, all letters in order, and their sizes."""

    operands: tuple[str, ...]
    output: str
    letters: str
    sizes: Mapping[str, DimSize]


def read_equation(text: str, shapes: Sequence[Shape]) -> Equation:
    """The parts of an equation. Raises NotKnown for an axis that has another size in another operand."""
    left, arrow, right = text.replace(" ", "").partition("->")
    axes = [_named_axes(operand, shape) for operand, shape in zip(left.split(","), shapes, strict=True)]
    every = "".join(axes)
    broadcast = "".join(sorted({letter for letter in every if letter < " "}, reverse=True))
    letters = "".join(dict.fromkeys(broadcast + every))
    single = sorted(letter for letter in letters if every.count(letter) == 1 and letter not in broadcast)
    output = right.replace("...", broadcast) if arrow else broadcast + "".join(single)
    sizes: dict[str, DimSize] = {}
    for operand, shape in zip(axes, shapes, strict=True):
        for letter, size in zip(operand, shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                raise NotKnown("the temporaries of operands that broadcast were not measured")
    return Equation(tuple(axes), output, letters, sizes)


def _named_axes(operand: str, shape: Shape) -> str:
    """The letters of an operand, with one for each axis of an ellipsis: characters below the space, the last one 0."""
    before, dots, after = operand.partition("...")
    count = len(shape) - len(before) - len(after) if dots else 0
    return before + "".join(map(chr, range(count - 1, -1, -1))) + after


def _may_be_unit(c: KernelContext, size: DimSize) -> bool:
    return not isinstance(size, int) and c.store.prove_le(size, 1) is None


def _cases(
    c: KernelContext, equation: Equation, open_sizes: Sequence[DimSize], units: frozenset[DimSize]
) -> tuple[DimSize, DimSize]:
    """The two totals of `_Pairs`, with a choice for each size of which it is open whether it is 1."""
    if not open_sizes:
        pairs = _Pairs(c, equation, lambda size: is_unit(size) or size in units)
        return pairs.compute()
    unit, other = (_cases(c, equation, open_sizes[1:], units | extra) for extra in ({open_sizes[0]}, set()))
    first, second = (c.choose(open_sizes[0], 1, a, b) if a != b else a for a, b in zip(unit, other, strict=True))
    return first, second


@attrs.define
class _Operand:
    """A tensor on its way: its letters, and whether it is a temporary."""

    letters: frozenset[str]
    is_temporary: bool


@attrs.define
class _Pairs:
    """The run of the kernel, with the temporaries that live at each step."""

    c: KernelContext
    equation: Equation
    is_single: Callable[[DimSize], bool]
    prepared: list[DimSize] = attrs.Factory(list)
    """The copies of operands, but the first one, which stay to the end."""
    totals: list[DimSize] = attrs.Factory(list)
    """The total at each step before the output is allocated."""

    def compute(self) -> tuple[DimSize, DimSize]:
        """The most bytes before the output is allocated, and the bytes that live with it."""
        operands = [self._prepare(text, position) for position, text in enumerate(self.equation.operands)]
        current, carried = self._reduce_first(operands[0])
        order = self.equation.letters
        live = carried
        for position, other in enumerate(operands[1:], 1):
            live, current, order = self._pair(current, other, position, carried)
            is_last = position == len(operands) - 1
            ordered = "".join(letter for letter in order if letter in current.letters)
            expected = self.equation.output if is_last else self._in_order(current.letters)
            if ordered != expected:
                live = [*live, self._bytes(current.letters)]
            if not is_last:
                self._add(live)
                carried = [self._bytes(current.letters)]
        if len(operands) == 1 and self._in_order(current.letters) != self.equation.output:
            live = [*live, self._bytes(current.letters)]
        last = self.c.total(*self.prepared, *live)
        return maximum(last, *self.totals), last

    def _bytes(self, letters: frozenset[str]) -> DimSize:
        sizes = self.equation.sizes
        return self.c.product(self.c.width(0), *[sizes[letter] for letter in sorted(letters)])

    def _in_order(self, letters: frozenset[str]) -> str:
        return "".join(letter for letter in self.equation.letters if letter in letters)

    def _add(self, live: Sequence[DimSize]) -> None:
        self.totals.append(self.c.total(*self.prepared, *live))

    def _prepare(self, text: str, position: int) -> _Operand:
        """A copy of the diagonal, or of an operand with its letters in another order."""
        letters = frozenset(text)
        is_copied = text != self._in_order(letters)
        if is_copied and position:
            self.prepared.append(self._bytes(letters))
        return _Operand(letters, is_copied)

    def _reduced(self, position: int) -> frozenset[str]:
        """The letters that no later operand and not the output has."""
        rest = {*self.equation.output, *"".join(self.equation.operands[position + 1 :])}
        return frozenset("".join(self.equation.operands[: position + 1])) - rest

    def _reduce_first(self, operand: _Operand) -> tuple[_Operand, list[DimSize]]:
        """The first operand without the letters that only it has, and what it takes."""
        remaining = operand.letters - self._reduced(0)
        copy = [self._bytes(operand.letters)] if operand.is_temporary else []
        if remaining == operand.letters:
            return operand, copy
        self._add([*copy, self._bytes(remaining)])
        return _Operand(remaining, True), [self._bytes(remaining)]

    def _pair(
        self, left: _Operand, right: _Operand, position: int, carried: Sequence[DimSize]
    ) -> tuple[list[DimSize], _Operand, str]:
        """What lives after a product of two operands, the result, and the order of its letters."""
        has = [{a for a in side.letters if not self.is_single(self.equation.sizes[a])} for side in (left, right)]
        letters = self.equation.letters
        reduced = [a for a in letters if a in self._reduced(position) - self._reduced(position - 1)]
        others = [a for a in letters if a not in reduced]
        both = [a for a in others if a in has[0] and a in has[1]]
        left_only = [a for a in others if a in has[0] and a not in has[1]]
        right_only = [a for a in others if a not in has[0]]
        live = [*carried]
        for side, own, order in (
            (left, has[0] - has[1], [*both, *left_only, *reduced, *right_only]),
            (right, has[1] - has[0], [*both, *reduced, *right_only, *left_only]),
        ):
            live += self._copies(side, own, reduced, "".join(order), live)
        result = _Operand((left.letters | right.letters) - set(reduced), True)
        return [*live, self._bytes(result.letters)], result, "".join([*both, *left_only, *reduced, *right_only])

    def _copies(
        self, side: _Operand, alone: set[str], reduced: Sequence[str], order: str, live: Sequence[DimSize]
    ) -> list[DimSize]:
        """A copy without the summed letters that only this side has; one in another order takes its place."""
        letters = side.letters
        copies: list[DimSize] = []
        for letter in [letter for letter in reduced if letter in alone] + [""] * (order != self.equation.letters):
            letters -= {letter}
            self._add([*live, *copies, self._bytes(letters)])
            copies = [self._bytes(letters)]
        return copies
