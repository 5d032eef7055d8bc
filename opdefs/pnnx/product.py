"""Products of matrices, vectors and tensors."""

from __future__ import annotations

from opdefs.pnnx.dialect import own_types, pnnx
from opdefs.pnnx.promotion import promote
from opdefs.rules.contents.products import einstein_sum, matrix_product
from opdefs.rules.contraction import einsum as einsum_shape
from opdefs.rules.contraction import matmul as product
from opdefs.rules.numbers import read_int
from opdefs.rules.operands import require_any, require_broadcast_to
from opdefs.rules.reshaping import transpose
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Operand, Value


@pnnx("torch.matmul")
def matmul(c: InferenceContext, input: Operand, other: Operand) -> PartialTensor:
    """[*A, M, K] x [*B, K, N] -> [*broadcast(A, B), M, N]; vectors lose their axis."""
    return _contents(c, product(c, input.shape, other.shape), input, other)


def _contents(c: InferenceContext, shape: Shape, a: PartialTensor, b: PartialTensor) -> PartialTensor:
    """The product of two tensors of one element type, of `shape`."""
    return matrix_product(c, a.dtype, shape, a, b) if a.dtype == b.dtype else PartialTensor(a.dtype, shape, None)


@pnnx("torch.mm")
def product_of_matrices(c: InferenceContext, input: Operand, mat2: Operand) -> PartialTensor:
    """[M, K] x [K, N] -> [M, N]."""
    return _contents(c, _matrix_shape(c, input.shape, mat2.shape), input, mat2)


def _matrix_shape(c: InferenceContext, a: Shape, b: Shape) -> Shape:
    return product(c, c.require_rank(a, 2, "input"), c.require_rank(b, 2, "mat2"))


@pnnx("torch.mv")
def vector_product(c: InferenceContext, input: Operand, vec: Operand) -> PartialTensor:
    """[M, K] x [K] -> [M]."""
    shape = product(c, c.require_rank(input.shape, 2, "input"), c.require_rank(vec.shape, 1, "vec"))
    return _contents(c, shape, input, vec)


@pnnx("torch.bmm")
def product_of_batches(c: InferenceContext, input: Operand, mat2: Operand) -> PartialTensor:
    """[B, M, K] x [B, K, N] -> [B, M, N]: the batch does not broadcast."""
    return _contents(c, batch_product(c, input.shape, mat2.shape), input, mat2)


def batch_product(c: InferenceContext, input: Shape, mat2: Shape) -> Shape:
    """The shape of a product of batches of matrices."""
    left, right = c.require_rank(input, 3, "input"), c.require_rank(mat2, 3, "mat2")
    batch = c.merge(left[0], right[0], "both matrices must have the same batch size")
    c.merge(left[2], right[1], "the inner dimensions of a matrix product must be equal")
    return Shape((batch, left[1], right[2]))


@pnnx("torch.addmm")
def add_matrix_product(c: InferenceContext, input: Shape, mat1: Shape, mat2: Shape) -> Shape:
    """An input that broadcasts to the product, [M, K] x [K, N] -> [M, N]."""
    result = _matrix_shape(c, mat1, mat2)
    require_broadcast_to(c, input, result, "the input must broadcast to the shape of the product")
    return result


@pnnx("torch.baddbmm")
def add_batch_product(c: InferenceContext, input: Shape, batch1: Shape, batch2: Shape) -> Shape:
    """An input that broadcasts to the product, [B, M, K] x [B, K, N] -> [B, M, N]."""
    result = batch_product(c, batch1, batch2)
    require_broadcast_to(c, input, result, "the input must broadcast to the shape of the product")
    return result


@own_types("torch.einsum")
def einsum(c: InferenceContext, *operands: Operand, equation: str) -> PartialTensor:
    """The axes behind `->` in the equation; the sizes of a letter broadcast between operands, but not within one.

    The element type is the promoted one: torch multiplies operands element by element, after adding axes to them.
    """
    shape = einsum_shape(c, equation, [x.shape for x in operands], repeats_broadcast=False)
    vector = Shape((1,))
    dtype = promote(*(TensorType(x.dtype, vector) for x in operands))
    if any(x.dtype != dtype for x in operands):
        return PartialTensor(dtype, shape, None)
    return einstein_sum(c, dtype, equation, shape, operands)


@pnnx("torch.cross")
def cross(c: InferenceContext, input: Shape, other: Shape, *, dim: object = None) -> Shape:
    """[*A, 3, *B] x [*A, 3, *B] -> [*A, 3, *B]; other axes broadcast. The default axis is the first one of size 3."""
    if input.dims is None and other.dims is not None:
        input = c.require_rank(input, len(other.dims), "input")
    rank = len(input.require())
    other = c.require_rank(other, rank, "other")
    at = _default_axis(c, input) if dim is None else c.axis(read_int(c, dim, "dim"), rank)
    dims = list(c.broadcast(input, other))
    if at is not None:
        for operand in (input, other):
            c.merge(operand[at], 3, "the axis of a cross product must have size 3")
        dims[at] = 3
    return Shape(dims)


def _default_axis(c: InferenceContext, input: Shape) -> int | None:
    """The first axis of size 3, which must exist; None if it depends on symbols."""
    dims = input.require()
    possible = [(at, c.prove_eq(size, 3)) for at, size in enumerate(dims) if c.prove_eq(size, 3) is not False]
    if not possible:
        c.fail("without dim, the input must have an axis of size 3", input)
    if len(possible) == 1 or possible[0][1]:
        return possible[0][0]
    sizes = [dims[at] for at, _ in possible]
    require_any(c, sizes, 3, "without dim, the input must have an axis of size 3")
    return None


@pnnx("torch.t")
def transpose_matrix(c: InferenceContext, input: Value) -> PartialTensor:
    """[M, N] -> [N, M]; vectors and scalars are unchanged."""
    rank = len(input.shape)
    if rank > 2:
        c.fail("the input must have rank 2 or less", input.shape)
    return transpose(input, (1, 0)) if rank == 2 else input
