"""Which operands of `einsum` an autocast lowers: those of products that are sums over a common axis.

Torch contracts two operands at a time. A pair without an axis to be summed is multiplied element by element, which no
autocast lowers. Source: `einsum` in torch's `aten/src/ATen/native/Linear.cpp`, compared with torch 2.13.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from opdefs.rules.operands import is_unit

_LETTER = re.compile(r"\.\.\.|[A-Za-z]")
Sizes = Sequence[int | str | None] | None
"""The sizes of an operand as far as they are known: an axis of size 1 is like an absent one."""


class _Operand(NamedTuple):
    """A tensor of the contraction: its letters, and the operands that it is computed from by sums of products."""

    letters: frozenset[str]
    sources: frozenset[int]


def lowered_operands(equation: str, path: Sequence[int] | None = None, sizes: Sequence[Sizes] = ()) -> frozenset[int]:
    """The numbers of the operands that are lowered; `path` has the pairs in the order of their contraction.

    >>> [sorted(lowered_operands(text)) for text in ("ij,jk->ik", "i,i", "ij,kl->ijkl", "ij->i")]
    [[0, 1], [0, 1], [], []]
    >>> sorted(lowered_operands("ij,jk,il->il")), sorted(lowered_operands("ij,il,jk->il", [0, 2, 0, 1]))
    ([0, 1], [0, 2])
    """
    written, arrow, result = equation.replace(" ", "").partition("->")
    listed = [_LETTER.findall(text) for text in written.split(",")]
    names = Counter(letter for letters in listed for letter in letters)
    output = set(_LETTER.findall(result)) if arrow else {x for x, n in names.items() if n < 2 or x == "..."}
    operands = [
        _Operand(frozenset(_long_axes(letters, sizes[at] if at < len(sizes) else None)), frozenset((at,)))
        for at, letters in enumerate(listed)
    ]
    counts = Counter(letter for operand in operands for letter in operand.letters)
    remaining = iter(path or ())
    lowered: frozenset[int] = frozenset()
    while len(operands) > 1:
        first, second = sorted((next(remaining, 0), next(remaining, 1)))
        if not 0 <= first < second < len(operands):
            break
        pair = operands[first], operands[second]
        del operands[second], operands[first]
        common = pair[0].letters & pair[1].letters - output
        counts.subtract(common)
        summed = {letter for letter in common if counts[letter] < 2}
        single = {letter for letter in pair[0].letters ^ pair[1].letters if counts[letter] < 2} - output
        sources = pair[0].sources | pair[1].sources
        lowered |= sources if summed else frozenset()
        product = _Operand((pair[0].letters | pair[1].letters) - summed - single, sources)
        operands.insert(len(operands) if path else 0, product)
    return lowered


def _long_axes(letters: Sequence[str], sizes: Sizes) -> set[str]:
    """The letters of an operand without those of axes of size 1."""
    if sizes is None or len(sizes) != len(letters) or "..." in letters:
        return set(letters)
    return {
        letter for letter, size in zip(letters, sizes, strict=True) if not (isinstance(size, int) and is_unit(size))
    }
