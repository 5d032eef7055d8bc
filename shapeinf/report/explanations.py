"""Explanations as records and lines: why an axis has its size, and what limits a dim."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import attrs

from shapeinf.errors import UnknownNameError
from shapeinf.explain.explanation import Step
from shapeinf.expr import Dimension, DimSize, quote_name
from shapeinf.report.model import NamedDimRecord, named_dims
from shapeinf.report.text import dims_text
from shapeinf.result import Result
from shapeinf.schemas import json_record
from shapeinf.texts import format_count

LEAST_COLLAPSED = 3
"""The number of steps in a row that keep a size from which on they are one line."""
MAX_OPERATORS = 4
"""Operators of collapsed steps that are listed, the most frequent first."""
_SUFFIXES = (r"\.(-?\d+)", r"\[(-?\d+)\]", r"\.shape\[(-?\d+)\]")


@attrs.frozen
class AxisExplanation:
    """Why an axis has its size.

    Args:
        axis: its number; None where the rank is unknown.
        size: a number, or an expression as text; None where the axis is unknown.
        steps: from the tensor back to the first cause.
    """

    axis: int | None
    size: int | str | None
    steps: tuple[Step, ...]


@json_record("shapeinf.explain/1")
@attrs.frozen
class TensorExplanation:
    """The explanation of one axis of a tensor, or of all: the output of `shapeinf explain MODEL TENSOR --json`.

    Args:
        model: the path of the model on a command line; else empty.
        tensor: the tensor.
        type: its type as text.
        axes: the axes in order.
    """

    model: str = attrs.field(default="", kw_only=True)
    tensor: str
    type: str
    axes: tuple[AxisExplanation, ...]


@json_record("shapeinf.explain.dim/1")
@attrs.frozen
class DimExplanation:
    """The bounds of a named dim, and the constraints on it: the output of `shapeinf explain MODEL DIM --json`.

    Args:
        model: the path of the model on a command line; else empty.
        name: the dim.
        dim: its bounds and congruence, under all constraints; None where a constraint replaces it.
        size: the size or dim by which a constraint replaces it; else None.
        axes: the axes of inputs that have this size: `tokens.shape[1]`.
        reasons: the constraints on it with their sources, those of the user and the file first.
    """

    model: str = attrs.field(default="", kw_only=True)
    name: str
    dim: NamedDimRecord | None
    size: str | None
    axes: tuple[str, ...]
    reasons: tuple[str, ...]


def parse_target(result: Result, text: str) -> tuple[str, int | None]:
    """A tensor, and the axis of `TENSOR.AXIS`, `TENSOR[AXIS]` or `TENSOR.shape[AXIS]`.

    Names may contain dots and brackets, so the name of a tensor takes precedence. Raises UnknownNameError.
    """
    if not is_tensor(result, text):
        for suffix in _SUFFIXES:
            match = re.fullmatch(f"(.+){suffix}", text, re.DOTALL)
            if match is not None and is_tensor(result, match[1]):
                return match[1], int(match[2])
        raise UnknownNameError(
            "tensor, dim or node", text, [*_dims_by_name(result), *result.tensors, *result.body_tensors]
        )
    return text, None


def is_tensor(result: Result, name: str) -> bool:
    """Whether a tensor of the graph or of a body has this name or alias."""
    return name in result.tensors or name in result.graph.aliases or name in result.body_tensors


def explain_tensor(result: Result, tensor: str, axis: int | None = None) -> TensorExplanation:
    """The explanation of one axis of a tensor, or of all.

    Raises UnknownNameError for a tensor, ShapeInferenceError for an axis that the tensor does not have.
    """
    info = result.tensor(tensor)
    dims = info.shape.dims
    if dims is None:
        axes = [AxisExplanation(None, None, tuple(result.explain_steps(tensor, 0)))]
    else:
        axes = [_axis(result, tensor, dims, k) for k in (range(len(dims)) if axis is None else [axis])]
    return TensorExplanation(tensor, str(info), tuple(axes))


def _axis(result: Result, tensor: str, dims: tuple[DimSize, ...], axis: int) -> AxisExplanation:
    steps = tuple(result.explain_steps(tensor, axis))
    dim = dims[axis] if -len(dims) <= axis < len(dims) else None  # of a sequence, `explain` takes any axis
    return AxisExplanation(axis % max(len(dims), 1), dim if dim is None or isinstance(dim, int) else str(dim), steps)


def explain_dim(result: Result, name: str) -> DimExplanation | None:
    """The explanation of a named dim, with or without backquotes; None where the model has no dim of this name."""
    with result.engine.lock:
        symbols = _dims_by_name(result)
        symbol = symbols.get(name, symbols.get(quote_name(name)))
        if symbol is None:
            return None
        solved = result.engine.store.solved.get(symbol)
        bounds = next((record for record in named_dims(result) if record.name == str(symbol)), None)
        axes = tuple(
            f"{tensor}.shape[{axis}]"
            for tensor in result.graph.inputs
            for axis, dim in enumerate(_declared_dims(result, tensor))
            if dim is symbol
        )
        reasons = tuple(dict.fromkeys(_reasons(result, symbol)))
        return DimExplanation(name, bounds, None if solved is None else str(solved), axes, reasons)


def _dims_by_name(result: Result) -> dict[str, Dimension]:
    """The named symbols of the inputs as they were declared, and those that constraints replaced."""
    declared = (dim for tensor in result.graph.inputs for dim in _declared_dims(result, tensor))
    symbols = {symbol for dim in declared if isinstance(dim, Dimension) for symbol in dim.symbols()}
    return {str(symbol): symbol for symbol in (*result.engine.store.solved, *symbols) if not symbol.is_anonymous}


def _declared_dims(result: Result, tensor: str) -> Sequence[DimSize]:
    declared = result.engine.inference.input_types.get(tensor)
    shape = getattr(declared, "shape", None) or result.tensors[tensor].shape
    return shape.dims or ()


def _reasons(result: Result, symbol: Dimension) -> Iterator[str]:
    store, name = result.engine.store, str(symbol)
    if symbol in store.sources and symbol in store.solved:
        yield str(store.sources[symbol])
    for constraint in store.constraints():
        dims = (constraint.expression, *constraint.operands)
        if not constraint.source.node and any(symbol in d.symbols() for d in dims if isinstance(d, Dimension)):
            yield str(constraint.source)
    for precondition in result.contract.preconditions:
        if name in precondition.symbols and precondition.kind != "guard":
            yield str(precondition)
    yield result.policy


def explanation_lines(explanation: TensorExplanation, *, every: bool = False) -> Iterator[str]:
    """The steps of each axis, indented after the first; steps in a row that keep a size are one line unless `every`."""
    if not explanation.axes:
        yield f"{explanation.tensor} is a scalar: it has no axes"
    for axis in explanation.axes:
        first, *rest = axis.steps
        yield first.text
        yield from (f"  {line}" for line in (_collapse(rest) if not every else (step.text for step in rest)))


def _collapse(steps: Sequence[Step]) -> Iterator[str]:
    row: list[Step] = []
    for step in steps:
        if step.keeps:
            row.append(step)
            continue
        yield from _collapse_row(row)
        row = []
        yield step.text
    yield from _collapse_row(row)


def _collapse_row(row: Sequence[Step]) -> Iterator[str]:
    if len(row) < LEAST_COLLAPSED:
        yield from (step.text for step in row)
        return
    operators = Counter(step.op for step in row).most_common()
    listed = [op if count == 1 else f"{op} x{count}" for op, count in operators[:MAX_OPERATORS]]
    more = [format_count(len(operators) - MAX_OPERATORS, "other operator")] if len(operators) > MAX_OPERATORS else []
    yield f"{len(row)} steps keep it, from {row[0].subject} to {row[-1].subject}: {', '.join([*listed, *more])}"


def dim_lines(explanation: DimExplanation) -> Iterator[str]:
    """A line with the bounds of the dim, one with the axes of inputs that have it, and one for each constraint."""
    if explanation.size is not None:
        yield f"{explanation.name} = {explanation.size}"
    elif explanation.dim is not None:
        yield dims_text([explanation.dim])
    else:
        yield explanation.name
    if explanation.axes:
        yield f"  the size of {', '.join(explanation.axes)}"
    yield from (f"  {reason}" for reason in explanation.reasons)
