"""Elements in other places: gathers along an axis, reversed parts, triangles, diagonals, repeated and chosen slices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from opdefs.rules.contents.constants import zero_of
from opdefs.rules.contents.elements import Array, Elements, element_array, is_listable, move_elements
from shapeinf.lattice import Element, PartialTensor, Shape


def index_array(indices: PartialTensor, known: Sequence[int]) -> Array:
    """Known indices as an array of the shape of their tensor."""
    import numpy as np

    return np.array(known, dtype=np.int64).reshape([d for d in indices.shape if isinstance(d, int)])


def take_along_axis(x: PartialTensor, index: Array, axis: int, shape: Shape) -> PartialTensor:
    """The element at each index of an axis, `shape`; other axes may be shorter than those of the data."""

    def take(array: Elements) -> Elements:
        import numpy as np

        part = array[tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(index.shape))]
        return np.take_along_axis(part, index, axis)

    return move_elements(x, shape, take)


def take_batches(x: PartialTensor, index: Array, axis: int, batch: int, shape: Shape) -> PartialTensor:
    """[*B, *P, n, *Q] data, [*B, *I] indices of the axis of n -> [*B, *P, *I, *Q], for `batch` axes B."""

    def take(array: Elements) -> Elements:
        import numpy as np

        lead = array.shape[:batch]
        parts = [array[at].take(index[at], axis=axis - batch) for at in np.ndindex(*lead)]
        return np.array(parts, dtype=object)

    return move_elements(x, shape, take) if 0 not in shape else move_elements(x, shape, lambda array: array[:0])


def pick_batches(x: PartialTensor, index: Array, batch: int, shape: Shape) -> PartialTensor:
    """[*B, *D] data, [*B, *I, k] indices -> [*B, *I, *D[k:]], for `batch` axes B."""

    def pick(array: Elements) -> Elements:
        import numpy as np

        lead = array.shape[:batch]
        parts = [array[at][tuple(np.moveaxis(index[at], -1, 0))] for at in np.ndindex(*lead)]
        return np.array(parts, dtype=object)

    return move_elements(x, shape, pick) if 0 not in shape else move_elements(x, shape, lambda array: array[:0])


def reverse_parts(x: PartialTensor, lengths: Sequence[int], batch_axis: int, axis: int) -> PartialTensor:
    """The tensor with the first elements of an axis reversed: of each slice along the batch axis as many as stated."""

    def reverse(array: Elements) -> Elements:
        import numpy as np

        result = array.copy()
        rows = np.moveaxis(result, (batch_axis, axis), (0, 1))  # a view
        for row, length in zip(rows, lengths, strict=True):
            row[:length] = row[:length][::-1].copy()
        return result

    return move_elements(x, x.shape, reverse)


def keep_band(x: PartialTensor, lower: int | None, upper: int | None) -> PartialTensor:
    """The matrices with zeros outside the diagonals -lower..upper; None: all diagonals on that side."""
    zero = zero_of(x.dtype)
    if zero is None:
        return PartialTensor(x.dtype, x.shape, None)

    if x.elements is None or not is_listable(x.shape):
        return x.rearranged(x.shape)
    rows, columns = (d for d in x.shape.require()[-2:] if isinstance(d, int))
    offsets = [column - row for row in range(rows) for column in range(columns)]
    inside = [(lower is None or d >= -lower) and (upper is None or d <= upper) for d in offsets]
    elements = [e if keep else zero for e, keep in zip(x.elements, cycle(inside), strict=False)]
    return PartialTensor(x.dtype, x.shape, elements)


def diagonal_matrix(x: PartialTensor, shape: Shape, offset: int = 0, padding: Element = None) -> PartialTensor:
    """[*B, n] -> [*B, M, N], the `shape`: the elements on one diagonal, `padding` (by default zeros) elsewhere."""
    fill = zero_of(x.dtype) if padding is None else padding
    if fill is None:
        return PartialTensor(x.dtype, shape, None)

    def fill_diagonal(array: Elements) -> Elements:
        import numpy as np

        sizes = [d for d in shape if isinstance(d, int)]
        result = np.full(sizes, fill, dtype=object)
        steps = np.arange(array.shape[-1])
        result[..., steps + max(-offset, 0), steps + max(offset, 0)] = array
        return result

    return move_elements(x, shape, fill_diagonal)


def diagonal_part(x: PartialTensor, shape: Shape, offset: int = 0) -> PartialTensor:
    """[*B, M, N] -> [*B, n], the `shape`: one diagonal of each matrix."""

    def take(array: Elements) -> Elements:
        import numpy as np

        return np.diagonal(array, offset, -2, -1)

    return move_elements(x, shape, take)


def replace_diagonal(x: PartialTensor, diagonal: PartialTensor, shape: Shape, offset: int = 0) -> PartialTensor:
    """[*B, M, N] matrices, the `shape`, with the elements [*B, n] on one diagonal."""
    new = element_array(diagonal)
    if new is None:
        return PartialTensor(x.dtype, shape, None)

    def fill_diagonal(array: Elements) -> Elements:
        import numpy as np

        result = array.copy()
        steps = np.arange(new.shape[-1])
        result[..., steps + max(-offset, 0), steps + max(offset, 0)] = new
        return result

    return move_elements(x, shape, fill_diagonal)


def repeat_slices(x: PartialTensor, counts: Sequence[int], axis: int | None, shape: Shape) -> PartialTensor:
    """Each slice along an axis, or each element, repeated: as often as its count states, or all by one count."""

    def repeat(array: Elements) -> Elements:
        import numpy as np

        return np.repeat(array, counts if len(counts) != 1 else counts[0], axis)

    return move_elements(x, shape, repeat)


def choose_slices(x: PartialTensor, positions: Sequence[int], axis: int | None, shape: Shape) -> PartialTensor:
    """The slices at known positions of an axis, or without one the elements of the flattened tensor."""
    index = list(positions)
    return move_elements(x, shape, lambda array: (array.reshape(-1) if axis is None else array).take(index, axis or 0))


def roll_elements(x: PartialTensor, shifts: Sequence[int], axes: Sequence[int]) -> PartialTensor:
    """The elements shifted in a circle along axes, each of which may be named several times."""

    def roll(array: Elements) -> Elements:
        import numpy as np

        for shift, axis in zip(shifts, axes, strict=True):
            array = np.roll(array, shift, axis)
        return array

    return move_elements(x, x.shape, roll)


def identity_matrix(dtype: str | None, shape: Shape, offset: int, unit: Element, zero: Element) -> PartialTensor:
    """[M, N] with ones on a diagonal, zeros elsewhere."""
    if not is_listable(shape) or unit is None or zero is None:
        return PartialTensor(dtype, shape, None)
    rows, columns = (int(d) for d in shape if isinstance(d, int))
    return PartialTensor(dtype, shape, [unit if j - i == offset else zero for i in range(rows) for j in range(columns)])
