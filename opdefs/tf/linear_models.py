"""Operators that train linear models and word vectors."""

from __future__ import annotations

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.lattice import Shape


@tf("SdcaOptimizer", "SdcaOptimizerV2")
def sdca_optimizer(
    c: TensorFlowContext, *inputs: Shape, num_sparse_features: int, num_dense_features: int
) -> tuple[Shape, ...]:
    """Examples and weights of F features -> states [N, 4], and a change for each weight, of its shape."""
    weights = num_sparse_features + num_dense_features
    if c.num_outputs != weights + 1 or len(inputs) < weights + 1:
        c.fail(
            "the numbers of features must match the inputs and outputs of the node",
            num_sparse_features,
            num_dense_features,
        )
    states = c.with_rank(inputs[-1], 2)
    return c.matrix(states[0], 4), *inputs[len(inputs) - 1 - weights : -1]


@tf("Skipgram")
def skipgram(c: TensorFlowContext, *, batch_size: int) -> tuple[Shape, ...]:
    """Words [V] and their frequencies [V], three counters [], examples [batch_size] and labels [batch_size]."""
    words, batch = c.vector(c.fresh("words")), Shape((batch_size,))
    return words, words, c.scalar(), c.scalar(), c.scalar(), batch, batch
