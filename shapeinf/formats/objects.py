"""Objects of other libraries: the models that they contain, and advice for objects that no format reads."""

from __future__ import annotations

from typing import Any

from shapeinf.errors import UnknownFormatError

_EXPORT = "export it first: torch.onnx.export(model, args, dynamo=True) returns a model that can be passed directly"

UNREADABLE = {
    "torch": {
        "GraphModule": _EXPORT,
        "Module": _EXPORT,
        "ScriptModule": _EXPORT,
    },
    "onnxruntime": {"InferenceSession": "a session has no graph: pass the path or the bytes that it was created from"},
    "tensorflow": {"Module": "save it with tf.saved_model.save, and pass the folder"},
    "keras": {"Model": "save it with model.export(folder), and pass the folder"},
    "coremltools": {"MLModel": "Core ML models are not read; convert the model that it was made from"},
    "openvino": {"Model": "OpenVINO models are not read; pass the ONNX or TensorFlow model that it was made from"},
}
"""Advice by package and class, also for subclasses."""


def model_of_object(model: Any) -> Any:
    """The model that an object contains; any other object unchanged, buffers as bytes.

    torch's ONNXProgram has its model as `model` (of onnx_ir) and as `model_proto`. Raises UnknownFormatError for an
    object of a class in `UNREADABLE`, and for an open file.

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
