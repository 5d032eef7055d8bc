"""Reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce as fold_left

import numpy as np

from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import Elements, element_array, is_float, is_listable, known_ints, to_dim
from opdefs.rules.floats import FloatArithmetic, arithmetic
from opdefs.rules.unknowns import cover_dim
from shapeinf.expr import Dim, maximum, minimum
from shapeinf.lattice import Element, PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Ints, Value

Fold = Callable[[InferenceContext, str | None, Iterable[Element]], Element]

_OPS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")


@onnx("ReduceSum", since=13)
@onnx(*(f"Reduce{name}" for name in _OPS), since=18)
def reduce(
    c: InferenceContext, x: Value, axes: Value | None = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
) -> PartialTensor:
    """The axes become 1, or are removed without `keepdims`; by default all axes."""
    if axes is None:
        return _reduce_axes(c, x, () if noop_with_empty_axes else None, keepdims)
    c.require_rank(axes.shape, 1, "`axes`")
    known = known_ints(axes)
    if known is None:
        return _reduce_unknown_axes(c, x, axes, keepdims)
    if not known:
        return _reduce_axes(c, x, () if noop_with_empty_axes else None, keepdims)
    return _reduce_axes(c, x, known, keepdims)


@onnx("ReduceSum", *(f"Reduce{name}" for name in _OPS))
def reduce_by_attribute(c: InferenceContext, x: Value, *, axes: Ints | None = None, keepdims: int = 1) -> PartialTensor:
    """Before opset 13 (sum) and 18 the axes are an attribute."""
    return _reduce_axes(c, x, axes or None, keepdims)


def _reduce_unknown_axes(c: InferenceContext, x: PartialTensor, axes: PartialTensor, keepdims: int) -> PartialTensor:
    """Each axis may become 1; without `keepdims`, each comes from at most as many positions behind as are removed."""
    rank, count = len(x.shape), None if axes.shape.dims is None else c.concrete(c.numel(axes.shape))
    if count is not None and count > rank:
        c.fail("the number of axes must be at most the rank of the input", x.shape)
    if keepdims:
        dims = [1 if count == rank else _reduced_or_same(c, at, d) for at, d in enumerate(x.shape)]
    elif count is None:
        raise c.unknowable("neither the contents nor the length of `axes` are known")
    else:
        dims = [cover_dim(c, x.shape[at : at + count + 1], f"reduce.{at}") for at in range(rank - count)]
    return PartialTensor(x.dtype, Shape(dims), None)


def _reduced_or_same(c: InferenceContext, axis: int, size: Dim) -> Dim:
    """The size or 1; empty axes are reduced too, even if named dims are assumed to be at least 1."""
    low = min(size, 1) if isinstance(size, int) else 0
    high = c.interval(size).hi
    return size if size == 1 else c.fresh(f"reduce.{axis}", low, None if high is None else max(high, 1))


def _reduce_axes(c: InferenceContext, x: PartialTensor, axes: Ints | None, keepdims: int) -> PartialTensor:
    rank = len(x.shape)
    gone = set(range(rank) if axes is None else c.axes(axes, rank))
    if keepdims:
        shape = Shape(1 if i in gone else d for i, d in enumerate(x.shape))
    else:
        shape = Shape(d for i, d in enumerate(x.shape) if i not in gone)
    array = element_array(x)
    operation = c.op_def.name.removeprefix("Reduce")
    if array is None or operation not in _FOLDS or not is_listable(shape) or not array.size:
        return PartialTensor(x.dtype, shape, None)
    return PartialTensor(x.dtype, shape, _fold(c, x.dtype, array, sorted(gone), operation))


def _fold(c: InferenceContext, dtype: str | None, array: Elements, axes: list[int], operation: str) -> list[Element]:
    """The reduction of each group of elements, in row-major order of the result."""
    remaining = [i for i in range(array.ndim) if i not in axes]
    groups = np.transpose(array, remaining + axes).reshape(-1, int(np.prod([array.shape[i] for i in axes])))
    return [_FOLDS[operation](c, dtype, group) for group in groups.tolist()]


def _sum(c: InferenceContext, dtype: str | None, group: Iterable[Element]) -> Element:
    if is_float(dtype):
        return _fold_floats(c, dtype, group, FloatArithmetic.add)
    known = _known_elements(group)
    return None if known is None else sum(known)


def _product(c: InferenceContext, dtype: str | None, group: Iterable[Element]) -> Element:
    if is_float(dtype):
        return _fold_floats(c, dtype, group, FloatArithmetic.multiply)
    known = _known_elements(group)
    return None if known is None else c.numel(known)


def _fold_floats(
    c: InferenceContext,
    dtype: str | None,
    group: Iterable[Element],
    operation: Callable[[FloatArithmetic, Element, Element], Element],
) -> Element:
    """Sequential reduction. Where no element is negative, every order gives the same result unless it rounds."""
    floats = arithmetic(c, dtype)
    elements = list(group)
    if floats is None or any((d := to_dim(e)) is None or c.prove_le(0, d) is not True for e in elements):
        return None
    return fold_left(lambda a, b: operation(floats, a, b), elements)


def _known_elements(group: Iterable[Element]) -> list[Dim] | None:
    """The elements as dims, where all are known."""
    dims = [to_dim(e) for e in group]
    known = [d for d in dims if d is not None]
    return known if len(known) == len(dims) else None


def _extreme(pick_max: bool) -> Fold:
    def fold(c: InferenceContext, dtype: str | None, group: Iterable[Element]) -> Element:
        known = _known_elements(group)
        if known is None:
            return None
        return maximum(*known) if pick_max else minimum(*known)

    return fold


_FOLDS: dict[str, Fold] = {"Sum": _sum, "Prod": _product, "Max": _extreme(True), "Min": _extreme(False)}


@onnx("ArgMax", "ArgMin")
def arg_extreme(c: InferenceContext, x: Shape, *, axis: int = 0, keepdims: int = 1) -> TensorType:
    """One axis becomes 1, or is removed without `keepdims`; int64 indices."""
    at = c.axis(axis, len(x))
    rest = (1,) if keepdims else ()
    return TensorType("int64", Shape((*x[:at], *rest, *x[at + 1 :])))
