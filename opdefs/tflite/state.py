"""Variables and hash tables, and operators that LiteRT has no kernel or no shape for."""

from __future__ import annotations

from opdefs.tf.context import TensorFlowContext
from opdefs.tflite.dialect import tflite
from opdefs.tflite.operands import output_type
from shapeinf.graph import DeclaredType
from shapeinf.lattice import PartialTensor, Shape, TensorType


@tflite("VAR_HANDLE")
def variable_handle(c: TensorFlowContext) -> None:
    """The handle [] of a variable."""
    c.set_output(0, c.scalar())


@tflite("HASHTABLE")
def table_handle(c: TensorFlowContext) -> None:
    """The handle [1] of a table."""
    c.set_output(0, c.vector(1))


def declared_sizes(c: TensorFlowContext, declared: tuple[DeclaredType, ...]) -> Shape:
    """The sizes of an output that its kernel leaves as the file states them. Raises NotKnown for unknown ones."""
    dims = declared[0].dims if declared else None
    known = [d for d in dims or () if isinstance(d, int)]
    if dims is None or len(known) != len(dims):
        raise c.unknowable("its sizes are the sizes of the output in the file, which are unknown there", output_type(c))
    return Shape(known)


@tflite("READ_VARIABLE")
def variable_contents(
    c: TensorFlowContext, handle: TensorType, *, output_shapes: tuple[DeclaredType, ...] = ()
) -> PartialTensor:
    """A handle -> the value of the variable, whose sizes are those of the output in the file.

    Where the file states none, which is also its form of a scalar, they are those of the constants that are assigned.
    """
    return PartialTensor(output_type(c), declared_sizes(c, output_shapes), None)


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


@tflite("CALL", "CONCAT_EMBEDDINGS")
@tflite("STABLEHLO_BROADCAST_IN_DIM", "STABLEHLO_CONVOLUTION", "STABLEHLO_CUSTOM_CALL", "STABLEHLO_DOT_GENERAL")
@tflite("STABLEHLO_IOTA", "STABLEHLO_REDUCE", "STABLEHLO_SORT", "STABLEHLO_WHILE")
def without_kernel(c: TensorFlowContext, *values: TensorType | None) -> tuple[Shape, ...]:
    """Values -> outputs of unknown shape."""
    raise c.unknowable("LiteRT has no kernel for it", output_type(c))
