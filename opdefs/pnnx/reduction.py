"""Reductions of axes, and running totals."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from opdefs.pnnx.axes import read_axes, read_axis
from opdefs.pnnx.comparison import extreme_of_pairs
from opdefs.pnnx.complex_numbers import real_type
from opdefs.pnnx.dialect import own_types, pnnx
from opdefs.pnnx.names import function_name
from opdefs.pnnx.operands import is_kind, read_type, require_kind
from opdefs.pnnx.promotion import to_float
from opdefs.rules.contents.conversion import convert
from opdefs.rules.contents.ordering import extreme_positions
from opdefs.rules.numbers import read_int
from opdefs.rules.reduction import reduce_axes, running_total
from shapeinf.lattice import ChosenIndices, Element, PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Operand, Value


@attrs.frozen
class Axes:
    """The axes that a function reduces: one, several, or all (None); with `keepdim` they remain with size 1."""

    dim: object = None
    keepdim: bool = False


@own_types("torch.sum", "torch.prod")
def total(c: InferenceContext, input: Value, *, axes: Axes, dtype: str | None = None) -> PartialTensor:
    """Sum or product of the axes, of integers in int64."""
    x = convert(c, input, _type_of_total(c, input, dtype))
    return _reduce(c, x, axes, operation=_function(c).title())


@own_types("torch.mean")
def mean(c: InferenceContext, input: Value, *, axes: Axes, dtype: str | None = None) -> PartialTensor:
    """Mean of the axes; only floats and complex numbers have one."""
    result = read_type(c, dtype) or c.dtype(0)
    require_kind(c, result, "the input or dtype must be of floats or complex numbers", "float", "complex")
    return _reduce(c, convert(c, input, result), axes, operation="Mean")


@pnnx("torch.amax", "torch.amin")
def extreme_of_axes(c: InferenceContext, input: Value, *, axes: Axes) -> PartialTensor:
    """The largest or smallest elements along the axes, which must not be empty."""
    require_kind(c, input.dtype, "complex numbers have no order", "bool", "integer", "float")
    return _extreme(c, input, axes)


@own_types("torch.argmax", "torch.argmin")
def index_of_extreme(c: InferenceContext, input: Value, *, axes: Axes) -> PartialTensor:
    """The index of the largest or smallest element along one axis, or of all elements without axes."""
    require_kind(c, input.dtype, "the input must have integers or floats", "integer", "float")
    single = _single_axis(c, axes)
    shape = _extreme(c, input, single).shape
    return _indices(c, input, single, shape, _positions(c, input, single, shape))


def _indices(
    c: InferenceContext, x: PartialTensor, axes: Axes, shape: Shape, positions: list[Element] | None
) -> PartialTensor:
    """Positions along a single axis, or of the flattened tensor, which data chooses if they are not known."""
    if positions is not None or x.shape.dims is None:
        return PartialTensor("int64", shape, positions)
    if axes.dim is None or not x.shape.dims:
        return ChosenIndices("int64", shape, c.numel(x.shape))
    (axis,) = _axes(c, axes, len(x.shape))
    return ChosenIndices("int64", shape, x.shape[axis])


def _positions(c: InferenceContext, x: PartialTensor, axes: Axes, shape: Shape) -> list[Element] | None:
    """The first position of the extreme along a single axis, or of the flattened tensor, as elements of `shape`."""
    largest = _function(c).removeprefix("arg") == "max"
    if x.elements is None:
        return None
    if axes.dim is None:
        flat = PartialTensor(x.dtype, Shape((len(x.elements),)), x.elements)
        return extreme_positions(c, flat, 0, Shape(()), largest=largest)
    (axis,) = _axes(c, axes, max(len(x.shape), 1))
    return extreme_positions(c, x, axis, shape, largest=largest)


@own_types("torch.max", "torch.min")
def extreme(
    c: InferenceContext, input: Operand, other: Operand | None = None, *, axes: Axes
) -> TensorType | tuple[TensorType, ...]:
    """The largest or smallest element of all; with an axis, those of the axis and their indices.

    With a second tensor, the larger or smaller elements of both.
    """
    if other is not None:
        return extreme_of_pairs(c, _function(c).title(), input, other)
    require_kind(c, input.dtype, "complex numbers have no order", "bool", "integer", "float")
    if axes.dim is None:
        return _extreme(c, input, Axes())
    values = _extreme(c, input, _single_axis(c, axes))
    single = _single_axis(c, axes)
    distinct = input.elements is not None and len(set(input.elements)) == len(input.elements)
    positions = _positions(c, input, single, values.shape) if distinct else None  # torch chooses among equal elements
    return values, _indices(c, input, single, values.shape, positions)


def _extreme(c: InferenceContext, x: PartialTensor, axes: Axes) -> PartialTensor:
    """The largest or smallest elements of axes, each of which must have an element."""
    result = _reduce(c, x, axes, operation=_function(c).removeprefix("arg").removeprefix("a").title())
    if x.shape.dims:
        for axis in _axes(c, axes, len(x.shape)):
            c.at_least(x.shape[axis], 1, "a reduced axis must not be empty: it has no largest or smallest element")
    return result


@own_types("torch.std", "torch.var")
def deviation(c: InferenceContext, input: Shape, *, axes: Axes) -> PartialTensor:
    """Standard deviation or variance of the axes: real numbers."""
    require_kind(c, c.dtype(0), "the input must have floats or complex numbers", "float", "complex")
    return _reduce(c, PartialTensor(real_type(c.dtype(0)), input, None), axes)


@own_types("torch.norm")
def norm(c: InferenceContext, input: Value, *, axes: Axes, p: object = None, dtype: str | None = None) -> PartialTensor:
    """Norm of the axes: real numbers. The matrix norms `fro` and `nuc` have at most two axes."""
    if p in ("fro", "nuc") and isinstance(axes.dim, tuple) and len(axes.dim) > 2:
        c.fail(f"dim must have at most two axes for the matrix norm {p}", axes.dim)
    result = real_type(read_type(c, dtype) or c.dtype(0))
    require_kind(c, result, "the input or dtype must be of floats or complex numbers", "float")
    plain = p in (None, 2, 2.0) or (p == "fro" and input.dtype == result)
    return _reduce(c, convert(c, input, result), axes, operation="L2" if plain else "")


@own_types("torch.logsumexp")
def logsumexp(c: InferenceContext, input: Shape, *, axes: Axes) -> PartialTensor:
    """Logarithm of the sum of exponentials: floats, also of integers."""
    return _reduce(c, PartialTensor(to_float(c.dtype(0)), input, None), axes)


@own_types("torch.cumsum", "torch.cumprod")
def cumulate(c: InferenceContext, input: Value, *, dim: object, dtype: str | None = None) -> PartialTensor:
    """The running totals along an axis, of integers in int64."""
    x = convert(c, input, _type_of_total(c, input, dtype))
    if x.shape.dims is None:
        return x
    axis = read_axis(c, dim, len(x.shape))
    return running_total(c, x, axis, exclusive=False, reverse=False, operation=_function(c).removeprefix("cum").title())


def _function(c: InferenceContext) -> str:
    """The name of the function without its module: `sum` of `torch.sum`."""
    return function_name(c.op_def.name)


def _type_of_total(c: InferenceContext, x: PartialTensor, dtype: str | None) -> str | None:
    """The element type of a sum or product: that of `dtype`, else int64 for booleans and integers."""
    return read_type(c, dtype) or ("int64" if is_kind(x.dtype, "bool", "integer") else x.dtype)


def _single_axis(c: InferenceContext, axes: Axes) -> Axes:
    """The axes, with a known integer for `dim` unless it is absent."""
    return axes if axes.dim is None else attrs.evolve(axes, dim=read_int(c, axes.dim, "dim"))


def _axes(c: InferenceContext, axes: Axes, rank: int) -> Iterable[int]:
    """The axes that are reduced, counted from the front; no axes stand for all."""
    listed = () if axes.dim is None else read_axes(c, axes.dim, rank)
    return [axis for axis in listed if axis < rank] if listed else range(rank)


def _reduce(c: InferenceContext, x: PartialTensor, axes: Axes, operation: str = "") -> PartialTensor:
    """The reduced tensor; contents for the operations of `reduction.FOLDS`."""
    if x.shape.dims is None:
        everything = axes.dim in (None, ()) and not axes.keepdim
        return PartialTensor(x.dtype, Shape(()) if everything else Shape.unknown(), None)
    return reduce_axes(c, x, tuple(_axes(c, axes, len(x.shape))), axes.keepdim, operation)
