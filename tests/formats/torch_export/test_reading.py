"""Programs of torch.export in all containers, with names of sizes, bodies, constants and locations."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from shapeinf import infer_shapes
from shapeinf.cli import main
from shapeinf.errors import ModelError, UnknownNameError
from shapeinf.formats import FORMATS
from shapeinf.formats.torch_export import TorchExportOptions
from shapeinf.formats.torch_export.expressions import UnreadableError, read_size
from tests.formats.torch_export.programs import (
    archive,
    argument,
    flat,
    flattening,
    graph,
    node,
    number,
    package,
    program,
    symbol,
    tensor,
    unnamed,
)

TEXT = json.dumps(flattening()).encode()

CONTAINERS = {
    "torch 2.8": package(("model", flattening())),
    "deflated": archive({"p/models/model.json": TEXT}, zipfile.ZIP_DEFLATED),
    "torch 2.5": flat(flattening()),
    "the JSON alone": TEXT,
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_is_read_by_its_contents(tmp_path: Path, name: str) -> None:
    path = tmp_path / "net.ep"
    path.write_bytes(CONTAINERS[name])
    for model in (path, str(path), CONTAINERS[name]):
        result = infer_shapes(model, declared="ignore")
        assert str(result.tensors["y"]) == "float32[x_0, 12]"
        assert (result.graph.format, result.graph.dialect, result.graph.producer) == (
            "torch_export",
            "torch",
            "torch 2.13.0",
        )
        assert not result.diagnostics


def test_a_program_of_a_package_is_chosen() -> None:
    other = flattening()
    other["graph_module"]["graph"]["nodes"][1]["outputs"] = [argument("z")]
    other["graph_module"]["graph"]["outputs"] = [argument("z")]
    two = package(("first", flattening()), ("second", other))
    assert list(infer_shapes(two, format_options=TorchExportOptions(program="second")).outputs) == ["z"]
    with pytest.raises(ModelError, match="has several programs, and one of them must be chosen: 'first', 'second'"):
        infer_shapes(two)
    with pytest.raises(UnknownNameError, match="no program is named 'third'"):
        infer_shapes(two, format_options=TorchExportOptions(program="third"))
    assert infer_shapes(package(("other", other), ("model", flattening()))).outputs.keys() == {"y"}


def test_the_command_line_reads_a_program(tmp_path: Path) -> None:
    path = tmp_path / "net.pt2"
    path.write_bytes(package(("a", flattening()), ("b", flattening())))
    result = CliRunner().invoke(main, ["infer", str(path), "--program", "b"])
    assert result.exit_code == 0 and "[x_0, 12]" in result.output


def test_sizes_have_names_of_axes_and_those_of_torch() -> None:
    data = program(
        graph(
            ["x", "y", "w"],
            [],
            ["x"],
            tensors={
                "x": tensor(symbol("s77"), symbol("s77")),
                "y": tensor(symbol("s77"), symbol("s5")),
                "w": tensor(f"Mul(Integer(2), {symbol('s0')})", f"FloorDiv({symbol('s5')}, Integer(3))"),
            },
        ),
        guards_code=["L['w'].size()[0] % 4 == 0 or not L['y'].size()[1] > 3", "L['x'].stride()[0] == 1"],
    )
    result = infer_shapes(json.dumps(data).encode())
    texts = [str(result.tensors[name]) for name in ("x", "y", "w")]
    assert texts == ["float32[x_0, x_0]", "float32[x_0, y_1]", "float32[2*s0, y_1//3]"]
    bound = infer_shapes(json.dumps(data).encode(), bind={"s77": 4, "y_1": 9})
    assert str(bound.tensors["y"]) == "float32[4, 9]"
    guards = FORMATS.input_guards(result.graph).guards
    assert [(guard.kind, str(guard.condition)) for guard in guards] == [
        ("guard", "((w_0 % 4) == 0) or (not (y_1 > 3))"),
        ("guard", "None"),
        ("equal", "x_1 == x_0"),
        ("equal", "y_0 == x_0"),
        ("derived", "w_0 % 2 == 0"),
        ("derived", "w_1 == (y_1//3)"),
    ]
    assert guards[1].text == "L['x'].stride()[0] == 1"


SYMBOL = "Symbol('s7', positive=True, integer=True)"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"Pow({SYMBOL}, Integer(2))", lambda s: s**2),
        (f"PowByNatural({SYMBOL}, Integer(3))", lambda s: s**3),
        (f"Pow({SYMBOL}, Integer(0))", lambda s: 1),
        (f"FloorToInt(Mul(Integer(12), Pow({SYMBOL}, Integer(-1))))", lambda s: 12 // s),
        ("s7**2 - s7", lambda s: s**2 - s),
        (f"Mul(Rational(1, 2), Integer(4), {SYMBOL})", lambda s: 2 * s),
        (f"CeilToInt(IntTrueDiv({SYMBOL}, Integer(3)))", lambda s: math.ceil(s / 3)),
        (f"TruncToInt(Mul(Float('1.5', precision=53), ToFloat({SYMBOL})))", lambda s: math.trunc(1.5 * s)),
        (f"PythonMod({SYMBOL}, Integer(4))", lambda s: s % 4),
        (f"Mod(Add({SYMBOL}, Integer(-2)), Integer(4))", lambda s: (s - 2) % 4),
        (f"CleanDiv(Mul(Integer(6), {SYMBOL}), Integer(3))", lambda s: 6 * s // 3),
        (f"Max(Integer(3), Min({SYMBOL}, Integer(6)))", lambda s: max(3, min(s, 6))),
        (f"CeilDiv({SYMBOL}, Integer(4))", lambda s: math.ceil(s / 4)),
    ],
)
def test_the_functions_of_sizes_have_the_values_of_sympy(text: str, value: Callable[[int], int]) -> None:
    """The values are those that the functions of sympy and of torch's `torch.utils._sympy.functions` have."""
    data = program(graph(["x", "y"], [], ["x"], tensors={"x": tensor(symbol("s7")), "y": tensor(text)}))
    for size in range(2, 9):
        result = infer_shapes(json.dumps(data).encode(), bind={"s7": size})
        assert result.tensors["y"].shape.dims == (value(size),)


