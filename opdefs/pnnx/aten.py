"""Operators of torch's own that pnnx keeps, `aten::NAME`: all arguments are inputs, in the order of torch's schema.

This module has those that also take numbers; the others are registered together with their functions in torch.
"""

from __future__ import annotations

from functools import partial

from opdefs.pnnx.axes import read_axis
from opdefs.pnnx.complex_numbers import real_type
from opdefs.pnnx.concat import cat, list_tensors
from opdefs.pnnx.dialect import own_types, pnnx
from opdefs.pnnx.names import function_name
from opdefs.pnnx.operands import convert_operands, is_kind, require_kind, require_operand, result_type
from opdefs.pnnx.promotion import to_float
from opdefs.pnnx.splits import chunk, split
from opdefs.rules.contents.arithmetic import limit_elements
from opdefs.rules.contents.constants import constant_tensor, number_of
from opdefs.rules.contents.conversion import convert
from opdefs.rules.contents.elements import MAX_RANK, Operation, known_dims, map_elements
from opdefs.rules.contents.floats import FloatArithmetic, float_operation
from opdefs.rules.contents.floats import arithmetic as arithmetic_of
from opdefs.rules.contents.numpy_functions import numpy_function
from opdefs.rules.contents.products import addition, multiplication, negation
from opdefs.rules.reduction import reduce_axes
from opdefs.rules.reshaping import shape_of_sizes
from opdefs.rules.sequences import create_tuple
from shapeinf.expr import DimSize
from shapeinf.lattice import SCALAR, PartialTensor, SequenceType, Shape, TensorType, Type
from shapeinf.ops import InferenceContext, Operand, Value


@own_types("torch.lgamma", "aten::lgamma", *(f"aten::{name}" for name in ("erf", "log", "sigmoid", "sqrt", "tanh")))
def float_function(c: InferenceContext, input: Value) -> PartialTensor:
    """[*S] -> [*S], in float32 for integers."""
    dtype, name = to_float(input.dtype), function_name(c.op_def.name)
    if name.endswith(("lgamma", "erf")):
        require_kind(c, dtype, "the input must not have complex numbers", "float")
    floats, x = arithmetic_of(c, dtype), convert(c, input, dtype)
    if floats is None or x.elements is None or name.endswith("lgamma"):
        return PartialTensor(dtype, input.shape, None)
    function = floats.square_root if name == "sqrt" else partial(floats.approximate, name)
    return map_elements(dtype, x.shape, function, x)


@pnnx("aten::relu", "aten::relu6")
def rectify(c: InferenceContext, input: Value, *others: Value) -> PartialTensor:
    """[*S] -> [*S]: the elements clipped to 0, and of relu6 to 6."""
    low, high = (PartialTensor(input.dtype, SCALAR, (number_of(input.dtype, n),)) for n in (0, 6))
    return limit_elements(c, input, low, high if function_name(c.op_def.name) == "relu6" else None)


@pnnx("aten::copy", "aten::copy_")
def same_type(c: InferenceContext, input: Shape, *others: Value) -> Shape:
    """[*S] -> [*S]."""
    return input


@own_types("aten::add", "aten::sub", "aten::mul", "aten::div")
def arithmetic(
    c: InferenceContext, input: Operand, other: Operand | None = None, *factors: Value, other_: object = None
) -> PartialTensor:
    """Broadcasting, in the promoted type; quotients are floats. A third input is a factor of the second."""
    second = require_operand(c, other, other_, "other")
    dtype = result_type(input, second)
    if function_name(c.op_def.name) == "div":
        dtype = None if factors else to_float(dtype)  # with a rounding mode, integers stay integers
    shape = c.broadcast(input.shape, second.shape) if isinstance(second, PartialTensor) else input.shape
    if factors or dtype is None or input.elements is None:
        return PartialTensor(dtype, shape, None)
    operation = _operation(c, dtype, function_name(c.op_def.name))
    return map_elements(dtype, shape, operation, *convert_operands(c, dtype, input, second))


def _operation(c: InferenceContext, dtype: str, name: str) -> Operation:
    """The operation on elements of a type."""
    if name == "mul":
        return multiplication(c, dtype)
    if name == "div":
        return float_operation(c, dtype, numpy_function("divide"), FloatArithmetic.divide)
    add, negate = addition(c, dtype), negation(c, dtype)
    return add if name == "add" else lambda a, b: add(a, negate(b))


@own_types("aten::cat")
def cat_of_list(c: InferenceContext, *tensors: TensorType | SequenceType, dim: int = 0) -> TensorType:
    """As `torch.cat` of several inputs; unknown for a list of tensors."""
    if any(isinstance(tensor, SequenceType) for tensor in tensors):
        raise c.unknowable("the tensors are a list")
    return cat(c, *tensors, dim=dim)


@own_types("aten::prod")
def product_of_all(c: InferenceContext, input: Value, *arguments: Value) -> PartialTensor:
    """[*S] -> [], the product of all elements; its type is unknown with a code of a type that is not known."""
    if len(arguments) > 1:
        raise c.unknowable("the arguments are not known")
    own = "int64" if is_kind(input.dtype, "bool", "integer") else input.dtype
    dtype = None if arguments else own
    if input.elements is None or dtype is None:
        return PartialTensor(dtype, SCALAR, None)
    return reduce_axes(c, convert(c, input, dtype), None, False, "Prod")


