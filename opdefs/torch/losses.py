"""Losses: of elements, of vectors, of classes; `reduction` 0 keeps them apart, 1 is their mean, 2 their sum."""

from __future__ import annotations

from opdefs.pnnx.axes import read_axis
from opdefs.pnnx.names import function_name
from opdefs.pnnx.promotion import promote, to_float
from opdefs.rules.operands import require_broadcast_to, require_vector
from opdefs.torch.dialect import torch
from shapeinf.lattice import SCALAR, Shape, TensorType
from shapeinf.ops import InferenceContext

MEAN = 1

_OF_FIRST = ("huber_loss", "soft_margin_loss", "hinge_embedding_loss")
"""Losses in the element type of the first operand."""

_FLOATS_ONLY = ("mse_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "kl_div")


@torch(
    *(f"aten.{name}.default" for name in ("l1_loss", "mse_loss", "smooth_l1_loss", "huber_loss")),
    *(f"aten.{name}.default" for name in ("soft_margin_loss", "hinge_embedding_loss", "kl_div")),
)
def loss_of_elements(c: InferenceContext, self: TensorType, target: TensorType, *, reduction: int = MEAN) -> TensorType:
    """Broadcasting, of the differences."""
    name = function_name(c.op_def.name)
    dtype = self.dtype if name in _OF_FIRST else promote(self, target, tensors_only=True)
    if name in _FLOATS_ONLY and dtype is not None and to_float(dtype) != dtype:
        c.fail("a loss must be of floats", dtype)
    if name == "soft_margin_loss":
        require_broadcast_to(c, target.shape, self.shape, "the target must broadcast to the shape of the input")
        return _reduce(TensorType(dtype, self.shape), reduction)
    return _reduce(TensorType(dtype, c.broadcast(self.shape, target.shape)), reduction)


@torch("aten.poisson_nll_loss.default")
def poisson_loss(c: InferenceContext, input: TensorType, target: TensorType, *, reduction: int) -> TensorType:
    """Broadcasting."""
    dtype = to_float(promote(input, target, tensors_only=True))
    return _reduce(TensorType(dtype, c.broadcast(input.shape, target.shape)), reduction)


@torch("aten.margin_ranking_loss.default")
def ranking_loss(
    c: InferenceContext, input1: TensorType, input2: TensorType, target: TensorType, *, reduction: int = MEAN
) -> TensorType:
    """Broadcasting of all three."""
    shape = c.broadcast(input1.shape, input2.shape, target.shape)
    return _reduce(TensorType(promote(input1, input2, target, tensors_only=True), shape), reduction)


@torch("aten.binary_cross_entropy.default", "aten.binary_cross_entropy_with_logits.default")
def binary_cross_entropy(
    c: InferenceContext,
    self: TensorType,
    target: TensorType,
    weight: Shape | None = None,
    pos_weight: Shape | None = None,
    *,
    reduction: int = MEAN,
) -> TensorType:
    """Two of [*S], and weights that broadcast -> [*S]."""
    shape = c.merge(self.shape, target.shape, "the target must have the shape of the input")
    for factor, name in ((weight, "weight"), (pos_weight, "pos_weight")):
        require_broadcast_to(c, factor, shape, f"{name} must broadcast to the shape of the loss")
    dtype = self.dtype if self.dtype == target.dtype else None
    return _reduce(TensorType(dtype, shape), reduction)


def _reduce(losses: TensorType, reduction: int) -> TensorType:
    """The losses, or one number."""
    return TensorType(losses.dtype, losses.shape if reduction == 0 else SCALAR)


# -- vectors -----------------------------------------------------------------------------------------------------------


@torch("aten.cosine_similarity.default")
def cosine_similarity(c: InferenceContext, x1: TensorType, x2: TensorType, *, dim: object = 1) -> TensorType:
    """[*A, d, *B], broadcast -> [*A, *B]."""
    shape = c.broadcast(x1.shape, x2.shape)
    dtype = to_float(promote(x1, x2, tensors_only=True))
    if shape.dims is None:
        raise c.unknowable("the rank of the operands is not known", dtype)
    axis = read_axis(c, dim, len(shape.dims))
    return TensorType(dtype, Shape((*shape.dims[:axis], *shape.dims[axis + 1 :])))


@torch("aten.cosine_embedding_loss.default")
def cosine_embedding_loss(
    c: InferenceContext, input1: TensorType, input2: TensorType, target: Shape, *, reduction: int = MEAN
) -> TensorType:
    """[N, D], [N, D], [N] -> [N], or [D], [D], [] -> []."""
    rank = len(target.require())
    if rank > 1:
        c.fail("target must have rank 0 or 1", target)
    vectors = [c.require_rank(x.shape, rank + 1, "an input") for x in (input1, input2)]
    rows = Shape(c.broadcast(*vectors).require()[:-1])
    return _reduce(TensorType(promote(input1, input2), c.broadcast(rows, target)), reduction)


@torch("aten.triplet_margin_loss.default")
def triplet_loss(
    c: InferenceContext, anchor: TensorType, positive: TensorType, negative: TensorType, *, reduction: int = MEAN
) -> TensorType:
    """Three of [*N, D], broadcast, of one rank -> [*N]."""
    rank = len(anchor.shape.require())
    shapes = [c.require_rank(x.shape, rank, "positive and negative") for x in (anchor, positive, negative)]
    dtype = promote(anchor, positive, negative, tensors_only=True)
    return _reduce(TensorType(dtype, Shape(c.broadcast(*shapes).require()[:-1])), reduction)


# -- classes -----------------------------------------------------------------------------------------------------------


@torch("aten.nll_loss.default", "aten.nll_loss_nd.default", "aten.nll_loss2d.default")
def loss_of_classes(
    c: InferenceContext, self: TensorType, target: Shape, weight: Shape | None = None, *, reduction: int = MEAN
) -> TensorType:
    """[N, C, *S], [N, *S] -> [N, *S], or [C] and a single class -> []; a weight [C]."""
    dims = self.shape.require()
    if not dims:
        c.fail("the input must have rank 1 or more", self.shape)
    if "2d" in c.op_def.name:
        c.require_rank(self.shape, 4, "the input")
    elif function_name(c.op_def.name) == "nll_loss" and len(dims) > 2:
        c.fail("the input must have rank 1 or 2", self.shape)
    require_vector(c, weight, dims[0] if len(dims) == 1 else dims[1], "weight must have one element for each class")
    if len(dims) == 1:
        c.at_least(dims[0], 1, "there must be at least one class")
        if target.rank == 1:
            c.same_count(c.numel(target), 1, "the target of a vector must be a single class")
        return TensorType(self.dtype, SCALAR)
    c.at_least(dims[1], 1, "there must be at least one class")
    expected = Shape((dims[0], *dims[2:]))
    losses = c.merge(target, expected, "target must have the shape of the input without the classes")
    return _reduce(TensorType(self.dtype, losses), reduction)


@torch("aten.nll_loss_forward.default", "aten.nll_loss2d_forward.default")
def loss_of_classes_with_weight(
    c: InferenceContext, self: TensorType, target: Shape, weight: Shape | None = None, *, reduction: int
) -> tuple[TensorType, TensorType]:
    """As `loss_of_classes`, and the sum of the weights, a number."""
    return loss_of_classes(c, self, target, weight, reduction=reduction), TensorType(self.dtype, SCALAR)


@torch("aten.cross_entropy_loss.default")
def cross_entropy(
    c: InferenceContext, self: TensorType, target: TensorType, weight: Shape | None = None, *, reduction: int = MEAN
) -> TensorType:
    """As `loss_of_classes`; a target of floats has the shape of the input: a probability for each class."""
    dims = self.shape.require()
    if target.dtype is None:
        raise c.unknowable("whether the target has classes or probabilities is not known", self.dtype)
    if to_float(target.dtype) != target.dtype:
        return loss_of_classes(c, self, target.shape, weight, reduction=reduction)
    shape = c.merge(self.shape, target.shape, "probabilities must have the shape of the input")
    require_vector(c, weight, dims[0] if len(dims) == 1 else dims[1], "weight must have one element for each class")
    rest = Shape((*shape.require()[:1], *shape.require()[2:]) if len(dims) > 1 else ())
    return _reduce(TensorType(self.dtype, rest), reduction)


@torch(
    "aten.multi_margin_loss.default",
    "aten.multilabel_margin_loss.default",
    "aten.multilabel_margin_loss_forward.default",
)
def margin_loss(
    c: InferenceContext, self: TensorType, target: Shape, weight: Shape | None = None, *, reduction: int = MEAN
) -> TensorType | tuple[TensorType, TensorType]:
    """[N, C] -> [N], [C] -> []; targets [N] with one class for each row, or [N, C] with several."""
    dims = self.shape.require()
    if len(dims) not in (1, 2):
        c.fail("the input must have rank 1 or 2", self.shape)
    c.at_least(dims[-1], 1, "there must be at least one class")
    require_vector(c, weight, dims[-1], "weight must have one element for each class")
    rows = Shape(dims[:-1])
    if "multilabel" in c.op_def.name:
        c.merge(target, self.shape, "target must have the shape of the input")
    elif len(dims) == 2:
        c.merge(target, rows, "target must have one class for each row")
    elif target.rank == 1:
        rows = target
    losses = _reduce(TensorType(self.dtype, rows), reduction)
    return (losses, TensorType(self.dtype, self.shape)) if "forward" in c.op_def.name else losses


@torch("aten.ctc_loss.IntList", "aten.ctc_loss.Tensor")
def ctc_loss(
    c: InferenceContext,
    log_probs: TensorType,
    targets: Shape,
    *,
    input_lengths: object = None,
    target_lengths: object = None,
    reduction: int = MEAN,
) -> TensorType:
    """[T, N, C] -> [N], or [T, C] -> []."""
    dims = log_probs.shape.require()
    if len(dims) not in (2, 3):
        c.fail("log_probs must have rank 2 or 3", log_probs.shape)
    if len(dims) == 3 and targets.rank == 2:
        c.merge(dims[1], targets[0], "log_probs and targets must have the same batch size")
    return _reduce(TensorType(log_probs.dtype, Shape(dims[1:-1])), reduction)


@torch("aten._ctc_loss.default", "aten._ctc_loss.Tensor")
def ctc_loss_with_paths(
    c: InferenceContext,
    log_probs: TensorType,
    targets: Shape,
    *,
    input_lengths: object = None,
    target_lengths: object = None,
) -> tuple[TensorType, TensorType]:
    """[T, N, C] -> [N], and [N, T, L], where data decides L."""
    dims = c.require_rank(log_probs.shape, 3, "log_probs").require()
    if targets.rank == 2:
        c.merge(dims[1], targets[0], "log_probs and targets must have the same batch size")
    paths = Shape((dims[1], dims[0], c.fresh("path", 1)))
    return TensorType(log_probs.dtype, Shape((dims[1],))), TensorType(log_probs.dtype, paths)
