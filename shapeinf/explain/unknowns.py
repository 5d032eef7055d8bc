"""The unknown axes and ranks of a model, grouped by their first cause, for `Result.unknowns`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import attrs

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.explain.causes import Root, Roots, failure_code, inner_point
from shapeinf.explain.input_values import deciding_inputs
from shapeinf.explain.points import Facet, GraphFrame, Point, tensor_of, unknowns_in
from shapeinf.explain.probe import is_late
from shapeinf.graph import UNUSED
from shapeinf.html import html_block, html_rows
from shapeinf.lattice import SequenceType, Type
from shapeinf.schemas import json_record
from shapeinf.solver.budget import WORK, cut_text
from shapeinf.texts import object_text

MAX_EXAMPLES = 3
"""The number of unknowns of a cause that a notebook lists."""

CauseKind = Literal["input", "operator", "error", "data", "body", "order", "budget"]
"""An input without sizes; an operator without a rule; a violation; data; which body runs, or how often; sizes of inputs
that only later nodes determine ("order"); or the budget was exhausted before a cause was found."""


@attrs.frozen
class Unknown:
    """An axis of a tensor whose size is unknown.

    Args:
        tensor: the tensor.
        axis: None for an unknown rank.
    """

    tensor: str
    axis: int | None

    def __str__(self) -> str:
        """`x.shape[0]`, or `the rank of x`."""
        return f"the rank of {self.tensor}" if self.axis is None else f"{self.tensor}.shape[{self.axis}]"


@attrs.frozen
class Cause:
    """The first node or input whose result is unknown.

    Args:
        kind: what is unknown about it.
        node: the name of the node, with the path of its body, or of the input; empty where no cause was found.
        op: the operator of the node; empty for an input.
        reason: why the result is unknown.
        values: the values of the main graph whose declared shapes would make the unknowns known.
        location: the position of the node in the text of the model; else empty.
        inputs: the small inputs of the model from whose values the result follows; `--value` specifies them.
    """

    kind: CauseKind
    node: str
    op: str
    reason: str
    values: tuple[str, ...]
    location: str = ""
    inputs: tuple[str, ...] = ()

    def __str__(self) -> str:
        """`NonZero (version 13) find: the size depends on ...`."""
        at = f" at {self.location}" if self.location else ""
        subject = f"{self.op} {self.node}" if self.op else f"input {self.node}"
        if self.kind == "budget":
            return self.reason
        return f"{subject}{at}: {self.reason}"


_BUDGET_EXHAUSTED = Cause("budget", "", "", f"the cause was not found: {cut_text('unknowns(work=...)')}", ())


@json_record(add=("count",))
@attrs.frozen
class UnknownGroup:
    """All unknowns with the same first causes: nearly always one, several for a size computed from unknowns of each."""

    causes: tuple[Cause, ...]
    unknowns: tuple[Unknown, ...]

    @property
    def cause(self) -> Cause:
        """The first of the causes: nearly always the only one."""
        return self.causes[0]

    @property
    def count(self) -> int:
        """The number of unknowns."""
        return len(self.unknowns)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The small inputs of the model whose values decide the unknowns."""
        return tuple(dict.fromkeys(name for cause in self.causes for name in cause.inputs))

    def __repr__(self) -> str:
        """The causes, and the first of the unknowns."""
        return object_text(f"UnknownGroup: {self}", map(str, self.unknowns))

    def __str__(self) -> str:
        """The number of unknowns and the causes, on one line."""
        if self.cause.kind == "budget":
            return f"{self.count}: {self.cause}"
        return f"{self.count} because of " + "; and of ".join(map(str, self.causes))


@json_record("shapeinf.unknowns/1")
@attrs.frozen
class UnknownsReport:
    """The unknown axes and ranks of a model by first cause: the output of `shapeinf explain MODEL --json`.

    Args:
        model: the path of the model.
        groups: the largest first.
    """

    model: str
    groups: tuple[UnknownGroup, ...]


class UnknownGroups(list[UnknownGroup]):
    """A list of groups of unknowns, which a notebook displays as a table."""

    def _repr_html_(self) -> str:
        rows = [
            (str(group.count), "; ".join(map(str, group.causes)), ", ".join(map(str, group.unknowns[:MAX_EXAMPLES])))
            for group in self
        ]
        title = "Unknown axes and ranks" if rows else "Nothing is unknown"
        return html_block(title, html_rows(["unknowns", "because of", "such as"], rows) if rows else "")


