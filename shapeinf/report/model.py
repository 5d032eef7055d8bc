"""The records of a report: an inference as plain picklable data, which every renderer reads."""

from __future__ import annotations

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.body_tensors import body_producers, producers
from shapeinf.engine.tensor_info import TensorInfo, item_infos
from shapeinf.expr import Dim, Dimension, Interval
from shapeinf.pickled_result import Coverage
from shapeinf.result import Result

VERSION = 1
"""Changes when a field of a record changes its meaning or goes away."""


@attrs.frozen
class DimRecord:
    """One dim: an int, or an expression with its bounds; the expression of an anonymous unknown is None.

    `name` is that of an anonymous unknown: `x.shape[0]`, `nz.count`.
    """

    size: int | None
    expression: str | None
    bounds: Interval
    name: str | None = None


@attrs.frozen
class TensorRecord:
    """One tensor.

    Args:
        name: the value in the graph.
        kind: "tensor", or nested like "sequence"; dtype and dims are then those of the innermost elements.
        dtype: the element type; None where it is unknown.
        dims: the shape; None where the rank is unknown.
        shape: the shape as text.
        producer: the operator that produces it, "input", or empty for a constant.
        items: the types of the tensors in a sequence as texts; None where not all are known, and for other kinds.
    """

    name: str
    kind: str
    dtype: str | None
    dims: tuple[DimRecord, ...] | None
    shape: str
    producer: str
    items: tuple[str, ...] | None = None


@attrs.frozen
class NamedDimRecord:
    """A named dim of the inputs: its bounds, and `dim % modulus == remainder` (modulus 1 without a congruence)."""

    name: str
    bounds: Interval
    modulus: int = 1
    remainder: int = 0


@attrs.frozen
class PreconditionRecord:
    """A precondition of the graph; `line` is its text with the node that requires it.

    `sizes` are the legal sizes of its only dim, where they are few.
    """

    kind: str
    text: str
    symbols: tuple[str, ...]
    node: str
    op: str
    message: str
    where: str
    line: str
    sizes: tuple[int, ...] | None = None


@attrs.frozen
class ModelReport:
    """Everything that is inferred of a model.

    Args:
        inputs: the names of the inputs without a default value.
        outputs: the names of the outputs.
        tensors: all tensors by name: inputs, constants and the outputs of nodes.
        computed: the names of inputs and outputs of nodes, in the order of the graph.
        dims: the named dims of the inputs, by name.
        preconditions: the contract.
        diagnostics: lints of the file first, then in the order of the graph.
        coverage: the numbers of known tensors.
        policy: the assumption that holds for all named dims.
        bodies: the tensors inside of bodies and functions by path and name, where they are wanted; else empty.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tensors: dict[str, TensorRecord]
    computed: tuple[str, ...]
    dims: tuple[NamedDimRecord, ...]
    preconditions: tuple[PreconditionRecord, ...]
    diagnostics: tuple[Diagnostic, ...]
    coverage: Coverage
    policy: str
    bodies: dict[str, TensorRecord] = attrs.Factory(dict)
    version: int = VERSION


@attrs.frozen
class AxisExplanation:
    """Why an axis has its size: `steps` from the tensor back to the first cause.

    `axis` is None where the rank is unknown, `size` is None where the axis is.
    """

    axis: int | None
    size: int | str | None
    steps: tuple[str, ...]


@attrs.frozen
class TensorExplanation:
    """The explanation of one axis of a tensor, or of all; `type` is the tensor's type as text."""

    tensor: str
    type: str
    axes: tuple[AxisExplanation, ...]


def build_report(result: Result, *, bodies: bool = False) -> ModelReport:
    """The report of an inference, also of what is inside of bodies and functions where this is wanted."""
    graph = result.graph
    sources = dict(producers(graph))
    return ModelReport(
        inputs=tuple(name for name in graph.inputs if name not in graph.constants),
        outputs=tuple(graph.outputs),
        tensors={name: _record_of_graph(result, name, info, sources) for name, info in result.tensors.items()},
        computed=tuple(sources),
        dims=named_dims(result),
        preconditions=_preconditions(result),
        diagnostics=tuple(result.diagnostics),
        coverage=result.coverage,
        policy=result.policy,
        bodies=_body_records(result) if bodies else {},
    )


def _body_records(result: Result) -> dict[str, TensorRecord]:
    sources = body_producers(result.inference)
    return {name: _tensor(result, name, info, sources) for name, info in result.body_tensors.items()}


def named_dims(result: Result) -> tuple[NamedDimRecord, ...]:
    """The named dims of the inputs."""
    symbols = {s for name in result.graph.inputs for s in result.tensors[name].shape.symbols() if not s.is_anonymous}
    return tuple(_named_dim(result, symbol) for symbol in sorted(symbols, key=str))


def _named_dim(result: Result, symbol: Dimension) -> NamedDimRecord:
    congruence = result.store.congruences.by_symbol(symbol)
    bounds = result.interval(symbol)
    if congruence is None:
        return NamedDimRecord(str(symbol), bounds)
    return NamedDimRecord(str(symbol), bounds, congruence.modulus, congruence.rest)


def _record_of_graph(result: Result, name: str, info: TensorInfo, sources: dict[str, str]) -> TensorRecord:
    """The record of a value of the graph itself, with the items of a sequence."""
    record = _tensor(result, name, info, sources)
    items = item_infos(result.inference, name) if info.kind.startswith("sequence") else None
    return record if items is None else attrs.evolve(record, items=tuple(map(str, items)))


def _tensor(result: Result, name: str, info: TensorInfo, sources: dict[str, str]) -> TensorRecord:
    dims = None if info.shape.dims is None else tuple(_dim(result, dim) for dim in info.shape.dims)
    return TensorRecord(name, info.kind, info.dtype, dims, str(info.shape), sources.get(name, ""))


def _dim(result: Result, dim: Dim) -> DimRecord:
    if isinstance(dim, int):
        return DimRecord(dim, str(dim), Interval(dim, dim))
    if dim.is_anonymous:
        return DimRecord(None, None, result.interval(dim), str(dim) if dim.is_symbol else None)
    return DimRecord(None, str(dim), result.interval(dim))


def _preconditions(result: Result) -> tuple[PreconditionRecord, ...]:
    return tuple(
        PreconditionRecord(p.kind, p.text, tuple(p.symbols), p.node, p.op, p.message, p.where, str(p), p.sizes)
        for p in result.contract.preconditions
    )


def explain_tensor(result: Result, tensor: str, axis: int | None = None) -> TensorExplanation:
    """The explanation of one axis of a tensor, or of all.

    Raises UnknownNameError for a tensor, ShapeInferenceError for an axis that the tensor does not have.
    """
    info = result.tensor(tensor)
    dims = info.shape.dims
    if dims is None:
        axes = [AxisExplanation(None, None, tuple(result.explain(tensor, 0)))]
    else:
        axes = [_axis(result, tensor, dims, k) for k in (range(len(dims)) if axis is None else [axis])]
    return TensorExplanation(tensor, str(info), tuple(axes))


def _axis(result: Result, tensor: str, dims: tuple[Dim, ...], axis: int) -> AxisExplanation:
    steps = tuple(result.explain(tensor, axis))
    dim = dims[axis] if -len(dims) <= axis < len(dims) else None  # of a sequence, `explain` takes any axis
    return AxisExplanation(axis % max(len(dims), 1), dim if dim is None or isinstance(dim, int) else str(dim), steps)
