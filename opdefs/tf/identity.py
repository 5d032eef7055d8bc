"""Operators that hand on their inputs: the same types, contents and handles."""

from __future__ import annotations

from opdefs.tf.dialect import tf
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext


@tf("Identity", "RefIdentity", "StopGradient", "PreventGradient", "Snapshot", "GuaranteeConst", views={0: 0})
@tf("CheckNumerics", "CheckNumericsV2", "DebugIdentity", "DebugIdentityV2", "DebugIdentityV3", views={0: 0})
@tf("DebugGradientIdentity", "DebugGradientRefIdentity", "_EagerConst", "XlaSharding", "XlaClusterOutput", views={0: 0})
@tf("Copy", "CopyHost", "DeepCopy", "CopyToMesh", "_CopyFromGpuToHost", "_CopyFromHostToGpu")
def identity(c: InferenceContext, value: TensorType) -> TensorType:
    """The input itself."""
    return value


@tf("IdentityN")
def identities(c: InferenceContext, *values: TensorType) -> tuple[TensorType, ...]:
    """The inputs themselves."""
    return values


@tf("CopyToMeshGrad")
def copy_to_mesh_grad(c: InferenceContext, value: TensorType, forward_input: Shape) -> TensorType:
    """The gradient itself."""
    return value


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
