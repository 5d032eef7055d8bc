"""The records of a report: an inference as plain picklable data, which every renderer reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.expr import Dimension, Interval
from shapeinf.formats.minimized import MinimizedMemory
from shapeinf.pickled_result import Coverage
from shapeinf.report.tensor_rows import DimRecord, TensorQuery, TensorRecord, TensorRows
from shapeinf.result import Result
from shapeinf.schemas import json_record, to_json

EVERYTHING = TensorQuery(constants=True, contents=True)
"""All tensors of a graph with their contents, without those inside of bodies."""

__all__ = [
    "DimRecord",
    "ModelReport",
    "NamedDimRecord",
    "PreconditionRecord",
    "TensorRecord",
    "as_json",
    "build_report",
    "named_dims",
]


@attrs.frozen
class NamedDimRecord:
    """A named dim of the inputs: its bounds, and `dim % modulus == remainder`.

    Args:
        name: the dim.
        bounds: those that the user, the file and the nodes require.
        modulus: 1 where there is no congruence.
        remainder: of the size divided by the modulus.
        assumed: the narrower bounds, which rules assumed, in which the formulas hold; None where these are the same.
    """

    name: str
    bounds: Interval
    modulus: int = 1
    remainder: int = 0
    assumed: Interval | None = None


@json_record(omit=("line",))
@attrs.frozen
class PreconditionRecord:
    """A precondition of the graph.

    Args:
        kind: "guard" for a condition on data; see docs/contract.md for the other kinds.
        text: in the names of the inputs' dims; an axis without a name is `input.shape[axis]`.
        symbols: the dims in it.
        node: the node that requires it.
        op: the operator of the node.
        message: the rule of the operator.
        where: the body of a loop or branch that requires it; else empty.
        line: the text with the node that requires it.
        sizes: the legal sizes of its only dim, where they are few; else None.
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


@json_record("shapeinf.infer/1")
@attrs.frozen
class ModelReport:
    """The report of an inference: the output of `shapeinf infer --json`.

    Args:
        model: the path of the model on a command line; else empty.
        inputs: the names of the inputs without a default value.
        outputs: the names of the outputs.
        tensors: the tensors by name that match the query: inputs and the outputs of nodes in the order of the graph,
            then constants.
        dims: the named dims of the inputs, by name.
        preconditions: the contract.
        diagnostics: lints of the file first, then in the order of the graph.
        coverage: the numbers of known tensors.
        policy: the assumption that holds for all named dims.
        assumptions: those of the user, other than dims of inputs, under which the report holds: `sr = 16000`.
        bodies: the tensors inside of bodies and functions by path and name, where the query includes them.
        omitted: the number of tensors that the limit of a query leaves out.
        note: a remark where no tensor matches the query, with the nearest names; else empty.
        memory: what a file that was written for little memory needs; None without one.
    """

    model: str = attrs.field(default="", kw_only=True)
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tensors: dict[str, TensorRecord]
    dims: tuple[NamedDimRecord, ...]
    preconditions: tuple[PreconditionRecord, ...]
    diagnostics: tuple[Diagnostic, ...]
    coverage: Coverage
    policy: str
    assumptions: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    bodies: dict[str, TensorRecord] = attrs.Factory(dict)
    omitted: int = 0
    note: str = ""
    memory: MinimizedMemory | None = None


def build_report(result: Result, query: TensorQuery | None = EVERYTHING) -> ModelReport:
    """The report of an inference with the tensors that match a query: by default all of the graph; none for None.

    Raises UnknownNameError for a tensor or operator of the query that the model does not have.
    """
    graph = result.graph
    rows = None if query is None else TensorRows(result, query)
    tensors = [] if rows is None else list(rows)
    return ModelReport(
        inputs=tuple(name for name in graph.inputs if name not in graph.constants),
        outputs=tuple(graph.outputs),
        tensors={tensor.name: tensor for tensor in tensors if not tensor.inner},
        dims=named_dims(result),
        preconditions=_preconditions(result),
        diagnostics=tuple(result.diagnostics),
        coverage=result.coverage,
        policy=result.policy,
        assumptions=result.assumptions,
        bodies={tensor.name: tensor for tensor in tensors if tensor.inner},
        omitted=0 if rows is None else rows.omitted,
        note="" if rows is None else rows.note,
    )


def as_json(result: Result) -> dict[str, Any]:
    """The report of an inference as JSON-ready data."""
    data: dict[str, Any] = to_json(build_report(result))
    return data


def named_dims(result: Result) -> tuple[NamedDimRecord, ...]:
    """The named dims of the inputs."""
    symbols = {s for name in result.graph.inputs for s in result.tensors[name].shape.symbols() if not s.is_anonymous}
    required = _required_bounds(result, symbols)
    return tuple(_named_dim(result, symbol, required) for symbol in sorted(symbols, key=str))


def _named_dim(result: Result, symbol: Dimension, required: Mapping[str, Interval]) -> NamedDimRecord:
    congruence = result.engine.store.congruences.find(symbol)
    modulus, remainder = (1, 0) if congruence is None else (congruence.modulus, congruence.rest)
    bounds = result.interval(symbol)
    wider = required.get(str(symbol), bounds)
    assumed = None if wider == bounds else bounds
    return NamedDimRecord(str(symbol), wider, modulus, remainder, assumed)


def _required_bounds(result: Result, symbols: Collection[Dimension]) -> dict[str, Interval]:
    """The bounds of named dims without what rules assume, where that may differ: those of another inference."""
    before = result.engine.inference.initial_store
    if not result.engine.store.assumed or all(result.interval(s) == before.interval(s) for s in symbols):
        return {}
    other = result.without_assumptions()
    if other is None:
        return {}
    named = {s for name in other.graph.inputs for s in other.tensors[name].shape.symbols() if not s.is_anonymous}
    return {str(symbol): other.interval(symbol) for symbol in named}


def _preconditions(result: Result) -> tuple[PreconditionRecord, ...]:
    return tuple(
        PreconditionRecord(p.kind, p.text, tuple(p.symbols), p.node, p.op, p.message, p.where, str(p), p.sizes)
        for p in result.contract.preconditions
    )
