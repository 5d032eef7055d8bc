"""Costs of contractions: matrix products, convolutions, einsum, and their quantized forms.

`weight` and `bias` are positions of inputs; a bias of None means that the operator has none.
"""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import CostContext, CostRule, OpCost


def contraction(c: CostContext, output: Shape | Sequence[DimSize], depth: DimSize, biased: bool = False) -> OpCost:
    """`depth` multiply-accumulates for each element of the output, and one addition if `biased`."""
    return OpCost(macs=c.product(depth, *output), operations=c.elements(output) if biased else 0)


def matmul(a: int = 0, b: int = 1, bias: int | None = None) -> CostRule:
    """`numpy.matmul` of inputs `a` and `b`."""

    def cost(c: CostContext) -> OpCost:
        first = c.input(a)
        c.input(b)
        return contraction(c, c.result, first[-1] if len(first) else 1, bias is not None and c.has_input(bias))

    return cost


def transposable_matmul(left: str, right: str, bias: int | None = None) -> CostRule:
    """A product of two matrices, which the attributes named `left` and `right` transpose."""

    def cost(c: CostContext) -> OpCost:
        a = c.input(0)
        depth = a[-2] if len(a) > 1 and c.integer(left) else a[-1]
        return contraction(c, c.result, depth, bias is not None and c.has_input(bias))

    return cost


def linear(weight: int = 1, bias: int | None = 2) -> CostRule:
    """[..., K] times a weight: K multiply-accumulates for each element of the output."""

    def cost(c: CostContext) -> OpCost:
        return contraction(c, c.result, c.input(0)[-1], bias is not None and c.has_input(bias))

    return cost


def convolution(weight: int = 1, bias: int | None = 2) -> CostRule:
    """A weight [M, C/groups, *K]: C/groups * K multiply-accumulates for each element of the output."""

    def cost(c: CostContext) -> OpCost:
        kernel = c.input(weight)[1:]
        return contraction(c, c.result, c.product(*kernel), bias is not None and c.has_input(bias))

    return cost


def transposed_convolution(weight: int = 1, bias: int | None = 2) -> CostRule:
    """A weight [C, M/groups, *K]: M/groups * K multiply-accumulates for each element of the input."""

    def cost(c: CostContext) -> OpCost:
        macs = c.product(*c.input(0), *c.input(weight)[1:])
        biased = bias is not None and c.has_input(bias)
        return OpCost(macs=macs, operations=c.elements(c.result) if biased else 0)

    return cost


def einsum(equation: str, operands: Sequence[Shape], c: CostContext) -> OpCost:
    """A single loop over all indices: `n - 1` multiply-accumulates for each combination of n operands.

    Of one operand, elements are summed or copied. An ellipsis stands for axes without an index. The sizes of indices in
    the output are those of the output, after broadcasting.
    """
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    texts = inputs.split(",")
    if len(texts) != len(operands):
        raise _mismatch()
    sizes: dict[str, DimSize] = {}
    for text, shape in zip(texts, operands, strict=True):
        for index, size in zip(_indices(text, len(shape)), shape, strict=True):
            if sizes.get(index, 1) == 1:
                sizes[index] = size
    result = c.result
    remaining = _indices(output if arrow else _implicit_output(inputs), len(result))
    if not sizes.keys() >= set(remaining):
        raise _mismatch()
    sizes.update(zip(remaining, result, strict=True))
    every, factors = c.product(*sizes.values()), len(operands) - 1
    if not sizes.keys() - set(remaining):  # nothing is summed
        return OpCost(operations=c.product(factors, every))
    return OpCost(macs=c.product(factors, every)) if factors else OpCost(operations=every)


def _mismatch() -> NotKnown:
    return NotKnown("the equation does not fit the operands")


def _indices(text: str, rank: int) -> list[str]:
    """The index of each axis; the axes of an ellipsis are numbered from the last one."""
    before, dots, after = text.partition("...")
    count = rank - len(before) - len(after)
    if count < 0 or (count and not dots):
        raise _mismatch()
    return [*before, *(f"...{count - i}" for i in range(count)), *after]


def _implicit_output(inputs: str) -> str:
    """The output of an equation without `->`: the ellipsis, then the indices that occur once, in order."""
    letters = inputs.replace(",", "").replace("...", "")
    return ("..." if "..." in inputs else "") + "".join(sorted(x for x in set(letters) if letters.count(x) == 1))
