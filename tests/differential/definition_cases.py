"""Models of one node, each of which breaks the definition of its operator in one place.

For every operator of every opset: each input of a type that is not allowed, or not that of the operands with its type
variable; each attribute unknown, set twice, of another kind, or of another value; required attributes and inputs
missing, inputs and outputs too many. Made from the installed `onnx` and from the schemas that ONNX Runtime lists, not
from the tables under test.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import onnx
from onnx import TensorProto, helper

PREFERRED = ("tensor(float)", "tensor(int64)", "tensor(int32)", "tensor(string)", "tensor(uint8)", "tensor(bool)")
POOL = (
    *PREFERRED,
    *("tensor(float16)", "tensor(double)", "tensor(int8)", "tensor(bfloat16)", "tensor(int16)", "tensor(uint32)"),
    *("tensor(float8e4m3fn)", "seq(tensor(float))", "optional(tensor(float))"),
)
CODES = {name.lower(): code for name, code in TensorProto.DataType.items()}
MANY = 100
"""More inputs or outputs than any operator without a variadic one has."""

WITH_GRAPHS = {"If", "Loop", "Scan", "SequenceMap"}
"""`body_definition_cases` has these."""

VALUES: dict[str, object] = {
    **dict.fromkeys(
        ("to", "dtype", "num_scan_inputs", "hidden_size", "num_heads", "kv_num_heads", "blocksize", "k"), 1
    ),
    **dict.fromkeys(("block_size", "K", "N"), 16),
    **dict.fromkeys(("height_scale", "width_scale"), 1.0),
    **{"kernel_shape": [1, 1], "perm": [0], "axes": [0], "starts": [0], "scales": [1.0], "bits": 4},
    **{"equation": "ij,ij->ij", "direction": "LEFT", "mode": "TF", "pooled_shape": [1, 1]},
}
"""Values of attributes with which most operators are right."""

TENSOR = helper.make_tensor("t", TensorProto.FLOAT, [1], [1.0])
BY_KIND: dict[str, object] = {
    **{"int": 1, "float": 1.0, "string": "a", "ints": [1], "floats": [1.0], "strings": ["a"]},
    "tensor": TENSOR,
}
OTHER_KIND: dict[str, object] = {
    **{"int": 1.0, "float": 1, "string": 1, "ints": 1, "floats": 1.0, "strings": "a"},
    "tensor": 1,
}


class Case(NamedTuple):
    """A node with the types of its inputs; `broken` states what is wrong, and is empty for the node as it should be."""

    domain: str
    op: str
    opset: int
    broken: str
    node: onnx.NodeProto
    inputs: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.domain or 'ai.onnx'}.{self.op} {self.opset}: {self.broken or 'right'}"

    def model(self) -> onnx.ModelProto:
        """The model, without shapes."""
        infos = [helper.make_value_info(f"x{i}", type_proto(text)) for i, text in enumerate(self.inputs)]
        outputs = [onnx.ValueInfoProto(name=name) for name in self.node.output]
        main = 22 if self.domain else self.opset
        imports = [helper.make_opsetid("", main)]
        if self.domain:
            imports.append(helper.make_opsetid(self.domain, self.opset))
        graph = helper.make_graph([self.node], "g", infos, outputs)
        return helper.make_model(graph, opset_imports=imports, ir_version=8 if main < 21 else 10)


def type_proto(text: str) -> onnx.TypeProto:
    """The TypeProto of a type string, without a shape. Raises KeyError for a sparse tensor."""
    if text.startswith("tensor("):
        return onnx.TypeProto(tensor_type=onnx.TypeProto.Tensor(elem_type=CODES[text[7:-1]]))
    if text.startswith("seq("):
        return helper.make_sequence_type_proto(type_proto(text[4:-1]))
    if text.startswith("optional("):
        return helper.make_optional_type_proto(type_proto(text[9:-1]))
    key, _, value = text.removeprefix("map(").removesuffix(")").partition(",")
    value = value.strip() if "(" in value else f"tensor({value.strip()})"
    return helper.make_map_type_proto(CODES[key.strip()], type_proto(value))


class Definition:
    """A schema of `onnx`, or one that ONNX Runtime lists, which has other names for some fields."""

    def __init__(self, schema: Any) -> None:
        self.name, self.domain, self.since = schema.name, schema.domain, schema.since_version
        self.attributes = schema.attributes
        self.allowed = {t.type_param_str: t.allowed_type_strs for t in schema.type_constraints}
        self.parameters = schema.inputs
        self.min_input, self.max_input = schema.min_input, schema.max_input
        self.min_output, self.max_output = schema.min_output, schema.max_output

    def __str__(self) -> str:
        return f"{self.domain}:{self.name}-{self.since}"

    def parameter(self, position: int) -> Any:
        return self.parameters[min(position, len(self.parameters) - 1)]

    def variable(self, position: int) -> str:
        """The type variable of an input, or its only type."""
        parameter = self.parameter(position)
        return str(getattr(parameter, "type_str", None) or parameter.typeStr)

    def shares(self, position: int) -> bool:
        """Whether the type of an input is that of all with its type variable."""
        parameter = self.parameter(position)
        names = "is_homogeneous", "isHomogeneous"
        return all(getattr(parameter, name, True) for name in names)

    def types(self, variable: str) -> list[str]:
        return list(self.allowed.get(variable, [variable]))

    def choice(self, variable: str) -> str:
        types = self.types(variable)
        return next((t for t in PREFERRED if t in types), min(types))

    @property
    def count(self) -> int:
        """The number of inputs of a node as it should be."""
        variadic = bool(self.parameters) and self.parameters[-1].option.name.lower() == "variadic"
        return max(self.min_input, 2 if variadic else min(1, len(self.parameters)))

    @property
    def required(self) -> dict[str, object]:
        """The attributes of a node as it should be."""
        if self.name == "Constant":
            return {"value": TENSOR}
        names = [name for name, attribute in self.attributes.items() if attribute.required]
        return {name: VALUES.get(name, BY_KIND.get(kind_of(self.attributes[name]))) for name in names}

    def case(
        self,
        broken: str,
        inputs: list[str],
        outputs: int | None = None,
        attributes: dict[str, object] | None = None,
    ) -> Case:
        values = self.required if attributes is None else attributes
        count = max(self.min_output, 1) if outputs is None else outputs
        names = [f"x{i}" for i in range(len(inputs))], [f"y{i}" for i in range(count)]
        node = helper.make_node(self.name, *names, domain=self.domain, **values)
        return Case(self.domain, self.name, self.since, broken, node, tuple(inputs))


def kind_of(attribute: Any) -> str:
    return str(attribute.type).rpartition(".")[2].lower()


def cases(d: Definition) -> Iterator[Case]:
    """All cases of a version of an operator; the first one is the node as it should be."""
    if d.name in WITH_GRAPHS or any(t.startswith("sparse") for i in range(d.count) for t in [d.choice(d.variable(i))]):
        return
    right = [d.choice(d.variable(i)) for i in range(d.count)]
    yield d.case("", right)
    yield from type_cases(d, right)
    if d.max_input < MANY:
        yield d.case("too many inputs", [*right, *["tensor(float)"] * (d.max_input - len(right) + 1)])
    if d.min_input > 0:
        yield d.case("too few inputs", right[: d.min_input - 1])
    if d.max_output < MANY:
        yield d.case("too many outputs", right, d.max_output + 1)
    yield from attribute_cases(d, right)


def type_cases(d: Definition, right: list[str]) -> Iterator[Case]:
    """Each input of each other type; all inputs of a type variable of each allowed type."""
    for i, own in enumerate(right):
        sharing = [j for j in range(len(right)) if j != i and d.variable(j) == d.variable(i) and d.shares(j)]
        for other in POOL:
            if other == own:
                continue
            if other not in d.types(d.variable(i)):
                state = "a type that is not allowed"
            else:
                state = "a type of its own" if sharing else "another type"
            yield d.case(f"input {i} of {state}, {other}", [*right[:i], other, *right[i + 1 :]])
    for variable in sorted({d.variable(i) for i in range(len(right))}):
        for other in d.types(variable):
            if not other.startswith("sparse"):
                types = [other if d.variable(i) == variable else own for i, own in enumerate(right)]
                yield d.case(f"all inputs of {variable} of the type {other}", types)


def attribute_cases(d: Definition, right: list[str]) -> Iterator[Case]:
    """An unknown attribute, and each attribute missing, of another kind or value, and twice."""
    required = d.required
    yield d.case("an unknown attribute", right, attributes={**required, "foo": 1})
    yield d.case("a private attribute", right, attributes={**required, "__foo": 1})
    for name, attribute in sorted(d.attributes.items()):
        kind = kind_of(attribute)
        if attribute.required:
            others = {other: value for other, value in required.items() if other != name}
            yield d.case(f"without {name}", right, attributes=others)
        if kind in OTHER_KIND:
            yield d.case(f"{name} of another kind", right, attributes={**required, name: OTHER_KIND[kind]})
        if kind == "string":
            yield d.case(f"{name} of another value", right, attributes={**required, name: "nonsense"})
        if kind in BY_KIND:
            value = required.get(name, VALUES.get(name, BY_KIND[kind]))
            twice = d.case(f"{name} twice", right, attributes={**required, name: value})
            twice.node.attribute.extend([a for a in twice.node.attribute if a.name == name])
            yield twice
