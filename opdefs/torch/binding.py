"""The arguments of a node, bound to the parameters of its rule by the schema of its overload.

A file has the arguments by name and omits those that have their default. The positional parameters of a rule are its
tensors, the keyword-only parameters its attributes: numbers, lists, texts, bodies. A rule with the attribute `lengths`
has several lists of tensors as its variadic input: `lengths` are their numbers of items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import attrs

from opdefs.torch.autocast_bodies import convert_operands
from opdefs.torch.functions import FunctionEntry, function_table
from opdefs.torch.schemas import REQUIRED, Argument, Schema, find_schema
from opdefs.torch.view_steps import with_layouts
from shapeinf.graph import Graph, InputContents, InputReference, Node, NodeKind
from shapeinf.ops import OpDef, Rule

LENGTHS, NUMBERS = "lengths", "numbers"
"""The attributes with the lengths of lists of tensors, and with the names of parameters that are numbers of Python."""

_UNNAMED = "argument"
_PASS = NodeKind("aten.alias.default", "", {"self": InputReference(0)})
Order = tuple[int | None, ...]
"""The positions of the inputs of a rule among the inputs of the file; None for an absent one."""


@attrs.frozen(eq=False)
class BoundKind(NodeKind):
    """A kind whose attributes are those of its rule. The graph of a result has such, and may be inferred again."""


def bind_graph(graph: Graph, lookup: Callable[[str], OpDef | None]) -> Graph:
    """The graph with the inputs of each node in the order of the parameters of its rule; see the module."""
    bound: dict[NodeKind, tuple[NodeKind, Order]] = {}
    nodes = []
    for node in _without_tokens(with_layouts(graph)):
        if node.kind not in bound:
            op_def = lookup(node.op)
            bound[node.kind] = bind_kind(
                _with_conversions(node.kind), None if op_def is None else op_def.rule, len(node.inputs)
            )
        kind, order = bound[node.kind]
        if kind is node.kind:
            nodes.append(node)
            continue
        inputs = tuple(["" if position is None else node.inputs[position] for position in order])
        nodes.append(Node(kind, inputs, node.outputs, node.name))
    return attrs.evolve(graph, nodes=nodes)


def _without_tokens(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes, with the operator that is called in place of each call with a token, which passes to the next call."""
    for node in nodes:
        operator = node.kind.attrs.get(f"{_UNNAMED}1") if node.op == "higher_order.with_effects" else None
        token = node.kind.attrs.get(f"{_UNNAMED}0")
        if not isinstance(operator, str) or not isinstance(token, InputReference) or not node.outputs:
            yield node
            continue
        rest = [value for name, value in node.kind.attrs.items() if name not in (f"{_UNNAMED}0", f"{_UNNAMED}1")]
        attributes = {f"{_UNNAMED}{at}": value for at, value in enumerate(rest)}
        yield Node(_PASS, (node.inputs[token.input],), node.outputs[:1], f"{node.name}.token")
        called = NodeKind(operator.removeprefix("torch.ops."), node.kind.domain, attributes)
        yield Node(called, node.inputs, node.outputs[1:], node.name)


def bind_kind(kind: NodeKind, rule: Rule | None, count: int) -> tuple[NodeKind, Order]:
    """A kind with the attributes of its rule, and the order of its inputs; `count` is their number in the file."""
    if isinstance(kind, BoundKind):
        return kind, tuple(range(count))
    if rule is None:
        written = {name: value for name, value in kind.attrs.items() if not _is_reference(value)}
        return BoundKind(kind.op, kind.domain, _literals(written)), tuple(range(count))
    schema = find_schema(kind.op)
    table = function_table()
    entry = table.entries.get(kind.op, FunctionEntry("", {}, frozenset()))
    binder = _Binder(rule)
    for argument, value in _arguments(kind.attrs, schema):
        if argument.name not in entry.omitted and argument.name not in table.omitted:
            binder.add(entry.renamed.get(argument.name, argument.name), value)
    return binder.result(kind)


def _with_conversions(kind: NodeKind) -> NodeKind:
    """The kind; the body of an enabled autocast has its conversions."""
    if kind.op != "higher_order.wrap_with_autocast":
        return kind
    listed = {argument.name: value for argument, value in _arguments(kind.attrs, find_schema(kind.op))}
    body = listed.get("body_graph")
    if listed.get("enabled") is not True or listed.get("dtype") is None or not isinstance(body, Graph):
        return kind
    converted = convert_operands(body, listed["dtype"])
    return NodeKind(kind.op, kind.domain, {n: converted if v is body else v for n, v in kind.attrs.items()})


