"""Operators that hand on their inputs: the same types, contents and handles."""

from __future__ import annotations

from opdefs.tf.dialect import tf
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext


@tf("Identity", "RefIdentity", "StopGradient", "PreventGradient", "Snapshot", "GuaranteeConst", views={0: 0})
@tf("CheckNumerics", "CheckNumericsV2", "DebugIdentity", "DebugIdentityV2", "DebugIdentityV3", views={0: 0})
@tf("DebugGradientIdentity", "DebugGradientRefIdentity", "_EagerConst", "XlaSharding", "XlaClusterOutput", views={0: 0})
@tf("Copy", "CopyHost", "DeepCopy", "CopyToMesh", "_CopyFromGpuToHost", "_CopyFromHostToGpu", "Relayout", "CheckPinned")
def identity(c: InferenceContext, value: TensorType) -> TensorType:
    """The input itself."""
    return value


@tf("IdentityN")
def identities(c: InferenceContext, *values: TensorType) -> tuple[TensorType, ...]:
    """The inputs themselves."""
    return values


@tf("CopyToMeshGrad", "RelayoutLike")
def first_input(c: InferenceContext, value: TensorType, other: Shape) -> TensorType:
    """The first input itself."""
    return value


@tf("SleepIdentityOp")
def delayed_identity(c: InferenceContext, sleep_seconds: Shape, value: TensorType) -> TensorType:
    """The second input itself."""
    return value


@tf("_ListToArray", "_ArrayToList")
def regroup(c: InferenceContext, *values: TensorType) -> tuple[TensorType, ...]:
    """The inputs themselves, as one list or as several tensors of one type."""
    return values


@tf("DebugNanCount")
def count_of_nans(c: InferenceContext, value: Shape) -> Shape:
    """A vector of one count."""
    return c.vector(1)


@tf("RefSelect")
def ref_select(c: InferenceContext, index: Shape, *values: Shape) -> Shape:
    """The shape that all inputs have, else an unknown one."""
    c.with_rank(index, 0)
    if not values:
        c.fail("requires at least one input to select from")
    return values[0] if all(value == values[0] and c.fully_defined(value) for value in values) else c.unknown_shape()


@tf("XlaSort")
def same_shape(c: InferenceContext, value: Shape) -> Shape:
    """The shape of the input."""
    return value


@tf("XlaKeyValueSort")
def sort_pairs(c: InferenceContext, keys: Shape, values: Shape) -> tuple[Shape, Shape]:
    """The shapes of the inputs."""
    return keys, values


@tf("XlaSetBound")
def set_bound(c: InferenceContext, value: PartialTensor, bound: Shape) -> PartialTensor:
    """The input itself."""
    return value
