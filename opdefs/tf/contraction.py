"""Matrix products and Einstein sums."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.products import ELLIPSIS, einstein_sum, matrix_product
from opdefs.tf.broadcasting import broadcast
from opdefs.tf.common import share_rank
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Operand


def product(
    c: TensorFlowContext, a: Shape, b: Shape, transpose_a: bool = False, transpose_b: bool = False
) -> tuple[DimSize, DimSize]:
    """[*A, M, K], [*B, K, N] -> (M, N): the rows and columns of a product, with axes that may be swapped."""
    rows, inner_a = (c.dim(a, -1), c.dim(a, -2)) if transpose_a else (c.dim(a, -2), c.dim(a, -1))
    inner_b, columns = (c.dim(b, -1), c.dim(b, -2)) if transpose_b else (c.dim(b, -2), c.dim(b, -1))
    c.merge(inner_a, inner_b)
    return rows, columns


@tf("MatMul")
def matrix_product_of_tensors(
    c: TensorFlowContext, a: Operand, b: Operand, *, transpose_a: bool = False, transpose_b: bool = False
) -> PartialTensor:
    """[M, K], [K, N] -> [M, N], for operands that may be transposed."""
    shape = matmul(c, a.shape, b.shape, transpose_a=transpose_a, transpose_b=transpose_b)
    return matrix_product(c, a.dtype, shape, a, b, transpose_a=transpose_a, transpose_b=transpose_b)


@tf("SparseMatMul", "RiscDot", "_FusedMatMul")
def matmul(
    c: TensorFlowContext, a: Shape, b: Shape, *args: Shape, transpose_a: bool = False, transpose_b: bool = False
) -> Shape:
    """[M, K], [K, N] -> [M, N], for operands that may be transposed."""
    return Shape(product(c, c.with_rank(a, 2), c.with_rank(b, 2), transpose_a, transpose_b))


@tf("BatchMatMul")
def batch_matmul(
    c: TensorFlowContext, x: Operand, y: Operand, *, adj_x: bool = False, adj_y: bool = False
) -> PartialTensor:
    """[*B, M, K], [*B, K, N] -> [*B, M, N], for operands that may be adjoint. Axes of B do not broadcast."""
    return _adjoint_product(c, _batch_shape(c, x.shape, y.shape, adj_x, adj_y), x, y, adj_x, adj_y)


def _batch_shape(c: TensorFlowContext, x: Shape, y: Shape, adj_x: bool, adj_y: bool) -> Shape:
    x, y = c.with_rank_at_least(x, 2), c.with_rank_at_least(y, 2)
    operands = share_rank(c, x, y)
    if operands is None:
        return c.unknown_shape()
    x, y = operands
    batch = c.merge(c.subshape(x, 0, -2), c.subshape(y, 0, -2))
    rows, columns = product(c, x, y, adj_x, adj_y)
    return c.concatenate(batch, c.matrix(rows, columns))


@tf("BatchMatMulV2", "BatchMatMulV3")
def broadcasting_matmul(
    c: TensorFlowContext, x: Operand, y: Operand, *, adj_x: bool = False, adj_y: bool = False
) -> PartialTensor:
    """[*A, M, K], [*B, K, N] -> [*broadcast(A, B), M, N], for operands that may be adjoint."""
    return _adjoint_product(c, _broadcast_batch_shape(c, x.shape, y.shape, adj_x, adj_y), x, y, adj_x, adj_y)


def _adjoint_product(
    c: TensorFlowContext, shape: Shape, x: PartialTensor, y: PartialTensor, adj_x: bool, adj_y: bool
) -> PartialTensor:
    """The product of matrices, of `shape`; contents of numbers that are their own conjugates."""
    if x.dtype != y.dtype or (x.dtype or "").startswith("complex"):
        return PartialTensor(None, shape, None)
    return matrix_product(c, x.dtype, shape, x, y, transpose_a=adj_x, transpose_b=adj_y)


def _broadcast_batch_shape(c: TensorFlowContext, x: Shape, y: Shape, adj_x: bool, adj_y: bool) -> Shape:
    x, y = c.with_rank_at_least(x, 2), c.with_rank_at_least(y, 2)
    rows, columns = product(c, x, y, adj_x, adj_y)
    if x.dims is None or y.dims is None:
        return c.unknown_shape()
    return c.concatenate(broadcast(c, Shape(x.dims[:-2]), Shape(y.dims[:-2])), c.matrix(rows, columns))


@tf(
    *("QuantizedMatMul", "QuantizedMatMulWithBias", "QuantizedMatMulWithBiasAndDequantize"),
    *("QuantizedMatMulWithBiasAndRelu", "QuantizedMatMulWithBiasAndReluAndRequantize"),
    *("QuantizedMatMulWithBiasAndRequantize",),
)
def quantized_matmul(
    c: TensorFlowContext, a: Shape, b: Shape, *others: Shape, transpose_a: bool = False, transpose_b: bool = False
) -> tuple[Shape, ...]:
    """[M, K], [K, N], ranges [] or [*] -> [M, N] and its range [], []."""
    for limits in others:
        c.with_rank_at_most(limits, 1)
    result = matmul(c, a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    return (result, c.scalar(), c.scalar())[: c.num_outputs]


@tf("Einsum")
def einsum(c: TensorFlowContext, *inputs: Operand, equation: str) -> PartialTensor:
    """The axes that the letters of the result name. Axes of one letter are equal; those of `...` broadcast."""
    shape = _einsum_shape(c, [x.shape for x in inputs], equation)
    return einstein_sum(c, inputs[0].dtype if inputs else None, equation, shape, inputs)


def _einsum_shape(c: TensorFlowContext, inputs: Sequence[Shape], equation: str) -> Shape:
    terms, result = _parse_equation(equation)
    if len(terms) != len(inputs):
        raise ShapeError(f"Expected {len(terms)} inputs for the einsum equation {equation}, but got: {len(inputs)}")
    sizes: dict[str, DimSize] = {}
    spread = Shape(())
    for term, operand in zip(terms, inputs, strict=True):
        spread = _einsum_sides(c, term, c.store.canon_shape(operand), sizes, spread)
    missing = [letter for letter in result.replace(ELLIPSIS, "") if letter not in sizes]
    if missing:
        raise ShapeError(f"Einsum output subscripts {result} contain the label '{missing[0]}', which no input has")
    head, dots, tail = result.partition(ELLIPSIS)
    if not dots and spread.dims:
        raise ShapeError("Output contains no ellipsis, but the inputs have non-empty broadcasting dimensions")
    letters = [Shape(sizes[letter] for letter in part) for part in (head, tail)]
    return c.concatenate(c.concatenate(letters[0], spread if dots else Shape(())), letters[1])


def _parse_equation(equation: str) -> tuple[list[str], str]:
    """The terms of the operands and that of the result. Raises ShapeError for a malformed equation."""
    parts = equation.split("->")
    if len(parts) != 2:
        raise ShapeError(f"Expecting exactly one '->' in the einsum equation: {equation}")
    terms = parts[0].split(",")
    for term in (*terms, parts[1]):
        if term.count(ELLIPSIS) > 1 or "." in term.replace(ELLIPSIS, "", 1):
            raise ShapeError(f"A term of an einsum equation must have at most one ellipsis and no other dot: {term}")
    return terms, parts[1]


def _einsum_sides(c: TensorFlowContext, term: str, operand: Shape, sizes: dict[str, DimSize], spread: Shape) -> Shape:
    """Record the sizes of an operand's letters in `sizes`; returns `spread` broadcast with its ellipsis axes."""
    head, dots, tail = term.partition(ELLIPSIS)
    letters = [*head, *tail]
    if not dots and operand.dims is None and len(letters) <= MAX_LETTERS:
        operand = c.with_rank(operand, len(letters))
    if operand.dims is None:
        for letter in letters:
            sizes.setdefault(letter, c.fresh(f"einsum.{letter}"))
        return c.unknown_shape()
    rank = len(operand.dims)
    if rank < len(letters) or (not dots and rank > len(letters)):
        least = "at least " if dots else ""
        raise ShapeError(
            f"Expected an input of {least}rank {len(letters)} for the einsum term '{term}', but got rank {rank}"
        )
    end = rank - len(tail)
    for letter, size in zip(letters, (*operand.dims[: len(head)], *operand.dims[end:]), strict=True):
        sizes[letter] = c.merge(sizes[letter], size) if letter in sizes else size
    return broadcast(c, spread, Shape(operand.dims[len(head) : end])) if dots else spread


MAX_LETTERS = 254
"""The largest rank of a tensor in TensorFlow."""
