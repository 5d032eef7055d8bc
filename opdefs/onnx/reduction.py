"""Reductions."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.elements import known_ints
from opdefs.rules.contents.integers import is_exact_in_float64
from opdefs.rules.contents.ordering import extreme_positions
from opdefs.rules.reduction import reduce_axes, reduce_unknown_axes
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.lattice.dtypes import INTEGER_RANGES
from shapeinf.ops import InferenceContext, Ints, Value

_OPS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")


@onnx("ReduceSum", since=13)
@onnx(*(f"Reduce{name}" for name in _OPS), since=18)
def reduce(
    c: InferenceContext, x: Value, axes: Value | None = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
) -> PartialTensor:
    """The sizes of the axes become 1, or the axes are removed without `keepdims`; by default all axes."""
    if axes is None:
        return _reduce_none(c, x) if noop_with_empty_axes else _reduce_axes(c, x, None, keepdims)
    c.require_rank(axes.shape, 1, "`axes`")
    known = known_ints(axes)
    if known is None:
        length = c.require_rank(axes.shape, 1, "`axes`")[0]
        c.at_most(length, len(x.shape), "the number of axes must be at most the rank of the input")
        count = c.concrete(length)
        return PartialTensor(x.dtype, reduce_unknown_axes(c, x.shape, count, bool(keepdims)), None)
    if not known:
        return _reduce_none(c, x) if noop_with_empty_axes else _reduce_axes(c, x, None, keepdims)
    return _reduce_axes(c, x, known, keepdims)


@onnx("ReduceSum", *(f"Reduce{name}" for name in _OPS))
def reduce_by_attribute(c: InferenceContext, x: Value, *, axes: Ints | None = None, keepdims: int = 1) -> PartialTensor:
    """Before opset 13 (sum) and 18 the axes are an attribute."""
    return _reduce_axes(c, x, axes or None, keepdims)


def _reduce_none(c: InferenceContext, x: PartialTensor) -> PartialTensor:
    """The input for no axes; runtimes differ in whether they still compute squares and absolute values."""
    changes = c.op_def.name not in ("ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum")
    return PartialTensor(x.dtype, x.shape, None) if changes else x


def _reduce_axes(c: InferenceContext, x: PartialTensor, axes: Ints | None, keepdims: int) -> PartialTensor:
    operation = c.op_def.name.removeprefix("Reduce")
    if x.elements is None or x.dtype not in INTEGER_RANGES or operation in ("Max", "Min"):
        return reduce_axes(c, x, axes, bool(keepdims), operation)
    return _reduce_in_float64(c, x, axes, bool(keepdims), operation)


def _reduce_in_float64(
    c: InferenceContext, x: PartialTensor, axes: Ints | None, keep: bool, operation: str
) -> PartialTensor:
    """As `reduce_axes`; an integer is unknown that float64, in which onnxruntime computes it, or its type rounds."""
    unlimited = PartialTensor(None, x.shape, x.elements)  # onnxruntime's results do not wrap around
    reduced = reduce_axes(c, unlimited, axes, keep, operation)
    elements, count = x.elements or (), len(x.elements or ())
    if reduced.elements is None or any(
        e is not None and not is_exact_in_float64(c, x.dtype, e, count) for e in elements
    ):
        return PartialTensor(x.dtype, reduced.shape, None)
    known = [e if is_exact_in_float64(c, x.dtype, e) else None for e in reduced.elements]
    return PartialTensor(x.dtype, reduced.shape, known)


@onnx("ArgMax", "ArgMin")
def arg_extreme(
    c: InferenceContext, x: Value, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0
) -> PartialTensor:
    """[*A, d, *B] -> int64 indices [*A, 1, *B], or [*A, *B] without `keepdims`."""
    at = c.axis(axis, len(x.shape))
    rest = (1,) if keepdims else ()
    shape = Shape((*x.shape[:at], *rest, *x.shape[at + 1 :]))
    largest = c.op_def.name == "ArgMax"
    positions = extreme_positions(c, x, at, shape, largest=largest, last=bool(select_last_index))
    return PartialTensor("int64", shape, positions)
