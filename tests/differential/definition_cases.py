"""Models of one node, each of which breaks the definition of its operator in one place.

For every operator of every opset: each input of a type that is not allowed, or not that of the operands with its type
variable; each attribute unknown, set twice, of another kind, or of a value that is not allowed; required attributes and
inputs missing, inputs and outputs too many; the opset before the operator. Made from the installed `onnx` and from the
schemas of ONNX Runtime, not from the tables under test.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import onnx
from onnx import TensorProto, helper

PREFERRED = ("tensor(float)", "tensor(int64)", "tensor(int32)", "tensor(string)", "tensor(uint8)", "tensor(bool)")
POOL = (
    *PREFERRED,
    "tensor(float16)",
    "tensor(double)",
    "tensor(int8)",
    "tensor(bfloat16)",
    "tensor(int16)",
    "tensor(uint32)",
    "tensor(float8e4m3fn)",
    "seq(tensor(float))",
    "optional(tensor(float))",
)
CODES = {name.lower(): code for name, code in TensorProto.DataType.items()}


class Case(NamedTuple):
    """A model with what is broken in it; `broken` is empty for the node as it should be."""

    domain: str
    op: str
    opset: int
    broken: str
    node: onnx.NodeProto
    inputs: tuple[str, ...]
    """The types of the inputs."""

    @property
    def label(self) -> str:
        return f"{self.domain or 'ai.onnx'}.{self.op} {self.opset}: {self.broken or 'right'}"

    def model(self) -> onnx.ModelProto:
        infos = [helper.make_value_info(f"x{i}", type_proto(text)) for i, text in enumerate(self.inputs) if text]
        outputs = [onnx.ValueInfoProto(name=name) for name in self.node.output if name]
        graph = helper.make_graph([self.node], "g", infos, outputs)
        main = self.opset if not self.domain else 22
        imports = [helper.make_opsetid("", main)] + (
            [helper.make_opsetid(self.domain, self.opset)] if self.domain else []
        )
        return helper.make_model(graph, opset_imports=imports, ir_version=8 if main < 21 else 10)


def type_proto(text: str) -> onnx.TypeProto:
    """The TypeProto of a type string, without a shape."""
    if text.startswith("tensor("):
        return onnx.TypeProto(tensor_type=onnx.TypeProto.Tensor(elem_type=CODES[text[7:-1]]))
    if text.startswith("seq("):
        return helper.make_sequence_type_proto(type_proto(text[4:-1]))
    if text.startswith("optional("):
        return helper.make_optional_type_proto(type_proto(text[9:-1]))
    key, _, value = text[4:-1].partition(",")
    return helper.make_map_type_proto(CODES[key.strip()], type_proto(value.strip()))


class Definition:
    """A schema of `onnx`, or one of ONNX Runtime, under the names of the former."""

    def __init__(self, schema: Any) -> None:
        self.name, self.domain, self.since = schema.name, schema.domain, schema.since_version
        self.attributes = schema.attributes
        self.allowed = {t.type_param_str: t.allowed_type_strs for t in schema.type_constraints}
        self.inputs = [(getattr(p, "type_str", None) or p.typeStr, option(p), p.name) for p in schema.inputs]
        self.outputs = len(schema.outputs)
        self.min_input, self.max_input, self.max_output = schema.min_input, schema.max_input, schema.max_output
        self.min_output = schema.min_output
        self.homogeneous = [
            getattr(p, "is_homogeneous", None) is not False and getattr(p, "isHomogeneous", True) for p in schema.inputs
        ]

    def types(self, variable: str) -> list[str]:
        """The types of a variable, or the only type."""
        return self.allowed.get(variable, [variable])

    def choice(self, variable: str) -> str:
        types = self.types(variable)
        return next((t for t in PREFERRED if t in types), sorted(types)[0])


def option(parameter: Any) -> str:
    return parameter.option.name.lower()


GRAPHS = {"If", "Loop", "Scan", "SequenceMap"}

VALUES: dict[str, object] = {
    "kernel_shape": [1, 1],
    "to": 1,
    "perm": [0],
    "equation": "ij->ij",
    "blocksize": 1,
    "scales": [1.0],
    "height_scale": 1.0,
    "width_scale": 1.0,
    "output_shape": [1],
    "axes": [0],
    "starts": [0],
    "ends": [1],
    "num_scan_inputs": 1,
    "hidden_size": 1,
    "dtype": 1,
    "direction": "LEFT",
    "mode": "TF",
    "pool_size": 1,
    "cubic_coeff_a": -0.75,
    "classlabels_ints": [0],
    "kernel_time": 1,
    "num_heads": 1,
    "kv_num_heads": 1,
    "q_num_heads": 1,
    "k": 1,
    "bits": 4,
    "block_size": 16,
    "K": 16,
    "N": 16,
}
BY_KIND: dict[str, object] = {
    "int": 1,
    "float": 1.0,
    "string": "a",
    "ints": [1],
    "floats": [1.0],
    "strings": ["a"],
    "tensor": helper.make_tensor("t", TensorProto.FLOAT, [1], [1.0]),
}
OTHER_KIND: dict[str, object] = {
    "int": 1.0,
    "float": 1,
    "string": 1,
    "ints": 1,
    "floats": 1.0,
    "strings": "a",
    "tensor": 1,
}


def kind_of(attribute: Any) -> str:
    return str(attribute.type).rpartition(".")[2].lower()


def node(d: Definition, inputs: int, outputs: int, attributes: dict[str, object]) -> onnx.NodeProto:
    names = [f"x{i}" for i in range(inputs)]
    return helper.make_node(d.name, names, [f"y{i}" for i in range(outputs)], domain=d.domain, **attributes)


def cases(d: Definition, opset: int) -> Iterator[Case]:
    """All cases of an operator at an opset; the first one is the right node."""
    if d.name in GRAPHS:
        return
    required = {n: VALUES.get(n, BY_KIND.get(kind_of(a))) for n, a in d.attributes.items() if a.required}
    if d.name == "Constant":
        required = {"value": BY_KIND["tensor"]}
    count = max(d.min_input, sum(o == "single" for _, o, _ in d.inputs), 1 if d.inputs else 0)
    if d.inputs and d.inputs[-1][1] == "variadic":
        count = max(count, 2)
    position = lambda i: min(i, len(d.inputs) - 1)  # noqa: E731
    types = [d.choice(d.inputs[position(i)][0]) for i in range(count)]
    outputs = max(d.min_output, 1)

    def make(
        broken: str,
        inputs: list[str] = types,
        outs: int = outputs,
        extra: dict[str, object] | None = None,
        without: str = "",
    ) -> Case:
        attributes = {n: v for n, v in {**required, **(extra or {})}.items() if n != without}
        return Case(d.domain, d.name, opset, broken, node(d, len(inputs), outs, attributes), tuple(inputs))

    yield make("")
    for i in range(count):
        variable = d.inputs[position(i)][0]
        allowed = d.types(variable)
        for other in POOL:
            if other != types[i]:
                same = [
                    j
                    for j in range(count)
                    if j != i and d.inputs[position(j)][0] == variable and d.homogeneous[position(j)]
                ]
                state = (
                    "another type"
                    if other in allowed and not same
                    else "a type of its own"
                    if other in allowed
                    else "a type that is not allowed"
                )
                yield make(f"input {i} of {state}, {other}", [*types[:i], other, *types[i + 1 :]])
    variables = {v for v, _, _ in d.inputs if len(d.types(v)) > 1}
    for variable in sorted(variables):
        for other in d.types(variable):
            if other.startswith("sparse_tensor"):
                continue
            right = [other if d.inputs[position(i)][0] == variable else t for i, t in enumerate(types)]
            yield make(f"all inputs of {variable} as {other}", right)
    if d.max_input < 100:
        yield make("too many inputs", [*types, *["tensor(float)"] * (d.max_input - count + 1)])
    if 0 < d.min_input <= count:
        yield make("too few inputs", types[: d.min_input - 1])
    if d.max_output < 100:
        yield make("too many outputs", outs=d.max_output + 1)
    yield make("an unknown attribute", extra={"foo": 1})
    yield make("a private attribute", extra={"__foo": 1})
    for name, attribute in sorted(d.attributes.items()):
        kind = kind_of(attribute)
        if attribute.required:
            yield make(f"without {name}", without=name)
        if kind in OTHER_KIND:
            yield make(f"{name} of another kind", extra={name: OTHER_KIND[kind]})
        if kind == "string":
            yield make(f"{name} of another value", extra={name: "nonsense"})
        if kind in BY_KIND:
            twice = make(f"{name} twice", extra={name: required.get(name, VALUES.get(name, BY_KIND[kind]))})
            twice.node.attribute.extend([a for a in twice.node.attribute if a.name == name])
            yield twice
