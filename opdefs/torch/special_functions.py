"""Functions of elements that no expression of PNNX has: special functions, pairs of operands, blends of three."""

from __future__ import annotations

from opdefs.pnnx.complex_numbers import real_type
from opdefs.pnnx.expression_types import BOOL, COMPLEX, FLOAT, INTEGER
from opdefs.pnnx.names import function_name
from opdefs.pnnx.operands import require_kind
from opdefs.pnnx.promotion import category, promote, to_float
from opdefs.rules.operands import require_broadcast_to
from opdefs.torch.dialect import torch
from opdefs.torch.operands import Numbers, is_in_place, promoted_type, read_operand
from opdefs.torch.schemas import with_tensors
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Operand

_SPECIAL = (
    *("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "entr", "erfcx", "i0e", "i1", "i1e", "log_ndtr"),
    *("modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1", "ndtr", "ndtri"),
    *("scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "spherical_bessel_j0"),
)
_OF_REAL_NUMBERS = (
    *("erfc", "erfinv", "lgamma", "digamma", "i0", "logit", "deg2rad", "rad2deg", "polygamma", "mvlgamma"),
    *(f"special_{name}" for name in _SPECIAL),
)
_OF_ALL_NUMBERS = ("exp2", "log2", "sinc")
_PRIMITIVES = (
    *("erf_inv", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1", "spherical_bessel_j0"),
    *("erfcx", "ndtri", "cbrt"),
)

FLOAT_FUNCTIONS = with_tensors(
    *(f"aten.{name}{suffix}.default" for name in (*_OF_REAL_NUMBERS, *_OF_ALL_NUMBERS) for suffix in ("", "_")),
    *(f"prims.{name}.default" for name in (*_OF_REAL_NUMBERS, *_OF_ALL_NUMBERS, *_PRIMITIVES)),
)
"""The overloads with results of floats."""


@torch(*FLOAT_FUNCTIONS, in_place=(0,))
def special_function(c: InferenceContext, self: Shape) -> TensorType:
    """[*S] -> [*S] floats, of integers float32."""
    if function_name(c.op_def.name) not in _OF_ALL_NUMBERS:
        require_kind(c, c.dtype(0), "the input must have real numbers", "bool", "integer", "float")
    return TensorType(_type_in_place(c, to_float(c.dtype(0))), self)


@torch("aten.frac.default", "aten.frac_.default", in_place=(0,))
def fraction(c: InferenceContext, self: Shape) -> TensorType:
    """[*S] -> [*S]: the parts behind the point; only floats have them."""
    require_kind(c, c.dtype(0), "the input must have floats", "float")
    return TensorType(c.dtype(0), self)


@torch("aten.nan_to_num.default", "aten.nan_to_num_.default", in_place=(0,))
def without_nan(c: InferenceContext, self: Shape) -> TensorType:
    """[*S] -> [*S]."""
    return TensorType(c.dtype(0), self)


@torch("aten.isreal.default")
def is_real(c: InferenceContext, self: Shape) -> TensorType:
    """[*S] -> [*S] booleans."""
    return TensorType("bool", self)


def _type_in_place(c: InferenceContext, dtype: str | None) -> str | None:
    """The element type of a result; a function in place must have that of its first operand or a wider one."""
    own = c.dtype(0)
    if not is_in_place(c.op_def.name) or own is None or dtype is None:
        return dtype
    if category(dtype) > category(own):
        c.fail("the result in place must fit into the element type of the input", dtype, own)
    return own


# -- two operands ------------------------------------------------------------------------------------------------------

_POLYNOMIALS = (
    *(f"special_{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
    *(f"special_{name}" for name in ("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l")),
    "special_legendre_polynomial_p",
)
_REAL, _FLOATS = (BOOL, INTEGER, FLOAT), (FLOAT,)
_ACCEPTED: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("hypot", "nextafter", "logaddexp2", "igamma", "igammac"), _FLOATS),
    **dict.fromkeys(
        ("fmax", "fmin", "heaviside", "copysign", "xlogy", "special_xlog1py", "special_zeta", "zeta"), _REAL
    ),
    **dict.fromkeys(_POLYNOMIALS, _REAL),
    **dict.fromkeys(("gcd", "lcm"), (INTEGER,)),
    **dict.fromkeys(("ldexp", "float_power"), (BOOL, INTEGER, FLOAT, COMPLEX)),
}
"""The categories of the promoted type for which torch has kernels, by function."""
_TO_FLOAT = ("copysign", "xlogy", "special_xlog1py", "special_zeta", "zeta", "ldexp", *_POLYNOMIALS)
_OVERLOADS = (
    *("default", "Tensor", "Scalar", "Tensor_Scalar", "Tensor_Tensor", "Scalar_Self", "Scalar_Other"),
    *("self_scalar", "other_scalar", "x_scalar", "n_scalar"),
)
PAIRS = with_tensors(
    *(f"aten.{name}{suffix}.{overload}" for name in _ACCEPTED for suffix in ("", "_") for overload in _OVERLOADS),
    *(f"prims.{name}.default" for name in _ACCEPTED),
    "aten.float_power.Scalar",
)
"""The overloads of two operands."""


@torch(*PAIRS, in_place=(0, 1))
def function_of_pairs(
    c: InferenceContext,
    self: Operand | None = None,
    other: Operand | None = None,
    *,
    self_: object = None,
    other_: object = None,
    numbers: Numbers = (),
) -> TensorType:
    """Numpy broadcasting, in the promoted type; of float_power in double precision."""
    operands = (
        read_operand(c, self, self_, "self", numbers),
        read_operand(c, other, other_, "other", numbers),
    )
    name = function_name(c.op_def.name)
    dtype = promoted_type(operands)
    if dtype is not None and category(dtype) not in _ACCEPTED[name]:
        c.fail(f"{name} is not defined for {dtype}", *(operand.dtype for operand in operands))
    if name == "heaviside" and None not in (types := {operand.dtype for operand in operands}) and len(types) > 1:
        c.fail("both operands must have the same element type", *(operand.dtype for operand in operands))
    if name in _TO_FLOAT:
        dtype = to_float(dtype)
    if name == "float_power" and dtype is not None:
        dtype = "complex128" if category(dtype) == COMPLEX else "float64"
    shape = c.broadcast(operands[0].value.shape, operands[1].value.shape)
    if is_in_place(c.op_def.name):
        shape = operands[0].value.shape
        require_broadcast_to(c, operands[1].value.shape, shape, "other must broadcast to the shape of self")
    return TensorType(_type_in_place(c, dtype), shape)


_COMPARISONS = with_tensors(
    *(f"aten.{name}_.{kind}" for name in ("eq", "ne", "lt", "le", "gt", "ge") for kind in ("Tensor", "Scalar")),
    *(f"aten.logical_{name}_.default" for name in ("and", "or", "xor", "not")),
)


@torch(*_COMPARISONS, in_place=(0,))
def comparison_in_place(
    c: InferenceContext, self: Shape, other: Shape | None = None, *, other_: object = None
) -> TensorType:
    """[*S] -> [*S] in its own element type; the other operand broadcasts to it."""
    if other is not None:
        require_broadcast_to(c, other, self, "other must broadcast to the shape of self")
    return TensorType(c.dtype(0), self)


@torch(
    *(f"aten.{name}_.{form}" for name in ("clamp", "clip", "clamp_min", "clamp_max") for form in ("default", "Tensor")),
    in_place=(0,),
)
def limit_in_place(
    c: InferenceContext,
    self: Shape,
    min: Shape | None = None,
    max: Shape | None = None,
    *,
    min_: object = None,
    max_: object = None,
) -> TensorType:
    """[*S] -> [*S] in its own element type; the limits broadcast to it."""
    for limit in (min, max):
        require_broadcast_to(c, limit, self, "a limit must broadcast to the shape of self")
    return TensorType(c.dtype(0), self)


# -- three operands ----------------------------------------------------------------------------------------------------


@torch(*(f"aten.{name}{suffix}.default" for name in ("addcmul", "addcdiv") for suffix in ("", "_")), in_place=(0,))
def scaled_products(c: InferenceContext, self: TensorType, tensor1: TensorType, tensor2: TensorType) -> TensorType:
    """`self` and a multiple of a product or quotient, broadcast, in the promoted type."""
    dtype = promote(self, tensor1, tensor2, tensors_only=True)
    if "addcdiv" in c.op_def.name:
        quotient = promote(tensor1, tensor2, tensors_only=True)
        require_kind(c, quotient, "the quotient must be of floats or complex numbers", "float", "complex")
    require_kind(c, dtype, "the operands must have numbers", "integer", "float", "complex")
    return TensorType(_type_in_place(c, dtype), _shape_of_three(c, self.shape, tensor1.shape, tensor2.shape))


@torch(*(f"aten.lerp{suffix}.{kind}" for suffix in ("", "_") for kind in ("Scalar", "Tensor")), in_place=(0,))
def blend(c: InferenceContext, self: TensorType, end: TensorType, weight: TensorType | None = None) -> TensorType:
    """`self + weight * (end - self)`, broadcast; all tensors have one element type."""
    types = {x.dtype for x in (self, end, weight) if x is not None}
    if None not in types and len(types) > 1:
        c.fail("all tensors must have the same element type", *types)
    require_kind(c, self.dtype, "the operands must have floats or complex numbers", "float", "complex")
    shapes = [x.shape for x in (self, end, weight) if x is not None]
    return TensorType(self.dtype, _shape_of_three(c, *shapes))


def _shape_of_three(c: InferenceContext, first: Shape, *others: Shape) -> Shape:
    """The broadcast shape; that of the first operand for a function in place."""
    if is_in_place(c.op_def.name):
        for other in others:
            require_broadcast_to(c, other, first, "the operands must broadcast to the shape of self")
        return first
    return c.broadcast(first, *others)


@torch("aten.dist.default")
def distance(c: InferenceContext, self: TensorType, other: TensorType) -> TensorType:
    """[]: the norm of the difference of two tensors that broadcast."""
    c.broadcast(self.shape, other.shape)
    dtype = promote(self, other, tensors_only=True)
    require_kind(c, dtype, "the difference must be of floats or complex numbers", "float", "complex")
    return TensorType(real_type(dtype), Shape(()))