@pytest.mark.parametrize("exponent", ["Integer(-2)", "Rational(1, 2)", SYMBOL, "Integer(1000)"])
def test_a_power_of_another_exponent_is_not_read(exponent: str) -> None:
    with pytest.raises(UnreadableError, match="a power must have an exponent of at most"):
        read_size(f"Pow({SYMBOL}, {exponent})", str)


def test_the_bounds_of_torch_are_no_requirement() -> None:
    assert infer_shapes(TEXT).contract.check(x_0=1).verdict is True


def test_an_integer_argument_is_a_size() -> None:
    top = graph(
        [number("n")],
        [node("torch.ops.aten.zeros.default", {"size": {"as_sym_ints": [{"as_name": "n"}, {"as_int": 2}]}}, "y")],
        ["y"],
        tensors={"y": tensor("Symbol('s86', integer=True)", 2)},
        numbers={"n": "Symbol('s86', integer=True)"},
    )
    data = json.dumps(program(top)).encode()
    assert str(infer_shapes(data, declared="ignore").tensors["y"]) == "float32[n, 2]"
    assert infer_shapes(data, values={"n": -1}).contract.check().verdict is False
    assert str(infer_shapes(data, values={"n": 5}).tensors["y"]) == "float32[5, 2]"


def test_sizes_at_which_a_program_divides_0_by_0_are_not_decided() -> None:
    """Python raises ZeroDivisionError there; eager torch may run, as of a window that is larger than its image."""
    top = graph(
        ["x"],
        [
            node("torch.ops.aten.sym_size.int", {"self": "x", "dim": 0}, number("n")),
            node("_operator.floordiv", {"a": number("n"), "b": 8}, number("windows")),
            node("_operator.floordiv", {"a": number("windows"), "b": number("windows")}, number("m")),
            node("torch.ops.aten.zeros.default", {"size": {"as_sym_ints": [{"as_name": "m"}]}}, "y"),
        ],
        ["y"],
        tensors={"x": tensor(symbol("s0")), "y": tensor(1)},
        numbers={name: symbol("s0") for name in ("n", "windows", "m")},
    )
    contract = infer_shapes(json.dumps(program(top)).encode(), declared="ignore").contract
    assert [contract.check(x_0=size).verdict for size in (4, 9)] == [None, True]


def test_a_declared_size_that_divides_by_0_is_unknown() -> None:
    quotient = f"FloorDiv({symbol('s0')}, Integer(4))"
    top = graph(
        ["x"],
        [node("torch.ops.aten.nonzero.default", {"self": "x"}, "y")],
        ["y"],
        tensors={"x": tensor(symbol("s0")), "y": tensor(f"FloorDiv({symbol('s0')}, {quotient})", 1)},
    )
    contract = infer_shapes(json.dumps(program(top)).encode()).contract
    assert [contract.check(x_0=size).verdict for size in (3, 4)] == [True, True]


