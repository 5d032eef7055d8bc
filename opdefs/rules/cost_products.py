"""Costs of contractions: matrix products, convolutions, einsum, quantised forms of them."""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.errors import NotKnown
from shapeinf.expr import Dim
from shapeinf.lattice import Shape
from shapeinf.ops import CostContext, CostRule, OpCost


def contraction(c: CostContext, output: Shape | Sequence[Dim], depth: Dim, biased: bool = False) -> OpCost:
    """`depth` multiply-accumulates for each element of the output, and one addition where there is a bias."""
    return OpCost(macs=c.product(depth, *output), operations=c.elements(output) if biased else 0)


def matmul(a: int = 0, b: int = 1, bias: int | None = None) -> CostRule:
    """A product of matrices as numpy defines it; `a` and `b` are the positions of the operands."""

    def cost(c: CostContext) -> OpCost:
        left = c.input(a)
        c.input(b)
        return contraction(c, c.result, left[-1] if len(left) else 1, bias is not None and c.has_input(bias))

    return cost


def transposable_matmul(left: str, right: str, bias: int | None = None) -> CostRule:
    """A product of matrices; these attributes transpose its operands."""

    def cost(c: CostContext) -> OpCost:
        a = c.input(0)
        depth = a[-2] if len(a) > 1 and c.integer(left) else a[-1]
        return contraction(c, c.result, depth, bias is not None and c.has_input(bias))

    return cost


def linear(weight: int = 1, bias: int | None = 2) -> CostRule:
    """[..., K] by a weight: K multiply-accumulates for each element of the output."""

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
    """All indices at once: for each of their combinations as many multiply-accumulates as there are factors less one.

    One operand is a sum or a copy of its elements. An ellipsis stands for the axes that no index names.
    """
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    texts = inputs.split(",")
    if len(texts) != len(operands):
        raise NotKnown("the equation does not fit the operands")
    sizes: dict[str, Dim] = {}
    for text, shape in zip(texts, operands, strict=True):
        for index, size in zip(_indices(text, len(shape)), shape, strict=True):
            if sizes.get(index, 1) == 1:
                sizes[index] = size
    every = c.product(*sizes.values())
    if len(operands) > 1:
        summed = set(sizes) - set(_indices(output, None)) if arrow else _summed(texts, sizes)
        if not summed:
            return OpCost(operations=c.product(len(operands) - 1, every))
        return OpCost(macs=c.product(len(operands) - 1, every))
    summed = set(sizes) - set(_indices(output, None)) if arrow else _summed(texts, sizes)
    return OpCost(operations=every if any(len(index) == 1 for index in summed) else 0)


def _indices(text: str, rank: int | None) -> list[str]:
    """The index of each axis; those of an ellipsis are numbered from the last one."""
    before, dots, after = text.partition("...")
    if not dots:
        if rank is not None and rank != len(text):
            raise NotKnown("the equation does not fit the operands")
        return list(text)
    count = 64 if rank is None else rank - len(before) - len(after)
    if count < 0:
        raise NotKnown("the equation does not fit the operands")
    return [*before, *(f"...{count - i}" for i in range(count)), *after]


def _summed(texts: Sequence[str], sizes: dict[str, Dim]) -> set[str]:
    """The summed indices of an equation without an output: those that occur more than once."""
    every = "".join(text.replace("...", "") for text in texts)
    return {index for index in sizes if len(index) == 1 and every.count(index) > 1}
