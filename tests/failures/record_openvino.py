"""The messages of OpenVINO for the cases of ONNX: of runs with dynamic shapes, and of `Model.reshape`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import onnx

from tests.failures.record_onnxruntime import Run, case_messages, corpus_messages


def messages() -> Iterator[dict[str, Any]]:
    """The messages of inference, then those of a model that is reshaped."""
    import openvino

    core = openvino.Core()
    compiled: dict[bytes, Any] = {}

    def load(model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]]) -> Run:
        data = model.SerializeToString(deterministic=True)
        if data not in compiled:
            compiled[data] = core.compile_model(core.read_model(data), "CPU")
        return lambda feed: compiled[data](dict(feed))

    def reshape(model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]]) -> Run:
        read = core.read_model(model.SerializeToString())
        read.reshape({name: list(shape) for name, shape in shapes.items()})
        return lambda feed: core.compile_model(read, "CPU")(dict(feed))

    def load_file(path: str) -> Run:
        model = core.compile_model(core.read_model(path), "CPU")
        return lambda feed: model(dict(feed))

    for mode, loader in (("run", load), ("reshape", reshape)):
        for message in case_messages(loader):
            yield {**message, "mode": mode}
    yield from corpus_messages(load_file)
