"""Queues, barriers and stacks: handles with the types of the components of an element."""

from __future__ import annotations

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.handles import (
    Dtypes,
    Shapes,
    create_handle,
    declared_values,
    read_value,
    scalar_dim,
    values_behind,
)
from opdefs.tf.stored_values import loaded_values, stored_values
from shapeinf.expr import DimSize
from shapeinf.lattice import SCALAR, HandleType, Shape, TensorType
from shapeinf.ops import Value


@tf("FIFOQueue", "FIFOQueueV2", "PaddingFIFOQueue", "PaddingFIFOQueueV2", "RandomShuffleQueue", "RandomShuffleQueueV2")
def queue(c: TensorFlowContext, *, component_types: Dtypes, shapes: Shapes = ()) -> HandleType:
    """The handle of a queue; without `shapes`, its components may have any shape."""
    return create_handle(c, declared_values(c, component_types, shapes))


@tf("PriorityQueue", "PriorityQueueV2")
def priority_queue(c: TensorFlowContext, *, component_types: Dtypes = (), shapes: Shapes) -> HandleType:
    """The handle of a queue; the priority, an int64, is the first component."""
    values = declared_values(c, component_types, shapes)
    return create_handle(c, (TensorType("int64", SCALAR), *values))


@tf("FakeQueue")
def fake_queue(c: TensorFlowContext, resource: TensorType) -> HandleType:
    """The handle of the queue behind another handle."""
    return create_handle(c, values_behind(resource))


def components(
    c: TensorFlowContext, handle: TensorType, dtypes: Dtypes, stored: tuple[TensorType, ...]
) -> tuple[Shape, ...]:
    """The shapes of the components of an element. Raises NotKnown if neither queue nor other nodes determine them."""
    values = loaded_values(c, values_behind(handle), dtypes, stored)
    if values is None:
        raise c.unknowable("the components of the queue are unknown")
    return tuple(read_value(c, value).shape for value in values)


@tf("QueueDequeue", "QueueDequeueV2")
def dequeue(
    c: TensorFlowContext, handle: TensorType, *stored: TensorType, component_types: Dtypes
) -> tuple[Shape, ...]:
    """A handle -> the components [*S]... of one element."""
    return components(c, handle, component_types, stored)


@tf("QueueDequeueMany", "QueueDequeueManyV2")
def dequeue_many(
    c: TensorFlowContext, handle: TensorType, n: Value, *stored: TensorType, component_types: Dtypes
) -> tuple[Shape, ...]:
    """A handle, n [] -> the components [n, *S]... of n elements."""
    count = scalar_dim(c, n, "n")
    lead = Shape((c.fresh("count") if count is None else count,))
    return tuple(c.concatenate(lead, shape) for shape in components(c, handle, component_types, stored))


@tf("QueueDequeueUpTo", "QueueDequeueUpToV2")
def dequeue_up_to(
    c: TensorFlowContext, handle: TensorType, n: Value, *stored: TensorType, component_types: Dtypes
) -> tuple[Shape, ...]:
    """A handle, n [] -> the components [m, *S]... of m <= n elements: fewer after the queue is closed."""
    most = scalar_dim(c, n, "n")
    lead = Shape((c.fresh("count") if most is None else c.fresh_at_most(most, "count"),))
    return tuple(c.concatenate(lead, shape) for shape in components(c, handle, component_types, stored))


@tf("QueueEnqueue", "QueueEnqueueV2")
def enqueue(c: TensorFlowContext, handle: TensorType, *components: Shape) -> None:
    """A handle, the components [*S]... of one element -> no outputs."""
    values = values_behind(handle)
    if values is not None and len(values) == len(components):
        for value, shape in zip(values, components, strict=True):
            c.merge(read_value(c, value).shape, shape)


@tf("QueueEnqueueMany", "QueueEnqueueManyV2")
def enqueue_many(c: TensorFlowContext, handle: TensorType, *components: Shape) -> None:
    """A handle, the components [n, *S]... of n elements -> no outputs."""
    rows = [c.dim(c.with_rank_at_least(shape, 1), 0) for shape in components]
    for row in rows[1:]:
        c.merge(rows[0], row)
    enqueue(c, handle, *(c.subshape(shape, 1) for shape in components))


@tf("QueueSize", "QueueSizeV2", "QueueIsClosed", "QueueIsClosedV2")
def queue_state(c: TensorFlowContext, handle: Shape) -> Shape:
    """A handle -> []."""
    return SCALAR


@tf("QueueClose", "QueueCloseV2", "BarrierClose", "StackClose", "StackCloseV2")
def close(c: TensorFlowContext, handle: Shape) -> None:
    """A handle -> no outputs."""


# -- barriers ----------------------------------------------------------------------------------------------------------


@tf("Barrier")
def barrier(c: TensorFlowContext, *, component_types: Dtypes, shapes: Shapes = ()) -> HandleType:
    """The handle of a barrier."""
    return queue(c, component_types=component_types, shapes=shapes)


@tf("BarrierInsertMany")
def insert_into_barrier(c: TensorFlowContext, handle: Shape, keys: Shape, values: Shape) -> None:
    """A handle, keys [n], values [n, *S] -> no outputs."""
    keys, values = c.with_rank(keys, 1), c.with_rank_at_least(values, 1)
    c.merge(keys[0], c.dim(values, 0))


@tf("BarrierTakeMany")
def take_from_barrier(
    c: TensorFlowContext,
    handle: TensorType,
    num_elements: Value,
    *,
    component_types: Dtypes,
    allow_small_batch: bool = False,
) -> tuple[Shape, ...]:
    """A handle, n [] -> indices [m], keys [m], components [m, *S]...; m may be less than n if that is allowed."""
    most = scalar_dim(c, num_elements, "num_elements")
    count: DimSize = c.fresh("count") if most is None else most
    if allow_small_batch and most is not None:
        count = c.fresh_at_most(most, "count")
    lead, values = Shape((count,)), values_behind(handle)
    if values is None or len(values) != len(component_types):
        return lead, lead, *(c.unknown_shape() for _ in component_types)
    return lead, lead, *(c.concatenate(lead, read_value(c, value).shape) for value in values)


@tf("BarrierReadySize", "BarrierIncompleteSize")
def barrier_size(c: TensorFlowContext, handle: Shape) -> Shape:
    """A handle -> []."""
    return SCALAR


# -- stacks ------------------------------------------------------------------------------------------------------------


@tf("Stack")
def old_stack(c: TensorFlowContext) -> HandleType:
    """The handle of a stack."""
    return create_handle(c, None)


@tf("StackV2")
def stack(c: TensorFlowContext, max_size: Shape) -> HandleType:
    """The handle of a stack, a scalar as in the kernel; TensorFlow's shape function returns [2]."""
    return create_handle(c, None)


@tf("StackPush", "StackPushV2", views={0: 1})
def push(c: TensorFlowContext, handle: Shape, elem: TensorType) -> TensorType:
    """A handle, [*S] -> [*S]."""
    return elem


@tf("StackPop", "StackPopV2")
def pop(c: TensorFlowContext, handle: Shape, *stored: TensorType) -> TensorType:
    """A handle -> [*S]: the last value that was pushed."""
    values = stored_values(c, stored, 1)
    if values is None:
        raise c.unknowable("the values that other nodes push on the stack are unknown")
    return values[0]