def test_messages_have_the_line_of_the_source() -> None:
    data = flattening()
    data["graph_module"]["graph"]["nodes"][1] = node(
        "torch.ops.aten.view.default", {"self": "x", "size": [5, 5]}, "y", line=8
    )
    (error,) = infer_shapes(json.dumps(data).encode(), bind={"x_0": 1}).diagnostics
    assert (error.code, error.location, error.op) == ("S101", "models.py:8", "aten.view.default")
    explained = infer_shapes(TEXT).explain("y", 0)
    assert "models.py:8" in str(explained)


def location_of_error(**metadata: object) -> str:
    """Where a message places a view that fails, whose node has these metadata."""
    data = flattening()
    view = node("torch.ops.aten.view.default", {"self": "x", "size": [5, 5]}, "y", line=8)
    view["metadata"].update(metadata)
    data["graph_module"]["graph"]["nodes"][1] = view
    (error,) = infer_shapes(json.dumps(data).encode(), bind={"x_0": 1}).diagnostics
    return str(error.location)


LINES = [
    ('File "/home/me/models.py", line 3, in f\nFile "/lib/torch/nn/modules/rnn.py", line 9, in forward', "models.py:3"),
    ('File "/lib/site-packages/torch/nn/modules/rnn.py", line 9, in forward', "torch/nn/modules/rnn.py:9"),
    ('File "/lib/site-packages/torch/fx/passes/runtime_assert.py", line 24, in insert', ""),
    ("no trace", ""),
]
"""Stack traces, and the end of what a message has of each: a line of the user, of a layer of torch, or none."""


@pytest.mark.parametrize(("trace", "location"), LINES)
def test_messages_have_no_line_of_the_exporter(trace: str, location: str) -> None:
    actual = location_of_error(stack_trace=trace)
    assert actual.endswith(location) and bool(actual) is bool(location)


@pytest.mark.parametrize(("name", "size"), [("trunc", 22), ("floor", 22), ("ceil", 23)])
@pytest.mark.parametrize("parameter", ["x", "a"])
def test_python_rounds_sizes(name: str, size: int, parameter: str) -> None:
    """Torch writes the parameter of Python, `math.trunc(x)`."""
    top = graph(
        ["x"],
        [
            node("torch.ops.aten.sym_size.int", {"self": "x", "dim": 0}, number("n")),
            node("torch.sym_float", {"a": number("n")}, {"as_sym_float": {"as_name": "f"}}),
            node(
                "_operator.mul", {"a": {"as_sym_float": {"as_name": "f"}}, "b": 2.5}, {"as_sym_float": {"as_name": "g"}}
            ),
            node(f"math.{name}", {parameter: {"as_sym_float": {"as_name": "g"}}}, number("m")),
            node("torch.ops.aten.zeros.default", {"size": {"as_sym_ints": [{"as_name": "m"}]}}, "y"),
        ],
        ["y"],
        tensors={"x": tensor(symbol("s0"))},
    )
    result = infer_shapes(json.dumps(program(top)).encode(), inputs={"x": [9]})
    assert str(result.tensors["y"]) == f"float32[{size}]" and not result.diagnostics


STACK = "L__self__,,models.Net;1399,layers.0,models.Block;{key},{path},torch.nn.modules.linear.Linear"
MODULES = [
    (STACK.format(key="L__self___layers_0_attn", path="layers.0.attn"), "models.py:8 (layers.0.attn)"),
    ("L__self__,,models.Net", "models.py:8"),
    ("", "models.py:8"),
    ("not a stack", "models.py:8"),
    (STACK.format(key="1", path="x" * 500), f"models.py:8 ({'x' * 22}...{'x' * 23})"),
    (STACK.format(key="1", path="a\x1b[31m"), "models.py:8 (a\\x1b[31m)"),
    (3, "models.py:8"),
]
"""The stacks of modules in the metadata of a node, as torch 2.13 writes them, and what a message has of each."""


@pytest.mark.parametrize(("stack", "location"), MODULES)
def test_messages_have_the_path_of_the_module(stack: object, location: str) -> None:
    assert location_of_error(nn_module_stack=stack) == location


