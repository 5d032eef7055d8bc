"""tract's operations that keep a shape: element by element, and along axes."""

from __future__ import annotations

from opdefs.nnef.attributes import Listed, read_front_axes, read_front_axis
from opdefs.nnef.broadcasting import broadcast
from opdefs.nnef.dialect import nnef
from opdefs.rules.contents.bits import bitwise_operation, inversion, shift_operation
from opdefs.rules.contents.conversion import convert
from opdefs.rules.contents.elements import map_elements
from opdefs.rules.contents.logic import logical_xor
from opdefs.rules.contents.products import multiplication
from opdefs.rules.contents.truth import infinity_test, is_not_a_number
from opdefs.rules.reduction import running_total
from shapeinf.formats.nnef.files.datum_types import dtype_of
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Operand, Value


def read_dtype(c: InferenceContext, name: str) -> str:
    """The dtype for tract's name of an element type."""
    dtype = dtype_of(name)
    if dtype is None:
        c.fail("the element type must be one of tract, such as f32", name)
    return dtype


@nnef("square", in_place=(0,))
def square(c: InferenceContext, x: Operand) -> PartialTensor:
    """[*S] -> [*S]."""
    multiply = multiplication(c, x.dtype)
    return map_elements(x.dtype, x.shape, lambda element: multiply(element, element), x)


@nnef(
    "recip",
    "tract_core_round_even",
    "tract_core_erf",
    "tract_core_hard_swish",
    "tract_core_tan",
    "tract_core_acos",
    "tract_core_asin",
    "tract_core_atan",
    "tract_core_cosh",
    "tract_core_sinh",
    "tract_core_acosh",
    "tract_core_asinh",
    "tract_core_atanh",
    "tract_core_silu",
    "tract_transformers_silu",
    "tract_core_gelu_approximate",
    "tract_transformers_gelu_approximate",
    in_place=(0,),
)
def element_wise(c: InferenceContext, x: Shape) -> TensorType:
    """[*S] -> [*S]."""
    return TensorType(c.dtype(0), x)


@nnef("tract_core_pow_const", "tract_core_gelu_approx", "tract_transformers_gelu_approx", in_place=(0,))
def element_wise_input(c: InferenceContext, input: Shape) -> TensorType:
    """[*S] -> [*S]: as `element_wise`, of an argument named `input`."""
    return TensorType(c.dtype(0), input)


@nnef("tract_core_is_nan", "tract_onnx_is_nan")
def is_nan(c: InferenceContext, x: Value) -> PartialTensor:
    """[*S] -> [*S] booleans."""
    return map_elements("bool", x.shape, is_not_a_number, x)


@nnef("tract_core_is_inf", "tract_onnx_isinf")
def is_inf(c: InferenceContext, input: Value) -> PartialTensor:
    """[*S] -> [*S] booleans."""
    return map_elements("bool", input.shape, infinity_test(), input)


@nnef("tract_core_xor", in_place=(0, 1))
def exclusive_or(c: InferenceContext, a: Operand, b: Operand) -> PartialTensor:
    """Broadcasting from the first axis, as in NNEF."""
    return map_elements(a.dtype or b.dtype, broadcast(c, a.shape, b.shape), logical_xor, a, b)


@nnef("tract_core_bitand", "tract_core_bitor", "tract_core_bitxor", in_place=(0, 1))
def bitwise(c: InferenceContext, a: Operand, b: Operand) -> PartialTensor:
    """Broadcasting from the first axis, as in NNEF."""
    dtype, name = a.dtype or b.dtype, c.op_def.name.removeprefix("tract_core_bit")
    return map_elements(dtype, broadcast(c, a.shape, b.shape), bitwise_operation(c, dtype, name), a, b)


@nnef("tract_shl", "tract_shr", in_place=(0, 1))
def shift(c: InferenceContext, a: Operand, b: Operand) -> PartialTensor:
    """Broadcasting from the first axis, as in NNEF."""
    dtype = a.dtype or b.dtype
    operation = shift_operation(c, dtype, left=c.op_def.name == "tract_shl")
    return map_elements(dtype, broadcast(c, a.shape, b.shape), operation, a, b)


