"""The summary of a model as one record: its contents, requirements, cost, memory and unknowns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

import attrs

from shapeinf.cost import Cost
from shapeinf.diagnostics import SEVERITIES
from shapeinf.engine.garbage import pause_garbage_collection
from shapeinf.errors import LimitError, MissingSizeError
from shapeinf.expr import DimSize
from shapeinf.formats import FORMATS
from shapeinf.graph import Graph, count_kinds
from shapeinf.memory.peak.peak import Peak
from shapeinf.ops import default_registry
from shapeinf.pickled_result import Coverage
from shapeinf.pickling import versioned_pickle
from shapeinf.report.bodies import inner_graphs
from shapeinf.report.kv_cache_report import KvCacheRecord, report_kv_caches
from shapeinf.report.model import ModelReport, NamedDimRecord, PreconditionRecord, TensorRecord, build_report
from shapeinf.report.tensor_rows import TensorQuery
from shapeinf.result import Result
from shapeinf.schemas import json_record
from shapeinf.solver.budget import WORK
from shapeinf.texts import bound_note

LEGAL_SIZES = 1024
"""Limit on the sizes of one dim that are tried for the list of legal sizes."""


_LATER = {"assumption": 1, "guard": 2}
"""Kinds of preconditions that are listed after the others."""


@attrs.frozen
class Amount:
    """An amount of something, such as bytes.

    Args:
        formula: in the dims of the inputs, or a number; empty where it passes a limit.
        value: the number, at the sizes of the summary; None where it is not known.
        note: how to read the value, such as "at least", or why there is none; empty for an exact number.
    """

    formula: str
    value: int | None = None
    note: str = ""


@attrs.frozen
class OperatorCount:
    """The number of nodes with an operator; `domain` is empty for that of the format."""

    op: str
    domain: str
    count: int

    @property
    def name(self) -> str:
        """The operator with its domain: `com.microsoft.FusedMatMul`."""
        return f"{self.domain}.{self.op}" if self.domain else self.op

    def __str__(self) -> str:
        """`14 MatMul`."""
        return f"{self.count} {self.name}"


@attrs.frozen
class UnknownCount:
    """The number of axes and ranks that are unknown for the same causes, which are texts.

    `inputs` are the small inputs whose values decide them.
    """

    count: int
    causes: tuple[str, ...]
    inputs: tuple[str, ...] = ()


@versioned_pickle
@attrs.frozen
class Summary:
    """The summary of a model.

    Args:
        model: the path of the model on a command line; else empty.
        format: the title of its format, such as "ONNX"; `file_version` is its version as the file states it.
        producer: the tool that wrote the file; empty where the file does not state it.
        name: the name of the graph.
        opsets: the versions of the operators by domain; empty for formats whose operators have none.
        inputs: the inputs without a default value.
        outputs: the outputs, in the order of the graph.
        dims: the named dims of the inputs.
        preconditions: what the nodes require of the dims; then assumptions, and guards, which depend on data.
        legal_sizes: the legal sizes of dims with a finite range whose preconditions do not list them, as texts by dim.
        nodes: the number of nodes of the graph; `inner_nodes` is that of all its bodies and functions.
        operators: the nodes by operator, also of bodies and functions, the most frequent first.
        sizes: the sizes of dims for which amounts have values.
        parameters: the elements of all weights that nodes read.
        weight_bytes: the bytes of all weights of known size.
        macs: multiply-accumulates.
        peak_bytes: the most bytes of activations and outputs in use at once.
        kv_caches: the caches of keys and values.
        uncounted: the operators that `macs` does not count, with the number of their nodes.
        unknowns: the unknown axes and ranks by cause, the most frequent cause first.
        diagnostics: the number of diagnostics by severity.
        coverage: how much is inferred.
    """

    model: str = attrs.field(default="", kw_only=True)
    format: str
    file_version: str
    producer: str
    name: str
    opsets: Mapping[str, int]
    inputs: tuple[TensorRecord, ...]
    outputs: tuple[TensorRecord, ...]
    dims: tuple[NamedDimRecord, ...]
    preconditions: tuple[PreconditionRecord, ...]
    legal_sizes: Mapping[str, str]
    nodes: int
    inner_nodes: int
    operators: tuple[OperatorCount, ...]
    sizes: Mapping[str, int]
    parameters: Amount
    weight_bytes: Amount
    macs: Amount
    peak_bytes: Amount
    kv_caches: tuple[KvCacheRecord, ...]
    uncounted: Mapping[str, int]
    unknowns: tuple[UnknownCount, ...]
    diagnostics: Mapping[str, int]
    coverage: Coverage


@json_record("shapeinf.summary/1")
@attrs.frozen
class SummaryReport:
    """The summaries of the models that can be read: the output of `shapeinf summary --json`."""

    models: tuple[Summary, ...]


@pause_garbage_collection()
def summarize(
    result: Result, sizes: Mapping[str, int] | None = None, *, usual: Collection[str] = (), work: int = WORK
) -> Summary:
    """The summary of a model, with all amounts as formulas, and as numbers at these sizes.

    `usual` names the dims whose sizes no user requests: caches of keys and values have a number of tokens of their own.
    `work` is the budget of each query, in steps that are the same on every machine. Raises UnknownNameError for a
    dim that no input has, Contradiction for sizes with which the model does not run.

    >>> from shapeinf import infer_shapes
    >>> summary = summarize(infer_shapes("examples/convnet.onnx"), {"batch": 1, "height": 32, "width": 32})
    >>> summary.format, summary.nodes, summary.parameters.value, summary.peak_bytes.value
    ('ONNX', 7, 1896, 131072)
    """
    graph, sizes = result.graph, dict(sizes or {})
    inner, known = list(inner_graphs(graph)), FORMATS.format_of(graph)
    cost, memory = result.cost(work=work), result.memory(work=work)
    uncounted = Counter(item.op for item in cost.uncounted if item.amount != "bytes")
    weights, unsized = memory.weights, bound_note(any(buffer.role == "weight" for buffer in memory.unsized), False)
    report = build_report(result, TensorQuery(inputs=True, outputs=True, contents=True))
    severities = Counter(diagnostic.severity for diagnostic in report.diagnostics)
    preconditions = sorted(report.preconditions, key=lambda record: _LATER.get(record.kind, 0))
    return Summary(
        format=graph.format or graph.dialect if known is None else known.title,
        file_version=graph.file_version,
        producer=graph.producer,
        name=graph.name,
        opsets=dict(graph.opsets) if default_registry().is_versioned(graph.dialect) else {},
        inputs=tuple([report.tensors[name] for name in report.inputs]),
        outputs=tuple([report.tensors[name] for name in report.outputs]),
        dims=report.dims,
        preconditions=tuple(preconditions),
        legal_sizes=_legal_sizes(result, report, work),
        nodes=len(graph.nodes),
        inner_nodes=sum(len(body.nodes) for body in inner),
        operators=_count_operators([graph, *inner]),
        sizes=sizes,
        parameters=_amount(
            lambda: cost.format(cost.total.parameters), lambda: (cost.total.parameters, unsized), lambda: unsized
        ),
        weight_bytes=Amount(str(weights), weights if isinstance(weights, int) else None, unsized),
        macs=_amount(
            lambda: cost.format(cost.total.macs), lambda: _macs_at(cost, sizes), lambda: cost.table.note_of_macs()
        ),
        peak_bytes=_amount(lambda: str(memory.peak), lambda: _peak_at(memory.peak, sizes), lambda: ""),
        kv_caches=report_kv_caches(memory, {name: size for name, size in sizes.items() if name not in usual}),
        uncounted=uncounted,
        unknowns=tuple(
            [UnknownCount(g.count, tuple(map(str, g.causes)), g.inputs) for g in result.unknowns(work=work)]
        ),
        diagnostics={name: severities[name] for name in SEVERITIES},
        coverage=report.coverage,
    )


def _count_operators(graphs: Iterable[Graph]) -> tuple[OperatorCount, ...]:
    counts: Counter[tuple[str, str]] = Counter()
    for kind, count in (item for graph in graphs for item in count_kinds(graph.nodes).items()):
        counts[kind.op, kind.domain] += count
    return tuple([OperatorCount(op, domain, count) for (op, domain), count in counts.most_common()])


def _amount(formula: Callable[[], str], value: Callable[[], tuple[DimSize, str]], note: Callable[[], str]) -> Amount:
    """An amount whose formula may pass a limit, and whose value, with its note, may need sizes that are not specified.

    `note` is that of the formula, which is the value where it is a number.
    """
    try:
        text = formula()
    except LimitError as error:
        return Amount("", None, str(error))
    try:
        number, bound = value()  # also of a number: this checks the sizes
    except LimitError as error:
        return Amount(text, None, str(error))
    except MissingSizeError as error:
        if not text.isdigit():
            return Amount(text, None, f"needs sizes of {', '.join(error.names)}")
        number, bound = int(text), note()
    return Amount(text, number if isinstance(number, int) else None, bound)


def _macs_at(cost: Cost, sizes: Mapping[str, int]) -> tuple[DimSize, str]:
    at = cost.at(sizes)
    return at.total.macs, at.note_of_macs()


def _peak_at(peak: Peak, sizes: Mapping[str, int]) -> tuple[DimSize, str]:
    at = peak.at(sizes)
    return at.bytes, bound_note(at.at_least, at.at_most)


def _legal_sizes(result: Result, report: ModelReport, work: int) -> dict[str, str]:
    """The legal sizes of dims whose preconditions do not list them, where only a part of a finite range is legal."""
    names = {
        name
        for record in report.preconditions
        if record.kind != "guard" and not record.sizes
        for name in record.symbols
    }
    texts = {}
    for dim in report.dims:
        lo, hi = dim.bounds.lo, dim.bounds.hi
        if dim.name in names and lo is not None and hi is not None and hi - lo < LEGAL_SIZES:
            legal = result.contract.solve(dim.name, range(lo, hi + 1), work=work)
            if len(legal) + len(legal.untried) <= hi - lo:
                texts[dim.name] = str(legal)
    return texts
