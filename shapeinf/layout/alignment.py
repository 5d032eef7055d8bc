"""The dims that a reshape does not modify, and the layout with which it is a bitcast."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import attrs

from shapeinf.constraints import ConstraintStore
from shapeinf.errors import LayoutError
from shapeinf.expr import DimSize
from shapeinf.layout.array_type import ArrayType, product
from shapeinf.layout.bitcast import reshape_is_bitcast
from shapeinf.layout.counting import is_empty
from shapeinf.layout.edits import drop_degenerate_dims
from shapeinf.layout.layout import Layout
from shapeinf.layout.proofs import Proofs

Cut = tuple[int, int]
"""(i, j): the source's dims before i have as many elements as the target's dims before j."""


def dims_unmodified_by_reshape(
    source: ArrayType, target: ArrayType, store: ConstraintStore | None = None
) -> list[tuple[int, int]]:
    """The pairs of source and target dims that a reshape does not modify; symbolic ones only where proved.

    >>> dims_unmodified_by_reshape(ArrayType("f32", (4, 1, 3, 5)), ArrayType("f32", (2, 6, 1, 5)))
    [(3, 3)]
    """
    _check_reshape(source, target, store)
    proofs = Proofs(store, (*source.sizes, *target.sizes))
    cuts = _cuts(source.sizes, target.sizes, proofs)
    return [(i, j) for (i, j), after in pairwise(cuts) if after == (i + 1, j + 1)]


def align_layouts(source: ArrayType, target: ArrayType, store: ConstraintStore | None = None) -> ArrayType | None:
    """The target with the layout that makes its reshape from the source a bitcast; its own layout is ignored.

    None where no layout does, or, for tiles and symbolic dims, where none is proved to. Dims of size 1 become the most
    major ones.

    >>> align_layouts(ArrayType("f32", (3, 8, 5), Layout((2, 1, 0))), ArrayType("f32", (4, 6, 5)))
    f32[4,6,5]{2,1,0}
    """
    _check_reshape(source, target, store)
    if source.layout.tiles:
        return None
    proofs = Proofs(store, (*source.sizes, *target.sizes))
    if is_empty(source, store):
        order: list[int] | None = list(Layout.descending(target.rank).minor_to_major)
    else:
        proper_dims = [d for d, size in enumerate(target.sizes) if not proofs.equal(size, 1)]
        compact = drop_degenerate_dims(source, store)
        order = _align(compact, [target.sizes[d] for d in proper_dims], proofs)
        if order is not None:
            order = [proper_dims[d] for d in order] + [d for d in reversed(range(target.rank)) if d not in proper_dims]
    if order is None:
        return None
    aligned = ArrayType(
        target.dtype, target.dims, attrs.evolve(source.layout, minor_to_major=order, splits=()), target.dynamic
    )
    return aligned if reshape_is_bitcast(source, aligned, ignore_dtype=True, store=store) else None


def _align(source: ArrayType, target: Sequence[DimSize], proofs: Proofs) -> list[int] | None:
    """The target's dims, minor to major: for each group of source dims, in their order, the dims it becomes."""
    cuts = _cuts(source.sizes, target, proofs)
    groups = {}
    for (i, j), (next_i, next_j) in pairwise(cuts):
        if i == next_i:
            return None  # a size that may be 1: its position in memory is not determined
        groups[next_i - 1] = (range(i, next_i), range(j, next_j))
    order: list[int] = []
    minor = 0
    minor_to_major = source.layout.minor_to_major
    while minor < source.rank:
        if minor_to_major[minor] not in groups:
            return None
        source_dims, target_dims = groups[minor_to_major[minor]]
        if minor_to_major[minor : minor + len(source_dims)] != tuple(reversed(source_dims)):
            return None
        order += reversed(target_dims)
        minor += len(source_dims)
    return order


def _check_reshape(source: ArrayType, target: ArrayType, store: ConstraintStore | None) -> None:
    proofs = Proofs(store, (*source.sizes, *target.sizes))
    if proofs.equal(source.elements, target.elements) is False:
        raise LayoutError(f"{source} and {target} differ in their number of elements: not a reshape")


def _cuts(source: Sequence[DimSize], target: Sequence[DimSize], proofs: Proofs) -> list[Cut]:
    """All cuts in order; equal dims are paired, dims of size 1 stand alone."""
    cuts: list[Cut] = [(0, 0)]
    end = (len(source), len(target))
    while cuts[-1] != end:
        i, j = cuts[-1]
        if i < end[0] and j < end[1] and proofs.equal(source[i], target[j]):
            cuts.append((i + 1, j + 1))
        elif i < end[0] and proofs.equal(source[i], 1):
            cuts.append((i + 1, j))
        elif j < end[1] and proofs.equal(target[j], 1):
            cuts.append((i, j + 1))
        else:
            cuts.append(_next_cut(source, target, cuts[-1], proofs))
    return cuts


def _next_cut(source: Sequence[DimSize], target: Sequence[DimSize], cut: Cut, proofs: Proofs) -> Cut:
    """The next cut after this one; the end where there is none."""
    i, j = cut
    if not any(proofs.equal(size, 0) for size in (*source, *target)):
        for a in range(i + 1, len(source) + 1):
            for b in range(j + 1, len(target) + 1):
                if proofs.equal(product(source[i:a]), product(target[j:b])):
                    return a, b
    return len(source), len(target)
