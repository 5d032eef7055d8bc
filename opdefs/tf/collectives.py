"""Communication between the devices of a group."""

from __future__ import annotations

from opdefs.rules.contents.elements import known_dims
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.handles import declared_shape
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.graph import DeclaredType
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value


@tf("DTensorReduceScatter", "XlaReduceScatter")
def reduce_scatter_shape(c: TensorFlowContext) -> None:
    """[*P, n, *Q], groups [G, size], axis [] -> [*P, n / size, *Q]."""
    value, groups = c.input(0), c.input(1)
    if groups.dims is not None and len(groups) != 2:
        raise ShapeError("ReduceScatter group_assignment should be rank 2")
    axis = c.input_tensor(2)
    if axis is None or axis.dtype.kind != "i" or not axis.size or value.dims is None or groups.dims is None:
        c.set_output(0, c.unknown_shape())
        return
    at = c.axis(int(axis.reshape(-1)[0]), len(value))
    c.set_output(0, c.replace_dim(value, at, c.divide(value[at], groups[1], evenly_divisible=True)))


@tf(
    *("CollectiveAllToAllV2", "CollectiveAllToAllV3", "CollectiveBcastSendV2", "CollectivePermute"),
    *("CollectiveReduce", "CollectiveReduceV2", "CollectiveReduceV3", "CrossReplicaSum", "DTensorAllReduce"),
    *("NcclAllReduce", "NcclReduce", "XlaAllReduce", "_NcclReduceRecv"),
)
def same_on_each_device(c: TensorFlowContext, input: Shape, *others: Shape) -> Shape:
    """[*S] -> [*S]."""
    return input


@tf("_NcclBroadcastSend", "_NcclReduceSend")
def send(c: TensorFlowContext, input: Shape) -> tuple[()]:
    """[*S] -> no output."""
    return ()


@tf("NcclBroadcast", "CollectiveBcastSend")
def broadcast_to_devices(c: TensorFlowContext, input: Shape, *, shape: DeclaredType) -> Shape:
    """[*S] -> [*S], the shape in the attribute."""
    return c.store.canon_shape(c.merge(input, declared_shape(c, shape)))


@tf("CollectiveBcastRecv")
def receive(c: TensorFlowContext, *, shape: DeclaredType) -> Shape:
    """The shape in the attribute."""
    return declared_shape(c, shape)


@tf("CollectiveBcastRecvV2")
def receive_of_requested_shape(
    c: TensorFlowContext, group_size: Shape, group_key: Shape, instance_key: Shape, shape: Value
) -> Shape:
    """The shape in input `shape`."""
    return c.make_shape_from_shape_tensor(3)


@tf("_NcclBroadcastRecv")
def receive_broadcast(c: TensorFlowContext, shape: Value) -> Shape:
    """The shape in input `shape`."""
    return c.make_shape_from_shape_tensor(0)


@tf("CollectiveGather")
def gather(c: TensorFlowContext, input: Shape, *, group_size: int) -> Shape:
    """[N, *S] -> [N * group_size, *S], for a group size in the attribute."""
    x = c.with_rank_at_least(input, 1)
    return x if x.dims is None else c.replace_dim(x, 0, c.multiply(x[0], max(0, group_size)))


def _group_size(c: TensorFlowContext, group_size: PartialTensor) -> DimSize | None:
    """The size of a group in a scalar input, None where it is unknown."""
    known = known_dims(group_size)
    return known[0] if known and known[0] is not None and c.prove_le(1, known[0]) is True else None


@tf("CollectiveGatherV2")
def gather_from_group(
    c: TensorFlowContext, input: Shape, group_size: Value, group_key: Shape, instance_key: Shape, *tokens: Shape
) -> Shape:
    """[N, *S], group_size [] -> [N * group_size, *S]."""
    x, size = c.with_rank_at_least(input, 1), _group_size(c, group_size)
    if x.dims is None:
        return c.unknown_shape()
    return c.replace_dim(x, 0, c.unknown_dim() if size is None else c.multiply(x[0], size))


@tf("CollectiveReduceScatterV2")
def reduce_scatter(
    c: TensorFlowContext, input: Shape, group_size: Value, group_key: Shape, instance_key: Shape, *tokens: Shape
) -> Shape:
    """[N, *S], group_size [] -> [N / group_size, *S]."""
    x, size = c.with_rank_at_least(input, 1), _group_size(c, group_size)
    if x.dims is None:
        return c.unknown_shape()
    rows = c.fresh_at_most(x[0], "rows") if size is None else c.divide(x[0], size, evenly_divisible=True)
    return c.replace_dim(x, 0, rows)


@tf("AllToAll")
def all_to_all(
    c: TensorFlowContext,
    input: Shape,
    group_assignment: Shape,
    *,
    concat_dimension: int,
    split_dimension: int,
    split_count: int,
) -> Shape:
    """[..., n, ..., m, ...] -> [..., n / split_count, ..., m * split_count, ...]: split one axis, concatenate one."""
    c.with_rank(group_assignment, 2)
    x = c.store.canon_shape(input)
    if x.dims is None:
        return c.unknown_shape()
    concat, split = c.axis(concat_dimension, len(x)), c.axis(split_dimension, len(x))
    if split_count < 1:
        c.fail("split_count must be at least 1", split_count)
    dims = list(x.dims)
    dims[split] = c.divide(dims[split], split_count, evenly_divisible=True)
    dims[concat] = c.multiply(dims[concat], split_count)
    return Shape(dims)


@tf("CollectiveAssignGroupV2")
def assign_group(
    c: TensorFlowContext, group_assignment: Shape, device_index: Shape, base_key: Shape
) -> tuple[Shape, Shape]:
    """The size [] and the key [] of a group."""
    return c.scalar(), c.scalar()


@tf("CollectiveInitializeCommunicator")
def initialize_communicator(c: TensorFlowContext, group_key: Shape, rank: Shape, group_size: Shape) -> Shape:
    """[]: a handle."""
    return c.scalar()
