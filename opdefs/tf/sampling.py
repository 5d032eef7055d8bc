"""Sampling of candidate classes."""

from __future__ import annotations

from opdefs.rules.unknowns import fresh_count
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.lattice import Shape


@tf(
    "AllCandidateSampler",
    "FixedUnigramCandidateSampler",
    "LearnedUnigramCandidateSampler",
    "LogUniformCandidateSampler",
    "ThreadUnsafeUnigramCandidateSampler",
    "UniformCandidateSampler",
)
def sample_candidates(
    c: TensorFlowContext, true_classes: Shape, *, num_true: int, num_sampled: int
) -> tuple[Shape, Shape, Shape]:
    """[B, T] -> sampled classes [S], and the expected counts [B, T] of true and [S] of sampled classes."""
    for count, name in ((num_true, "num_true"), (num_sampled, "num_sampled")):
        if count < 1:
            c.fail(f"{name} must be at least 1", count)
    batch, columns = c.with_rank(true_classes, 2)
    c.expect(columns, num_true, "true_classes must have num_true columns")
    sampled = c.vector(num_sampled)
    return sampled, Shape((batch, num_true)), sampled


@tf("ComputeAccidentalHits")
def compute_accidental_hits(
    c: TensorFlowContext, true_classes: Shape, sampled_candidates: Shape, *, num_true: int
) -> tuple[Shape, Shape, Shape]:
    """[B, T], [S] -> the samples [n], positions [n] and weights [n] of true classes that were sampled."""
    batch, columns = c.with_rank(true_classes, 2)
    columns = c.with_value(columns, num_true)
    hits = c.vector(fresh_count(c, c.numel((batch, columns))))
    return hits, hits, hits