def unknowns(inference: Inference, work: int = WORK) -> list[UnknownGroup]:
    """All unknown axes and ranks of the values of a graph in groups by their first causes, the largest first.

    Unknowns whose cause is not found within the budget are one group.
    """
    frame, roots = GraphFrame(inference, work=work), Roots()
    groups: dict[tuple[tuple[int, str], ...], tuple[list[Root], list[Unknown]]] = {}
    for name, point in _unknown_points(frame):
        origins = roots.find(point)
        key = tuple(sorted(root.key for root in origins))
        axis = None if point.facet == "rank" else point.at
        groups.setdefault(key, (origins, []))[1].append(Unknown(name, axis))
    by_cause: dict[tuple[Cause, ...], list[Unknown]] = {}  # all whose cause was not found are one group
    for origins, members in groups.values():
        by_cause.setdefault(tuple(dict.fromkeys(map(cause_of, origins))), []).extend(members)
    unsorted = (UnknownGroup(causes, tuple(members)) for causes, members in by_cause.items())
    return sorted(unsorted, key=lambda group: -group.count)


def _unknown_points(frame: GraphFrame) -> Iterator[tuple[str, Point]]:
    """The names of values with their unknown axes, or ranks; none for a value that packs others."""
    inference = frame.inference
    unknown_parts: dict[int, list[tuple[Facet, int]]] = {}
    for name, slot in inference.compiled.slots.items():
        number = inference.table.canonical[inference.numbers[slot]]
        if number not in unknown_parts:
            unknown_parts[number] = _unknown_parts(inference.table.types[number])
        if unknown_parts[number] and not _is_packed(inference, slot):
            yield from ((name, Point(frame, slot, facet, at)) for facet, at in unknown_parts[number])


def _unknown_parts(value: Type | None) -> list[tuple[Facet, int]]:
    """The unknown axes of a type, or its rank; none for a sequence of known items."""
    if isinstance(value, SequenceType) and value.items is not None and all(map(_is_fully_known, value.items)):
        return []
    tensor = tensor_of(value)
    if tensor is None or tensor.shape.dims is None:
        return [("rank", 0)]
    return [("axis", axis) for axis, dim in enumerate(tensor.shape.dims) if unknowns_in(dim)]


def _is_packed(inference: Inference, slot: int) -> bool:
    """Whether a node only packs other values, which have their own unknowns, into this one."""
    producer = inference.compiled.producers[slot]
    op_def = None if producer is None else inference.compiled.step(producer).operation.op_def
    return op_def is not None and op_def.container == "pack"


def _is_fully_known(value: Type) -> bool:
    tensor = tensor_of(value)
    return tensor is not None and tensor.shape.dims is not None and not any(map(unknowns_in, tensor.shape.dims))


def cause_of(root: Root) -> Cause:
    """The public record of a root."""
    frame, step = root.frame, root.step
    if root.cut:
        return _BUDGET_EXHAUSTED
    if step is None:
        name = frame.name(root.point.slot)
        return Cause("input", name, "", _input_reason(root), (name,))
    kind, reason = _kind_and_reason(root, step)
    if kind == "budget":
        return _BUDGET_EXHAUSTED
    location = frame.inference.compiled.graph.locations.get(step.node.name, "")
    node_name = frame.inference.path + step.node_name
    inputs = deciding_inputs(frame, step) if kind in ("body", "data") else ()
    return Cause(kind, node_name, str(step.operation), reason, _values(frame, step), location, inputs)


def _input_reason(root: Root) -> str:
    if root.point.facet == "rank":
        return "it is declared without a shape"
    return f"its axis {root.point.at} has neither a size nor a name"


def _values(frame: GraphFrame, step: NodeStep) -> tuple[str, ...]:
    """The outputs of a node, or of the node of the main graph that contains it."""
    if frame.outer is not None and frame.step is not None:
        return _values(frame.outer, frame.step)
    return tuple(frame.inference.compiled.names[slot] for slot in step.outputs if slot != UNUSED)


def _kind_and_reason(root: Root, step: NodeStep) -> tuple[CauseKind, str]:
    frame = root.frame
    reason = frame.reason(step)
    code = failure_code(frame, step)
    if code is not None:
        return "operator" if code == "S201" else "error", reason
    if frame.inner(step):
        return "body", _body_reason(root, step)
    if reason:
        return "data", reason
    if root.waits:
        name = frame.name(root.waits[0].slot)
        return "data", f"the contents of {name}, known only at run time, determine it"
    if is_late(root.point, step):
        return "order", "the sizes of its inputs follow only from later nodes"
    if frame.budget.cut:
        return "budget", ""
    violation = frame.schema_violations.get(step.index)
    if violation is not None:
        return "error", violation
    return "data", "it depends on the contents of the inputs of the node, not only on their shapes"


def _body_reason(root: Root, step: NodeStep) -> str:
    frames = root.frame.inner(step)
    if len(frames) > 1:
        outputs = {name: inner_point(root.point, frame, step) for name, frame in frames.items()}
        shapes = [f"{name} has {_shape(point)}" for name, point in outputs.items() if point is not None]
        return f"it depends on which of its bodies runs: {', '.join(shapes)}"
    return "the number of iterations of its body is known only at run time"


def _shape(point: Point) -> str:
    tensor = tensor_of(point.type)
    return "?" if tensor is None else str(tensor.shape)
