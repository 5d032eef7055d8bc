"""The contents of memory: the elements of an array at the positions of its layout, and the classic padded layout."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from shapeinf.constraints import ConstraintStore
from shapeinf.errors import LayoutError, LimitError
from shapeinf.expr import Dimension, DimSize
from shapeinf.layout.array_type import ArrayType
from shapeinf.layout.indexing import check_index, linear_index, multi_index, unchecked_linear_index
from shapeinf.layout.layout import Layout, permutation
from shapeinf.layout.proofs import Proofs
from shapeinf.layout.sizes import physical_elements

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MAX_PLACED = 1 << 28
"""Limit on the elements of memory that is laid out."""

MAX_PLACED_RANK = 32
"""Limit on the dims of arrays that are laid out, that of some versions of numpy."""


def lay_out(values: npt.ArrayLike, layout: Layout, padding_value: Any = 0) -> npt.NDArray[Any]:
    """The memory of an array as one dim, padding filled; elements of any numpy type, packed ones unpacked.

    >>> lay_out([[1, 2, 3], [4, 5, 6]], Layout((0, 1))).tolist()
    [1, 4, 2, 5, 3, 6]
    """
    import numpy as np  # which takes long to import

    array = np.asarray(values)
    array_type = ArrayType("pred", array.shape, layout)
    memory = _fill(array, (physical_elements(array_type),), padding_value)
    memory[linear_indices(array_type).reshape(-1)] = array.reshape(-1)
    return memory


def take_out(memory: npt.ArrayLike, dims: Iterable[int], layout: Layout) -> npt.NDArray[Any]:
    """The array of these dims with this memory, the inverse of `lay_out`.

    >>> take_out([1, 4, 2, 5, 3, 6], (2, 3), Layout((0, 1))).tolist()
    [[1, 2, 3], [4, 5, 6]]
    """
    import numpy as np

    array_type = ArrayType("pred", dims, layout)
    elements, room = np.asarray(memory), physical_elements(array_type)
    if elements.shape != (room,):
        raise LayoutError(f"the memory of this array has {room} elements in one dim, not the shape {elements.shape}")
    array: npt.NDArray[Any] = elements[linear_indices(array_type)]
    return array


def linear_indices(array: ArrayType) -> npt.NDArray[np.int64]:
    """The linear index in memory of every element, as an array of the same dims.

    >>> linear_indices(ArrayType("f32", (2, 3), Layout((0, 1)))).tolist()
    [[0, 2, 4], [1, 3, 5]]
    """
    import numpy as np

    _check_room(physical_elements(array))
    if array.rank > MAX_PLACED_RANK:
        raise LimitError(f"memory of {array.rank} dims is not laid out: at most {MAX_PLACED_RANK}")
    sizes = [size for size in array.sizes if isinstance(size, int)]
    if len(sizes) != array.rank:
        raise LayoutError(f"{array} has symbolic dims: the linear indices of its elements cannot be listed")
    grid = np.indices(sizes, dtype=np.int64, sparse=True)
    return np.asarray(np.broadcast_to(unchecked_linear_index(array, grid), sizes), dtype=np.int64)


def _minor_to_major(dims: Iterable[int]) -> tuple[int, ...]:
    return permutation(dims, "minor_to_major")


def _dims(dims: Iterable[DimSize]) -> tuple[DimSize, ...]:
    return tuple(dims)


@attrs.frozen
class PaddedLayout:
    """The classic padded layout: each dim is padded at its end, then stored from minor to major.

    XLA once had `padded_dimensions` and `padding_value`; tiles and tail padding replaced them. Padded dims may be
    symbolic for sizes, not for `lay_out`.

    Args:
        minor_to_major: the dims, the one whose neighbors are adjacent in memory first.
        padded_dimensions: the size of each dim with its padding.
        padding_value: the contents of the padding.

    >>> layout = PaddedLayout((0, 1), (3, 5), padding_value="0")
    >>> "".join(layout.lay_out([list("abc"), list("def")]))
    'ad0be0cf0000000'
    """

    minor_to_major: tuple[int, ...] = attrs.field(converter=_minor_to_major)
    padded_dimensions: tuple[DimSize, ...] = attrs.field(converter=_dims)
    padding_value: Any = 0

    def __attrs_post_init__(self) -> None:
        """Require one padded size for each dim."""
        permutation(self.minor_to_major, "minor_to_major", len(self.padded_dimensions))

    def padded(self, array: ArrayType, store: ConstraintStore | None = None) -> ArrayType:
        """The array with its padding as part of its dims: its size in memory, its strides and its offsets.

        The layout that the array has is not used. LayoutError where a padded size is certainly less than the dim.

        >>> PaddedLayout((0, 1), (3, 5)).padded(ArrayType("f32", (2, 3)))
        f32[3,5]{0,1}
        """
        if array.rank != len(self.padded_dimensions):
            raise LayoutError(f"{array} has {array.rank} dims, but {len(self.padded_dimensions)} are padded")
        proofs = Proofs(store, (*array.sizes, *self.padded_dimensions))
        for d, (size, padded) in enumerate(zip(array.sizes, self.padded_dimensions, strict=True)):
            if proofs.less_equal(size, padded) is False:
                raise LayoutError(f"dim {d} of {array} is {size}, but its padded size is {padded}")
        return ArrayType(array.dtype, self.padded_dimensions, Layout(self.minor_to_major))

    def linear_index(self, array: ArrayType, index: Sequence[DimSize], store: ConstraintStore | None = None) -> DimSize:
        """The linear index in memory, counted in elements with padding, of the element of an array at an index.

        Index and sizes may be symbolic; LayoutError where the index is certainly outside of the array without padding.

        >>> PaddedLayout((0, 1), (3, 5)).linear_index(ArrayType("f32", (2, 3)), (1, 2))
        7
        """
        return linear_index(self.padded(array, store), check_index(array, index, store), store)

    def multi_index(
        self, array: ArrayType, linear: DimSize, store: ConstraintStore | None = None
    ) -> tuple[DimSize, ...] | None:
        """The index of the element of an array at a linear index in memory; None for padding.

        LayoutError where the linear index is certainly outside of the memory. On symbolic sizes, a position that may be
        padding is taken to hold an element.

        >>> layout, array = PaddedLayout((0, 1), (3, 5)), ArrayType("f32", (2, 3))
        >>> layout.multi_index(array, 7), layout.multi_index(array, 8)
        ((1, 2), None)
        """
        index = multi_index(self.padded(array, store), linear, store)
        assert index is not None, "the padding is part of the dims"
        proofs = Proofs(store, (*array.sizes, *index))
        inside = not any(proofs.less_equal(size, along) for size, along in zip(array.sizes, index, strict=True))
        return index if inside else None

    def pad(self, values: npt.ArrayLike) -> npt.NDArray[Any]:
        """The array with its padding, before it is laid out.

        >>> PaddedLayout((1, 0), (2, 3)).pad([[1], [2]]).tolist()
        [[1, 0, 0], [2, 0, 0]]
        """
        import numpy as np

        array = np.asarray(values)
        array_type = self.padded(ArrayType("pred", array.shape))
        padded = _fill(array, array_type.sizes, self.padding_value)
        padded[tuple(slice(size) for size in array.shape)] = array
        return padded

    def lay_out(self, values: npt.ArrayLike) -> npt.NDArray[Any]:
        """The memory of an array as one dim, padding filled."""
        return lay_out(self.pad(values), Layout(self.minor_to_major))


def _fill(array: npt.NDArray[Any], dims: tuple[DimSize, ...], value: Any) -> npt.NDArray[Any]:
    """An array of these dims filled with the value, of a type that holds it and the elements of `array`."""
    import numpy as np

    sizes = [d for d in dims if isinstance(d, int)]
    if len(sizes) != len(dims):
        raise LayoutError(f"memory of symbolic size cannot be laid out: {', '.join(map(str, dims))}")
    room = 1
    for size in sizes:
        room *= size
    _check_room(room)
    dtype = np.result_type(array, np.asarray(value)) if array.dtype.kind in "US" else array.dtype
    try:
        filled = np.full(sizes, value, dtype=dtype)
        fits = dtype.kind not in "biu" or bool(np.asarray(value).astype(dtype) == value)
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits:
        raise LayoutError(f"the padding value {value!r} does not fit {dtype}")
    return filled


def _check_room(room: DimSize) -> None:
    if isinstance(room, Dimension):
        raise LayoutError(f"memory of symbolic size cannot be laid out: {room}")
    if room > MAX_PLACED:
        raise LimitError(f"memory of {room} elements is not laid out: at most {MAX_PLACED}")