@own_types("aten::std", "aten::var")
def deviation_of_all(c: InferenceContext, input: Shape, *arguments: Value) -> TensorType:
    """[*S] -> [], the deviation of all elements; unknown with more arguments than `unbiased`."""
    require_kind(c, c.dtype(0), "the input must have floats or complex numbers", "float", "complex")
    if len(arguments) > 1:
        raise c.unknowable("the arguments are not known")
    return TensorType(real_type(c.dtype(0)), Shape(()))


@own_types("aten::numel")
def element_count(c: InferenceContext, input: Shape) -> PartialTensor:
    """The number of elements of the input, as an int64 scalar."""
    return PartialTensor("int64", SCALAR, None if input.dims is None else (c.numel(input),))


_NUMBER_TYPES = {"Int": "int64", "IntImplicit": "int64", "Float": "float64", "Bool": "bool", "ScalarImplicit": None}


@own_types(*(f"aten::{name}" for name in _NUMBER_TYPES))
def number_of_tensor(c: InferenceContext, input: Value) -> PartialTensor:
    """The only element of a tensor, as a number of Python."""
    if input.shape.dims:
        c.same_count(c.numel(input.shape), 1, "the input must have exactly one element")
    scalar = PartialTensor(input.dtype, SCALAR, input.elements)
    return convert(c, scalar, _NUMBER_TYPES[c.op_def.name.removeprefix("aten::")] or input.dtype)


@own_types("prim::NumToTensor")
def tensor_of_number(c: InferenceContext, input: Value) -> PartialTensor:
    """A number as a tensor of rank 0."""
    return PartialTensor(input.dtype, SCALAR, input.elements)


@own_types("aten::new_full")
def new_full(c: InferenceContext, input: Shape, size: Value, fill_value: Value, *options: Value) -> PartialTensor:
    """The sizes in `size`; in the element type of the input, unknown with `options`, which may contain another."""
    dtype = None if options else c.dtype(0)
    sizes = known_dims(size)
    if sizes is None:
        raise c.unknowable("the sizes are not known", dtype)
    if len(sizes) > MAX_RANK:
        c.fail(f"size must have at most {MAX_RANK} items", len(sizes))
    shape = shape_of_sizes(c, sizes, "size")
    fill = convert(c, fill_value, dtype).elements if dtype is not None and fill_value.shape.dims == () else None
    return constant_tensor(dtype, shape, fill[0] if fill else None)


@pnnx("aten::unfold")
def windows_of_axis(c: InferenceContext, input: Shape, dimension: Value, size: Value, step: Value) -> Shape:
    """[*A, n, *B] -> [*A, windows, *B, size]: windows of an axis, `step` apart."""
    dims = list(input.require())
    if not dims:
        raise c.unknowable("the windows of a tensor of rank 0 are not analyzed")
    axis = read_axis(c, _number(c, dimension, "dimension"), len(dims))
    length, distance = _number(c, size, "size"), c.concrete(_number(c, step, "step"))
    if distance is None:
        raise c.unknowable("the step is not known")
    if distance < 1:
        c.fail("step must be at least 1", distance)
    c.at_least(length, 0, "size must be at least 0")
    c.at_most(length, dims[axis], "size must be at most the size of the axis")
    dims[axis] = (dims[axis] - length) // distance + 1
    return Shape((*dims, length))


@pnnx("aten::unsafe_chunk")
def unsafe_chunk(c: InferenceContext, input: Value, chunks: Value, dim: Value | None = None) -> tuple[Type, ...]:
    """As `torch.chunk`."""
    return chunk(c, input, chunks=_number(c, chunks, "chunks"), dim=_axis(c, dim))


@pnnx("aten::unsafe_split")
def unsafe_split(c: InferenceContext, input: Value, split_size: Value, dim: Value | None = None) -> tuple[Type, ...]:
    """As `torch.split` into parts of one size."""
    size = _number(c, split_size, "split_size")
    return split(c, input, split_size_or_sections=size, dim=_axis(c, dim))


@own_types("aten::broadcast_tensors")
def broadcast_tensors(c: InferenceContext, tensors: TensorType | SequenceType) -> SequenceType:
    """The tensors of a list, each broadcast to their common shape."""
    listed = list_tensors(c, (tensors,))
    shape = c.broadcast(*(tensor.shape for tensor in listed))
    return create_tuple(c, [TensorType(tensor.dtype, shape) for tensor in listed])


def _axis(c: InferenceContext, dim: PartialTensor | None) -> DimSize:
    return 0 if dim is None else _number(c, dim, "dim")


def _number(c: InferenceContext, argument: PartialTensor, name: str) -> DimSize:
    """A computed integer; raises NotKnown without contents."""
    known = known_dims(argument)
    if known is None or len(known) != 1 or known[0] is None:
        raise c.unknowable(f"{name} is not known")
    return known[0]
