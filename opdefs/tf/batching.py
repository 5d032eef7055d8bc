"""Batches of the inputs of several calls, and the parts of a batch."""

from __future__ import annotations

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.expr import DimSize
from shapeinf.graph import FunctionReference
from shapeinf.lattice import PartialTensor, Shape, TensorType, Type


@tf("Batch")
def batch(c: TensorFlowContext, *in_tensors: Shape) -> tuple[Shape, ...]:
    """[n, *S]... -> [batch, *S]..., an index [parts, 3] and a number []; the batch is 0 in all calls but one."""
    rows = c.fresh("batch")
    shapes = [c.with_rank_at_least(shape, 1) for shape in in_tensors]
    batched = [c.unknown_shape() if s.dims is None else c.replace_dim(s, 0, rows) for s in shapes]
    return (*batched, c.matrix(c.fresh("parts"), 3), c.scalar())


@tf("Unbatch")
def unbatch(c: TensorFlowContext, batched_tensor: Shape, batch_index: Shape, id: Shape) -> Shape:
    """[batch, *S], [parts, 3], [] -> [part, *S]: the rows of one call."""
    shape = c.with_rank_at_least(batched_tensor, 1)
    return c.unknown_shape() if shape.dims is None else c.replace_dim(shape, 0, c.fresh("part"))


@tf("UnbatchGrad")
def unbatch_grad(c: TensorFlowContext, original_input: Shape, batch_index: Shape, grad: Shape, id: Shape) -> Shape:
    """[n, *S], [parts, 3], [part, *S], [] -> [batch, *S]."""
    shape = c.with_rank_at_least(grad, 1)
    return c.unknown_shape() if shape.dims is None else c.replace_dim(shape, 0, c.fresh("batch"))


@tf("BatchFunction")
def batch_function(c: TensorFlowContext, *inputs: TensorType, f: FunctionReference) -> tuple[Shape, ...]:
    """The outputs of the function for a batch of several calls, with the size of axis 0 of this call's inputs.

    The batch may be padded. Captured inputs, which follow the batched ones, are passed as they are.
    """
    body, count = c.bodies.get("f"), len(c.attr("Tin"))
    if body is None or body.num_inputs != len(inputs) or body.num_outputs < c.num_outputs or not count:
        c.fail("the attribute 'f' must be a function that takes the inputs and returns the outputs of the node")
    shapes = [c.with_rank_at_least(value.shape, 1) for value in inputs[:count]]
    rows = c.dim(shapes[0], 0)
    for shape in shapes[1:]:
        rows = c.merge(rows, c.dim(shape, 0))
    batch = c.fresh("batch", c.interval(rows).lo or 0)
    arguments = [
        PartialTensor(value.dtype, c.replace_dim(shape, 0, batch), None)
        for value, shape in zip(inputs, shapes, strict=False)
    ]
    results = body.run([*arguments, *inputs[count:]], certain=False)
    return tuple(_part_of_call(c, result, rows) for result in results[: c.num_outputs])


def _part_of_call(c: TensorFlowContext, batched: Type, rows: DimSize) -> Shape:
    """The shape of the rows of a batched output that belong to this call."""
    shape = c.store.canon_shape(batched.shape) if isinstance(batched, TensorType) else c.unknown_shape()
    return c.unknown_shape() if not shape.dims else c.replace_dim(shape, 0, rows)
