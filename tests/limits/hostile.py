"""Small models whose work grows exponentially, or whose expressions and types nest deeply."""

from __future__ import annotations

from collections.abc import Callable

import onnx
from onnx import TensorProto, helper

from tests.limits import extreme

_OPSETS = '"" : 18, "f" : 1'


def _model(graph: str, functions: str = "") -> bytes:
    return onnx.parser.parse_model(
        f"<ir_version: 9, opset_import: [{_OPSETS}]> {graph} {functions}"
    ).SerializeToString()


def _function(name: str, body: str) -> str:
    return f'<domain: "f", opset_import: [{_OPSETS}]> {name} (a) => (c) {{ {body} }}'


def functions_in_branches(levels: int = 14) -> bytes:
    """Each function calls the next one in both branches of an If, with other sizes."""
    functions = []
    for i in range(levels):
        then = f"q1 = Concat<axis = 0>(a) t1 = f.f{i + 1}(q1)"
        other = f"q2 = Concat<axis = 0>(a, a) t2 = f.f{i + 1}(q2)"
        branches = f"then_branch = b () => (float[] t1) {{ {then} }}, else_branch = e () => (float[] t2) {{ {other} }}"
        functions.append(
            _function(f"f{i}", f"m = ReduceMax<keepdims = 0>(a) n = Cast<to = 9>(m) c = If(n) <{branches}>")
        )
    functions.append(_function(f"f{levels}", "c = Relu(a)"))
    return _model("g (float[N, 3] x) => (float[] y) { y = f.f0(x) }", " ".join(functions))


def functions_that_double(levels: int = 9) -> bytes:
    """Each function calls the next one twice, with other sizes: `check` runs it at many sizes."""
    body = "d = Concat<axis = 0>(a, a) b = f.f{0}(a) e = f.f{0}(d) c = Concat<axis = 0>(b, e)"
    functions = [_function(f"f{i}", body.format(i + 1)) for i in range(levels)]
    functions.append(_function(f"f{levels}", "c = Relu(a)"))
    return _model("g (float[N, 3] x) => (float[] y) { y = f.f0(x) }", " ".join(functions))


def fragments_that_double(levels: int = 40) -> bytes:
    """Each fragment of an NNEF document calls the next one twice."""
    lines = ["version 1.0;", "extension KHR_enable_fragment_definitions;"]
    lines += [
        f"fragment f{i}(x: tensor<scalar>) -> (y: tensor<scalar>) {{ a = f{i + 1}(x); b = f{i + 1}(a); y = a + b; }}"
        for i in range(levels)
    ]
    lines.append(f"fragment f{levels}(x: tensor<scalar>) -> (y: tensor<scalar>) {{ y = relu(x); }}")
    lines.append("graph g(x) -> (y) { x = external<scalar>(shape = [1, 4]); y = f0(x); }")
    return "\n".join(lines).encode()


def many_inputs(op: str = "Concat", count: int = 1000) -> bytes:
    """Inputs of other names, which one node joins, or a chain of nodes adds."""
    values = [helper.make_tensor_value_info(f"x{i}", 1, [f"A{i}", f"M{i}"]) for i in range(count)]
    names = [value.name for value in values]
    if op == "Concat":
        nodes = [helper.make_node(op, names, ["y"], axis=1)]
    else:
        ends = [*(f"s{i}" for i in range(1, count - 1)), "y"]
        pairs = zip([names[0], *ends], names[1:], ends, strict=False)
        nodes = [helper.make_node(op, [left, right], [end]) for left, right, end in pairs]
    return _onnx(nodes, values, "y")


def many_axes(rank: int = 2000) -> bytes:
    """An input of many named axes, which a node flattens."""
    value = helper.make_tensor_value_info("x", 1, [f"d{i}" for i in range(rank)])
    declared = helper.make_tensor_value_info("y", 1, ["a", 3])
    nodes = [helper.make_node("Flatten", ["x"], ["f"], axis=1), helper.make_node("Relu", ["f"], ["y"])]
    graph = helper.make_graph(nodes, "g", [value], [declared])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]).SerializeToString()


