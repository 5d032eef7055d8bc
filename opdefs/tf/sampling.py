"""Sampling of candidate classes."""

from __future__ import annotations

from opdefs.rules.unknowns import fresh_count
from opdefs.tf.dialect import tf
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@tf(
    "AllCandidateSampler",
    "FixedUnigramCandidateSampler",
    "LearnedUnigramCandidateSampler",
    "LogUniformCandidateSampler",
    "ThreadUnsafeUnigramCandidateSampler",
    "UniformCandidateSampler",
)
def sample_candidates(
    c: InferenceContext, true_classes: Shape, *, num_true: int, num_sampled: int
) -> tuple[Shape, Shape, Shape]:
    """[B, T] true classes -> S sampled classes, and the expected counts of the true and of the sampled ones."""
    for count, name in ((num_true, "num_true"), (num_sampled, "num_sampled")):
        if count < 1:
            c.fail(f"{name} must be at least 1", count)
    batch, columns = c.with_rank(true_classes, 2)
    c.expect(columns, num_true, "true_classes must have num_true columns")
    sampled = c.vector(num_sampled)
    return sampled, Shape((batch, num_true)), sampled


@tf("ComputeAccidentalHits")
def compute_accidental_hits(
    c: InferenceContext, true_classes: Shape, sampled_candidates: Shape, *, num_true: int
) -> tuple[Shape, Shape, Shape]:
    """For each true class that was sampled, at most all of them: its sample, its position, and a weight."""
    batch, columns = c.with_rank(true_classes, 2)
    columns = c.with_value(columns, num_true)
    hits = c.vector(fresh_count(c, c.numel((batch, columns))))
    return hits, hits, hits
