"""Array types with dims permuted, inserted or deleted; memory does not change where possible."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from shapeinf.constraints import ConstraintStore
from shapeinf.expr import DimSize
from shapeinf.layout.array_type import ArrayType
from shapeinf.layout.layout import Layout, Split, integer, permutation
from shapeinf.layout.proofs import Proofs


def permute_dims(array: ArrayType, dims: Sequence[int]) -> ArrayType:
    """The array whose dim i is dim `dims[i]`, with the same memory: the transpose is a bitcast.

    >>> permute_dims(ArrayType("f32", (2, 3, 5)), (1, 2, 0))
    f32[3,5,2]{1,0,2}
    """
    order = permutation(dims, "the order of dims", array.rank)
    return _select(array, order)


def delete_dim(array: ArrayType, dim: int) -> ArrayType:
    """The array without a dim; the others keep their order in memory.

    >>> delete_dim(ArrayType("f32", (2, 3, 5), Layout((0, 2, 1))), 0)
    f32[3,5]{1,0}
    """
    gone = array.dimension_number(dim)
    return _select(array, [d for d in range(array.rank) if d != gone])


def drop_degenerate_dims(array: ArrayType, store: ConstraintStore | None = None) -> ArrayType:
    """The array without the dims that are 1, symbolic ones where constraints prove it.

    >>> drop_degenerate_dims(ArrayType("f32", (2, 1, 3)))
    f32[2,3]{1,0}
    """
    sizes = array.sizes
    proofs = Proofs(store, sizes)
    return _select(array, [d for d, size in enumerate(sizes) if not proofs.equal(size, 1)])


def insert_dim(
    array: ArrayType, index: int, size: DimSize | None, *, dynamic: bool = False, minor: bool = False
) -> ArrayType:
    """The array with a new dim before dim `index`, in memory the most major one, or with `minor` the most minor.

    This is XLA's InsertDimensionAtIndex, PrependMajorDimension (`index` 0) and AppendMinorDimension (at the end, with
    `minor`) in one.

    >>> insert_dim(ArrayType("f32", (10, 20, 30), Layout((0, 2, 1))), 1, 40)
    f32[10,40,20,30]{0,3,2,1}
    """
    at = integer(index, f"the index of a new dim of {array}", 0, array.rank)
    moved = [d + (d >= at) for d in array.layout.minor_to_major]
    splits = [attrs.evolve(s, dimension=s.dimension + (s.dimension >= at)) for s in array.layout.splits]
    layout = attrs.evolve(array.layout, minor_to_major=[at, *moved] if minor else [*moved, at], splits=splits)
    dims = (*array.dims[:at], size, *array.dims[at:])
    flags = (*array.dynamic[:at], dynamic or size is None, *array.dynamic[at:])
    return ArrayType(array.dtype, dims, layout, flags)


def move_dim_to_major(layout: Layout, dim: int) -> Layout:
    """The layout with this dim as the most major one; the others keep their order.

    >>> move_dim_to_major(Layout((2, 1, 0)), 1)
    {2,0,1}
    """
    moved = integer(dim, f"a dim of {layout}", -layout.rank, layout.rank - 1) % layout.rank
    rest = [d for d in layout.minor_to_major if d != moved]
    return attrs.evolve(layout, minor_to_major=[*rest, moved])


def descending(array: ArrayType) -> ArrayType:
    """The array of the same memory whose layout is row-major: its dims are in the order of memory.

    >>> descending(ArrayType("f32", (2, 3, 5), Layout((0, 2, 1))))
    f32[3,5,2]{2,1,0}
    """
    return permute_dims(array, array.layout.major_to_minor)


def _select(array: ArrayType, dims: Sequence[int]) -> ArrayType:
    """The array with these dims only, in this order."""
    position = {d: i for i, d in enumerate(dims)}
    layout = attrs.evolve(
        array.layout,
        minor_to_major=[position[d] for d in array.layout.minor_to_major if d in position],
        splits=[Split(position[s.dimension], s.indices) for s in array.layout.splits if s.dimension in position],
    )
    return ArrayType(array.dtype, [array.dims[d] for d in dims], layout, [array.dynamic[d] for d in dims])