def _arguments(written: Mapping[str, object], schema: Schema | None) -> Iterator[tuple[Argument, object]]:
    """The arguments in the order of the schema, with the defaults of those that are not written."""
    if schema is None:
        yield from ((Argument(name, ""), value) for name, value in written.items())
        return
    named = dict(written)
    unnamed = [named.pop(name) for name in list(named) if name.startswith(_UNNAMED)]
    for argument in schema.arguments:
        if argument.rest:
            yield argument, tuple(unnamed)
            unnamed = []
        elif argument.name in named:
            yield argument, named.pop(argument.name)
        elif unnamed and not argument.keyword:
            yield argument, unnamed.pop(0)
        elif argument.default is not REQUIRED:
            yield argument, argument.default
    yield from ((Argument(name, ""), value) for name, value in named.items())


class _Binder:
    """Collects the inputs and attributes of a rule."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.params = [param.name for param in rule.params if not param.variadic]
        self.names = rule.attribute_names
        self.placed: dict[str, int] = {}
        """The inputs of the file by parameter."""
        self.unplaced: list[int] = []
        """The tensors whose argument has no parameter of its name: they take the free ones in order."""
        self.rest: list[int | None] = []
        """The items of lists of tensors, which the variadic parameter takes."""
        self.lengths: list[int] = []
        self.numbers: list[str] = []
        """The parameters that are numbers of Python, not tensors."""
        self.attributes: dict[str, object] = {}

    def add(self, name: str, value: object) -> None:
        """Add an argument."""
        if isinstance(value, InputReference):
            if self._has_parameter(name):
                self.placed[name] = value.input
            elif name in self.names:
                self.attributes[name] = InputContents(value.input)
            else:
                self.unplaced.append(value.input)
        elif isinstance(value, tuple) and _is_reference(value) and name not in self.names:
            self._add_list(value)
        elif isinstance(value, InputContents) and self._has_parameter(name):
            self.placed[name] = value.input
            self.numbers.append(name)
        elif value is not None:
            if value == () and self.rule.variadic and name not in self.names:
                self.lengths.append(0)
            self.attributes[name] = value

    def _has_parameter(self, name: str) -> bool:
        return name in self.params or f"{name}_" in self.params

    def _add_list(self, items: tuple[object, ...]) -> None:
        """Add a list of tensors, some of which may be absent or numbers."""
        self.lengths.append(len(items))
        for item in items:
            self.rest.append(item.input if isinstance(item, (InputReference, InputContents)) else None)

    def result(self, kind: NodeKind) -> tuple[NodeKind, Order]:
        """The kind with the attributes of the rule, and the order of the inputs."""
        free = list(self.unplaced)
        order: list[int | None] = []
        for name in self.params:
            own = name if name in self.placed else name.removesuffix("_")
            order.append(self.placed[own] if own in self.placed else free.pop(0) if free else None)
        order += self.rest
        while order and order[-1] is None and not self.rest:
            order.pop()
        if LENGTHS in self.names:
            self.attributes[LENGTHS] = tuple(self.lengths)
        if NUMBERS in self.names and self.numbers:
            self.attributes[NUMBERS] = tuple(self.numbers)
        attributes = {name: self._append(value, order) for name, value in self.attributes.items()}
        return BoundKind(kind.op, kind.domain, attributes), tuple(order)

    def _append(self, value: object, order: list[int | None]) -> object:
        """An attribute that refers to inputs behind those of the rule, to which these inputs are appended."""
        if isinstance(value, tuple):
            return tuple([self._append(item, order) for item in value])
        if not isinstance(value, (InputContents, InputReference)):
            return value
        order.append(value.input)
        return InputContents(len(order) - 1)


def _is_reference(value: object) -> bool:
    """Whether an argument is a tensor, or a list with one."""
    if isinstance(value, tuple):
        return any(map(_is_reference, value))
    return isinstance(value, InputReference)


def _literals(written: Mapping[str, object]) -> dict[str, object]:
    """The attributes of an operator without a rule: those that refer to no input."""
    return {name: value for name, value in written.items() if not _refers_to_input(value)}


def _refers_to_input(value: object) -> bool:
    """Whether an argument is an input or its contents, or a list with one."""
    if isinstance(value, tuple):
        return any(map(_refers_to_input, value))
    return isinstance(value, (InputContents, InputReference))
