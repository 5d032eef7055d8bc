"""Operators that need more than one node: subgraphs, variables, tables, and nodes of TensorFlow."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.tf import tf
from opdefs.tflite import tflite
from opdefs.tflite.schemas import CUSTOM
from shapeinf import Result, infer_shapes
from shapeinf.graph import DeclaredType, FunctionReference, Graph, Node
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import OpRegistry

REGISTRY = OpRegistry(tflite)
F32 = ("float32",)
Functions = dict[tuple[str, str, str], Graph]


def node(
    op: str, inputs: Sequence[str], outputs: Sequence[str], *, types: tuple[str, ...] = F32, **attrs: object
) -> Node:
    return Node.make(op, tuple(inputs), tuple(outputs), {"output_types": types, **attrs}, domain=_domain(op))


def _domain(op: str) -> str:
    return "" if op == op.upper() else CUSTOM


def graph(inputs: Sequence[str], nodes: list[Node], outputs: Sequence[str], **more: object) -> Graph:
    constants = {name: PartialTensor(*parts) for name, parts in more.pop("constants", {}).items()}  # type: ignore[attr-defined]
    return Graph(
        "",
        "tflite",
        inputs=[*inputs],
        nodes=nodes,
        outputs=[*outputs],
        constants=constants,
        **more,  # type: ignore[arg-type]
    )


def key(name: str) -> tuple[str, str, str]:
    return ("", name, "")


def run(main: Graph, functions: Functions, **dims: tuple[int | str, ...]) -> Result:
    main.functions.update(functions)
    main.declared.update({name: DeclaredType("float32", sizes) for name, sizes in dims.items()})
    return infer_shapes(main, registry=REGISTRY)


def ints(*values: int) -> tuple[object, ...]:
    return "int32", Shape((len(values),)), values


def test_the_branches_of_an_if_are_joined() -> None:
    branches = {
        key("then"): graph(["a"], [node("ADD", ["a", "a"], ["b"])], ["b"]),
        key("else"): graph(["a"], [node("CONCATENATION", ["a", "a"], ["b"], axis=0)], ["b"]),
    }
    options = {
        "then_subgraph_index": FunctionReference(key("then")),
        "else_subgraph_index": FunctionReference(key("else")),
    }
    main = graph(["c", "x"], [node("IF", ["c", "x"], ["y"], **options)], ["y"])
    main.declared["c"] = DeclaredType("bool", ())
    result = run(main, branches, x=("n", 4))
    first, second = result.tensors["y"].shape
    assert second == 4 and not isinstance(first, int)
    assert result.interval(first).lo == 1
    fixed = graph(
        ["x"], [node("IF", ["c", "x"], ["y"], **options)], ["y"], constants={"c": ("bool", Shape(()), (False,))}
    )
    assert str(run(fixed, branches, x=("n", 4)).tensors["y"]) == "float32[2*n, 4]"


def loop(body: list[Node], **constants: tuple[object, ...]) -> Functions:
    counted = {"three": ints(3), "one": ints(1), **constants}
    scalar = {name: (parts[0], Shape(()), parts[2]) for name, parts in counted.items() if name in ("three", "one")}
    counted.update(scalar)
    step = node("ADD", ["i", "one"], ["j"], types=("int32",))
    return {
        key("cond"): graph(
            ["i", "a"], [node("LESS", ["i", "three"], ["c"], types=("bool",))], ["c"], constants=counted
        ),
        key("body"): graph(["i", "a"], [step, *body], ["j", "b"], constants=counted),
    }


LOOP = {"cond_subgraph_index": FunctionReference(key("cond")), "body_subgraph_index": FunctionReference(key("body"))}


def test_a_loop_that_pads_grows_by_its_trips() -> None:
    body = [node("CONCATENATION", ["a", "row"], ["b"], axis=0)]
    functions = loop(body, row=("float32", Shape((1, 4)), None))
    start = {"zero": ("int32", Shape(()), (0,))}
    loop_node = node("WHILE", ["zero", "x"], ["k", "y"], types=("int32", "float32"), **LOOP)
    main = graph(["x"], [loop_node], ["y"], constants=start)
    assert str(run(main, functions, x=("n", 4)).tensors["y"]) == "float32[n + 3, 4]"


def test_an_output_that_no_trip_changes_and_no_node_reads_is_not_written() -> None:
    functions = loop([])
    functions[key("body")].outputs[:] = ["j", "a"]
    start = {"zero": ("int32", Shape(()), (0,))}
    loop_node = node("WHILE", ["zero", "x"], ["k", "y"], types=("int32", "float32"), **LOOP)
    read = graph(["x"], [loop_node], ["k", "y"], constants=start)
    assert str(run(read, functions, x=("n", 4)).tensors["y"]) == "float32[n, 4]"
    unread = graph(["x"], [loop_node], ["k"], constants=start)
    unread.declared["y"] = DeclaredType("float32", (1, 4))
    assert str(run(unread, functions, x=("n", 4)).tensors["y"]) == "float32[1, 4]"


def test_a_composite_is_its_decomposition() -> None:
    functions = {key("f"): graph(["a"], [node("TRANSPOSE", ["a", "p"], ["b"])], ["b"], constants={"p": ints(1, 0)})}
    options = {"decomposition_subgraph_index": FunctionReference(key("f"))}
    main = graph(["x"], [node("STABLEHLO_COMPOSITE", ["x"], ["y"], **options)], ["y"])
    assert str(run(main, functions, x=("n", 4)).tensors["y"]) == "float32[4, n]"


def test_a_case_runs_its_last_branch_for_an_index_out_of_range() -> None:
    functions = {
        key(str(axis)): graph(["a"], [node("CONCATENATION", ["a", "a"], ["b"], axis=axis)], ["b"]) for axis in (0, 1)
    }
    options = {"branch_subgraph_indices": tuple(FunctionReference(key(str(axis))) for axis in (0, 1))}
    shapes = []
    for index in (0, 1, 7):
        constants = {"i": ("int32", Shape(()), (index,))}
        main = graph(["x"], [node("STABLEHLO_CASE", ["i", "x"], ["y"], **options)], ["y"], constants=constants)
        shapes.append(str(run(main, functions, x=("n", 4)).tensors["y"]))
    assert shapes == ["float32[2*n, 4]", "float32[n, 8]", "float32[n, 8]"]


def variable(*sizes: int | None) -> Result:
    """The result of a model that reads a variable whose initializer assigns constants of these sizes."""
    handle = node("VAR_HANDLE", [], ["h"], types=("resource",), shared_name="v")
    nodes = [handle, node("ASSIGN_VARIABLE", ["h", "w"], [], types=())]
    constants = {"w": ("float32", Shape(sizes), None)}
    functions = {key("init"): graph([], nodes, [], constants=constants)}
    once = node("CALL_ONCE", [], [], types=(), init_subgraph_index=FunctionReference(key("init")))
    main = graph([], [once, handle, node("READ_VARIABLE", ["h"], ["y"])], ["y"])
    return run(main, functions)


def test_a_variable_has_the_sizes_of_the_constant_that_is_assigned() -> None:
    assert str(variable(3, 4).tensors["y"]) == "float32[3, 4]"
    assert str(variable().tensors["y"]) == "float32[]"


def test_a_variable_has_the_sizes_that_the_file_states() -> None:
    main = graph(["h"], [node("READ_VARIABLE", ["h"], ["y"])], ["y"])
    main.declared.update({"h": DeclaredType("resource", ()), "y": DeclaredType("float32", (2, 5))})
    assert str(run(main, {}).tensors["y"]) == "float32[2, 5]"


def test_tables_have_as_many_values_as_keys() -> None:
    table = node("HASHTABLE", [], ["h"], types=("resource",))
    find = node("HASHTABLE_FIND", ["h", "x", "default"], ["y"])
    size = node("HASHTABLE_SIZE", ["h"], ["n"], types=("int64",))
    main = graph(["x"], [table, find, size], ["y", "n"], constants={"default": ("float32", Shape((1,)), (0.0,))})
    result = run(main, {}, x=("n", 4))
    assert [str(result.tensors[name]) for name in "yn"] == ["float32[n, 4]", "int64[1]"]


def test_windows_of_stablehlo_are_counted() -> None:
    options = {
        "window_dimensions": (1, 3),
        "window_strides": (1, 2),
        "base_dilations": (1, 2),
        "window_dilations": (1, 1),
        "padding": (0, 0, 1, 0),
    }
    start = {"zero": ("float32", Shape(()), (0.0,))}
    main = graph(["x"], [node("STABLEHLO_REDUCE_WINDOW", ["x", "zero"], ["y"], **options)], ["y"], constants=start)
    assert str(run(main, {}, x=("n", 4)).tensors["y"]) == "float32[n, 3]"  # 2*4 - 1 + 1 = 8 elements


def test_an_update_of_stablehlo_keeps_the_sizes() -> None:
    main = graph(["x", "i", "u"], [node("STABLEHLO_SCATTER", ["x", "i", "u"], ["y"])], ["y"])
    assert str(run(main, {}, x=("n", 4), i=("m", 1), u=("m", 4)).tensors["y"]) == "float32[n, 4]"


def test_a_flex_operator_has_the_rules_of_tensorflow() -> None:
    main = graph(["x"], [node("FlexErf", ["x"], ["y"], T="float32")], ["y"])
    assert str(run(main, {}, x=("n", 4)).tensors["y"]) == "float32[n, 4]"
    main = graph(["x"], [node("FlexSum", ["x", "axes"], ["y"], keep_dims=True)], ["y"], constants={"axes": ints(1)})
    assert str(run(main, {}, x=("n", 4)).tensors["y"]) == "float32[n, 1]"
    assert tflite.cost_rule(CUSTOM, "FlexErf", 1) is tf.cost_rule("", "Erf", 0)
    assert tflite.axis_rule(CUSTOM, "FlexErf", 1) is tf.axis_rule("", "Erf", 0)


def test_an_unknown_custom_operator_has_unknown_outputs() -> None:
    result = run(graph(["x"], [node("Acme", ["x"], ["y"])], ["y"]), {}, x=("n", 4))
    assert str(result.tensors["y"]) == "float32?"


def test_what_has_no_kernel_is_unknown_with_the_cause() -> None:
    result = run(graph(["x"], [node("STABLEHLO_IOTA", ["x"], ["y"])], ["y"]), {}, x=("n", 4))
    assert str(result.tensors["y"]) == "float32?"
    assert any("no kernel" in diagnostic.message for diagnostic in result.diagnostics)


def image_options(*numbers: int) -> tuple[int, ...]:
    return tuple(byte for number in numbers for byte in number.to_bytes(4, "little"))


def test_the_images_of_mediapipe() -> None:
    """The sizes by the formulas of MediaPipe's kernels, for a padding of SAME (1) and of VALID (2)."""
    weights = {"w": ("float32", Shape((8, 3, 3, 4)), None), "b": ("float32", Shape((8,)), None)}
    shapes = []
    for padding in (1, 2):
        options = image_options(padding, 2, 2)
        grow = node("Convolution2DTransposeBias", ["x", "w", "b"], ["y"], custom_options=options)
        shapes.append(str(run(graph(["x"], [grow], ["y"], constants=weights), {}, x=(1, 7, 5, 4)).tensors["y"]))
    assert shapes == ["float32[1, 13, 9, 8]", "float32[1, 15, 11, 8]"]
    options = image_options(1, 2, 2, 2, 2)
    pool = node("MaxPoolingWithArgmax2D", ["x"], ["y", "i"], types=F32 * 2, custom_options=options)
    back = node("MaxUnpooling2D", ["y", "i"], ["z"], custom_options=options)
    result = run(graph(["x"], [pool, back], ["z"]), {}, x=(1, "h", 6, 4))
    assert [str(result.tensors[name]) for name in "yz"] == [
        "float32[1, (h + 1)//2, 3, 4]",
        "float32[1, 2*((h + 1)//2), 6, 4]",
    ]
