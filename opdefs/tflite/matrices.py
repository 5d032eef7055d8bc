"""Diagonals of matrices, and transforms of signals."""

from __future__ import annotations

from opdefs.rules.contents.elements import known_dims
from opdefs.tf.context import TensorFlowContext
from opdefs.tflite.dialect import tflite
from opdefs.tflite.operands import ranked
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import Value


@tflite("MATRIX_DIAG")
def matrix_diag(c: TensorFlowContext, diagonal: Shape) -> Shape:
    """[*B, n] -> [*B, n, n]."""
    ranked(c, diagonal, 1, name="the diagonal")
    return Shape((*diagonal, diagonal[-1]))


@tflite("MATRIX_SET_DIAG")
def matrix_set_diag(c: TensorFlowContext, x: Shape, diagonal: Shape) -> Shape:
    """[*B, M, N], [*B, min(M, N)] -> [*B, M, N]."""
    return ranked(c, x, 2)


@tflite("RFFT2D")
def rfft2d(c: TensorFlowContext, x: Shape, lengths: Value) -> Shape:
    """[*B, H, W], lengths [2] -> [*B, height, width / 2 + 1]."""
    ranked(c, x, 2)
    c.merge(c.require_rank(lengths.shape, 1, "fft_length")[0], 2, "fft_length must be two numbers")
    height, width = known_dims(lengths) or (None, None)
    for length in (height, width):
        if isinstance(length, int) and (length < 1 or length & (length - 1)):
            c.fail("each length must be a power of two", length)
    rows: DimSize = c.fresh("rows", 1) if height is None else height
    columns: DimSize = c.fresh("columns", 1) if width is None else width // 2 + 1
    return Shape((*x[:-2], rows, columns))
