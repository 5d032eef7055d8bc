"""Diagonals and bands of matrices, which may have leading axes."""

from __future__ import annotations

from opdefs.rules.contents.elements import known_ints
from opdefs.rules.contents.rearrangement import diagonal_matrix, diagonal_part, keep_band, replace_diagonal
from opdefs.tf.common import require_scalars
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize, maximum
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value


@tf("BatchMatrixBandPart", "MatrixBandPart", in_place=(0,))
def band_part(c: TensorFlowContext, input: Value, num_lower: Value, num_upper: Value) -> PartialTensor:
    """[*B, M, N], [], [] -> [*B, M, N]: zeros outside a band of diagonals; a negative number keeps that side."""
    limits = [known_ints(number) for number in (num_lower, num_upper)]
    if input.elements is None or not all(limits) or len(input.shape) < 2:
        return PartialTensor(input.dtype, input.shape, None)
    lower, upper = (number[0] if number and number[0] >= 0 else None for number in limits)
    return keep_band(input, lower, upper)


@tf("BatchMatrixDiag", "MatrixDiag")
def diagonal_matrices(c: TensorFlowContext, diagonal: Value) -> PartialTensor:
    """[*B, M] -> [*B, M, M]."""
    x = c.with_rank_at_least(diagonal.shape, 1)
    return diagonal_matrix(diagonal, c.concatenate(x, c.vector(c.dim(x, -1))))


@tf("BatchMatrixDiagPart", "MatrixDiagPart")
def main_diagonals(c: TensorFlowContext, input: Value) -> PartialTensor:
    """[*B, M, N] -> [*B, min(M, N)]."""
    x = c.with_rank_at_least(input.shape, 2)
    shape = c.concatenate(c.subshape(x, 0, -2), c.vector(c.min(c.dim(x, -2), c.dim(x, -1))))
    return diagonal_part(input, shape)


@tf("BatchMatrixSetDiag", "MatrixSetDiag", in_place=(0,))
def set_main_diagonals(c: TensorFlowContext, input: Value, diagonal: Value) -> PartialTensor:
    """[*B, M, N], main diagonals [*B, min(M, N)] -> [*B, M, N]."""
    return replace_diagonal(input, diagonal, _shape_with_diagonals(c, input.shape, diagonal.shape))


def _shape_with_diagonals(c: TensorFlowContext, input: Shape, diagonal: Shape) -> Shape:
    x, diagonal = c.with_rank_at_least(input, 2), c.with_rank_at_least(diagonal, 1)
    if x.dims is not None:
        diagonal = c.with_rank(diagonal, len(x) - 1)
    elif diagonal.dims is not None:
        x = c.with_rank(x, len(diagonal) + 1)
    else:
        return x
    c.merge(c.min(x[-2], x[-1]), diagonal[-1])
    lead = c.merge(c.subshape(x, 0, -2), c.subshape(diagonal, 0, -1))
    return c.concatenate(c.store.canon_shape(lead), c.subshape(x, -2))


# -- bands of diagonals: `k` is one diagonal, or the lowest and the highest -------------------------------------------


def _read_band(c: TensorFlowContext, k: PartialTensor) -> tuple[int, int] | None:
    """The lowest and the highest diagonal in `k`; None where they are unknown."""
    c.with_rank_at_most(k.shape, 1)
    known = known_ints(k)
    if known is None:
        return None
    if not 1 <= len(known) <= 2:
        raise ShapeError(f"diag_index must be a vector with one or two elements. It has {len(known)} elements.")
    if known[0] > known[-1]:
        raise ShapeError("lower_diag_index is greater than upper_diag_index")
    return known[0], known[-1]


def _longest(c: TensorFlowContext, rows: DimSize, columns: DimSize, band: tuple[int, int]) -> DimSize:
    """The length of the longest diagonal of a band."""
    lower, upper = band
    height = rows + upper if upper < 0 else rows
    width = columns - lower if lower > 0 else columns
    longest = c.min(height, width)
    return longest if c.prove_le(0, longest) is True else maximum(longest, 0)


def _count(band: tuple[int, int]) -> int:
    """The number of diagonals of a band."""
    return band[1] - band[0] + 1


def _check_band(c: TensorFlowContext, rows: DimSize, columns: DimSize, band: tuple[int, int]) -> None:
    """Require that no diagonal lies outside the matrix; diagonal 0 never does."""
    for name, index in zip(("lower", "upper"), band, strict=True):
        size, reach = (rows, -index) if index < 0 else (columns, index)
        if index and c.prove_le(size, reach) is True:
            raise ShapeError(f"{name}_diag_index is out of bound. It must be between {-rows} and {columns}.")
        if index:
            c.at_least(size, reach + 1, f"{name}_diag_index must be inside the matrix")


@tf("MatrixDiagPartV2", "MatrixDiagPartV3")
def diagonals(c: TensorFlowContext, input: Value, k: Value, padding_value: Shape) -> PartialTensor:
    """[*B, M, N], k -> [*B, L] for one diagonal, else [*B, count, L]; L is the length of the longest diagonal.

    Contents of one diagonal.
    """
    shape = _shape_of_diagonals(c, input.shape, k, padding_value)
    band = _read_band(c, k)
    if band is None or _count(band) > 1:
        return PartialTensor(input.dtype, shape, None)
    return diagonal_part(input, shape, band[0])


