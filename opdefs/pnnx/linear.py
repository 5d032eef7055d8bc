"""Linear layers and embeddings."""

from __future__ import annotations

from opdefs.pnnx.dialect import own_types, pnnx
from opdefs.rules.contraction import matmul
from opdefs.rules.gathering import constrain_indices
from opdefs.rules.operands import require_broadcast_to, require_scalar, require_vector
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext


@pnnx("nn.Linear", "nn.quantized.Linear", "nn.intrinsic.quantized.LinearReLU")
def linear_module(
    c: InferenceContext,
    input: Shape,
    weight: Shape | None = None,
    bias: Shape | None = None,
    *,
    in_features: int,
    out_features: int,
) -> Shape:
    """[*N, in_features], [out_features, in_features], [out_features] -> [*N, out_features]."""
    weights = Shape((out_features, in_features))
    if weight is not None:
        weights = c.merge(weight, weights, "the weight must be [out_features, in_features]")
    require_vector(c, bias, out_features, "the bias must have out_features elements")
    dims = input.require()
    if not dims:
        c.fail("the input must have rank 1 or more", input)
    c.merge(dims[-1], weights[1], "the last axis of the input must have in_features elements")
    return Shape((*dims[:-1], weights[0]))


@pnnx("F.linear")
def linear(c: InferenceContext, input: Shape, weight: Shape, bias: Shape | None = None) -> Shape:
    """[*N, I], [O, I], a bias that broadcasts -> [*N, O]; for a weight [I], [*N]."""
    weights = weight.require()
    if len(weights) not in (1, 2):
        c.fail("the weight must have rank 1 or 2", weight)
    result = matmul(c, input, Shape(weights[::-1]))
    if len(weights) == 1:
        require_scalar(c, bias, "the bias of a weight of rank 1")
    require_broadcast_to(c, bias, result, "the bias must broadcast to the shape of the product")
    return result


@own_types("nn.Embedding")
def embedding_module(
    c: InferenceContext,
    input: PartialTensor,
    weight: TensorType | None = None,
    *,
    num_embeddings: int,
    embedding_dim: int,
) -> TensorType:
    """Indices [*N] -> [*N, embedding_dim], in the type of the weight, which is unknown in old files."""
    table = TensorType(None, Shape((num_embeddings, embedding_dim)))
    if weight is not None:
        shape = c.merge(weight.shape, table.shape, "the weight must be [num_embeddings, embedding_dim]")
        table = TensorType(weight.dtype, shape)
    return embedding(c, input, table)


@own_types("F.embedding")
def embedding(c: InferenceContext, input: PartialTensor, weight: TensorType) -> TensorType:
    """Indices [*N] below V, [V, D] -> [*N, D], in the type of the weight."""
    table = c.require_rank(weight.shape, 2, "weight")
    if input.shape.dims is None:
        raise c.unknowable("the rank of the indices is not known", weight.dtype)
    constrain_indices(c, input, table[0], from_end=False)
    return TensorType(weight.dtype, Shape((*input.shape.dims, table[1])))
