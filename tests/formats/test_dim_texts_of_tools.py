"""Files whose dims are written in the notation of another tool, and read again."""

from __future__ import annotations

from typing import get_args

import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper

from shapeinf import bind, infer_shapes
from shapeinf.checks import check
from shapeinf.cli.main import main
from shapeinf.errors import ShapeInferenceError, UnknownNameError
from shapeinf.expr.notations import NotationName

NOTATIONS: tuple[NotationName, ...] = get_args(NotationName)
TEXTS = {
    "sympy": ["2*n", "floor((h + 1)/2)"],
    "torch": ["2*n", "((h + 1)//2)"],
    "jax": ["2*n", "floordiv(h + 1, 2)"],
    "onnx": ["2*n", "(h + 1)//2"],
}


def network(batch: str = "n") -> onnx.ModelProto:
    """x [batch, 3, h, 8], repeated and pooled with a stride of 2."""
    nodes = [
        helper.make_node("Concat", ["x", "x"], ["twice"], axis=0),
        helper.make_node("MaxPool", ["twice"], ["p"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("Sigmoid", ["p"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3, "h", 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    return helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=[helper.make_opsetid("", 18)])


def declared(model: onnx.ModelProto, name: str) -> list[int | str]:
    values = {value.name: value for value in [*model.graph.value_info, *model.graph.output]}
    return [dim.dim_param or dim.dim_value for dim in values[name].type.tensor_type.shape.dim]


@pytest.mark.parametrize("notation", NOTATIONS)
def test_written_dims_are_read_back_as_the_same(notation: NotationName, tmp_path) -> None:
    result = infer_shapes(network())
    result.save(tmp_path / "m.onnx", dim_text=notation)
    model = onnx.load(tmp_path / "m.onnx")
    twice, half = TEXTS[notation]
    assert declared(model, "p") == declared(model, "y") == [twice, 3, half, 4]
    again = infer_shapes(model, declared="check")
    assert {name: str(info) for name, info in again.tensors.items()} == {n: str(i) for n, i in result.tensors.items()}
    assert check(again) == []


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_dim_that_the_tool_cannot_read_has_a_shared_name(notation: NotationName, tmp_path) -> None:
    """A name alone is a name for every tool; an expression with it is not read as anything else."""
    infer_shapes(network("batch size")).save(tmp_path / "m.onnx", dim_text=notation)
    model = onnx.load(tmp_path / "m.onnx")
    assert declared(model, "twice") == ["twice_shape_0", 3, "h", 8]
    assert declared(model, "p")[0] == declared(model, "y")[0] == "twice_shape_0"
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch size"


def test_onnxruntimes_tool_and_sympy_read_the_texts(tmp_path) -> None:
    sympy = pytest.importorskip("sympy")
    infer_shapes(network()).save(tmp_path / "m.onnx", dim_text="sympy")
    half = declared(onnx.load(tmp_path / "m.onnx"), "p")[2]
    for h in range(1, 10):
        assert sympy.sympify(half, locals={"h": sympy.Integer(h)}) == (h + 1) // 2


def test_edited_models_have_the_texts_too(tmp_path) -> None:
    bind(network(), {"n": 4}).save(tmp_path / "m.onnx", dim_text="jax")
    assert declared(onnx.load(tmp_path / "m.onnx"), "p") == [8, 3, "floordiv(h + 1, 2)", 4]


def test_only_outputs_on_request(tmp_path) -> None:
    infer_shapes(network()).save(tmp_path / "m.onnx", dim_text="torch", annotate="io")
    model = onnx.load(tmp_path / "m.onnx")
    assert declared(model, "y") == ["2*n", 3, "((h + 1)//2)", 4] and not model.graph.value_info


def test_refused_requests(tmp_path) -> None:
    result = infer_shapes(network())
    with pytest.raises(UnknownNameError, match="did you mean 'sympy'"):
        result.save(tmp_path / "m.onnx", dim_text="simpy")  # type: ignore[arg-type]
    with pytest.raises(ShapeInferenceError, match="numbers of chains"):
        result.save(tmp_path / "m.onnx", dim_text="sympy", annotate="chains")
    with pytest.raises(ShapeInferenceError, match="dim_text has no effect with minimize_memory"):
        result.save(tmp_path / "m.onnx", dim_text="sympy", minimize_memory="onnxruntime")
    nnef = infer_shapes("version 1.0; graph g(x) -> (y) { x = external(shape = [1, 3]); y = relu(x); }\n")
    with pytest.raises(ShapeInferenceError, match="dim_text has no effect: NNEF"):
        nnef.save(tmp_path / "m.nnef", dim_text="sympy")
    assert not list(tmp_path.iterdir())


def test_the_command_line(tmp_path) -> None:
    source, target = str(tmp_path / "m.onnx"), str(tmp_path / "out.onnx")
    onnx.save(network(), source)
    run = CliRunner().invoke(main, ["infer", source, "-o", target, "--dim-text", "sympy"])
    assert run.exit_code == 0, run.output
    assert declared(onnx.load(target), "p") == ["2*n", 3, "floor((h + 1)/2)", 4]
    assert CliRunner().invoke(main, ["infer", source, "--dim-text", "sympy"]).exit_code == 2
    refused = CliRunner().invoke(main, ["infer", source, "-o", target, "--dim-text", "sympy", "--annotate", "chains"])
    assert refused.exit_code == 2 and "numbers of chains" in refused.output