def _shape_of_diagonals(c: TensorFlowContext, input: Shape, k: PartialTensor, padding_value: Shape) -> Shape:
    c.with_rank(padding_value, 0)
    x, band = c.with_rank_at_least(input, 2), _read_band(c, k)
    if x.dims is None:
        return c.unknown_shape()
    rows, columns, lead = x[-2], x[-1], c.subshape(x, 0, -2)
    if band is None:
        if c.store.canon_shape(k.shape).dims not in ((), (1,)):
            return c.unknown_shape()
        smaller = c.min(rows, columns)
        return c.concatenate(lead, c.vector(c.fresh_at_most(smaller, "diagonal")))
    _check_band(c, rows, columns, band)
    length = _longest(c, rows, columns, band)
    return c.concatenate(lead, c.vector(length) if _count(band) == 1 else c.matrix(_count(band), length))


@tf("MatrixSetDiagV2", "MatrixSetDiagV3", in_place=(0,))
def set_diagonals(c: TensorFlowContext, input: Value, diagonal: Value, k: Value) -> PartialTensor:
    """[*B, M, N], diagonals [*B, L] or [*B, count, L], k -> [*B, M, N]; contents for one diagonal."""
    shape = _shape_with_band(c, input.shape, diagonal.shape, k)
    band = _read_band(c, k)
    if band is None or _count(band) > 1:
        return PartialTensor(input.dtype, shape, None)
    return replace_diagonal(input, diagonal, shape, band[0])


def _shape_with_band(c: TensorFlowContext, input: Shape, diagonal: Shape, k: PartialTensor) -> Shape:
    x, band = c.with_rank_at_least(input, 2), _read_band(c, k)
    diagonal = c.with_rank_at_least(diagonal, 1)
    if band is None:
        return x
    axes = 1 if _count(band) == 1 else 2
    if x.dims is not None:
        diagonal = c.with_rank(diagonal, len(x) - 2 + axes)
    elif diagonal.dims is not None:
        x = c.with_rank(x, len(c.with_rank_at_least(diagonal, axes)) + 2 - axes)
    else:
        return x
    _check_band(c, x[-2], x[-1], band)
    c.merge(diagonal[-1], _longest(c, x[-2], x[-1], band))
    if axes == 2:
        c.merge(diagonal[-2], _count(band))
    lead = c.merge(c.subshape(x, 0, -2), c.subshape(diagonal, 0, -axes))
    return c.concatenate(c.store.canon_shape(lead), c.subshape(x, -2))


@tf("MatrixDiagV2", "MatrixDiagV3")
def matrices_of_diagonals(
    c: TensorFlowContext, diagonal: Value, k: Value, num_rows: Value, num_cols: Value, padding_value: Value
) -> PartialTensor:
    """[*B, L] or [*B, count, L], k, num_rows [], num_cols [] -> [*B, num_rows, num_cols].

    A size of -1 is the smallest that fits; if both are -1, the matrices are square. Contents of one diagonal.
    """
    require_scalars(c, num_rows.shape, num_cols.shape, padding_value.shape)
    shape = _shape_of_matrices(c, diagonal.shape, k, num_rows, num_cols)
    band = _read_band(c, k)
    if band is None or _count(band) > 1 or not padding_value.elements:
        return PartialTensor(diagonal.dtype, shape, None)
    return diagonal_matrix(diagonal, shape, band[0], padding_value.elements[0])


def _shape_of_matrices(
    c: TensorFlowContext, diagonal: Shape, k: PartialTensor, num_rows: PartialTensor, num_cols: PartialTensor
) -> Shape:
    x, band = c.with_rank_at_least(diagonal, 1), _read_band(c, k)
    if x.dims is None:
        return c.unknown_shape()
    if band is None:
        single = c.store.canon_shape(k.shape).dims in ((), (1,))
        return c.concatenate(c.subshape(x, 0, -1), c.matrix(None, None)) if single else c.unknown_shape()
    axes = 1 if _count(band) == 1 else 2
    x = c.with_rank_at_least(x, axes)
    if axes == 2:
        c.merge(x.require()[-2], _count(band), "the number of diagonals must be that of diag_index")
    least_rows, least_columns = x.require()[-1] - min(band[1], 0), x.require()[-1] + max(band[0], 0)
    sizes = [known_ints(num_rows), known_ints(num_cols)]
    lead = c.subshape(x, 0, -axes)
    if sizes == [(-1,), (-1,)]:
        square = c.max(least_rows, least_columns)
        return c.concatenate(lead, c.matrix(square, square))
    requested = [None if known is None else known[0] for known in sizes]
    rows = _matrix_size(c, requested, least_rows, "num_rows")
    columns = _matrix_size(c, requested[::-1], least_columns, "num_cols")
    return c.concatenate(lead, c.matrix(rows, columns))


def _matrix_size(c: TensorFlowContext, requested: list[int | None], least: DimSize, name: str) -> DimSize:
    """A requested size, or for -1 the smallest that fits; an unknown where the request is.

    `requested` has the size of this axis, then that of the other one: if both are open, the matrices are square.
    """
    own, other = requested
    if own is None or (own == -1 and other is None):
        return c.fresh(name)
    if own == -1:
        return least
    c.at_most(least, own, f"{name} is too small for the diagonals")
    return own
