"""Objects of other libraries as models: those that hold a model that a format reads, and those that hold none."""

from __future__ import annotations

from typing import Any

from shapeinf.errors import UnknownFormatError

_EXPORT = "export it first: torch.onnx.export(model, args, dynamo=True) returns a model that is read as it is"

UNREADABLE = {
    "torch": {
        "ExportedProgram": "torch.onnx.export(program, dynamo=True) makes an ONNX model of it, which is read as it is",
        "GraphModule": _EXPORT,
        "Module": _EXPORT,
        "ScriptModule": _EXPORT,
    },
    "onnxruntime": {"InferenceSession": "a session has no graph: pass the path or the bytes that it was created from"},
    "tensorflow": {"Module": "save it with tf.saved_model.save, and pass the folder"},
    "keras": {"Model": "save it with model.export(folder), and pass the folder"},
    "coremltools": {"MLModel": "models of Core ML are not read; convert the model that it was made from"},
    "openvino": {"Model": "models of OpenVINO are not read; pass the ONNX or TensorFlow model that it was made from"},
}
"""By package and class (or one of its bases), what to do instead."""


def model_of_object(model: Any) -> Any:
    """The model that an object holds; any other object as it is. Raises UnknownFormatError for one that holds none.

    torch's ONNXProgram has its model as `model` (of onnx_ir) and as `model_proto`. Buffers become bytes.

    >>> model_of_object(bytearray(b"x")), model_of_object("model.onnx")
    (b'x', 'model.onnx')
    """
    if isinstance(model, (str, bytes)):
        return model
    if isinstance(model, (bytearray, memoryview)):
        return bytes(model)
    held = getattr(model, "model", None)
    if _library(type(held)) == "onnx_ir":
        return held
    held = getattr(model, "model_proto", None)
    if _library(type(held)) == "onnx":
        return held
    for base in type(model).__mro__:
        advice = UNREADABLE.get(_library(base), {}).get(base.__name__)
        if advice is not None:
            raise UnknownFormatError(f"a {_name(model)} is not read: {advice}")
    if hasattr(model, "read"):
        raise UnknownFormatError(f"a {_name(model)} is not read: pass the path of the file, or the bytes `file.read()`")
    return model


def _library(owner: type) -> str:
    return owner.__module__.partition(".")[0]


def _name(model: object) -> str:
    return f"{_library(type(model))}.{type(model).__name__}"
