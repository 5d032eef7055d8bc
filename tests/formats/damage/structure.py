"""Damage to the structure of an ONNX model: protobuf reads the file, and its content is invalid."""

from __future__ import annotations

import random

import onnx
from onnx import helper
from onnx.external_data_helper import set_external_data

from shapeinf.ops import default_registry

NUMBERS = (-(2**63), -(2**31), -2, -1, 0, 1, 2, 7, 2**31, 2**40, 2**62, 2**63 - 1)
FLOATS = (0.0, -1.0, 0.5, 1e30, float("inf"), float("-inf"), float("nan"))
DIMS = (
    "N",
    "N//0",
    "N%0",
    "",
    "N-N",
    "-N",
    "1/0",
    "N" * 3000,
    "(" * 400 + "N",
    "a+b*c//2",
    "max(N,M)",
    "\u202e",
    "N+1",
    "2**99",
)
NAMES = ("", "x", "y", "x" * 2000, "\u202e", "a b", "0")


def operators() -> list[tuple[str, str]]:
    """(domain, operator) of all rules of ONNX."""
    dialect = default_registry().dialect("onnx")
    assert dialect is not None
    return sorted({(domain, op) for domain, op, _ in dialect})


class StructureDamage:
    """Damages one of some models in a few positions."""

    def __init__(self, draw: random.Random, models: list[bytes]) -> None:
        self.draw = draw
        self.models = models
        self.operators = operators()

    def damaged(self) -> bytes:
        """A damaged model."""
        model = onnx.ModelProto.FromString(self.draw.choice(self.models))
        for _ in range(self.draw.choice((1, 1, 2, 3, 6))):
            getattr(self, self.draw.choice(KINDS))(model)
        return bytes(model.SerializeToString())

    def node(self, model: onnx.ModelProto) -> onnx.NodeProto:
        """A node, perhaps of a body or a function; a new node where there is none."""
        graphs = [model.graph, *(function for function in model.functions)]
        for graph in graphs[:20]:
            graphs += [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
        nodes = [node for graph in graphs for node in graph.node]
        return self.draw.choice(nodes) if nodes else model.graph.node.add()

    def attribute_kind(self, model: onnx.ModelProto) -> None:
        node = self.node(model)
        names = [a.name for a in node.attribute] or ["axis", "axes", "to", "body", "perm"]
        name = self.draw.choice(names)
        others = [a for a in node.attribute if a.name != name]
        del node.attribute[:]
        node.attribute.extend([*others, self.attribute(name)])

    def attribute(self, name: str) -> onnx.AttributeProto:
        draw = self.draw
        values = [
            lambda: draw.choice(NUMBERS),
            lambda: draw.choice(FLOATS),
            lambda: draw.choice(("", "NOTSET", "SAME_UPPER", "x" * 500, "ij,jk->ik", "...")),
            lambda: [draw.choice(NUMBERS) for _ in range(draw.choice((1, 2, 4, 9, 70)))],
            lambda: [draw.choice(FLOATS) for _ in range(draw.choice((1, 2, 4)))],
            lambda: ["a", ""],
            lambda: helper.make_tensor("t", draw.choice((1, 6, 7)), [2], [1, 2]),
            lambda: helper.make_graph([], "body", [], []),
        ]
        return helper.make_attribute(name, draw.choice(values)())

    def operator(self, model: onnx.ModelProto) -> None:
        node = self.node(model)
        node.domain, node.op_type = self.draw.choice(self.operators)
        if not any(entry.domain == node.domain for entry in model.opset_import):
            model.opset_import.append(helper.make_opsetid(node.domain, self.draw.choice((1, 3))))

    def drawn_attribute(self, model: onnx.ModelProto) -> None:
        """An attribute that the operator has, with a value of some kind."""
        node = self.node(model)
        dialect = default_registry().dialect("onnx")
        assert dialect is not None
        op_def = dialect.lookup(node.domain, node.op_type, 0)
        names = list(op_def.attributes) if op_def is not None else []
        if names:
            node.attribute.append(self.attribute(self.draw.choice(names)))

    def inputs(self, model: onnx.ModelProto) -> None:
        node, draw = self.node(model), self.draw
        names = [*node.input, *(o for n in model.graph.node for o in n.output), *NAMES]
        kind = draw.randrange(4)
        if kind == 0 and node.input:
            node.input.pop()
        elif kind == 1:
            node.input.extend([draw.choice(names)] * draw.choice((1, 2, 200)))
        elif kind == 2 and node.input:
            node.input[draw.randrange(len(node.input))] = draw.choice(names)
        else:
            shuffled = list(node.input)
            draw.shuffle(shuffled)
            node.input[:] = shuffled

    def outputs(self, model: onnx.ModelProto) -> None:
        node, draw = self.node(model), self.draw
        names = [*node.input, *node.output, *NAMES]
        if node.output and draw.random() < 0.5:
            node.output[draw.randrange(len(node.output))] = draw.choice(names)
        else:
            node.output.append(draw.choice(names))

    def value(self, model: onnx.ModelProto) -> onnx.ValueInfoProto:
        values = [*model.graph.input, *model.graph.output, *model.graph.value_info]
        return self.draw.choice(values) if values else model.graph.input.add()

    def dim(self, model: onnx.ModelProto) -> None:
        shape, draw = self.value(model).type.tensor_type.shape, self.draw
        dim = draw.choice(list(shape.dim)) if shape.dim and draw.random() < 0.7 else shape.dim.add()
        if draw.random() < 0.5:
            dim.dim_value = draw.choice(NUMBERS)
        else:
            dim.dim_param = draw.choice(DIMS)

    def rank(self, model: onnx.ModelProto) -> None:
        shape = self.value(model).type.tensor_type.shape
        for _ in range(self.draw.choice((1, 5, 60, 300))):
            shape.dim.add().dim_value = self.draw.choice((1, 2, 2**40))

    def value_type(self, model: onnx.ModelProto) -> None:
        value, draw = self.value(model), self.draw
        kind = draw.randrange(4)
        if kind == 0:
            value.type.tensor_type.elem_type = draw.choice((0, 1, 7, 8, 9, 22, 99, -1))
        elif kind == 1:
            value.ClearField("type")
        elif kind == 2:
            value.type.sequence_type.elem_type.tensor_type.elem_type = draw.choice((1, 7))
        else:
            value.name = draw.choice(NAMES)

    def declared(self, model: onnx.ModelProto) -> None:
        names = [o for node in model.graph.node for o in node.output]
        if names:
            dims = [self.draw.choice((*NUMBERS, "N", "M")) for _ in range(self.draw.randrange(4))]
            model.graph.value_info.append(helper.make_tensor_value_info(self.draw.choice(names), 1, dims))

    def opset(self, model: onnx.ModelProto) -> None:
        entry = self.draw.choice(list(model.opset_import) or [model.opset_import.add()])
        entry.version = self.draw.choice((*NUMBERS, 6, 8, 10, 13, 18, 23))
        if self.draw.random() < 0.2:
            model.opset_import.append(helper.make_opsetid("", self.draw.choice((1, 11))))

    def initializer(self, model: onnx.ModelProto) -> None:
        draw = self.draw
        tensors = list(model.graph.initializer) or [model.graph.initializer.add()]
        tensor = draw.choice(tensors)
        kind = draw.randrange(6)
        if kind == 0:
            tensor.dims.append(draw.choice(NUMBERS))
        elif kind == 1:
            tensor.data_type = draw.choice((0, 1, 6, 7, 8, 9, 16, 22, 99))
        elif kind == 2:
            tensor.raw_data = b"\xff" * draw.choice((0, 1, 8, 64))
        elif kind == 3:
            tensor.int64_data.extend([draw.choice(NUMBERS)] * draw.choice((1, 2, 4)))
        elif kind == 4:
            tensor.raw_data = b""
            set_external_data(
                tensor, draw.choice(("data.bin", "../x", "/etc/passwd", "\0", "")), draw.choice((0, 2**62))
            )
        else:
            tensor.name = draw.choice([*NAMES, *(value.name for value in model.graph.input)])

    def contents(self, model: onnx.ModelProto) -> None:
        """Another number where a tensor decides shapes."""
        draw = self.draw
        name = f"c{draw.randrange(10**6)}"
        numbers = [draw.choice(NUMBERS) for _ in range(draw.choice((0, 1, 2, 4)))]
        shape = [len(numbers)] if len(numbers) != 1 or draw.random() < 0.5 else []
        kind = draw.choice((1, 6, 7))
        fitting = [max(-(2**31), min(2**31 - 1, n)) for n in numbers] if kind == 6 else numbers
        model.graph.initializer.append(helper.make_tensor(name, kind, shape, fitting))
        node = self.node(model)
        if node.input:
            node.input[draw.randrange(len(node.input))] = name
        else:
            node.input.append(name)

    def function(self, model: onnx.ModelProto) -> None:
        """A function that calls itself, or another one that calls it."""
        names = ["F", "G"][: self.draw.choice((1, 2))]
        for name, other in zip(names, names[::-1], strict=True):
            calls = [helper.make_node(other, ["a"], [f"b{i}"], domain="own") for i in range(self.draw.choice((1, 2)))]
            opsets = [helper.make_opsetid("own", 1)]
            model.functions.append(helper.make_function("own", name, ["a"], ["b0"], calls, opsets))
        node = self.node(model)
        node.domain, node.op_type = "own", names[0]
        model.opset_import.append(helper.make_opsetid("own", 1))

    def body(self, model: onnx.ModelProto) -> None:
        """A body that reads an output of its own node, or many nested bodies."""
        values = [helper.make_empty_tensor_value_info("z")]
        inner = helper.make_graph([helper.make_node("Relu", ["y"], ["z"])], "b", [], values)
        for level in range(self.draw.choice((1, 1, 3, 18))):
            name = f"z{level}"
            other = inner if level < 3 else EMPTY
            node = helper.make_node("If", ["flag"], [name], then_branch=inner, else_branch=other)
            inner = helper.make_graph([node], "b", [], [helper.make_empty_tensor_value_info(name)])
        model.graph.node.append(helper.make_node("If", ["flag"], ["y"], then_branch=inner, else_branch=inner))

    def repeat_node(self, model: onnx.ModelProto) -> None:
        node = onnx.NodeProto()
        node.CopyFrom(self.node(model))
        if self.draw.random() < 0.5:
            for i, name in enumerate(node.output):
                node.output[i] = f"{name}'{self.draw.randrange(9)}"
        model.graph.node.append(node)


EMPTY = helper.make_graph([], "empty", [], [])
KINDS = [
    name
    for name, member in vars(StructureDamage).items()
    if callable(member) and not name.startswith("_") and name not in ("damaged", "node", "attribute", "value")
]
