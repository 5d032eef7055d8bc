"""Losses and metrics of classifiers."""

from __future__ import annotations

from opdefs.rules.operands import is_unit
from opdefs.rules.unknowns import fresh_count
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@tf("L2Loss")
def l2_loss(c: InferenceContext, t: Shape) -> Shape:
    """[*S] -> []."""
    return c.scalar()


@tf("SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy(c: InferenceContext, features: Shape, labels: Shape) -> tuple[Shape, Shape]:
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


def _broadcast_with_unknown(c: InferenceContext, shape: Shape) -> Shape:
    """The broadcast, of rank 2, of a shape and one of unknown rank: only known sizes other than 1 stay."""
    dims = [c.unknown_dim() for _ in range(2 - len(shape))] + list(shape)
    return Shape(d if isinstance(d, int) and not is_unit(d) else c.unknown_dim() for d in dims)


@tf("SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_cross_entropy(c: InferenceContext, features: Shape, labels: Shape) -> tuple[Shape, Shape]:
    """[N, C], classes [N] -> losses [N], gradients [N, C]."""
    features, labels = c.with_rank(features, 2), c.with_rank(labels, 1)
    batch = c.merge(features[0], labels[0])
    return c.vector(batch), Shape((batch, features[1]))


@tf("InTopK")
def in_top_k(c: InferenceContext, predictions: Shape, targets: Shape) -> Shape:
    """[N, C], classes [N] -> [N]."""
    predictions, targets = c.with_rank(predictions, 2), c.with_rank(targets, 1)
    return c.vector(c.merge(predictions[0], targets[0]))


@tf("InTopKV2")
def in_top_k_v2(c: InferenceContext, predictions: Shape, targets: Shape, k: Shape) -> Shape:
    """[N, C], classes [N], k [] -> [N]."""
    c.with_rank(k, 0)
    return in_top_k(c, predictions, targets)


# -- connectionist temporal classification -----------------------------------------------------------------------------


@tf("CTCLoss", "CTCLossV2")
def ctc_loss(
    c: InferenceContext, inputs: Shape, labels_indices: Shape, labels_values: Shape, sequence_length: Shape
) -> tuple[Shape, Shape]:
    """[T, B, C], sparse labels, [B] -> losses [B], gradients [T, B, C]."""
    inputs, indices = c.with_rank(inputs, 3), c.with_rank(labels_indices, 2)
    values, lengths = c.with_rank(labels_values, 1), c.with_rank(sequence_length, 1)
    c.merge(indices[0], values[0])
    batch = c.merge(inputs[1], lengths[0])
    return c.vector(batch), c.replace_dim(inputs, 1, batch)


@tf("CTCGreedyDecoder")
def ctc_greedy_decoder(c: InferenceContext, inputs: Shape, sequence_length: Shape) -> tuple[Shape, Shape, Shape, Shape]:
    """[T, B, C], [B] -> a sparse matrix of at most T labels a sample: [n, 2], [n], [2]; and [B, 1]."""
    steps, batch, _ = c.with_rank(inputs, 3)
    batch = c.merge(batch, c.with_rank(sequence_length, 1)[0])
    count = fresh_count(c, c.numel((steps, batch)))
    return c.matrix(count, 2), c.vector(count), c.vector(2), c.matrix(batch, 1)


@tf("CTCBeamSearchDecoder")
def ctc_beam_search_decoder(
    c: InferenceContext, inputs: Shape, sequence_length: Shape, *, top_paths: int
) -> tuple[Shape, ...]:
    """[T, B, C], [B] -> a sparse matrix of labels for each path: [n, 2]..., [n]..., [2]...; and [B, top_paths]."""
    if top_paths < 1:
        c.fail("top_paths must be at least 1", top_paths)
    steps, batch, _ = c.with_rank(inputs, 3)
    batch = c.merge(batch, c.with_rank(sequence_length, 1)[0])
    counts = [fresh_count(c, c.numel((steps, batch))) for _ in range(min(top_paths, c.num_outputs))]
    paths = len(counts)
    return (
        *(c.matrix(count, 2) for count in counts),
        *(c.vector(count) for count in counts),
        *(c.vector(2) for _ in range(paths)),
        c.matrix(batch, top_paths),
    )
