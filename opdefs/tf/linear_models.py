"""Training of linear models and of word vectors, written as operators."""

from __future__ import annotations

from opdefs.tf.dialect import tf
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@tf("SdcaOptimizer", "SdcaOptimizerV2")
def sdca_optimizer(
    c: InferenceContext, *inputs: Shape, num_sparse_features: int, num_dense_features: int
) -> tuple[Shape, ...]:
    """[N, 4] states of the examples, and as many changes as there are weights, of their shapes."""
    weights = num_sparse_features + num_dense_features
    if c.num_outputs != weights + 1 or len(inputs) < weights + 1:
        c.fail("the numbers of features do not fit the node", num_sparse_features, num_dense_features)
    states = c.with_rank(inputs[-1], 2)
    return c.matrix(states[0], 4), *inputs[len(inputs) - 1 - weights : -1]


@tf("Skipgram")
def skipgram(c: InferenceContext, *, batch_size: int) -> tuple[Shape, ...]:
    """The words and their frequencies, three counters, and a batch of examples with their labels."""
    words, batch = c.vector(c.fresh("words")), Shape((batch_size,))
    return words, words, c.scalar(), c.scalar(), c.scalar(), batch, batch