@nnef("tract_core_bitnot", in_place=(0,))
def bitwise_not(c: InferenceContext, x: Operand) -> PartialTensor:
    """[*S] -> [*S]."""
    return map_elements(x.dtype, x.shape, inversion(c, x.dtype), x)


@nnef("tract_core_clamped_swiglu", in_place=(0, 1))
def clamped_swiglu(c: InferenceContext, gate: Shape, up: Shape) -> TensorType:
    """[*S], [*S] -> [*S]."""
    return TensorType(c.dtype(0), c.merge(gate, up, "gate and up must have the same shape"))


@nnef("tract_core_cast", in_place=(0,))
def cast(c: InferenceContext, input: Value, *, to: str = "") -> PartialTensor:
    """[*S] -> [*S] in the type `to`; without it the type is unknown: another file of the model has it."""
    return convert(c, input, read_dtype(c, to) if to else None)


@nnef("tract_core_softmax", "tract_core_log_softmax")
def softmax(c: InferenceContext, x: Shape, *, axes: Listed) -> TensorType:
    """[*S] -> [*S]."""
    if x.dims is not None:
        read_front_axes(c, axes, len(x))
    return TensorType(c.dtype(0), x)


@nnef("tract_core_cumsum")
def cumulative_sum(
    c: InferenceContext, input: Value, *, axis: int, exclusive: object = False, reverse: object = False
) -> PartialTensor:
    """[*S] -> [*S]: the running sums along an axis."""
    at = read_front_axis(c, axis, len(input.shape)) if input.shape.dims is not None else None
    if not isinstance(exclusive, bool) or not isinstance(reverse, bool):
        return PartialTensor(input.dtype, input.shape, None)
    return running_total(c, input, at, exclusive=exclusive, reverse=reverse)


@nnef("tract_core_rms_norm", "tract_transformers_rms_norm", "tract_pulse_cumsum")
def along_axis(c: InferenceContext, input: Shape, *, axis: int) -> TensorType:
    """[*S] -> [*S]."""
    if input.dims is not None:
        read_front_axis(c, axis, len(input))
    return TensorType(c.dtype(0), input)


@nnef("tract_core_scaled_rms_norm")
def scaled_rms_norm(c: InferenceContext, input: Shape, scale: Shape, *, axis: int, out_dt: str = "") -> TensorType:
    """[*S] -> [*S] in the type `out_dt`, by default that of the input."""
    if input.dims is not None:
        read_front_axis(c, axis, len(input))
    return TensorType(read_dtype(c, out_dt) if out_dt else c.dtype(0), input)


@nnef("tract_extra_exp_mean_norm")
def running_mean(c: InferenceContext, input: Shape, state: Shape, *, axis: int) -> TensorType:
    """[*A, d, *B], a state [*A, *B] -> [*A, d, *B]."""
    _check_state(c, input, state, axis, parts=False)
    return TensorType(c.dtype(0), input)


@nnef("tract_extra_exp_unit_norm")
def running_norm(c: InferenceContext, input: Shape, state: Shape, *, axis: int, complex: bool = False) -> TensorType:
    """[*A, d, *B], a state [*A, *B] -> [*A, d, *B]; of complex numbers, [*A, d, *B, 2] and the same state."""
    _check_state(c, input, state, axis, parts=complex)
    return TensorType(c.dtype(0), input)


def _check_state(c: InferenceContext, input: Shape, state: Shape, axis: int, *, parts: bool) -> None:
    """Require that the state has the shape of a slice of the input, without the axis of parts if there is one."""
    if input.dims is None:
        return
    at = read_front_axis(c, axis, len(input) - parts)
    rest = [d for i, d in enumerate(input) if i != at]
    if parts:
        c.merge(rest.pop(), 2, "the last axis must have size 2 (real and imaginary part)")
    c.merge(state, Shape(rest), "the state must have the shape of one slice of the input along the axis")


@nnef("tract_onnx_lrn")
def local_response_normalization(c: InferenceContext, input: Shape) -> TensorType:
    """[*S] -> [*S]."""
    return TensorType(c.dtype(0), input)
