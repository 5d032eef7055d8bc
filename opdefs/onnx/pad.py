"""Padding."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.elements import known_dims, known_ints, move_elements
from opdefs.rules.operands import require_single, require_vector
from opdefs.rules.padding import pad_elements
from shapeinf.expr import DimSize, maximum, minimum
from shapeinf.lattice import Element, PartialTensor, Shape
from shapeinf.lattice.dtypes import INT64_MAX
from shapeinf.ops import InferenceContext, Ints, Value

FILLED = "an empty axis can only be padded with a constant"
PAIRS = "pads must have a begin and an end for each axis"


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
    """[d, ...] -> [begin + d + end, ...]; negative pads crop."""
    for values, name in ((pads, "`pads`"), (axes, "`axes`")):
        if values is not None:
            c.require_rank(values.shape, 1, name)
    require_single(c, None if fill is None else fill.shape, "constant_value must have exactly one element")
    before = _infer_rank(c, x.shape, pads.shape) if axes is None else x.shape
    rank = len(before)
    named = tuple(range(rank)) if axes is None else known_ints(axes)
    if named is None and axes is not None:
        _constrain_lengths(c, pads.shape, axes.shape, rank)
    if named is None:
        return PartialTensor(x.dtype, Shape(c.fresh(f"pad.{i}") for i in range(rank)), None)
    padded = c.axes(named, rank)
    require_vector(c, pads.shape, 2 * len(padded), PAIRS)
    amounts = known_dims(pads) or (None,) * (2 * len(padded))
    shape = _pad_dims(c, before, padded, amounts, mode)
    known = known_ints(pads)
    if known is None or mode != "constant" or x.dtype in ("string", "bool"):
        return PartialTensor(x.dtype, shape, None)
    filling: Element = 0 if fill is None else fill.elements[0] if fill.elements else None
    return move_elements(x, shape, lambda array: pad_elements(array, padded, known, filling))


def _constrain_lengths(c: InferenceContext, pads: Shape, axes: Shape, rank: int) -> None:
    """Require a begin and an end for each of the axes, which are distinct."""
    c.merge(pads.require()[0], 2 * axes.require()[0], PAIRS)
    c.at_most(axes.require()[0], rank, "the number of axes must be at most the rank of the input")


def _infer_rank(c: InferenceContext, x: Shape, pads: Shape) -> Shape:
    """The shape of the input; an unknown rank is half the number of pads."""
    count = c.concrete(pads[0]) if x.dims is None and pads.rank == 1 else None
    if count is None:
        return x
    if count % 2:
        c.fail(PAIRS, pads)
    return c.require_rank(x, count // 2)


@onnx("Pad", since=2)
def pad_by_attribute(c: InferenceContext, x: Shape, *, pads: Ints, mode: str = "constant") -> Shape:
    """Before opset 11 the pads are an attribute."""
    return _pad_all_axes(c, x, pads, mode)


@onnx("Pad")
def pad_by_old_attribute(c: InferenceContext, x: Shape, *, paddings: Ints, mode: str = "constant") -> Shape:
    """Opset 1: the attribute has another name."""
    return _pad_all_axes(c, x, paddings, mode)


def _pad_all_axes(c: InferenceContext, x: Shape, amounts: Ints, mode: str) -> Shape:
    known = _infer_rank(c, x, Shape((len(amounts),)))
    return _pad_dims(c, known, range(len(known)), amounts, mode)


def _pad_dims(
    c: InferenceContext, x: Shape, axes: Sequence[int], amounts: Sequence[DimSize | None], mode: str
) -> Shape:
    if len(amounts) != 2 * len(axes):
        c.fail(PAIRS, tuple(amounts))
    dims = list(x)
    for i, axis in enumerate(axes):
        begin, end = amounts[i], amounts[i + len(axes)]
        if isinstance(begin, int) and isinstance(end, int) and begin + end > INT64_MAX:
            c.fail("the sum of the pads of an axis must be at most 2**63 - 1", begin, end)
        if mode != "constant":
            _require_filling(c, dims[axis], begin, end)
        if mode == "reflect" and begin is not None and end is not None:
            _advise_reflection(c, _crop(dims[axis], begin, end), begin, end)
        dims[axis] = c.fresh(f"pad.{axis}") if begin is None or end is None else _pad_dim(c, dims[axis], begin + end)
    return Shape(dims)


def _crop(size: DimSize, begin: DimSize, end: DimSize) -> DimSize:
    """The size that negative pads leave of an axis."""
    return size + minimum(begin, 0) + minimum(end, 0)


def _require_filling(c: InferenceContext, size: DimSize, begin: DimSize | None, end: DimSize | None) -> None:
    """Require that an axis that grows has elements after the crop: these are the padding.

    Where both pads cancel each other, an empty axis stays empty. An axis that is only cropped needs no elements, but
    onnxruntime requires one.
    """
    if not isinstance(begin, int) or not isinstance(end, int):
        if any(isinstance(amount, int) and amount > 0 for amount in (begin, end)):
            c.at_least(size, 1, FILLED)
        return
    rest = _crop(size, begin, end)
    if begin <= 0 and end <= 0:
        if begin or end:
            c.advise_at_most(1, rest, "onnxruntime rejects an axis that is cropped to nothing unless mode is constant")
    elif begin + end or c.prove_le(1, size) is True:
        c.at_least(rest, 1, FILLED)
    elif size != 0:
        text = "{0} == {1} or {2} == 0"
        c.store.add_disjunction(text, c.source(FILLED), maximum(rest, 1), rest, size)


def _advise_reflection(c: InferenceContext, rest: DimSize, begin: DimSize, end: DimSize) -> None:
    """Advise against reflections longer than what remains of the axis: numpy repeats them, onnxruntime rejects them."""
    message = "onnxruntime rejects reflections longer than the axis without its border; the specification sets no limit"
    amount = maximum(begin, end)
    if c.prove_le(amount, 0) is not True:
        c.advise_at_most(amount, rest - 1, message)


def _pad_dim(c: InferenceContext, size: DimSize, amount: DimSize) -> DimSize:
    grown = size + amount
    if c.prove_le(0, grown) is not True:
        c.at_least(grown, 0, "negative pads must not exceed the size of the axis")
    return grown
