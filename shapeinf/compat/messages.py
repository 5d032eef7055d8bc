"""Shape inference of messages of the onnx package, with the types written into them."""

from __future__ import annotations

import onnx

from shapeinf.api import infer
from shapeinf.engine.garbage import pause_garbage_collection
from shapeinf.engine.tensor_info import annotation
from shapeinf.formats.files import WriteOptions
from shapeinf.formats.onnx.in_memory import annotate, outline_bytes
from shapeinf.inputs.options import DEFAULT_OPTIONS, InferenceOptions
from shapeinf.result import Result


def infer_message(
    model: onnx.ModelProto, options: InferenceOptions = DEFAULT_OPTIONS, *, name_inputs: bool = False
) -> Result:
    """Infer the shapes of a model, and write all types into it; its weights are neither copied nor read.

    Equal dims have equal texts. With `name_inputs` axes of inputs without a size and a name get a name too. Raises what
    `infer_shapes` raises, before the model is changed.
    """
    with pause_garbage_collection():
        result = infer(outline_bytes(model), options)
        types = annotation(result.engine.inference)
        annotate(model, result.graph, types, WriteOptions(annotate="all", name_inputs=name_inputs))
    return result


def copy_message(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of a model."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy
