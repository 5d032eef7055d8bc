"""Other state: accumulators, stages, maps, sessions, mutexes, and the ends of graphs and of transfers."""

from __future__ import annotations

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.handles import create_handle, declared_shape, read_value, values_behind
from shapeinf.graph import DeclaredType
from shapeinf.lattice import SCALAR, HandleType, Shape, TensorType

# -- accumulators ------------------------------------------------------------------------------------------------------


@tf("ConditionalAccumulator", "ResourceConditionalAccumulator", "SparseConditionalAccumulator")
def accumulator(c: TensorFlowContext, *, dtype: str, shape: DeclaredType) -> HandleType:
    """The handle of an accumulator of gradients of the declared shape."""
    return create_handle(c, (TensorType(dtype, declared_shape(c, shape)),))


@tf("AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient")
def apply_gradient(c: TensorFlowContext, handle: TensorType, local_step: Shape, gradient: Shape) -> None:
    """A handle, step [], gradient [*S] -> no outputs."""
    c.with_rank(local_step, 0)
    values = values_behind(handle)
    if values is not None and len(values) == 1:
        c.merge(read_value(c, values[0]).shape, gradient)


@tf("AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient")
def take_gradient(c: TensorFlowContext, handle: TensorType, num_required: Shape) -> Shape:
    """A handle, [] -> the mean [*S] of the gradients."""
    c.with_rank(num_required, 0)
    values = values_behind(handle)
    if values is None or len(values) != 1:
        raise c.unknowable("the accumulator behind the handle is unknown")
    return read_value(c, values[0]).shape


@tf("AccumulatorNumAccumulated", "ResourceAccumulatorNumAccumulated")
def num_accumulated(c: TensorFlowContext, handle: Shape) -> Shape:
    """A handle -> []."""
    return SCALAR


@tf("AccumulatorSetGlobalStep", "ResourceAccumulatorSetGlobalStep")
def set_global_step(c: TensorFlowContext, handle: Shape, new_global_step: Shape) -> None:
    """A handle, [] -> no outputs."""
    c.with_rank(new_global_step, 0)


@tf("SparseAccumulatorApplyGradient")
def apply_sparse_gradient(
    c: TensorFlowContext,
    handle: Shape,
    local_step: Shape,
    gradient_indices: Shape,
    gradient_values: Shape,
    gradient_shape: Shape,
) -> None:
    """A handle, [], a sparse gradient -> no outputs."""
    c.with_rank(local_step, 0)


@tf("SparseAccumulatorTakeGradient")
def take_sparse_gradient(c: TensorFlowContext, handle: TensorType, num_required: Shape) -> tuple[Shape, Shape, Shape]:
    """A handle, [] -> the mean of the gradients: indices [n], rows [n, *S] and the dense shape [*]."""
    c.with_rank(num_required, 0)
    count, values = c.fresh("rows"), values_behind(handle)
    rows = c.unknown_shape()
    if values is not None and len(values) == 1 and values[0].shape.rank:
        rows = c.replace_dim(read_value(c, values[0]).shape, 0, count)
    return Shape((count,)), rows, c.vector(None)


# -- stages and maps ---------------------------------------------------------------------------------------------------


@tf("Stage", "MapStage", "OrderedMapStage")
def stage(c: TensorFlowContext, *inputs: Shape) -> None:
    """[*S]... -> no outputs."""


@tf("Unstage", "StagePeek", "MapPeek", "MapUnstage", "MapUnstageNoKey")
@tf("OrderedMapPeek", "OrderedMapUnstage", "OrderedMapUnstageNoKey")
def unstage(c: TensorFlowContext, *inputs: Shape) -> tuple[Shape, ...]:
    """Tensors of any shape: those that other nodes stage, which share only a name with this one."""
    raise c.unknowable("the values that other nodes stage are unknown")


@tf("StageSize", "MapSize", "MapIncompleteSize", "OrderedMapSize", "OrderedMapIncompleteSize")
def stage_size(c: TensorFlowContext) -> Shape:
    """[]."""
    return SCALAR


@tf("StageClear", "MapClear", "OrderedMapClear", "NoOp", "ControlTrigger", "Abort")
def nothing(c: TensorFlowContext) -> None:
    """No inputs and no outputs."""


@tf("EmptyTensorMap")
def empty_map(c: TensorFlowContext) -> Shape:
    """[]: a map from tensors to tensors."""
    return SCALAR


@tf("TensorMapInsert")
def insert_into_map(c: TensorFlowContext, input_handle: Shape, key: Shape, value: Shape) -> Shape:
    """[], key, value -> []: the map with one more entry."""
    return SCALAR


@tf("TensorMapErase", "TensorMapHasKey")
def erase_from_map(c: TensorFlowContext, input_handle: Shape, key: Shape) -> Shape:
    """[], key -> []: the map without the entry, or whether it has the entry."""
    return SCALAR


@tf("TensorMapSize")
def map_size(c: TensorFlowContext, input_handle: Shape) -> Shape:
    """[] -> []."""
    return SCALAR


@tf("TensorMapLookup")
def map_value(c: TensorFlowContext, input_handle: Shape, key: Shape) -> Shape:
    """[], key -> a tensor of any shape."""
    raise c.unknowable("the shapes of the values of a map are unknown")


@tf("TensorMapStackKeys")
def map_keys(c: TensorFlowContext, input_handle: Shape) -> Shape:
    """[] -> a tensor of any shape: all keys, stacked."""
    raise c.unknowable("the shape of the keys of a map is unknown")


# -- sessions and mutexes ----------------------------------------------------------------------------------------------


@tf("GetSessionHandle", "GetSessionHandleV2")
def session_handle(c: TensorFlowContext, value: Shape) -> Shape:
    """[*S] -> []."""
    return SCALAR


@tf("GetSessionTensor")
def session_tensor(c: TensorFlowContext, handle: Shape) -> Shape:
    """[] -> a tensor of any shape, which another run stored."""
    c.with_rank(handle, 0)
    raise c.unknowable("the tensor that another run stored is unknown")


@tf("DeleteSessionTensor")
def delete_session_tensor(c: TensorFlowContext, handle: Shape) -> None:
    """[] -> no outputs."""
    c.with_rank(handle, 0)


@tf("MutexV2", "StubResourceHandleOp", "BoostedTreesEnsembleResourceHandleOp")
@tf("BoostedTreesQuantileStreamResourceHandleOp")
def resource_handle(c: TensorFlowContext) -> HandleType:
    """[]: a handle."""
    return HandleType("resource", SCALAR, None)


@tf("MutexLock")
def mutex_lock(c: TensorFlowContext, mutex: Shape) -> Shape:
    """[] -> []."""
    return SCALAR


@tf("ConsumeMutexLock")
def consume_mutex_lock(c: TensorFlowContext, mutex_lock: Shape) -> None:
    """No outputs."""


# -- ends of graphs and of transfers -----------------------------------------------------------------------------------


@tf("_Arg", "_DeviceArg")
def argument(c: TensorFlowContext) -> Shape:
    """An argument of a function, of any shape."""
    raise c.unknowable("the argument is passed by another function")


@tf("_Retval", "_DeviceRetval", "_Send", "_HostSend")
def end(c: TensorFlowContext, value: Shape) -> None:
    """No outputs."""


@tf("_Recv", "_HostRecv")
def receive(c: TensorFlowContext) -> Shape:
    """A tensor of any shape, which another device sends."""
    raise c.unknowable("the tensor that another device sends is unknown")


@tf("_HostCast", in_place=(0,))
def host_cast(c: TensorFlowContext, x: Shape) -> Shape:
    """[*S] -> [*S]."""
    return x


@tf("XlaOptimizationBarrier")
def optimization_barrier(c: TensorFlowContext, *inputs: TensorType) -> tuple[TensorType, ...]:
    """[*S]... -> [*S]...: the inputs."""
    return inputs


@tf("RecordInput")
def record_input(c: TensorFlowContext, *, batch_size: int = 32) -> Shape:
    """[batch_size]."""
    return c.vector(batch_size) if batch_size >= 0 else c.fail("batch_size must be at least 0", batch_size)
