"""Diagonals of matrices, and transforms of signals."""

from __future__ import annotations

from opdefs.rules.contents.elements import known_dims
from opdefs.rules.contents.rearrangement import diagonal_matrix, replace_diagonal
from opdefs.tf.context import TensorFlowContext
from opdefs.tflite.dialect import tflite
from opdefs.tflite.operands import drop_quantized, require_rank_between
from shapeinf.expr import DimSize, minimum
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value


@tflite("MATRIX_DIAG")
def matrix_diag(c: TensorFlowContext, diagonal: Value) -> PartialTensor:
    """[*B, n] -> [*B, n, n]."""
    dims = require_rank_between(c, diagonal.shape, 1, name="the diagonal")
    return diagonal_matrix(drop_quantized(diagonal), Shape((*dims, dims[-1])))


@tflite("MATRIX_SET_DIAG")
def matrix_set_diag(c: TensorFlowContext, x: Value, diagonal: Value) -> PartialTensor:
    """[*B, M, N], [*B, min(M, N)] -> [*B, M, N]."""
    shape = require_rank_between(c, x.shape, 2)
    if x.elements is None or diagonal.elements is None or list(diagonal.shape) != _diagonal_sizes(shape):
        return PartialTensor(x.dtype, shape, None)
    return replace_diagonal(x, diagonal, shape)


def _diagonal_sizes(matrices: Shape) -> list[DimSize]:
    *batch, rows, columns = matrices
    return [*batch, minimum(rows, columns)]


@tflite("RFFT2D")
def rfft2d(c: TensorFlowContext, x: Shape, lengths: Value) -> Shape:
    """[*B, H, W], lengths [2] -> [*B, height, width / 2 + 1]."""
    require_rank_between(c, x, 2)
    c.merge(c.require_rank(lengths.shape, 1, "fft_length")[0], 2, "fft_length must be two numbers")
    height, width = known_dims(lengths) or (None, None)
    for length in (height, width):
        if isinstance(length, int) and (length < 1 or length & (length - 1)):
            c.fail("each length must be a power of two", length)
    rows: DimSize = c.fresh("rows", 1) if height is None else height
    columns: DimSize = c.fresh("columns", 1) if width is None else width // 2 + 1
    return Shape((*x[:-2], rows, columns))
