"""Padding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import Elements, known_dims, known_ints, moved
from opdefs.rules.operands import one_value
from shapeinf.expr import Dim, maximum
from shapeinf.lattice import Element, PartialTensor, Shape
from shapeinf.ops import InferenceContext, Ints, Value
from shapeinf.ops.structure import INT64_MAX


@onnx("Pad", since=11)
def pad(
    c: InferenceContext,
    x: Value,
    pads: Value,
    fill: Value | None = None,
    axes: Value | None = None,
    *,
    mode: str = "constant",
) -> PartialTensor:
    """Every named axis grows by its begin and end (negative ones crop)."""
    for values, name in ((pads, "`pads`"), (axes, "`axes`")):
        if values is not None:
            c.require_rank(values.shape, 1, name)
    one_value(c, None if fill is None else fill.shape, "the value to fill with must be one value")
    before = _of_rank_of(c, x.shape, pads.shape) if axes is None else x.shape
    rank = len(before)
    named = tuple(range(rank)) if axes is None else known_ints(axes)
    if named is None:
        return PartialTensor(x.dtype, Shape(c.fresh(f"pad.{i}") for i in range(rank)), None)
    places = c.axes(named, rank)
    amounts = known_dims(pads) or (None,) * (2 * len(places))
    shape = _padded(c, before, places, amounts, mode)
    known = known_ints(pads)
    if known is None or mode != "constant" or x.dtype in ("string", "bool"):
        return PartialTensor(x.dtype, shape, None)
    filling: Element = 0 if fill is None else fill.elements[0] if fill.elements else None
    return moved(x, shape, lambda array: _filled(array, places, known, filling))


def _of_rank_of(c: InferenceContext, x: Shape, pads: Shape) -> Shape:
    """The input's shape; an unknown rank is half the number of pads."""
    count = c.concrete(pads[0]) if x.dims is None and pads.rank == 1 else None
    if count is None:
        return x
    if count % 2:
        c.fail("pads must have a begin and an end for each axis", pads)
    return c.require_rank(x, count // 2)


@onnx("Pad", since=2)
def pad_by_attribute(c: InferenceContext, x: Shape, *, pads: Ints, mode: str = "constant") -> Shape:
    """Before opset 11 the amounts are an attribute."""
    return _padded_all(c, x, pads, mode)


@onnx("Pad")
def pad_by_old_attribute(c: InferenceContext, x: Shape, *, paddings: Ints, mode: str = "constant") -> Shape:
    """Opset 1: the attribute has another name."""
    return _padded_all(c, x, paddings, mode)


def _padded_all(c: InferenceContext, x: Shape, amounts: Ints, mode: str) -> Shape:
    known = _of_rank_of(c, x, Shape((len(amounts),)))
    return _padded(c, known, range(len(known)), amounts, mode)


def _padded(c: InferenceContext, x: Shape, axes: Sequence[int], amounts: Sequence[Dim | None], mode: str) -> Shape:
    if len(amounts) != 2 * len(axes):
        c.fail("pads must have a begin and an end for each axis", tuple(amounts))
    dims = list(x)
    for i, axis in enumerate(axes):
        begin, end = amounts[i], amounts[i + len(axes)]
        if isinstance(begin, int) and isinstance(end, int) and begin + end > INT64_MAX:
            c.fail("a size must lie in 0..2**63 - 1", begin, end)
        if mode != "constant":
            _tell_there(c, dims[axis], begin, end)
        if mode == "reflect" and begin is not None and end is not None:
            _advise_reflection(c, dims[axis], begin, end)
        dims[axis] = c.fresh(f"pad.{axis}") if begin is None or end is None else _grown(c, dims[axis], begin + end)
    return Shape(dims)


def _tell_there(c: InferenceContext, size: Dim, begin: Dim | None, end: Dim | None) -> None:
    """Tell that there are elements to pad with."""
    if any(isinstance(amount, int) and amount > 0 for amount in (begin, end)):
        c.at_least(size, 1, "an axis without elements has none to pad with")


def _advise_reflection(c: InferenceContext, size: Dim, begin: Dim, end: Dim) -> None:
    """A longer reflection goes to and fro, by the specification's reference and numpy; onnxruntime refuses it."""
    message = "onnxruntime reflects no more than an axis has beside its border; the specification sets no limit"
    crops = c.prove_le(0, begin) is not True or c.prove_le(0, end) is not True
    amount = maximum(begin, end)
    if not crops and amount != 0:
        c.advise_at_most(amount, size - 1, message)


def _grown(c: InferenceContext, size: Dim, amount: Dim) -> Dim:
    grown = size + amount
    if c.prove_le(0, grown) is not True:
        c.at_least(grown, 0, "padding must not take more from an axis than it has")
    return grown


def _filled(array: Elements, axes: Sequence[int], amounts: Sequence[int], filling: Element) -> Elements:
    """Grow by the positive amounts, then crop by the negative ones."""
    grow = [(0, 0)] * array.ndim
    keep = [slice(None)] * array.ndim
    for i, axis in enumerate(axes):
        begin, end = amounts[i], amounts[i + len(axes)]
        grow[axis] = (max(begin, 0), max(end, 0))
        keep[axis] = slice(max(-begin, 0), min(end, 0) or None)
    shape = [size + before + after for size, (before, after) in zip(array.shape, grow, strict=True)]
    result = np.full(shape, filling, dtype=object)
    result[tuple(slice(b, b + size) for size, (b, _) in zip(array.shape, grow, strict=True))] = array
    return result[tuple(keep)]
