"""Small models by hand with extreme sizes, ranks, names and nesting."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import FunctionProto, ModelProto, NodeProto, TensorProto, ValueInfoProto
from onnx.helper import (
    make_empty_tensor_value_info,
    make_function,
    make_graph,
    make_model,
    make_node,
    make_opsetid,
    make_tensor,
    make_tensor_value_info,
)

LARGEST = 2**63 - 1
_OPSETS = [make_opsetid("", 18), make_opsetid("f", 1)]
NAMES = (
    "a\0b",
    "\u202egnp\u2066",
    "<img src=x onerror=alert(1)></script>",
    "\x1b[2J\x1b]0;t\x07",
    "x\ny\r\n",
    "%s{0}",
    "a,b=c",
    "\ufeff",
    "'\"`\\",
)


def _model(
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto],
    outputs: Sequence[str],
    functions: Sequence[FunctionProto] = (),
    constants: Sequence[TensorProto] = (),
) -> bytes:
    ends = [make_empty_tensor_value_info(name) for name in outputs]
    graph = make_graph(nodes, "g", inputs, ends, initializer=constants)
    return bytes(make_model(graph, opset_imports=_OPSETS, functions=functions).SerializeToString())


def _input(name: str, dims: Sequence[str | int], dtype: int = TensorProto.FLOAT) -> ValueInfoProto:
    return make_tensor_value_info(name, dtype, dims)


def largest_sizes() -> bytes:
    """Products, sums, pads and windows of 2**63 - 1."""
    nodes = [
        make_node("MatMul", ["x", "w"], ["p"]),
        make_node("Concat", ["x", "x"], ["c"], axis=0),
        make_node("Flatten", ["c"], ["f"], axis=0),
        make_node("Conv", ["q", "k"], ["z"], pads=[LARGEST] * 4),
        make_node("Pad", ["x", "pads"], ["y"]),
    ]
    sizes: dict[str, list[str | int]] = {
        "x": ["n", LARGEST],
        "w": [LARGEST] * 2,
        "q": [1, 1, LARGEST, LARGEST],
        "k": [1, 1, 3, 3],
    }
    inputs = [_input(name, dims) for name, dims in sizes.items()]
    pads = make_tensor("pads", TensorProto.INT64, [4], [LARGEST] * 4)
    return _model(nodes, inputs, ["p", "f", "z", "y"], constants=[pads])


def many_equal_axes(rank: int = 10_000) -> bytes:
    """A tensor of high rank, whose number of elements has thousands of digits."""
    nodes = [
        make_node("Transpose", ["x"], ["t"]),
        make_node("ReduceSum", ["t"], ["s"]),
        make_node("Add", ["x", "t"], ["a"]),
        make_node("Flatten", ["a"], ["y"], axis=rank // 2),
    ]
    return _model(nodes, [_input("x", ["n", *[2] * (rank - 1)])], ["y", "s"])


def long_names(length: int = 100_000) -> bytes:
    """Dims whose names are longer than any line."""
    name = "a" * length
    nodes = [make_node("Concat", ["x", "x"], ["c"], axis=0), make_node("MatMul", ["c", "w"], ["y"])]
    return _model(nodes, [_input("x", [name, f"{name}b"]), _input("w", [name, 4])], ["y"])


def negative_sizes() -> bytes:
    """Declared sizes below 0."""
    nodes = [make_node("Relu", ["x"], ["h"]), make_node("Concat", ["h", "h"], ["y"], axis=1)]
    return _model(nodes, [_input("x", ["n", -5, -(2**63)])], ["y"])


def functions_in_a_cycle() -> bytes:
    """Three functions that call each other, and one that calls itself."""
    functions = [
        make_function("f", name, ["a"], ["c"], [make_node(callee, ["a"], ["c"], domain="f")], _OPSETS)
        for name, callee in (("p", "q"), ("q", "r"), ("r", "p"), ("s", "s"))
    ]
    nodes = [make_node("p", ["x"], ["h"], domain="f"), make_node("s", ["h"], ["y"], domain="f")]
    return _model(nodes, [_input("x", ["n", 3])], ["y"], functions)


def nested_conditionals(levels: int = 50) -> bytes:
    """Ifs inside one another, deeper than the limit of protobuf; so their bytes are written here."""
    node = make_node("Concat", ["x", "x"], [f"o{levels}"], axis=0).SerializeToString()
    for level in reversed(range(levels)):
        then = _branch(node, f"o{level + 1}")
        other = _branch(make_node("Relu", ["x"], [f"e{level}"]).SerializeToString(), f"e{level}")
        node = _field(1, b"b") + _field(2, f"o{level}".encode()) + _field(4, b"If")
        node += _graph_attribute(b"then_branch", then) + _graph_attribute(b"else_branch", other)
    inputs = [_input("x", ["n", 3]), _input("b", [], TensorProto.BOOL)]
    graph = make_graph([], "g", inputs, [make_empty_tensor_value_info("o0")]).SerializeToString()
    head = bytes(ModelProto(ir_version=9, opset_import=_OPSETS).SerializeToString())
    return head + _field(7, _field(1, node) + graph)


def _branch(node: bytes, end: str) -> bytes:
    return _field(1, node) + _field(2, b"branch") + _field(12, make_empty_tensor_value_info(end).SerializeToString())


def _graph_attribute(name: bytes, graph: bytes) -> bytes:
    return _field(5, _field(1, name) + _field(6, graph) + b"\xa0\x01\x05")


def _field(number: int, content: bytes) -> bytes:
    length, digits = len(content), bytearray([number << 3 | 2])
    while length > 127:
        digits.append(length & 127 | 128)
        length >>= 7
    return bytes([*digits, length]) + content


def odd_names() -> bytes:
    """Control characters, marks of direction, markup and line ends in names of dims, values, nodes and operators."""
    inputs = [_input(f"{name}x{i}", [name, f"{name}{i}", 3]) for i, name in enumerate(NAMES)]
    ends = [f"{name}h{i}" for i, name in enumerate(NAMES)]
    nodes = [
        make_node("Relu", [value.name], [end], name=name) for value, end, name in zip(inputs, ends, NAMES, strict=True)
    ]
    nodes.append(make_node("Concat", ends, [NAMES[2]], axis=1, name=NAMES[3]))
    nodes.append(make_node(NAMES[3], [NAMES[2]], [NAMES[4]], domain="f", name=NAMES[2]))
    return _model(nodes, inputs, [NAMES[2], NAMES[4]])


def largest_sizes_of_nnef() -> bytes:
    """The same sizes in NNEF."""
    return f"""version 1.0;
graph g(x, w) -> (y, z) {{
    x = external<scalar>(shape = [{LARGEST}, {LARGEST}]);
    w = external<scalar>(shape = [{LARGEST}, {LARGEST}]);
    y = matmul(x, w);
    z = concat([x, x], axis = 0);
}}""".encode()


def largest_sizes_of_tensorflow() -> bytes:
    """The same sizes, and odd names, in a GraphDef."""
    dims = " ".join(f"dim {{ size: {size} }}" for size in (LARGEST, LARGEST, -1))
    dtype = 'attr { key: "T" value { type: DT_FLOAT } }'
    return f"""
node {{ name: "x" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }}
  attr {{ key: "shape" value {{ shape {{ {dims} }} }} }} }}
node {{ name: "<img>\\033[2J\\n" op: "Relu" input: "x" {dtype} }}
node {{ name: "y" op: "AddV2" input: "x" input: "<img>\\033[2J\\n" {dtype} }}
""".encode()
