"""Gradient boosted trees: statistics of buckets, splits of nodes, predictions.

`max_splits` is the number of nodes of a tree, `num_buckets` that of the buckets of a feature. Operators of handles,
states and quantiles are in `fixed_shapes.json`.
"""

from __future__ import annotations

from opdefs.tf.common import require_scalars
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape


def _batch(c: TensorFlowContext, features: tuple[Shape, ...]) -> DimSize:
    """The number N of examples, of features [N] or [N, F]."""
    rows: DimSize = c.fresh("examples")
    for feature in features:
        shape = c.with_rank_at_most(c.with_rank_at_least(feature, 1), 2)
        rows = c.merge(rows, c.dim(shape, 0))
    return rows


@tf("BoostedTreesBucketize")
def bucketize(c: TensorFlowContext, *inputs: Shape) -> tuple[Shape, ...]:
    """Values [N]..., boundaries [B]... -> buckets [N]...: a tensor for each feature."""
    count = len(inputs) // 2
    values = [c.with_rank(shape, 1) for shape in inputs[:count]]
    for boundaries in inputs[count:]:
        c.with_rank(boundaries, 1)
    return tuple(values)


@tf("BoostedTreesMakeStatsSummary")
def make_stats_summary(
    c: TensorFlowContext,
    node_ids: Shape,
    gradients: Shape,
    hessians: Shape,
    *features: Shape,
    max_splits: int,
    num_buckets: int,
) -> Shape:
    """Node ids [N], gradients and hessians [N, *], features [N]... -> [features, max_splits, num_buckets, 2]."""
    rows = c.merge(c.with_rank(node_ids, 1)[0], c.merge(c.with_rank(gradients, 2), c.with_rank(hessians, 2))[0])
    for feature in features:
        rows = c.merge(rows, c.with_rank(feature, 1)[0])
    return Shape((len(features), max_splits, num_buckets, 2))


def _examples(c: TensorFlowContext, node_ids: Shape, gradients: Shape, hessians: Shape) -> tuple[DimSize, DimSize]:
    """The number N of examples and that of the statistics of each, for [N], gradients [N, G] and hessians [N, H]."""
    rows, first, second = c.with_rank(node_ids, 1)[0], c.with_rank(gradients, 2), c.with_rank(hessians, 2)
    return c.merge(rows, c.merge(first[0], second[0])), c.add(first[1], second[1])


@tf("BoostedTreesAggregateStats")
def aggregate_stats(
    c: TensorFlowContext,
    node_ids: Shape,
    gradients: Shape,
    hessians: Shape,
    feature: Shape,
    *,
    max_splits: int,
    num_buckets: int,
) -> Shape:
    """[N], [N, G], [N, H], features [N, F] -> [max_splits, F, num_buckets, G + H]."""
    rows, statistics = _examples(c, node_ids, gradients, hessians)
    features = c.with_rank(feature, 2)
    c.merge(rows, features[0])
    return Shape((max_splits, features[1], num_buckets, statistics))


@tf("BoostedTreesSparseAggregateStats")
def sparse_aggregate_stats(
    c: TensorFlowContext,
    node_ids: Shape,
    gradients: Shape,
    hessians: Shape,
    feature_indices: Shape,
    feature_values: Shape,
    feature_shape: Shape,
) -> tuple[Shape, Shape, Shape]:
    """As BoostedTreesAggregateStats, for sparse features: a sparse tensor of rank 4."""
    _examples(c, node_ids, gradients, hessians)
    c.merge(c.with_rank(feature_indices, 2)[0], c.with_rank(feature_values, 1)[0])
    c.with_value(c.with_rank(feature_shape, 1)[0], 2)
    count = c.fresh("nnz")
    return c.matrix(count, 4), c.vector(count), c.vector(4)


def _splits(c: TensorFlowContext, logits: DimSize, identifiers: int) -> tuple[Shape, ...]:
    """One split for each of S nodes: `identifiers` vectors [S], both contributions [S, logits], and a vector [S]."""
    nodes = c.fresh("nodes")
    vector, contributions = c.vector(nodes), c.matrix(nodes, logits)
    return (*[vector] * identifiers, contributions, contributions, vector)


