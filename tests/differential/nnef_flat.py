"""Graphs of flat NNEF documents, one node per statement, for tests of rules without the evaluator."""

import itertools

from opdefs.nnef.library import library
from opdefs.nnef.schemas import TYPE_ARGUMENT, tensor_type
from shapeinf.formats.nnef.language.ast import ArrayExpr, Binary, Name, Number, Text, Truth, TupleExpr
from shapeinf.formats.nnef.language.diagnostics import SourceText
from shapeinf.formats.nnef.language.parser import parse
from shapeinf.formats.nnef.language.types import DTYPES, ArrayOf
from shapeinf.formats.nnef.versions import VERSIONS
from shapeinf.graph import DeclaredType, Graph, Node, NodeKind
from shapeinf.lattice import PartialTensor, Shape


class NotFlatError(Exception):
    """The document has fragments or expressions, which need the evaluator."""


def graph_of(text, dialect=None):
    """The graph of a flat document."""
    document = parse(SourceText(text), dialect)
    if document.fragments:
        raise NotFlatError("fragments")
    declarations = {f.name: f for f in library(document.dialect)}
    graph = Graph(document.graph.name, "nnef", {"": VERSIONS[document.dialect]})
    nodes = []
    for assignment in document.graph.body:
        call = assignment.value
        fragment = declarations.get(getattr(call, "name", None))
        if fragment is None or fragment.name.endswith("_layer"):
            raise NotFlatError(str(call))
        values = _arguments(fragment, call)
        dtype = DTYPES[call.type_argument.name] if call.type_argument else None
        if fragment.name in ("external", "variable", "constant"):
            _source(graph, fragment.name, assignment.target.name, values, dtype)
        else:
            nodes.append(_node(graph, fragment, values, assignment.target, dtype))
    graph.nodes = nodes
    graph.outputs.extend(name.name for name in document.graph.results)
    return graph


def _arguments(fragment, call):
    positional = [a for a in call.arguments if a.name is None]
    values = {p.name: a.value for p, a in zip(fragment.parameters, positional, strict=False)}
    values.update({a.name: a.value for a in call.arguments if a.name is not None})
    return values


def _source(graph, op, name, arguments, dtype):
    items = arguments["shape"].items
    if op == "external":
        graph.inputs.append(name)
        dims = tuple(None if (d := _extent(i)) == 0 else d for i in items)
        graph.declared[name] = DeclaredType(dtype or "float32", dims)
        return
    shape = Shape(_value(i) for i in items)
    contents = [_value(v) for v in arguments["value"].items] if op == "constant" else None
    if contents and len(contents) == 1:
        contents *= max(1, _volume(shape))
    graph.constants[name] = PartialTensor(dtype or "float32", shape, contents)


def _volume(shape):
    return list(itertools.accumulate(shape, lambda a, b: a * b, initial=1))[-1]


def _extent(item):
    if isinstance(item, Name):
        return item.name
    if isinstance(item, Binary):
        return f"{_extent(item.left)}{item.op}{_extent(item.right)}"
    return _value(item)


def _value(item):
    if isinstance(item, (Number, Text, Truth)):
        return item.value
    if isinstance(item, (ArrayExpr, TupleExpr)):
        return tuple(map(_value, item.items))
    raise NotFlatError(str(item))


def _node(graph, fragment, arguments, target, dtype):
    inputs, attributes = [], {}
    for p in fragment.parameters:
        tensor = tensor_type(p.type)
        value = arguments.get(p.name, p.default)
        if tensor is None:
            attributes[p.name] = _value(value)
        elif isinstance(p.type, ArrayOf):
            inputs.extend(_tensor(graph, item) for item in value.items)
        else:
            inputs.append("" if p.name not in arguments else _tensor(graph, value))
    if dtype is not None:
        attributes[TYPE_ARGUMENT] = dtype
    while inputs and not inputs[-1]:
        inputs.pop()
    return Node(NodeKind(fragment.name, "", attributes), tuple(inputs), outputs := _targets(target), outputs[0])


def _tensor(graph, item):
    if isinstance(item, Name):
        return item.name
    value = _value(item)
    name = f"literal.{len(graph.constants)}"
    dtype = "bool" if isinstance(value, bool) else "float32"
    graph.constants[name] = PartialTensor(dtype, Shape(()), [value])
    return name


def _targets(target):
    return (target.name,) if isinstance(target, Name) else tuple(name for i in target.items for name in _targets(i))
