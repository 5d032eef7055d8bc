"""Predicates on the sizes of an array: empty, effectively scalar, degenerate dims."""

from __future__ import annotations

from shapeinf.constraints import ConstraintStore
from shapeinf.layout.array_type import ArrayType
from shapeinf.layout.proofs import Proofs, every, some


def true_rank(array: ArrayType, store: ConstraintStore | None = None) -> int | None:
    """The number of dims that are not 1; None where not decided.

    XLA's documentation counts dims larger than 1, its code and this function those that are not 1; a size of 0 differs.

    >>> true_rank(ArrayType("f32", (3, 0, 1)))
    2
    """
    sizes = array.sizes
    proofs = Proofs(store, sizes)
    answers = [proofs.differ(size, 1) for size in sizes]
    return None if None in answers else answers.count(True)


def is_empty(array: ArrayType, store: ConstraintStore | None = None) -> bool | None:
    """Whether it has no elements: always, never, or not decided.

    >>> is_empty(ArrayType("f32", (3, 0)))
    True
    """
    proofs = Proofs(store, array.sizes)
    return some(proofs.equal(size, 0) for size in array.sizes)


def is_effective_scalar(array: ArrayType, store: ConstraintStore | None = None) -> bool | None:
    """Whether all dims are 1: always, never, or not decided.

    >>> is_effective_scalar(ArrayType("f32", (1, 1)))
    True
    """
    proofs = Proofs(store, array.sizes)
    return every(proofs.equal(size, 1) for size in array.sizes)


def has_degenerate_dims(array: ArrayType, store: ConstraintStore | None = None) -> bool | None:
    """Whether some dim is 1: always, never, or not decided.

    >>> has_degenerate_dims(ArrayType("f32", (2, 1)))
    True
    """
    proofs = Proofs(store, array.sizes)
    return some(proofs.equal(size, 1) for size in array.sizes)
