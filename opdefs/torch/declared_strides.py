"""The strides that a program declares for a tensor, as formulas of the sizes of the same tensor.

A program states sizes and strides in its own symbols. An inference has other sizes for them, so that each symbol is
computed from an axis: where `[n, m + 1]` has the strides `[2*m, 1]`, the first stride is twice the second size less 1.
A symbol that no axis decides, such as the size of an axis that was removed, is an unknown of the inference.
"""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.operands import is_unit
from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import Dimension, DimSize, Scope, parse_dim
from shapeinf.graph import DeclaredType
from shapeinf.ops import InferenceContext

UNKNOWN = 1 << 16
"""The number of the first unknown of a layout; those before it are axes."""
Factor = tuple[int, int, int]
"""`(axis, constant, divisor)`: the size of the axis less a constant, divided by the divisor without remainder.

A number of an axis from `UNKNOWN` on stands for an unknown.
"""
Formula = tuple[tuple[int, tuple[Factor, ...]], ...]
"""A sum of products: each a coefficient and its factors."""
Layout = tuple[tuple[Formula, ...], tuple[Formula, ...]]
"""The formulas of the sizes, by which an inference sees whether it has such sizes, and of the strides."""


def read_layout(declared: DeclaredType | None) -> Layout | None:
    """The declared layout of a tensor; None for a contiguous one, and where strides or sizes are not declared."""
    if declared is None or declared.dims is None or declared.strides is None:
        return None
    if len(declared.dims) != len(declared.strides):
        return None
    scope = Scope()
    sizes = [_parse(text, scope) for text in declared.dims]
    strides = [_parse(text, scope) for text in declared.strides]
    if _are_contiguous(sizes, strides):
        return None
    factors = _factors(sizes)
    return tuple([_formula(d, factors) for d in sizes]), tuple([_formula(d, factors) for d in strides])


def _parse(value: int | str | None, scope: Scope) -> DimSize:
    """A size or stride: an unknown where the program has no expression for it, or one that is too large.

    Torch computes strides with `max(1, size)`, which is the size where a tensor has elements.
    """
    if isinstance(value, int):
        return value
    try:
        return scope.fresh("stride") if value is None else parse_dim(value.replace("max(1, ", "("), scope)
    except ShapeInferenceError:
        return scope.fresh("stride")


def _are_contiguous(sizes: Sequence[DimSize], strides: Sequence[DimSize]) -> bool:
    number: DimSize = 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if stride != number and not is_unit(size):
            return False
        number *= size
    return True


def _factors(sizes: Sequence[DimSize]) -> dict[int, Factor]:
    """The factor that an atom of the expressions is, for each that decides alone the size of an axis."""
    factors: dict[int, Factor] = {}
    for axis, size in enumerate(sizes):
        if isinstance(size, Dimension):
            monomial, coefficient = size.leading_term
            if len(monomial) == 1 and size.without(monomial) == size.constant and coefficient > 0:
                factors.setdefault(monomial[0], (axis, size.constant, coefficient))
    return factors


def _formula(value: DimSize, factors: dict[int, Factor]) -> Formula:
    """The formula of an expression; an atom that has no factor becomes the next unknown."""
    if isinstance(value, int):
        return ((value, ()),)
    for atom in value.atom_numbers():
        factors.setdefault(atom, (UNKNOWN + len(factors), 0, 1))
    return tuple([(coefficient, tuple([factors[atom] for atom in monomial])) for monomial, coefficient in value.terms])


def apply_layout(c: InferenceContext, dims: Sequence[DimSize], layout: Layout) -> list[DimSize] | None:
    """The strides of a tensor of these sizes; None for sizes that are not as declared."""
    sizes, strides = layout
    if len(sizes) != len(dims):
        return None
    axes: dict[int, DimSize] = dict(enumerate(dims))
    for size, formula in zip(dims, sizes, strict=True):
        if not _has_unknowns(formula) and c.prove_eq(size, _evaluate(c, formula, axes)) is not True:
            return None
    return [_evaluate(c, formula, axes) for formula in strides]


def _has_unknowns(formula: Formula) -> bool:
    return any(axis >= UNKNOWN for _, factors in formula for axis, _, _ in factors)


def _evaluate(c: InferenceContext, formula: Formula, axes: dict[int, DimSize]) -> DimSize:
    """The value of a formula; `axes` has the sizes of axes and gets the unknowns."""
    total: DimSize = 0
    for coefficient, factors in formula:
        product: DimSize = coefficient
        for axis, constant, divisor in factors:
            if axis not in axes:
                axes[axis] = c.fresh("stride", 1)
            product *= (axes[axis] - constant) // divisor
        total += product
    return total
