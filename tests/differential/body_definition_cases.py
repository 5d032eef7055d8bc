"""Models of one If, Loop, Scan or SequenceMap, each of which breaks the operator or one of its bodies in one place.

For every version of the operator: each input of the node, and each input and output of each body, of other types, of
another kind, without a type, absent, doubled, too many; what the bodies compute of other types than they declare;
attributes absent, doubled, unknown, of another kind or value; nodes of a body that break their own definition. The
models have an output of their own, so that what the node returns needs no declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import onnx
from onnx import GraphProto, NodeProto, TensorProto, helper

from tests.differential.definition_cases import CODES, POOL, type_proto

OPERATORS = ("If", "Loop", "Scan", "SequenceMap")


class BodyCase(NamedTuple):
    """A model and what is wrong with it; `broken` is empty for a model as it should be."""

    op: str
    opset: int
    broken: str
    proto: onnx.ModelProto

    def __str__(self) -> str:
        return f"{self.op} {self.opset}: {self.broken or 'right'}"


def value(name: str, text: str, dims: tuple[object, ...] = ("n",)) -> onnx.ValueInfoProto:
    """A declaration: a tensor of these dims, or what the text states."""
    info = onnx.ValueInfoProto(name=name, type=type_proto(text))
    if text.startswith("tensor("):
        info.type.CopyFrom(helper.make_tensor_type_proto(CODES[text[7:-1]], dims))
    return info


def identity(source: str, target: str) -> NodeProto:
    return helper.make_node("Identity", [source], [target])


def right_model(op: str, opset: int, carried: str = "tensor(float)") -> onnx.ModelProto:
    """The model as it should be, with values of one type that enter and leave the bodies."""
    node, inputs = BUILDERS[op](opset, carried)
    inputs = [*inputs, value("kept", "tensor(float)", (1,))]
    nodes = [node, identity("kept", "other")]
    graph = helper.make_graph(nodes, "g", inputs, [value("other", "tensor(float)", (1,))])
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8 if opset < 21 else 10)


def branches(opset: int, carried: str) -> tuple[NodeProto, list[onnx.ValueInfoProto]]:
    bodies = {
        f"{name}_branch": helper.make_graph(
            [identity("x", f"{name}_x"), helper.make_node("Shape", ["k"], [f"{name}_s"])],
            name,
            [],
            [value(f"{name}_x", carried), value(f"{name}_s", "tensor(int64)", (1,))],
        )
        for name in ("then", "else")
    }
    node = helper.make_node("If", ["c"], ["y", "s"], "node", **bodies)
    return node, [value("c", "tensor(bool)", ()), value("x", carried), value("k", "tensor(float)")]


def loop(opset: int, carried: str) -> tuple[NodeProto, list[onnx.ValueInfoProto]]:
    body = helper.make_graph(
        [identity("go", "go_on"), identity("old", "new"), identity("i", "item")],
        "body",
        [value("i", "tensor(int64)", ()), value("go", "tensor(bool)", ()), value("old", carried)],
        [value("go_on", "tensor(bool)", ()), value("new", carried), value("item", "tensor(int64)", ())],
    )
    node = helper.make_node("Loop", ["m", "c", "x"], ["y", "s"], "node", body=body)
    return node, [value("m", "tensor(int64)", ()), value("c", "tensor(bool)", ()), value("x", carried)]


def scan(opset: int, carried: str) -> tuple[NodeProto, list[onnx.ValueInfoProto]]:
    body = helper.make_graph(
        [identity("old", "new"), identity("row", "item")],
        "body",
        [value("old", carried), value("row", carried)],
        [value("new", carried), value("item", carried)],
    )
    batch = ("b",) if opset < 9 else ()
    names = ["", "x", "rows"] if batch else ["x", "rows"]
    node = helper.make_node("Scan", names, ["y", "s"], "node", body=body, num_scan_inputs=1)
    return node, [value("x", carried, (*batch, "n")), value("rows", carried, (*batch, "t", "n"))]


def sequence_map(opset: int, carried: str) -> tuple[NodeProto, list[onnx.ValueInfoProto]]:
    body = helper.make_graph(
        [identity("item", "new"), identity("more", "same")],
        "body",
        [value("item", carried), value("more", carried)],
        [value("new", carried), value("same", carried)],
    )
    node = helper.make_node("SequenceMap", ["x", "w"], ["y", "s"], "node", body=body)
    return node, [value("x", f"seq({carried})"), value("w", carried)]


BUILDERS: dict[str, Callable[[int, str], tuple[NodeProto, list[onnx.ValueInfoProto]]]] = {
    "If": branches,
    "Loop": loop,
    "Scan": scan,
    "SequenceMap": sequence_map,
}


def versions() -> list[tuple[str, int]]:
    """Each operator with the opsets in which it has a new definition."""
    schemas = [schema for schema in onnx.defs.get_all_schemas_with_history() if schema.name in OPERATORS]
    return sorted((schema.name, schema.since_version) for schema in schemas)


def bodies_of(node: NodeProto) -> dict[str, GraphProto]:
    return {a.name: a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH}


def body_cases(op: str, opset: int) -> Iterator[BodyCase]:
    """All cases of a version of an operator; the first one is the model as it should be."""
    yield BodyCase(op, opset, "", right_model(op, opset))
    for text in dict.fromkeys((*POOL, "tensor(complex64)", "tensor(int4)", "seq(tensor(int64))")):
        if op != "SequenceMap" or text.startswith("tensor("):
            yield BodyCase(op, opset, f"all values of the type {text}", right_model(op, opset, text))
    right = right_model(op, opset)
    for broken, change in (*node_changes(right), *body_changes(right)):
        proto = onnx.ModelProto()
        proto.CopyFrom(right)
        change(proto)
        yield BodyCase(op, opset, broken, proto)


Change = tuple[str, Callable[[onnx.ModelProto], object]]


def node_changes(right: onnx.ModelProto) -> Iterator[Change]:
    """What breaks the node: its operands and its attributes."""
    first = right.graph.node[0]
    for index, info in enumerate(right.graph.input[:-1]):
        for text in POOL:
            yield f"{info.name} of the type {text}", lambda m, i=index, t=text: set_type(m.graph.input[i], t)
    for index, name in enumerate(first.input):
        yield f"no inputs from {index} on", lambda m, i=index: m.graph.node[0].input.__delitem__(slice(i, None))
        if name:
            yield f"input {index} absent", lambda m, i=index: m.graph.node[0].input.__setitem__(i, "")
    yield "an input too many", lambda m: m.graph.node[0].input.append("kept")
    yield "an output too many", lambda m: m.graph.node[0].output.append("more")
    yield "an output too few", lambda m: m.graph.node[0].output.pop()
    yield "no outputs", lambda m: m.graph.node[0].output.__delitem__(slice(None))
    yield "an unknown attribute", lambda m: add_attribute(m, "foo", 1)
    yield "a private attribute", lambda m: add_attribute(m, "__foo", 1)
    for attribute in first.attribute:
        name = attribute.name
        yield f"without {name}", lambda m, n=name: drop_attribute(m, n)
        yield f"{name} twice", lambda m, n=name: repeat_attribute(m, n)
        for other in (1, 1.0, "a", [1]):
            if type(other) is not int or name != "num_scan_inputs":
                yield f"{name} is {other!r}", lambda m, n=name, v=other: (drop_attribute(m, n), add_attribute(m, n, v))
    if first.op_type == "Scan":
        yield from scan_changes(right)


def scan_changes(right: onnx.ModelProto) -> Iterator[Change]:
    """Attributes of Scan with values that do not go with its operands."""
    for count in (-1, 0, 2, 3):
        yield (
            f"num_scan_inputs is {count}",
            lambda m, v=count: (drop_attribute(m, "num_scan_inputs"), add_attribute(m, "num_scan_inputs", v)),
        )
    for name in ("scan_input_directions", "scan_output_directions", "scan_input_axes", "scan_output_axes"):
        for numbers in ([0], [1], [2], [-1], [-3], [0, 0]):
            yield f"{name} is {numbers}", lambda m, n=name, v=numbers: add_attribute(m, n, v)
    yield "directions is [2]", lambda m: add_attribute(m, "directions", [2])


def body_changes(right: onnx.ModelProto) -> Iterator[Change]:
    """What breaks the bodies: their inputs, outputs and nodes."""
    for name, body in bodies_of(right.graph.node[0]).items():

        def on(change: Callable[[GraphProto], object], name: str = name) -> Callable[[onnx.ModelProto], object]:
            return lambda m: change(bodies_of(m.graph.node[0])[name])

        for index, info in enumerate(body.input):
            for text in POOL:
                yield f"{name}: {info.name} is {text}", on(lambda g, i=index, t=text: set_type(g.input[i], t))
            yield f"{name}: {info.name} without type", on(lambda g, i=index: g.input[i].ClearField("type"))
            yield f"{name}: {info.name} without shape", on(lambda g, i=index: drop_shape(g.input[i]))
            yield f"{name}: {info.name} is no input", on(lambda g, i=index: g.input.__delitem__(i))
        for index, info in enumerate(body.output):
            for text in POOL:
                yield f"{name}: {info.name} is {text}", on(lambda g, i=index, t=text: set_type(g.output[i], t))
                yield f"{name}: {info.name} becomes {text}", on(lambda g, i=index, t=text: compute(g, i, t, True))
                yield (
                    f"{name}: {info.name} becomes {text}, undeclared",
                    on(lambda g, i=index, t=text: compute(g, i, t, False)),
                )
            yield f"{name}: {info.name} without type", on(lambda g, i=index: g.output[i].ClearField("type"))
            yield f"{name}: {info.name} is no output", on(lambda g, i=index: g.output.__delitem__(i))
            yield f"{name}: {info.name} has no producer", on(lambda g, i=index: setattr(g.output[i], "name", "none"))
            yield f"{name}: {info.name} twice", on(lambda g, i=index: g.output.append(g.output[i]))
        yield f"{name}: an input too many", on(lambda g: g.input.append(value("extra", "tensor(float)")))
        yield f"{name}: an output too many", on(add_output)
        yield from ((f"{name}: {text}", on(change)) for text, change in INNER)


def set_type(info: onnx.ValueInfoProto, text: str) -> None:
    """Another type, of the same dims if both are tensors."""
    dims = tuple(d.dim_param or d.dim_value for d in info.type.tensor_type.shape.dim)
    info.CopyFrom(value(info.name, text, dims))


def drop_shape(info: onnx.ValueInfoProto) -> None:
    if info.type.HasField("tensor_type"):
        info.type.tensor_type.ClearField("shape")


def add_attribute(model: onnx.ModelProto, name: str, item: object) -> None:
    model.graph.node[0].attribute.append(helper.make_attribute(name, item))


def drop_attribute(model: onnx.ModelProto, name: str) -> None:
    attributes = model.graph.node[0].attribute
    del attributes[next(i for i, attribute in enumerate(attributes) if attribute.name == name)]


def repeat_attribute(model: onnx.ModelProto, name: str) -> None:
    attributes = model.graph.node[0].attribute
    attributes.append(next(attribute for attribute in attributes if attribute.name == name))


def compute(graph: GraphProto, index: int, text: str, declared: bool) -> None:
    """Let the body return a value of another type, as which it declares its output or not."""
    name = graph.output[index].name
    for node in graph.node:
        node.output[:] = [f"{output}_before" if output == name else output for output in node.output]
    if text.startswith("tensor("):
        node = helper.make_node("Cast", [f"{name}_before"], [name], to=CODES[text[7:-1]])
    elif text.startswith("seq("):
        node = helper.make_node("SequenceConstruct", [f"{name}_before"], [name])
    else:
        node = helper.make_node("Optional", [f"{name}_before"], [name])
    graph.node.append(node)
    if declared:
        set_type(graph.output[index], text)
    else:
        graph.output[index].ClearField("type")


def add_output(graph: GraphProto) -> None:
    graph.node.append(identity(graph.node[0].input[0], f"{graph.name}_more"))
    graph.output.append(onnx.ValueInfoProto(name=f"{graph.name}_more"))


def add_node(op: str, *types: int, **attributes: object) -> Callable[[GraphProto], None]:
    """Adds a node, whose operands are constants of these element types."""

    def add(graph: GraphProto) -> None:
        names = [f"{graph.name}_{op}_{i}" for i in range(len(types))]
        for name, type_ in zip(names, types, strict=True):
            tensor = helper.make_tensor("t", type_, [1], [1])
            graph.node.append(helper.make_node("Constant", [], [name], value=tensor))
        graph.node.append(helper.make_node(op, names, [f"{graph.name}_{op}"], **attributes))

    return add


FLOAT, INT64, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
INNER: tuple[tuple[str, Callable[[GraphProto], None]], ...] = (
    ("a node that is right", add_node("MatMul", FLOAT, FLOAT)),
    ("a node of two types", add_node("MatMul", FLOAT, INT64)),
    ("a node of a type that is not allowed", add_node("Sigmoid", INT64)),
    ("a node with an unknown attribute", add_node("Sigmoid", FLOAT, foo=1)),
    ("a node without a required attribute", add_node("Cast", FLOAT)),
    ("a node with too many inputs", add_node("Sigmoid", FLOAT, FLOAT)),
    ("a node without inputs", add_node("Sigmoid")),
    ("a node of no operator", add_node("Nonsense", FLOAT)),
    ("a node of an absent value", lambda graph: graph.node.append(identity("nothing", "something"))),
)
