"""Reductions that PNNX does not have: deviations with means, sums without NaN, norms of vectors and matrices."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf

from opdefs.pnnx.axes import read_axes
from opdefs.pnnx.complex_numbers import real_type
from opdefs.pnnx.names import function_name
from opdefs.pnnx.operands import is_kind, read_type, require_kind
from opdefs.rules.numbers import read_int
from opdefs.rules.reduction import reduced_shape
from opdefs.torch.dialect import torch
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext

_FORMS = ("default", "dim", "correction")


@torch(*(f"aten.{name}_mean.{form}" for name in ("var", "std") for form in _FORMS))
def deviation_and_mean(
    c: InferenceContext, self: Shape, *, dim: object = None, keepdim: bool = False
) -> tuple[TensorType, TensorType]:
    """Variance or deviation of axes, real numbers, and their mean; no axes stand for all."""
    require_kind(c, c.dtype(0), "the input must have floats or complex numbers", "float", "complex")
    shape = _reduced(c, self, dim, keepdim)
    return TensorType(real_type(c.dtype(0)), shape), TensorType(c.dtype(0), shape)


@torch("aten.nansum.default", "aten.nanmean.default")
def without_nan(
    c: InferenceContext, self: Shape, *, dim: object = None, keepdim: bool = False, dtype: str | None = None
) -> TensorType:
    """Sum, of integers in int64, or mean of the elements of axes that are numbers; no axes stand for all."""
    result = read_type(c, dtype) or c.dtype(0)
    if function_name(c.op_def.name) == "nanmean":
        require_kind(c, c.dtype(0), "the input must have floats or complex numbers", "float", "complex")
    elif is_kind(result, "bool", "integer") and dtype is None:
        result = "int64"
    else:
        require_kind(c, c.dtype(0), "the input must have real numbers", "bool", "integer", "float")
    return TensorType(result, _reduced(c, self, dim, keepdim))


def _reduced(c: InferenceContext, x: Shape, dim: object, keepdim: bool) -> Shape:
    """The shape without axes; None and an empty list stand for all axes."""
    everything = dim is None or dim == ()
    if x.dims is None:
        return Shape(()) if everything and not keepdim else x
    return reduced_shape(x, set(range(len(x)) if everything else _axes(c, dim, len(x))), keepdim)


def _axes(c: InferenceContext, dim: object, rank: int) -> Sequence[int]:
    return [axis for axis in read_axes(c, dim, rank) if axis < rank]


# -- norms -------------------------------------------------------------------------------------------------------------


def _type_of_norm(c: InferenceContext, dtype: str | None = None) -> str | None:
    require_kind(c, c.dtype(0), "the input must have floats or complex numbers", "float", "complex")
    return real_type(read_type(c, dtype) or c.dtype(0))


@torch("aten.linalg_vector_norm.default")
def vector_norm(
    c: InferenceContext,
    self: Shape,
    *,
    ord: object = 2,
    dim: object = None,
    keepdim: bool = False,
    dtype: str | None = None,
) -> TensorType:
    """The norms of vectors along axes, real numbers; no axes stand for all.

    An infinite or negative order needs an element: it is an extreme.
    """
    result = _type_of_norm(c, dtype)
    if isinstance(ord, (int, float)) and (ord < 0 or isinf(ord)) and self.dims:
        axes = range(len(self)) if dim in (None, ()) else _axes(c, dim, len(self))
        for axis in axes:
            c.at_least(self.dims[axis], 1, "a reduced axis must not be empty: a norm of this order is an extreme")
    return TensorType(result, _reduced(c, self, dim, keepdim))


@torch("aten.linalg_norm.default", "aten.linalg_norm.ord_str")
def norm(
    c: InferenceContext,
    self: Shape,
    *,
    ord: object = None,
    dim: object = None,
    keepdim: bool = False,
    dtype: str | None = None,
) -> TensorType:
    """The norms of vectors along one axis or of matrices along two; without order and axes that of all elements."""
    if ord is None and dim is None:
        return vector_norm(c, self, keepdim=keepdim, dtype=dtype)
    dims = self.require()
    axes = range(len(dims)) if dim is None else read_axes(c, dim, len(dims))
    if len(axes) not in (1, 2):
        subject = "the rank of the input" if dim is None else "the number of axes"
        c.fail(f"{subject} must be 1 or 2", len(axes))
    if len(axes) == 1 and not isinstance(ord, str):
        order = 2 if ord is None else ord
        return vector_norm(c, self, ord=order, dim=tuple(axes), keepdim=keepdim, dtype=dtype)
    if ord is None:
        return vector_norm(c, self, dim=tuple(axes), keepdim=keepdim, dtype=dtype)
    return matrix_norm(c, self, ord=ord, dim=tuple(axes), keepdim=keepdim, dtype=dtype)


@torch("aten.linalg_matrix_norm.default", "aten.linalg_matrix_norm.str_ord")
def matrix_norm(
    c: InferenceContext,
    self: Shape,
    *,
    ord: object = "fro",
    dim: object = (-2, -1),
    keepdim: bool = False,
    dtype: str | None = None,
) -> TensorType:
    """[*B, M, N] -> [*B]: norms along two axes, of the orders `fro`, `nuc`, 1, 2, inf and the negative ones."""
    result = _type_of_norm(c, dtype)
    dims = self.require()
    if len(dims) < 2:
        c.fail("the input must have rank 2 or more", self)
    axes = read_axes(c, dim, len(dims))
    if len(axes) != 2:
        c.fail("dim must have two axes", axes)
    if ord not in ("fro", "nuc") and (not isinstance(ord, (int, float)) or (abs(ord) not in (1, 2) and not isinf(ord))):
        c.fail("the order of a matrix norm must be fro, nuc, 1, 2 or inf, or the negative of one of these", ord)
    if isinstance(ord, (int, float)) and ord in (-1, float("-inf")):
        c.at_least(dims[axes[ord == -1]], 1, "a matrix must not be empty: a norm of this order is an extreme")
    return TensorType(result, reduced_shape(self, set(axes), keepdim))


@torch("aten.frobenius_norm.dim", "aten.nuclear_norm.default", "aten.nuclear_norm.dim")
def norm_of_name(c: InferenceContext, self: Shape, *, dim: object = None, keepdim: bool = False) -> TensorType:
    """The norms of matrices along two axes, and Frobenius norms of vectors too; without axes of all elements."""
    result = _type_of_norm(c)
    if dim is not None and self.dims is not None:
        count = len(read_axes(c, dim, len(self.dims)))
        if count > 2 or (count != 2 and "nuclear" in c.op_def.name):
            c.fail("dim must have two axes", dim)
    elif self.dims is not None:
        c.require_rank(self, 2, "the input")
    return TensorType(result, _reduced(c, self, dim, keepdim))


@torch("aten.norm_except_dim.default")
def norm_except_dim(c: InferenceContext, v: Shape, *, dim: object = 0) -> TensorType:
    """[*S] -> the norms of all axes but one, which remain with size 1; of all axes without them for -1."""
    axis = read_int(c, dim, "dim")
    if axis == -1:
        return TensorType(_type_of_norm(c), Shape(()))
    dims = v.require()
    at = c.axis(axis, len(dims))
    c.at_least(dims[at], 1, "the axis that remains must not be empty")
    return TensorType(_type_of_norm(c), reduced_shape(v, {*range(len(dims))} - {at}, True))


@torch("aten.renorm.default", "aten.renorm_.default", in_place=(0,))
def limit_norms(c: InferenceContext, self: Shape, *, dim: object) -> TensorType:
    """[*S] -> [*S]: the slices along an axis, scaled where their norm is too large."""
    if self.dims is not None:
        if len(self.dims) < 2:
            c.fail("the input must have rank 2 or more", self)
        c.axis(read_int(c, dim, "dim"), len(self.dims))
    return TensorType(_type_of_norm(c) and c.dtype(0), self)
