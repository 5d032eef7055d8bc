"""Products of matrices, vectors and tensors."""

from __future__ import annotations

from opdefs.pnnx.dialect import own_types, pnnx
from opdefs.pnnx.promotion import promote
from opdefs.rules.contraction import einsum as einstein_sum
from opdefs.rules.contraction import matmul as product
from opdefs.rules.numbers import read_int
from opdefs.rules.operands import require_any, require_broadcast_to
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@pnnx("torch.matmul")
def matmul(c: InferenceContext, input: Shape, other: Shape) -> Shape:
    """[*A, M, K] x [*B, K, N] -> [*broadcast(A, B), M, N]; vectors lose their axis."""
    return product(c, input, other)


@pnnx("torch.mm")
def matrix_product(c: InferenceContext, input: Shape, mat2: Shape) -> Shape:
    """[M, K] x [K, N] -> [M, N]."""
    return product(c, c.require_rank(input, 2, "input"), c.require_rank(mat2, 2, "mat2"))


@pnnx("torch.mv")
def vector_product(c: InferenceContext, input: Shape, vec: Shape) -> Shape:
    """[M, K] x [K] -> [M]."""
    return product(c, c.require_rank(input, 2, "input"), c.require_rank(vec, 1, "vec"))


@pnnx("torch.bmm")
def batch_product(c: InferenceContext, input: Shape, mat2: Shape) -> Shape:
    """[B, M, K] x [B, K, N] -> [B, M, N]: the batch does not broadcast."""
    left, right = c.require_rank(input, 3, "input"), c.require_rank(mat2, 3, "mat2")
    batch = c.merge(left[0], right[0], "both matrices must have the same batch size")
    c.merge(left[2], right[1], "the inner dimensions of a matrix product must be equal")
    return Shape((batch, left[1], right[2]))


@pnnx("torch.addmm")
def add_matrix_product(c: InferenceContext, input: Shape, mat1: Shape, mat2: Shape) -> Shape:
    """An input that broadcasts to the product, [M, K] x [K, N] -> [M, N]."""
    result = matrix_product(c, mat1, mat2)
    require_broadcast_to(c, input, result, "the input must broadcast to the shape of the product")
    return result


@pnnx("torch.baddbmm")
def add_batch_product(c: InferenceContext, input: Shape, batch1: Shape, batch2: Shape) -> Shape:
    """An input that broadcasts to the product, [B, M, K] x [B, K, N] -> [B, M, N]."""
    result = batch_product(c, batch1, batch2)
    require_broadcast_to(c, input, result, "the input must broadcast to the shape of the product")
    return result


@own_types("torch.einsum")
def einsum(c: InferenceContext, *operands: Shape, equation: str) -> TensorType:
    """The axes behind `->` in the equation; the sizes of a letter broadcast between operands, but not within one.

    The element type is the promoted one: torch multiplies operands element by element, after adding axes to them.
    """
    shape = einstein_sum(c, equation, operands, repeats_broadcast=False)
    vector = Shape((1,))
    return TensorType(promote(*(TensorType(c.dtype(at), vector) for at in range(len(operands)))), shape)


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
def transpose_matrix(c: InferenceContext, input: Shape) -> Shape:
    """[M, N] -> [N, M]; vectors and scalars are unchanged."""
    dims = input.require()
    if len(dims) > 2:
        c.fail("the input must have rank 2 or less", input)
    return Shape(dims[::-1])
