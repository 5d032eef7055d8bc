"""The calls of torch that PNNX keeps as they are, `aten::NAME`, as overloads of torch with their rules.

All arguments of such a call are its inputs, in the order of the schema, also those that have their default. Constants
are nodes of their own: expressions such as `True`, `[1,2]`, `linear`, or, in networks that PNNX did not optimize,
`prim::Constant`. The overload is not in the file: it is the one whose arguments have this number and these kinds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import attrs

from opdefs.pnnx.constants import constant_of, is_constant, producers_of
from opdefs.torch.binding import bind_kind
from opdefs.torch.dialect import torch
from opdefs.torch.schemas import Argument, find_schema, overloads
from shapeinf.graph import Graph, InputContents, InputReference, Node, NodeKind
from shapeinf.lattice.dtypes import TORCH_TEXTS
from shapeinf.ops import OpDef

RAW = "aten::"
_EXPRESSION, _LIST, _UNPACK = "pnnx.Expression", "prim::ListConstruct", "prim::ListUnpack"
_ITEMS = re.compile(r"\[(?:@\d+|None)(?:,(?:@\d+|None))*\]", re.ASCII)
"""A list of inputs of an expression."""
_NUMBERS = ("Expression", "size", "Int", "IntImplicit", "Float", "Bool", "ScalarImplicit", "numel", "len", "dim")
"""The functions whose results are numbers, or lists of these, unless the file declares the type of a tensor."""
_CODES = (
    *("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"),
    *("complex32", "complex64", "complex128", "bool", "qint8", "quint8", "qint32", "bfloat16"),
)
"""torch's element types by their codes (c10::ScalarType), which are the values of `dtype` arguments."""


@attrs.frozen
class _Constant:
    """An argument that is known: a number, a text, None, or a tuple of numbers."""

    value: object


@attrs.frozen
class _Items:
    """An argument that is a list of values; None for an absent one."""

    names: tuple[str | None, ...]


@attrs.frozen
class _Value:
    """An argument that is a value of the network, a tensor or a number."""

    name: str
    is_tensor: bool


_Passed = _Constant | _Items | _Value


def overload_rule(overload: str) -> OpDef | None:
    """The operator of an overload, `aten.tril.default` or `aten::tril.default`; None without a rule."""
    return torch.lookup("", overload.replace("::", "."), 1)


def bind_raw_calls(graph: Graph, known: Callable[[str], bool]) -> Graph:
    """The graph with an overload of torch in place of each call, with the inputs and attributes of its rule.

    The operators that are `known` stay as they are, as does a call that is no overload with a rule. A call whose list
    is only unpacked has the items as its outputs.
    """
    producers = producers_of(graph)
    readers = Counter(name for node in graph.nodes for name in node.inputs)
    lists = {n.inputs[0]: n.outputs for n in graph.nodes if n.op == _UNPACK and len(n.inputs) == 1}
    nodes: list[Node] = []
    unpacked: set[str] = set()
    for node in graph.nodes:
        if _is_raw(node, known):
            bound = _bind(node, producers, graph)
            name = node.outputs[0] if len(node.outputs) == 1 else ""
            if bound is not node and name in lists and readers[name] < 2 and name not in graph.outputs:
                unpacked.add(name)
                bound = Node(bound.kind, bound.inputs, lists[name], bound.name)
            nodes.append(bound)
        elif node.op != _UNPACK or node.inputs[0] not in unpacked:
            nodes.append(node)
    return attrs.evolve(graph, nodes=nodes)


def _is_raw(node: Node, known: Callable[[str], bool]) -> bool:
    return node.op.startswith(RAW) and not known(node.op)


def _bind(node: Node, producers: Mapping[str, Node], graph: Graph) -> Node:
    """The node with the inputs of the rule of its overload."""
    passed = [_read(name, producers, graph) for name in node.inputs]
    overload = _choose(node.op.removeprefix(RAW), passed)
    op_def = overload_rule(overload) if overload else None
    schema = find_schema(overload) if overload else None
    if op_def is None or op_def.rule is None or schema is None:
        return node
    inputs: list[str] = []
    attributes = {a.name: _encode(a, value, inputs) for a, value in zip(schema.arguments, passed, strict=False)}
    kind, order = bind_kind(NodeKind(overload, "", attributes), op_def.rule, len(inputs))
    renamed = attrs.evolve(kind, op=node.op + "." + overload.rpartition(".")[2])
    return Node(renamed, tuple("" if at is None else inputs[at] for at in order), node.outputs, node.name)


# -- arguments ---------------------------------------------------------------------------------------------------------


def _read(name: str, producers: Mapping[str, Node], graph: Graph) -> _Passed:
    """The argument that an input is."""
    producer = producers.get(name)
    if producer is None:
        return _Value(name, True)
    if is_constant(producer):
        return _Constant(constant_of(producer))
    if producer.op == _LIST:
        return _read_items(name, producer.inputs, producers, graph)
    if producer.op == _EXPRESSION:
        return _read_expression(name, producer, producers, graph)
    return _Value(name, _is_tensor(name, producers, graph))


