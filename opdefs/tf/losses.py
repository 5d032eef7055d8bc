"""Losses and metrics of classifiers."""

from __future__ import annotations

from opdefs.rules.operands import is_unit
from opdefs.rules.unknowns import fresh_count
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.sparse_operands import SparseShapes, sparse_output
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape


@tf("L2Loss")
def l2_loss(c: TensorFlowContext, t: Shape) -> Shape:
    """[*S] -> []."""
    return c.scalar()


@tf("SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy(c: TensorFlowContext, features: Shape, labels: Shape) -> tuple[Shape, Shape]:
    """[N, C], labels that broadcast with it -> losses [N], gradients [N, C].

    A batch of 1 broadcasts with any other, as in the kernel; TensorFlow's shape function returns 1 where the other is
    unknown.
    """
    message = f"Shape must be broadcasted with rank 2, but is rank {max(features.rank or 0, labels.rank or 0)}"
    if any(shape.rank is not None and shape.rank > 2 for shape in (features, labels)):
        raise ShapeError(message)
    if features.dims is None and labels.dims is None:
        logits = c.unknown_shape_of_rank(2)
    elif features.dims is None or labels.dims is None:
        logits = _broadcast_with_unknown(c, labels if features.dims is None else features)
    else:
        logits = c.broadcast(features, labels)
    if len(logits) != 2:
        raise ShapeError(message)
    return c.vector(logits[0]), logits


def _broadcast_with_unknown(c: TensorFlowContext, shape: Shape) -> Shape:
    """The broadcast, of rank 2, of a shape and one of unknown rank: only known sizes other than 1 stay."""
    dims = [c.unknown_dim() for _ in range(2 - len(shape))] + list(shape)
    return Shape(d if isinstance(d, int) and not is_unit(d) else c.unknown_dim() for d in dims)


@tf("SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_cross_entropy(c: TensorFlowContext, features: Shape, labels: Shape) -> tuple[Shape, Shape]:
    """[N, C], classes [N] -> losses [N], gradients [N, C]."""
    features, labels = c.with_rank(features, 2), c.with_rank(labels, 1)
    batch = c.merge(features[0], labels[0])
    return c.vector(batch), Shape((batch, features[1]))


@tf("InTopK")
def in_top_k(c: TensorFlowContext, predictions: Shape, targets: Shape) -> Shape:
    """[N, C], classes [N] -> [N]."""
    predictions, targets = c.with_rank(predictions, 2), c.with_rank(targets, 1)
    return c.vector(c.merge(predictions[0], targets[0]))


@tf("InTopKV2")
def in_top_k_v2(c: TensorFlowContext, predictions: Shape, targets: Shape, k: Shape) -> Shape:
    """[N, C], classes [N], k [] -> [N]."""
    c.with_rank(k, 0)
    return in_top_k(c, predictions, targets)


# -- connectionist temporal classification -----------------------------------------------------------------------------


@tf("CTCLoss", "CTCLossV2")
def ctc_loss(
    c: TensorFlowContext, inputs: Shape, labels_indices: Shape, labels_values: Shape, sequence_length: Shape
) -> tuple[Shape, Shape]:
    """[T, B, C], sparse labels, [B] -> losses [B], gradients [T, B, C]."""
    inputs, indices = c.with_rank(inputs, 3), c.with_rank(labels_indices, 2)
    values, lengths = c.with_rank(labels_values, 1), c.with_rank(sequence_length, 1)
    c.merge(indices[0], values[0])
    batch = c.merge(inputs[1], lengths[0])
    return c.vector(batch), c.replace_dim(inputs, 1, batch)


@tf("CTCGreedyDecoder")
def ctc_greedy_decoder(
    c: TensorFlowContext, inputs: Shape, sequence_length: Shape
) -> tuple[Shape, Shape, PartialTensor, Shape]:
    """[T, B, C], [B] -> a sparse matrix [B, L] of at most T labels a sample, and [B, 1]."""
    steps, batch = _steps_and_batch(c, inputs, sequence_length)
    return *_decoded(c, steps, batch), c.matrix(batch, 1)


@tf("CTCBeamSearchDecoder")
def ctc_beam_search_decoder(
    c: TensorFlowContext, inputs: Shape, sequence_length: Shape, *, top_paths: int
) -> tuple[Shape | PartialTensor, ...]:
    """[T, B, C], [B] -> a sparse matrix [B, L] of labels for each path, all indices first; and [B, top_paths]."""
    if top_paths < 1:
        c.fail("top_paths must be at least 1", top_paths)
    steps, batch = _steps_and_batch(c, inputs, sequence_length)
    paths = [_decoded(c, steps, batch) for _ in range(min(top_paths, c.num_outputs))]
    return (*(part for parts in zip(*paths, strict=True) for part in parts), c.matrix(batch, top_paths))


def _steps_and_batch(c: TensorFlowContext, inputs: Shape, lengths: Shape) -> tuple[DimSize, DimSize]:
    """T and B of inputs [T, B, C] and lengths [B]."""
    steps, batch, _ = c.with_rank(inputs, 3)
    return steps, c.merge(batch, c.with_rank(lengths, 1)[0])


def _decoded(c: TensorFlowContext, steps: DimSize, batch: DimSize) -> SparseShapes:
    """A sparse matrix [B, L] of decoded labels, where L, the length of the longest sequence, is at most T."""
    count = fresh_count(c, c.numel((steps, batch)))
    return sparse_output(c, count, 2, (batch, c.fresh_at_most(steps, "decoded")))
