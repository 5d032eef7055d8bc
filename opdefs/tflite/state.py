"""Variables and hash tables, and operators that LiteRT has no kernel or no shape for."""

from __future__ import annotations

from opdefs.tf.context import TensorFlowContext
from opdefs.tflite.dialect import tflite
from opdefs.tflite.operands import output_type
from shapeinf.graph import DeclaredType
from shapeinf.lattice import PartialTensor, Shape, TensorType


@tflite("VAR_HANDLE", "HASHTABLE")
def handle(c: TensorFlowContext) -> PartialTensor:
    """The handle [1] of a variable or a table."""
    return PartialTensor("resource", Shape((1,)), None)


@tflite("READ_VARIABLE")
def read_variable(
    c: TensorFlowContext, handle: TensorType, *, output_shapes: tuple[DeclaredType, ...] = ()
) -> PartialTensor:
    """A handle -> the value of the variable, whose sizes are those of the output in the file.

    A scalar in the file may also stand for an unknown rank.
    """
    dims = output_shapes[0].dims if output_shapes else None
    known = [d for d in dims or () if isinstance(d, int)]
    if not known or len(known) != len(dims or ()):
        raise c.unknowable("the sizes of the variable are those that it was assigned last", output_type(c))
    return PartialTensor(output_type(c), Shape(known), None)


@tflite("ASSIGN_VARIABLE", "HASHTABLE_IMPORT")
def assign(c: TensorFlowContext, handle: TensorType, *values: Shape) -> tuple[Shape, ...]:
    """A handle and values -> no outputs."""
    return ()


@tflite("HASHTABLE_FIND")
def hashtable_find(c: TensorFlowContext, handle: TensorType, keys: Shape, default: Shape) -> Shape:
    """A handle, keys [*S], [1] -> [*S]."""
    return keys


@tflite("HASHTABLE_SIZE")
def hashtable_size(c: TensorFlowContext, handle: TensorType) -> Shape:
    """A handle -> [1]."""
    return Shape((1,))


@tflite("EMBEDDING_LOOKUP_SPARSE", "LSH_PROJECTION", "SKIP_GRAM")
def data_dependent(c: TensorFlowContext, *values: TensorType | None) -> tuple[Shape, ...]:
    """Values -> outputs whose sizes the run decides."""
    raise c.unknowable("its sizes depend on data, and no rule for them is known", output_type(c))


@tflite("CALL", "CONCAT_EMBEDDINGS", "DELEGATE")
@tflite("STABLEHLO_BROADCAST_IN_DIM", "STABLEHLO_CONVOLUTION", "STABLEHLO_CUSTOM_CALL", "STABLEHLO_DOT_GENERAL")
@tflite("STABLEHLO_IOTA", "STABLEHLO_REDUCE", "STABLEHLO_SORT", "STABLEHLO_WHILE")
def without_kernel(c: TensorFlowContext, *values: TensorType | None) -> tuple[Shape, ...]:
    """Values -> outputs of unknown shape."""
    raise c.unknowable("LiteRT has no kernel for it", output_type(c))