def _read_items(name: str, items: Sequence[str], producers: Mapping[str, Node], graph: Graph) -> _Passed:
    """A list of constants, of tensors that may be absent, or of computed numbers."""
    listed = [producers.get(item) for item in items]
    absent = [is_constant(producer) and constant_of(producer) is None for producer in listed]
    if all(is_constant(producer) for producer in listed) and not any(absent):
        return _Constant(tuple(map(constant_of, listed)))
    if all(gone or _is_tensor(item, producers, graph) for item, gone in zip(items, absent, strict=True)):
        return _Items(tuple(None if gone else item for item, gone in zip(items, absent, strict=True)))
    return _Value(name, False)


def _read_expression(name: str, producer: Node, producers: Mapping[str, Node], graph: Graph) -> _Passed:
    text = producer.attrs.get("expr")
    if isinstance(text, str) and _ITEMS.fullmatch(text):
        parts = text[1:-1].split(",")
        positions = [None if part == "None" else int(part[1:]) for part in parts]
        if all(at is None or at < len(producer.inputs) for at in positions):
            names = tuple(None if at is None else producer.inputs[at] for at in positions)
            if all(each is None or _is_tensor(each, producers, graph) for each in names):
                return _Items(names)
    return _Value(name, _is_tensor(name, producers, graph))


def _is_tensor(name: str, producers: Mapping[str, Node], graph: Graph) -> bool:
    """Whether a value is a tensor, as far as the file declares it; the results of some functions are numbers."""
    producer = producers.get(name)
    if producer is None or (name in graph.declared and graph.declared[name].dims is not None):
        return True
    return not producer.op.startswith("prim::") and producer.op.replace("::", ".").rpartition(".")[2] not in _NUMBERS


def _encode(argument: Argument, passed: _Passed, inputs: list[str]) -> object:
    """The argument as programs have it; the values that it reads are appended to `inputs`."""
    if isinstance(passed, _Constant):
        code = passed.value
        if argument.kind.startswith("ScalarType") and isinstance(code, int):
            return TORCH_TEXTS.get(_CODES[code] if 0 <= code < len(_CODES) else "", "torch.unknown")
        return code
    if isinstance(passed, _Items):
        return tuple([None if name is None else _refer(name, inputs) for name in passed.names])
    reference = _refer(passed.name, inputs)
    return reference if argument.kind.startswith("Tensor") else InputContents(reference.input)


def _refer(name: str, inputs: list[str]) -> InputReference:
    inputs.append(name)
    return InputReference(len(inputs) - 1)


# -- overloads ---------------------------------------------------------------------------------------------------------


@cache
def _overloads_by_function() -> Mapping[str, Sequence[str]]:
    """The overloads of `aten` by the names of their functions."""
    table: dict[str, list[str]] = {}
    for overload in overloads():
        if overload.startswith("aten."):
            table.setdefault(overload.split(".")[1], []).append(overload)
    return table


def _choose(function: str, passed: Sequence[_Passed]) -> str:
    """The overload that takes these arguments best, of those with rules; empty where none takes them."""
    best, most = "", -1
    for overload in _overloads_by_function().get(function, ()):
        op_def, schema = overload_rule(overload), find_schema(overload)
        if op_def is None or op_def.rule is None or schema is None or len(schema.arguments) != len(passed):
            continue
        points = list(_points(schema.arguments, passed))
        if None not in points and sum(filter(None, points)) > most:
            best, most = overload, sum(filter(None, points))
    return best


def _points(arguments: Sequence[Argument], passed: Sequence[_Passed]) -> Iterator[int | None]:
    """For each argument, how well its value fits: 2 for its own kind, 1 for one that converts, None for another."""
    for argument, value in zip(arguments, passed, strict=True):
        kind = argument.kind.removesuffix("?").replace("SymInt", "int")
        optional = argument.kind.endswith("?")
        if isinstance(value, _Items):
            yield 2 if kind.startswith("Tensor") and "[" in kind else None
        elif isinstance(value, _Value):
            yield _points_of_value(kind, value)
        elif value.value is None:
            yield 2 if optional else None
        else:
            yield _points_of_constant(kind, value.value)


def _points_of_value(kind: str, value: _Value) -> int | None:
    if kind == "Tensor":
        return 2 if value.is_tensor else 1
    if kind.startswith("Tensor"):
        return None
    return 1 if value.is_tensor else 2


_TAKES: Mapping[str, tuple[tuple[type, ...], tuple[type, ...]]] = {
    "int": ((int,), ()),
    "float": ((float,), (int,)),
    "bool": ((bool,), (int,)),
    "Scalar": ((int, float, complex), (bool,)),
    "str": ((str,), ()),
    "ScalarType": ((int,), ()),
    "Layout": ((int, str), ()),
    "Device": ((str,), ()),
    "MemoryFormat": ((int,), ()),
}
"""The types of constants that an argument has, and that it converts, by its kind."""


def _points_of_constant(kind: str, value: object) -> int | None:
    if isinstance(value, tuple) or "[" in kind:
        base, bracket, _ = kind.partition("[")
        items = value if isinstance(value, tuple) else (value,)
        points = [_points_of_constant(base, item) for item in items]
        return None if not bracket or base == "Tensor" or None in points else 2 if isinstance(value, tuple) else 1
    own, converted = _TAKES.get(kind, ((), ()))
    if type(value) in own:
        return 2
    return 1 if type(value) in converted else None