def test_a_node_without_a_source_line_has_its_module() -> None:
    data = flattening()
    view = data["graph_module"]["graph"]["nodes"][1]
    view["metadata"] = {"nn_module_stack": STACK.format(key="1", path="layers.0")}
    assert "y at module layers.0" in str(infer_shapes(json.dumps(data).encode()).explain("y", 0))


def test_declarations_are_checked() -> None:
    data = flattening()
    data["graph_module"]["graph"]["tensor_values"]["y"] = tensor(symbol("s77"), 13)
    (warning,) = infer_shapes(json.dumps(data).encode(), declared="check").diagnostics
    assert (warning.code, warning.tensor) == ("S120", "y")


def test_an_operator_without_a_rule_has_its_declared_sizes() -> None:
    data = flattening()
    data["graph_module"]["graph"]["nodes"][1]["target"] = "torch.ops.mine.flatten_rows.default"
    result = infer_shapes(json.dumps(data).encode())
    assert str(result.tensors["y"]) == "float32[x_0, 12]"


def test_contents_of_small_constants_are_read() -> None:
    top = graph(
        ["b_i", "x"],
        [
            node("torch.ops.aten.select.int", {"self": "b_i", "dim": 0, "index": 1}, "i"),
            node("torch.ops.aten.item.default", {"self": "i"}, number("n")),
            node("torch.ops.aten.zeros.default", {"size": {"as_sym_ints": [{"as_name": "n"}]}}, "y"),
        ],
        ["y"],
        tensors={"b_i": tensor(2, dtype=5), "x": tensor(1)},
    )
    config = {"config": {"i": {"path_name": "weight_0", "is_param": False, "use_pickle": False}}}
    data = program(top, {"b_i": ("buffer", "i")})
    contents = (7).to_bytes(8, "little") + (9).to_bytes(8, "little")
    members: dict[str, Any] = {
        "p__data__weights__model_weights_config.json": json.dumps(config).encode(),
        "p__data__weights__weight_0": contents,
    }
    result = infer_shapes(package(("model", data), **members))
    assert str(result.tensors["y"]) == "float32[9]"
    assert result.graph.aliases == {"i": "b_i"}


def _branch(name: str, target: str, **arguments: Any) -> dict[str, Any]:
    body = graph(["x"], [node(target, {"self": "x", **arguments}, "y")], ["y"], tensors={"x": tensor(symbol("s77"), 4)})
    return {"as_graph": {"name": name, "graph": body}}


def test_a_branch_is_chosen_by_sizes_and_joined_for_data() -> None:
    whole = _branch("true_graph_0", "torch.ops.aten.relu.default")
    part = _branch("false_graph_0", "torch.ops.aten.slice.Tensor", dim=1, start=0, end=2)
    cond = unnamed("torch.ops.higher_order.cond", ["p", whole, part, {"as_tensors": [{"name": "x"}]}], "z")
    top = graph(["p", "x"], [cond], ["z"], tensors={"p": tensor(dtype=12), "x": tensor(symbol("s77"), 4)})
    result = infer_shapes(json.dumps(program(top)).encode())
    assert result.tensors["z"].shape[:1] == result.tensors["x"].shape[:1]
    bounds = result.interval(result.tensors["z"].shape[1])
    assert (bounds.lo, bounds.hi) == (2, 4)
    cond["inputs"][0]["arg"] = {"as_bool": False}
    assert str(infer_shapes(json.dumps(program(top)).encode()).tensors["z"]) == "float32[x_0, 2]"


def test_a_scan_stacks_the_outputs_of_its_body() -> None:
    body = graph(
        ["h", "row"],
        [node("torch.ops.aten.add.Tensor", {"self": "h", "other": "row"}, "s")],
        ["s", "s"],
        tensors={},
    )
    scan = unnamed(
        "torch.ops.higher_order.scan",
        [
            {"as_graph": {"name": "scan_combine_graph_0", "graph": body}},
            {"as_tensors": [{"name": "h"}]},
            {"as_tensors": [{"name": "x"}]},
            {"as_tensors": []},
        ],
        {"as_tensors": [{"name": "last"}, {"name": "all"}]},
    )
    top = graph(["h", "x"], [scan], ["last", "all"], tensors={"h": tensor(3), "x": tensor(symbol("s77"), 3)})
    result = infer_shapes(json.dumps(program(top)).encode())
    assert [str(result.tensors[name]) for name in ("last", "all")] == ["float32[3]", "float32[x_0, 3]"]
