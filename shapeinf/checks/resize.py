"""Other sizes of the inputs than those in the file: what prevents them, and what they change silently.

Axes of equal size at one position of several inputs are resized together: they are one batch, or one length. The graph
is inferred at numbers, so that the first node that fails is the one at which a runtime stops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import attrs

from shapeinf.api import infer
from shapeinf.checks.checked_model import CheckedModel
from shapeinf.diagnostics import Diagnostic, Severity, register_code
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.errors import ShapeError
from shapeinf.expr import axis_label
from shapeinf.graph import Graph, Node
from shapeinf.inputs.dim_names import first_aliases
from shapeinf.inputs.options import InferenceOptions
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.result import Result

C155 = register_code(
    "C155",
    ("warning", "note"),
    "an axis of an input that cannot be resized",
    "All other sizes that were tried fail at the node. A note where the weights have the size, as for channels.",
)
C156 = register_code(
    "C156",
    "note",
    "an axis of an input that takes only some sizes",
    "The message has sizes that were tried; `shapeinf infer` with names for the axes prints the requirements.",
)
C157 = register_code(
    "C157",
    "warning",
    "a batch that becomes part of another axis of an output",
    "The graph runs, and its results have another meaning: a constant in the file has the batch as a number.",
)

MAX_AXES = 32
"""Axes that are resized, for models with many inputs."""
MAX_LISTED = 16
"""Elements of a constant that are listed."""
_USUAL = (1, 2, 3, 7, 8, 32, 224)
"""The sizes that are tried for an axis that has none in the file."""


@attrs.frozen
class ResizedAxes:
    """Axes that are resized together.

    Args:
        label: the first of them, such as `image.shape[0]`.
        inputs: the inputs.
        axis: the position of the axis in each of them.
        size: the size in the file; None where it has none.
    """

    label: str
    inputs: tuple[str, ...]
    axis: int
    size: int | None

    def sizes(self) -> list[int]:
        """The sizes that are tried: the double first, since it is a multiple of all that the old size is one of."""
        if self.size is None:
            return list(_USUAL)
        tried = (2 * self.size, self.size + 1, 3 * self.size, self.size - 1, self.size + 8, self.size + 32)
        return [size for size in dict.fromkeys(tried) if size > 0 and size != self.size]


@attrs.frozen
class _Run:
    """An inference at sizes: its result, and its first violation."""

    size: int | None
    result: Result | None
    violation: Diagnostic | None

    def shape(self, name: str) -> Shape:
        """The shape of a value."""
        known = None if self.result is None else self.result.tensors.get(name)
        return Shape.unknown() if known is None else known.shape


def check_resize(model: CheckedModel) -> list[Diagnostic]:
    """What other sizes of each axis of the inputs lead to."""
    return [diagnostic for axes in _resized_axes(model) for diagnostic in _Resize(model, axes).diagnostics()]


def _resized_axes(model: CheckedModel) -> list[ResizedAxes]:
    aliases = first_aliases(model.graph.aliases)
    groups: dict[tuple[int, int | None], list[str]] = {}
    for name, dims in model.input_dims.items():
        for axis, dim in enumerate(dims):
            groups.setdefault((axis, dim if isinstance(dim, int) else None), []).append(name)
    listed = [
        ResizedAxes(axis_label(aliases.get(names[0], names[0]), axis), tuple(names), axis, size)
        for (axis, size), names in groups.items()
    ]
    return listed[:MAX_AXES]


class _Resize:
    """The runs of a model at other sizes of some axes."""

    def __init__(self, model: CheckedModel, axes: ResizedAxes) -> None:
        self.model = model
        self.axes = axes
        self.producers = {name: node for node in model.graph.nodes for name in node.outputs}
        self.before = self._run(axes.size)

    def diagnostics(self) -> Iterator[Diagnostic]:
        """The diagnostics; none where the graph fails at the sizes in the file."""
        if self.before.violation is not None:
            return
        runs = [self._run(size) for size in self.axes.sizes()]
        failed = [run for run in runs if run.violation is not None]
        if len(failed) == len(runs):
            yield self._blocked(failed[0])
        elif failed and self._weights_at(failed[0].violation.node if failed[0].violation else "") is None:
            yield self._restricted(failed, [run for run in runs if run.violation is None])
        if self.axes.axis == 0 and self.axes.size is not None and runs[0].violation is None:
            yield from self._folded(runs[0])

    def _run(self, size: int | None, graph: Graph | None = None) -> _Run:
        """The inference at a size of the axes; of a graph with other constants than those of the model."""
        shapes: dict[str, list[object]] = {}
        for name, dims in self.model.input_dims.items():
            shape: list[object] = [dim if isinstance(dim, int) else None for dim in dims]
            if name in self.axes.inputs:
                shape[self.axes.axis] = size
            shapes[name] = shape
        options = InferenceOptions(inputs=shapes, values=self.model.result.values, declared="ignore", min_dim=0)
        try:
            result = infer(graph or self.model.graph, options)
        except ShapeError as error:
            return _Run(size, None, Diagnostic("error", error.code, str(error)))
        order = self.model.order
        violations = certain_violations(result.engine.inference)
        first = min(violations, key=lambda violation: order.get(violation.node.partition("/")[0], -1), default=None)
        return _Run(size, result, first)

    # -- diagnostics ---------------------------------------------------------------------------------------------------

    def _blocked(self, run: _Run) -> Diagnostic:
        violation = run.violation
        assert violation is not None
        now = "no size works" if self.axes.size is None else f"it can only be {self.axes.size}"
        message = f"{self.axes.label} cannot be resized, {now}: at {run.size}, {violation.message}"
        because, help = self._constant_at(violation.node, run)
        severity: Severity = "note" if self._weights_at(violation.node) is not None else "warning"
        node = violation.node, violation.op, violation.operands
        return self._diagnostic(severity, C155, message, *node, because, help)

    def _weights_at(self, label: str) -> str | None:
        """The constant of the model, no list of sizes, that has the size of the axes at a node: their number is fixed.

        A batch is no number of channels: a state with a row for each item does not count.
        """
        node = self.model.nodes.get(label)
        if node is None or self.axes.axis == 0:
            return None
        return self._part_at(node)

    def _part_at(self, node: Node) -> str | None:
        """The first operand that is part of the model, no list of sizes, and whose shape has the size of the axes."""
        parts = (name for name in node.inputs if name and self._is_stored(name))
        return next((name for name in parts if self.axes.size in (self.before.shape(name).dims or ())), None)

    def _is_stored(self, name: str) -> bool:
        """Whether a value is a constant without listed contents, or computed from a single one, as in a conversion."""
        producer = self.producers.get(name)
        if producer is not None and len(producer.inputs) == 1:
            name = producer.inputs[0]
        constant = self.model.graph.constants.get(name)
        return constant is not None and _contents_text(constant) is None

    def _restricted(self, failed: Sequence[_Run], running: Sequence[_Run]) -> Diagnostic:
        violation = failed[0].violation
        assert violation is not None
        works = ", ".join(str(run.size) for run in running)
        subject = f"{self.axes.label} takes only some sizes ({works} of the sizes tried)"
        message = f"{subject}: at {failed[0].size}, {violation.message}"
        because, help = self._constant_at(violation.node, failed[0])
        return self._diagnostic("note", C156, message, violation.node, violation.op, violation.operands, because, help)

    def _folded(self, run: _Run) -> Iterator[Diagnostic]:
        """The outputs whose other axes grow with the batch, while their first axis does not."""
        for name in self.model.graph.outputs:
            old, new = self.before.shape(name), run.shape(name)
            if not self._folds(old, new):
                continue
            node = self._folding_node(name, run)
            text = f"a batch of {run.size} becomes part of another axis of {name}: {old} becomes {new}"
            because, help = (None, None) if node is None else self._constant_at(node.name, run)
            label, op = ("", "") if node is None else (node.name, node.op)
            yield self._diagnostic("warning", C157, text, label, op, (), because, help, name)

    def _folds(self, old: Shape, new: Shape) -> bool:
        if not old.dims or new.dims is None or len(old.dims) != len(new.dims):
            return False
        return old.dims[0] == self.axes.size == new.dims[0] and old.dims != new.dims

    def _folding_node(self, output: str, run: _Run) -> Node | None:
        """The first node before an output that puts the batch into another axis: an input of it grows in the first."""
        before = self._nodes_before(output)
        for node in self.model.graph.nodes:
            grows = node.name in before and any(self._grows(name, run) for name in node.inputs)
            if grows and any(self._folds(self.before.shape(name), run.shape(name)) for name in node.outputs):
                return node
        return None

    def _nodes_before(self, output: str) -> set[str]:
        """The nodes whose values an output depends on."""
        names: set[str] = set()
        pending = [output]
        while pending:
            node = self.producers.get(pending.pop())
            if node is not None and node.name not in names:
                names.add(node.name)
                pending += node.inputs
        return names

    def _grows(self, name: str, run: _Run) -> bool:
        dims = run.shape(name).dims
        return bool(dims) and dims is not None and dims[0] == run.size and self._varies(name, run)

    def _varies(self, name: str, run: _Run) -> bool:
        return self.before.shape(name) != run.shape(name)

    def _diagnostic(
        self,
        severity: Severity,
        code: str,
        message: str,
        node: str,
        op: str,
        operands: tuple[str, ...],
        because: str | None = None,
        help: str | None = None,
        tensor: str = "",
    ) -> Diagnostic:
        subject = tensor or self.axes.inputs[0]
        return Diagnostic(
            severity, code, message, node, op, operands, tensor=subject, axis=self.axes.axis, because=because, help=help
        )

    # -- the constant that has the size in it --------------------------------------------------------------------------

    def _constant_at(self, label: str, run: _Run) -> tuple[str | None, str | None]:
        """The constant that decides the sizes at a node, as a text, and what to write into it instead."""
        node = self.model.nodes.get(label)
        if node is None:
            return None, None
        decision = self._deciding(node, run)
        if decision is None:
            return self._option_at(node, run)
        name, at = decision
        where = "" if at.name == label else f" at node {at.name} ({at.op})"
        constant = self.model.graph.constants.get(name)
        text = None if constant is None else _contents_text(constant)
        if constant is None or text is None:
            return f"{name} is a part of the model of shape {self.before.shape(name)}{where}", None
        help = self._replacement(
            name, constant.elements or (), at, run, partial(_with_constant, self.model.graph, name)
        )
        if help is None:
            help = f"compute {name} from the sizes of the inputs, or convert the model for each size"
        return f"the constant {name} is {text}{where}", help

    def _option_at(self, node: Node, run: _Run) -> tuple[str | None, str | None]:
        """An option of a node that is a list with the size of the axes, and what to write into it instead."""
        for name, value in node.attrs.items():
            if isinstance(value, tuple) and self.axes.size in value:
                change = partial(_with_option, self.model.graph, node, name)
                return f"the option {name} is {list(value)}", self._replacement(name, value, node, run, change)
        return None, None

    def _deciding(self, node: Node, run: _Run) -> tuple[str, Node] | None:
        """A constant and the node that reads it: of this node, else of the one that makes an operand of it constant."""
        constants = self.model.graph.constants
        pending, seen = [node], {node.name}
        part = self._part_at(node)
        fallback = None if part is None else (part, node)
        while pending:
            current = pending.pop(0)
            for name in current.inputs:
                if name in constants and _contents_text(constants[name]) is not None:
                    return name, current
            for name in current.inputs:
                producer = self.producers.get(name)
                if producer is not None and producer.name not in seen and not self._varies(name, run):
                    seen.add(producer.name)
                    pending.append(producer)
        return fallback

    def _replacement(
        self, name: str, elements: Sequence[object], node: Node, run: _Run, change: Callable[[Sequence[int]], Graph]
    ) -> str | None:
        """What to write into a list of sizes: those of the output in the file, with -1 for the resized axis.

        None where the list has no sizes of the output, and where the node does not run or resize its output then.
        """
        old = self.before.shape(node.outputs[0]).dims if node.outputs else None
        if old is None or len(elements) != len(old) or self.axes.axis >= len(old):
            return None
        if any(e not in (-1, d) for e, d in zip(elements, old, strict=True)):
            return None
        new = [-1 if axis == self.axes.axis else d for axis, d in enumerate(old) if isinstance(d, int)]
        again = self._run(run.size, change(new))
        dims = again.shape(node.outputs[0]).dims
        if dims is None or dims[self.axes.axis] != run.size:
            return None
        help = f"write {new} into {name}"
        if again.violation is not None:
            help += f"; then node {again.violation.node} ({again.violation.op}) fails"
        return help


def _with_constant(graph: Graph, name: str, elements: Sequence[int]) -> Graph:
    """The graph with other contents of a constant."""
    old = graph.constants[name]
    contents = PartialTensor(old.dtype, old.shape, elements)
    return attrs.evolve(graph, constants={**graph.constants, name: contents})


def _with_option(graph: Graph, node: Node, name: str, elements: Sequence[int]) -> Graph:
    """The graph with another list in an attribute of a node."""
    kind = attrs.evolve(node.kind, attrs={**node.attrs, name: tuple(elements)})
    return attrs.evolve(graph, nodes=[n._replace(kind=kind) if n.name == node.name else n for n in graph.nodes])


def _contents_text(constant: PartialTensor) -> str | None:
    """The contents of a small constant of integers; None for any other."""
    elements = constant.elements
    if elements is None or not 0 < len(elements) <= MAX_LISTED or not all(type(e) is int for e in elements):
        return None
    return str(list(elements)) if constant.shape.dims else str(elements[0])
