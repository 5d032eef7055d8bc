"""Objects as models: torch's ONNXProgram is read, and others are refused by name with what to do."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import onnx
import pytest

from shapeinf import ModelError, infer_shapes
from shapeinf.errors import UnknownFormatError

CONVNET = Path("examples/convnet.onnx")
SHAPE = "[batch, 1, height, width]"


class OnnxProgram:
    """What torch.onnx.ONNXProgram has, where onnx_ir is not installed."""

    def __init__(self, model: object, proto: onnx.ModelProto | None) -> None:
        self.model = model
        self.model_proto = proto


def ir_model() -> Any:
    onnx_ir = pytest.importorskip("onnx_ir", reason="torch's ONNXProgram has a model of onnx_ir")
    return onnx_ir.from_proto(onnx.load(CONVNET))


MODELS = {
    "path": lambda: CONVNET,
    "text of a path": lambda: str(CONVNET),
    "bytes": lambda: CONVNET.read_bytes(),
    "bytearray": lambda: bytearray(CONVNET.read_bytes()),
    "memoryview": lambda: memoryview(CONVNET.read_bytes()),
    "ModelProto": lambda: onnx.load(CONVNET),
    "onnx_ir": ir_model,
    "ONNXProgram": lambda: OnnxProgram(ir_model(), None),
    "ONNXProgram without onnx_ir": lambda: OnnxProgram(None, onnx.load(CONVNET)),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_that_are_read(name: str) -> None:
    assert str(infer_shapes(MODELS[name]()).outputs["mask"].shape) == SHAPE


def stand_in(module: str, name: str, *bases: type) -> Any:
    """An object of a class of this name in a library that is not installed here."""
    return type(name, bases, {"__module__": module})()


MODULE = type("Module", (), {"__module__": "torch.nn.modules.module"})


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (stand_in("mine", "Net", MODULE), r"a mine.Net is not read: export it first: torch.onnx.export\("),
        (stand_in("onnxruntime.capi", "InferenceSession"), "a session has no graph: pass the path"),
        (io.BytesIO(b"x"), r"a _io.BytesIO is not read: pass the path of the file, or the bytes `file.read\(\)`"),
        (7, "a int is not a model that shapeinf can read"),
        (None, "is not a model that shapeinf can read"),
    ],
)
def test_objects_that_hold_no_model_are_refused(model: object, message: str) -> None:
    with pytest.raises(UnknownFormatError, match=message) as error:
        infer_shapes(model)
    assert isinstance(error.value, ModelError)


@pytest.fixture(scope="module")
def exported() -> Any:
    torch = pytest.importorskip("torch", reason="torch exports the program")
    pytest.importorskip("onnxscript", reason="torch's exporter needs onnxscript")

    class Net(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.relu(x @ x.transpose(-1, -2))

    return torch.export.export(Net(), (torch.zeros(2, 3, 4),), dynamic_shapes={"x": {0: torch.export.Dim("batch")}})


def test_a_program_that_torch_exports_is_read(exported: Any) -> None:
    import torch

    program = torch.onnx.export(exported, dynamo=True)
    assert type(program).__name__ == "ONNXProgram"
    result = infer_shapes(program)
    (shape,) = [info.shape for info in result.outputs.values()]
    assert shape[1:] == (3, 3) and shape[:1] == result.inputs["x"].shape[:1]


def test_an_exported_program_of_torch_is_read(exported: Any) -> None:
    import torch

    assert str(infer_shapes(exported).outputs["relu"]) == "float32[x_0, 3, 3]"
    with pytest.raises(UnknownFormatError, match="is not read: export it first"):
        infer_shapes(torch.nn.Linear(2, 3))
