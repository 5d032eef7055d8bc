"""`PickledResult`, the result in a pickle, and the display of results in a shell and in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Protocol

import attrs

from shapeinf.contract import Contract, PickledContract
from shapeinf.contract.pickled import precondition_table
from shapeinf.diagnostics import Diagnostics
from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.errors import UnknownNameError
from shapeinf.expr import Interval
from shapeinf.html import html_block, html_details, html_fields, html_rows
from shapeinf.pickling import Pickled, versioned_pickle
from shapeinf.texts import format_count, object_text

HEADING = 13
"""The width of the headings in a `repr`."""

MAX_TENSORS = 4
"""The most inputs, and the most outputs, in a `repr`; the others are counted."""


@versioned_pickle
@attrs.frozen
class Coverage:
    """How much of a graph is inferred, as numbers.

    Args:
        nodes: nodes of the graph.
        values: outputs of nodes.
        ranked: those of known rank.
        known: those without any unknown.
        unknown_ops: nodes by operator, of operators without a rule.
    """

    nodes: int
    values: int
    ranked: int
    known: int
    unknown_ops: Mapping[str, int]

    def __str__(self) -> str:
        """One line."""
        text = f"{self.nodes} nodes, {self.values} tensors: {self.known} fully known, {self.ranked} of known rank"
        if self.unknown_ops:
            listed = ", ".join(f"{op} x{n}" for op, n in sorted(self.unknown_ops.items()))
            text += f"; operators without a rule: {listed}"
        return text


class ResultData(Protocol):
    """The properties that `Result` and `PickledResult` share."""

    @property
    def source(self) -> str | None:
        """The path of the model."""

    @property
    def dialect(self) -> str:
        """The dialect of its operators."""

    @property
    def inputs(self) -> dict[str, TensorInfo]:
        """The inputs."""

    @property
    def outputs(self) -> dict[str, TensorInfo]:
        """The outputs."""

    @property
    def dims(self) -> Mapping[str, Interval]:
        """The dims of the inputs."""

    @property
    def coverage(self) -> Coverage:
        """How much is inferred."""

    @property
    def diagnostics(self) -> Diagnostics:
        """All diagnostics."""

    @property
    def policy(self) -> str:
        """The least size of named dims."""


@versioned_pickle
@attrs.frozen
class PickledResult(Pickled):
    """The data of a `Result` that was pickled, as by a pool of processes.

    It has no inference: `memory`, `cost`, `program`, `explain`, `update` and `save` raise NotPickledError. Dims of two
    pickles are never equal, like those of two inferences; compare their texts.

    Args:
        source: the path of the model; None for one that was not read from a file.
        dialect: the dialect of its operators.
        inputs: the inputs by name, in the order of the graph.
        outputs: the outputs by name, in the order of the graph.
        tensors: every value of the graph by name.
        aliases: other names of values, each with the name in `tensors`.
        dims: the dims of the inputs by name, with their bounds.
        contract: the preconditions.
        diagnostics: all diagnostics.
        coverage: how much is inferred.
        policy: the least size of named dims.
        assumptions: what the user specifies besides the dims of inputs; the result holds for these.
    """

    source: str | None
    dialect: str
    inputs: dict[str, TensorInfo]
    outputs: dict[str, TensorInfo]
    tensors: dict[str, TensorInfo] = attrs.field(repr=False)
    aliases: dict[str, str] = attrs.field(repr=False)
    dims: dict[str, Interval]
    contract: PickledContract
    diagnostics: Diagnostics
    coverage: Coverage
    policy: str
    assumptions: tuple[str, ...]

    kind: ClassVar[str] = "result"

    def tensor(self, name: str) -> TensorInfo:
        """A value of the graph, by its name or an alias. Raises UnknownNameError."""
        name = self.aliases.get(name, name)
        if name not in self.tensors:
            raise UnknownNameError("tensor", name, self.tensors)
        return self.tensors[name]

    def __repr__(self) -> str:
        """A few lines: inputs, outputs, coverage, diagnostics."""
        return result_text("PickledResult", self, self.contract)

    def _repr_html_(self) -> str:
        """The same as tables."""
        return result_html("PickledResult", self, self.contract)


def result_text(title: str, result: ResultData, contract: Contract | PickledContract | None) -> str:
    """The `repr` of a result; with the number of preconditions, unless `contract` is None."""
    count = "not computed yet" if contract is None else format_count(len(contract), "precondition")
    lines = [
        *_tensor_lines("inputs", result.inputs),
        *_tensor_lines("outputs", result.outputs),
        f"{'coverage':{HEADING}}{result.coverage}",
        f"{'contract':{HEADING}}{count}",
        f"{'diagnostics':{HEADING}}{result.diagnostics.counts}",
    ]
    return object_text(_title(title, result), lines, limit=len(lines))


def _title(title: str, result: ResultData) -> str:
    return f"{title} of {result.source or 'a model'} ({result.dialect or 'no dialect'})"


def _tensor_lines(heading: str, tensors: Mapping[str, TensorInfo]) -> Iterator[str]:
    for number, (name, info) in enumerate(tensors.items()):
        if number == MAX_TENSORS:
            yield f"{'':{HEADING}}{len(tensors) - MAX_TENSORS} more"
            return
        yield f"{'' if number else heading:{HEADING}}{name}: {info}"


def result_html(title: str, result: ResultData, contract: Contract | PickledContract | None) -> str:
    """The display of a result in a notebook: inputs and outputs, dims, preconditions and diagnostics as tables."""
    fields = [("coverage", str(result.coverage)), ("policy", result.policy), ("diagnostics", result.diagnostics.counts)]
    parts = [_tensor_table(result), _dim_table(result.dims), html_fields(fields)]
    if contract:
        count = format_count(len(contract), "precondition")
        parts.append(html_details(f"contract: {count}", precondition_table(contract.preconditions)))
    if result.diagnostics:
        parts.append(html_details(f"diagnostics: {result.diagnostics.counts}", result.diagnostics.table()))
    return html_block(_title(title, result), *parts)


def _tensor_table(result: ResultData) -> str:
    roles = (("input", result.inputs), ("output", result.outputs))
    rows = [(role, name, _type(info), str(info.shape)) for role, infos in roles for name, info in infos.items()]
    return html_rows(["", "tensor", "type", "shape"], rows)


def _type(info: TensorInfo) -> str:
    return info.dtype or "?" if info.kind == "tensor" else f"{info.kind} of {info.dtype or '?'}"


def _dim_table(dims: Mapping[str, Interval]) -> str:
    return html_rows(["dim", "range"], [(name, str(bounds)) for name, bounds in dims.items()]) if dims else ""