def tower(*operators: str, levels: int = 400, start: str = "Shape") -> bytes:
    """Operators on a size in turn, each with a number or the size itself, and a tensor of the last size."""
    value = helper.make_tensor_value_info("x", 1, ["N", "M"])
    nodes = [helper.make_node(start, ["x"], ["s0"], start=0, end=1), helper.make_node("Shape", ["x"], ["m"], start=1)]
    numbers = [helper.make_tensor(f"c{i}", TensorProto.INT64, [1], [i]) for i in range(2, 9)]
    for level in range(levels):
        for place, op in enumerate(operators):
            last = f"s{level}" if place == 0 else f"t{level}.{place - 1}"
            end = f"s{level + 1}" if place == len(operators) - 1 else f"t{level}.{place}"
            operand = "m" if op in ("Max", "Mul", "Sub") else f"c{2 + (level * 5 + place) % 7}"
            nodes.append(helper.make_node(op, [last, operand], [end]))
    nodes.append(helper.make_node("ConstantOfShape", [f"s{levels}"], ["y"]))
    return _onnx(nodes, [value], "y", numbers)


def nested_types(*operators: str, levels: int = 800) -> bytes:
    """Optionals and sequences inside one another, which no file may declare."""
    value = helper.make_tensor_value_info("x", 1, ["N"])
    ends = [*(f"o{i}" for i in range(1, levels)), "y"]
    steps = zip(["x", *ends], ends, strict=False)
    nodes = [helper.make_node(operators[i % len(operators)], [a], [b]) for i, (a, b) in enumerate(steps)]
    return _onnx(nodes, [value], "y")


def _onnx(nodes: list[onnx.NodeProto], values: list[onnx.ValueInfoProto], end: str, constants: object = ()) -> bytes:
    outputs = [helper.make_empty_tensor_value_info(end)]
    graph = helper.make_graph(nodes, "g", values, outputs, initializer=list(constants))  # type: ignore[call-overload]
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]).SerializeToString()


HOSTILE: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "functions in branches": ("infer", functions_in_branches, "onnx"),
    "functions that double": ("check", functions_that_double, "onnx"),
    "fragments that double": ("infer", fragments_that_double, "nnef"),
    "a Concat of 1,000 inputs": ("check", many_inputs, "onnx"),
    "1,000 inputs that are added": ("check", lambda: many_inputs("Add"), "onnx"),
    "2,000 axes": ("check", many_axes, "onnx"),
    "400 divisions": ("report", lambda: tower("Add", "Div"), "onnx"),
    "400 maxima": ("summary", lambda: tower("Max", "Div"), "onnx"),
    "400 differences": ("scan", lambda: tower("Sub", "Div"), "onnx"),
    "400 products": ("explain", lambda: tower("Mul", "Div", "Add"), "onnx"),
    "800 optionals": ("infer", lambda: nested_types("Optional"), "onnx"),
    "800 optionals and sequences": ("check", lambda: nested_types("Optional", "SequenceConstruct"), "onnx"),
    "sizes of 2**63 - 1": ("memory", extreme.largest_sizes, "onnx"),
    "sizes of 2**63 - 1 in NNEF": ("cost", extreme.largest_sizes_of_nnef, "nnef"),
    "sizes of 2**63 - 1 in TensorFlow": ("plan", extreme.largest_sizes_of_tensorflow, "pbtxt"),
    "10,000 axes": ("report", extreme.many_equal_axes, "onnx"),
    "names of 100,000 characters": ("report", extreme.long_names, "onnx"),
    "negative sizes": ("plan", extreme.negative_sizes, "onnx"),
    "functions in a cycle": ("explain", extreme.functions_in_a_cycle, "onnx"),
    "50 nested conditionals": ("memory", extreme.nested_conditionals, "onnx"),
    "odd names": ("report", extreme.odd_names, "onnx"),
}
"""The command that a model was made for, and its builder and form."""
