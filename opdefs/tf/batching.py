"""Batches made of the inputs of several calls, and their parts."""

from __future__ import annotations

from opdefs.tf.dialect import tf
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@tf("Batch")
def batch(c: InferenceContext, *in_tensors: Shape) -> tuple[Shape, ...]:
    """The inputs of several calls along axis 0, of size 0 in all calls but one; an index [parts, 3], and a number."""
    rows = c.fresh("batch")
    shapes = [c.with_rank_at_least(shape, 1) for shape in in_tensors]
    batched = [c.unknown_shape() if s.dims is None else c.replace_dim(s, 0, rows) for s in shapes]
    return (*batched, c.matrix(c.fresh("parts"), 3), c.scalar())


@tf("Unbatch")
def unbatch(c: InferenceContext, batched_tensor: Shape, batch_index: Shape, id: Shape) -> Shape:
    """The part of a batch that belongs to one call."""
    shape = c.with_rank_at_least(batched_tensor, 1)
    return c.unknown_shape() if shape.dims is None else c.replace_dim(shape, 0, c.fresh("part"))


@tf("UnbatchGrad")
def unbatch_grad(c: InferenceContext, original_input: Shape, batch_index: Shape, grad: Shape, id: Shape) -> Shape:
    """The gradients of a batch: only axis 0 differs from those of one call."""
    shape = c.with_rank_at_least(grad, 1)
    return c.unknown_shape() if shape.dims is None else c.replace_dim(shape, 0, c.fresh("batch"))
