"""`shapeinf.compat.onnx_ir`: a pass and a function for models of onnx-ir, messages of onnx and programs of torch."""

from __future__ import annotations

import builtins
import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from shapeinf import infer_shapes
from shapeinf.errors import MissingPackageError, ModelError, UnknownFormatError

ir = pytest.importorskip("onnx_ir")

from shapeinf.compat.onnx_ir import InferShapesPass, infer_symbolic_shapes  # noqa: E402

HEADER = '<ir_version: 10, opset_import: ["" : 21, "my" : 1]>'
TEXT = """
g (float[?, 4] x, float[n, 4] z, bool go) => (float[k] y) {
    i = NonZero(x)
    j = Cast<to = 1>(i)
    t = my.twice(z)
    b = If (go) <then_branch = p () => (q) { q = Relu(t) }, else_branch = e () => (r) { r = Tanh(t) }>
    s = SequenceConstruct(z, b)
    y = ReduceMax<keepdims = 0, axes = [0]>(j)
}
<domain: "my", opset_import: ["" : 21]> twice (a) => (c) { h = Relu(a)  c = Concat<axis = 1>(h, h) }
"""


def message() -> onnx.ModelProto:
    model = onnx.parser.parse_model(HEADER + TEXT.replace("ReduceMax<keepdims = 0, axes = [0]>(j)", "ReduceMax(j)"))
    model.graph.initializer.append(numpy_helper.from_array(np.ones((400, 300), "float32"), "w"))
    return model


def all_values(model: Any) -> dict[str, Any]:
    roots = (model.graph, *(function.graph for function in model.functions.values()))
    scopes = [scope for root in roots for scope in (root, *root.subgraphs())]
    return {value.name: value for scope in scopes for value in (*scope.inputs, *(v for n in scope for v in n.outputs))}


def shapes(model: Any) -> dict[str, str | None]:
    return {name: None if v.shape is None else str(list(map(str, v.shape))) for name, v in all_values(model).items()}


def test_values_in_bodies_and_functions_have_types_and_shapes() -> None:
    model = ir.from_proto(message())
    before = shapes(model)
    inferred = infer_symbolic_shapes(model)
    assert shapes(model) == before
    found = shapes(inferred)
    assert found["i"] == found["j"] == "['2', 'i_count']"
    assert found["x"] == "['x_shape_0', '4']"
    assert found["z"] == found["h"] == "['n', '4']"
    assert found["t"] == found["q"] == found["r"] == found["b"] == "['n', '8']"
    types = {name: value.type for name, value in all_values(inferred).items()}
    assert types["i"] == ir.TensorType(ir.DataType.INT64)
    assert types["s"] == ir.SequenceType(ir.TensorType(ir.DataType.FLOAT))
    assert ir.to_proto(inferred).graph.output[0].type.tensor_type.shape.dim[0].dim_value == 1


@pytest.mark.parametrize("to", [ir.from_proto, lambda m: m], ids=["onnx_ir", "onnx"])
@pytest.mark.parametrize("inplace", [False, True])
def test_the_result_is_of_the_same_kind(to: Any, inplace: bool) -> None:
    model = to(message())
    before = ir.to_proto(model).SerializeToString() if not isinstance(model, onnx.ModelProto) else None
    inferred = infer_symbolic_shapes(model, inplace=inplace)
    assert type(inferred) is type(model)
    assert (inferred is model) == inplace
    if before is not None and not inplace:
        assert ir.to_proto(model).SerializeToString() == before


def test_weights_are_shared() -> None:
    model = ir.from_proto(message())
    tensor = model.graph.initializers["w"].const_value
    assert infer_symbolic_shapes(model).graph.initializers["w"].const_value is tensor
    infer_symbolic_shapes(model, inplace=True)
    assert model.graph.initializers["w"].const_value is tensor


class NeverRead(ir.Tensor):  # type: ignore[misc]
    """A weight whose contents must not be asked for."""

    def numpy(self) -> Any:
        raise AssertionError("the weight is read")

    def tobytes(self) -> bytes:
        raise AssertionError("the weight is read")


def test_weights_are_not_read() -> None:
    model = ir.from_proto(message())
    weight = NeverRead(np.ones((400, 300), "float32"), name="w")
    model.graph.initializers["w"].const_value = weight
    assert shapes(infer_symbolic_shapes(model))["j"] == "['2', 'i_count']"


def test_the_pass_says_whether_it_changed_the_model() -> None:
    model = ir.from_proto(message())
    first, second = InferShapesPass()(model), InferShapesPass()(model)
    assert first.model is model
    assert first.modified
    assert not second.modified
    assert InferShapesPass().in_place


def test_the_pass_in_a_sequence_of_passes() -> None:
    model = ir.from_proto(message())
    sequence = ir.passes.Sequential(InferShapesPass(), InferShapesPass())
    assert sequence(model).modified
    assert shapes(model)["j"] == "['2', 'i_count']"


def test_denotations_and_declared_names_stay() -> None:
    model = ir.from_proto(onnx.parser.parse_model(HEADER + "g (float[n, 4] x) => (float[m, 4] y) { y = Relu(x) }"))
    model.graph.outputs[0].shape.set_denotation(0, "DATA_BATCH")
    infer_symbolic_shapes(model, inplace=True)
    assert model.graph.outputs[0].shape.get_denotation(0) == "DATA_BATCH"


@pytest.mark.parametrize(
    "example", sorted((Path(__file__).parents[2] / "examples").glob("*.onnx")), ids=lambda p: p.stem
)
def test_shapes_are_those_of_a_result(example: Path) -> None:
    model = ir.load(example)
    result = infer_shapes(example)
    values = all_values(infer_symbolic_shapes(model))
    for name, info in result.tensors.items():
        if name in values and not any(d.is_anonymous for d in info.shape.symbols()) and name not in result.outputs:
            assert values[name].shape is None or [str(d) for d in values[name].shape] == [str(d) for d in info.shape]


@pytest.mark.parametrize("model", [None, 3, "model.onnx", b"", object(), [1]])
def test_other_arguments(model: Any) -> None:
    with pytest.raises(UnknownFormatError):
        infer_symbolic_shapes(model)


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("to", [ir.from_proto, lambda m: m], ids=["onnx_ir", "onnx"])
def test_a_malformed_model_stays_as_it_was(to: Any, inplace: bool) -> None:
    proto = message()
    proto.graph.node[0].domain = "none"
    model = to(proto)
    before = str(model)
    with pytest.raises(ModelError):
        infer_symbolic_shapes(model, inplace=inplace)
    assert str(model) == before


def test_without_onnx_ir(monkeypatch: pytest.MonkeyPatch) -> None:
    importer = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "onnx_ir":
            raise ImportError(name)
        return importer(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "shapeinf.compat.onnx_ir")
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingPackageError, match=r"pip install 'shapeinf\[clean\]'"):
        importlib.import_module("shapeinf.compat.onnx_ir")


def test_a_program_of_torch() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnxscript")

    class Model(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return torch.nonzero(torch.cat([x, x], dim=1))

    axes = {"x": {0: torch.export.Dim("batch", min=2)}}
    program = torch.onnx.export(Model(), (torch.ones(3, 4),), dynamo=True, dynamic_shapes=axes, verbose=False)
    before = program.model
    inferred = infer_symbolic_shapes(program)
    assert type(inferred) is type(program)
    assert inferred is not program
    assert program.model is before
    assert any(shape == "['batch', '8']" for shape in shapes(inferred.model).values())
    assert infer_symbolic_shapes(program, inplace=True) is program
    assert program.model is before
    assert all(value.shape is not None for value in all_values(program.model).values())
