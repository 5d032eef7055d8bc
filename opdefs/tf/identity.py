"""Operators that return their inputs: the same types, contents and handles."""

from __future__ import annotations

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.lattice import PartialTensor, Shape, TensorType


@tf("Identity", "RefIdentity", "StopGradient", "PreventGradient", "Snapshot", "GuaranteeConst", views={0: 0})
@tf("CheckNumerics", "CheckNumericsV2", "DebugIdentity", "DebugIdentityV2", "DebugIdentityV3", views={0: 0})
@tf("DebugGradientIdentity", "DebugGradientRefIdentity", "_EagerConst", "XlaSharding", "XlaClusterOutput", views={0: 0})
@tf("Copy", "CopyHost", "DeepCopy", "CopyToMesh", "_CopyFromGpuToHost", "_CopyFromHostToGpu", "Relayout", "CheckPinned")
def identity(c: TensorFlowContext, value: TensorType) -> TensorType:
    """[*S] -> [*S]: the input with its contents."""
    return value


@tf("IdentityN")
def identities(c: TensorFlowContext, *values: TensorType) -> tuple[TensorType, ...]:
    """[*S]... -> [*S]...: the inputs with their contents."""
    return values


@tf("CopyToMeshGrad", "RelayoutLike")
def first_input(c: TensorFlowContext, value: TensorType, other: Shape) -> TensorType:
    """[*S], [*T] -> [*S]: the first input with its contents."""
    return value


@tf("SleepIdentityOp")
def delayed_identity(c: TensorFlowContext, sleep_seconds: Shape, value: TensorType) -> TensorType:
    """[], [*S] -> [*S]: the second input with its contents."""
    return value


@tf("_ListToArray", "_ArrayToList")
def regroup(c: TensorFlowContext, *values: TensorType) -> tuple[TensorType, ...]:
    """[*S]... -> [*S]...: a list as separate tensors of one type, or the reverse."""
    return values


@tf("DebugNanCount")
def count_of_nans(c: TensorFlowContext, value: Shape) -> Shape:
    """[*S] -> [1]."""
    return c.vector(1)


@tf("RefSelect")
def ref_select(c: TensorFlowContext, index: Shape, *values: Shape) -> Shape:
    """[], [*S]... -> [*S]; unknown if the inputs have several shapes."""
    c.with_rank(index, 0)
    if not values:
        c.fail("requires at least one input to select from")
    return values[0] if all(value == values[0] and c.fully_defined(value) for value in values) else c.unknown_shape()


@tf("XlaSort")
def same_shape(c: TensorFlowContext, value: Shape) -> Shape:
    """[*S] -> [*S]."""
    return value


@tf("XlaKeyValueSort")
def sort_pairs(c: TensorFlowContext, keys: Shape, values: Shape) -> tuple[Shape, Shape]:
    """[*S], [*T] -> [*S], [*T]."""
    return keys, values


@tf("XlaSetBound")
def set_bound(c: TensorFlowContext, value: PartialTensor, bound: Shape) -> PartialTensor:
    """[*S], [] -> [*S]: the input."""
    return value