@tf("BoostedTreesCalculateBestFeatureSplit")
def best_feature_split(
    c: TensorFlowContext,
    node_id_range: Shape,
    stats_summary: Shape,
    l1: Shape,
    l2: Shape,
    tree_complexity: Shape,
    min_node_weight: Shape,
    *,
    logits_dimension: int,
) -> tuple[Shape, ...]:
    """[2], summary of rank 4, four scalars -> vectors [S] and contributions [S, logits] of S splits."""
    c.with_value(c.with_rank(node_id_range, 1)[0], 2)
    c.with_rank(stats_summary, 4)
    require_scalars(c, l1, l2, tree_complexity, min_node_weight)
    return _splits(c, logits_dimension, 4)


@tf("BoostedTreesSparseCalculateBestFeatureSplit")
def sparse_best_feature_split(
    c: TensorFlowContext,
    node_id_range: Shape,
    stats_summary_indices: Shape,
    stats_summary_values: Shape,
    stats_summary_shape: Shape,
    l1: Shape,
    l2: Shape,
    tree_complexity: Shape,
    min_node_weight: Shape,
    *,
    logits_dimension: int,
) -> tuple[Shape, ...]:
    """As BoostedTreesCalculateBestFeatureSplit, for a sparse summary of rank 4."""
    c.with_value(c.with_rank(node_id_range, 1)[0], 2)
    c.merge(c.with_rank(stats_summary_indices, 2)[0], c.with_rank(stats_summary_values, 1)[0])
    c.with_value(c.with_rank(stats_summary_shape, 1)[0], 4)
    require_scalars(c, l1, l2, tree_complexity, min_node_weight)
    return _splits(c, logits_dimension, 4)


@tf("BoostedTreesCalculateBestFeatureSplitV2")
def best_feature_split_v2(
    c: TensorFlowContext, node_id_range: Shape, *inputs: Shape, logits_dimension: int
) -> tuple[Shape, ...]:
    """As BoostedTreesCalculateBestFeatureSplit, for several summaries, and the feature of each split."""
    c.with_value(c.with_rank(node_id_range, 1)[0], 2)
    return _splits(c, logits_dimension, 5)


@tf("BoostedTreesCalculateBestGainsPerFeature")
def best_gains_per_feature(c: TensorFlowContext, node_id_range: Shape, *inputs: Shape) -> tuple[Shape, ...]:
    """[2], summaries -> for each feature, vectors [S] and contributions [S, 1] of its S splits."""
    c.with_value(c.with_rank(node_id_range, 1)[0], 2)
    nodes = [c.fresh(f"nodes.{i}") for i in range(c.num_outputs // 5)]
    vectors = [c.vector(n) for n in nodes]
    contributions = [c.matrix(n, 1) for n in nodes]
    return (*vectors, *vectors, *vectors, *contributions, *contributions)


@tf("BoostedTreesPredict")
def predict(c: TensorFlowContext, handle: Shape, *features: Shape, logits_dimension: int) -> Shape:
    """Features [N] or [N, F] -> [N, logits_dimension]."""
    return c.matrix(_batch(c, features), logits_dimension)


@tf("BoostedTreesExampleDebugOutputs")
def example_debug_outputs(c: TensorFlowContext, handle: Shape, *features: Shape) -> Shape:
    """Features [N] or [N, F] -> [N]."""
    return c.vector(_batch(c, features))


@tf("BoostedTreesTrainingPredict")
def training_predict(
    c: TensorFlowContext,
    handle: Shape,
    cached_tree_ids: Shape,
    cached_node_ids: Shape,
    *features: Shape,
    logits_dimension: int,
) -> tuple[Shape, Shape, Shape]:
    """[N], [N], features [N] or [N, F] -> [N, logits_dimension], and the tree [N] and node [N] of each example."""
    rows = c.merge(c.with_rank(cached_tree_ids, 1)[0], c.with_rank(cached_node_ids, 1)[0])
    rows = c.merge(rows, _batch(c, features))
    return c.matrix(rows, logits_dimension), c.vector(rows), c.vector(rows)
