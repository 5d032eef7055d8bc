"""The ONNX model that a graph was read from, for the packages that load it themselves."""

from __future__ import annotations

from shapeinf.errors import LimitError, ModelError
from shapeinf.formats.read_files import files_of, open_source
from shapeinf.graph import Graph

MAX_PROTO = (1 << 31) - 1
"""The most bytes of a protobuf; larger models have their weights in other files."""


def path_or_bytes(graph: Graph) -> str | bytes:
    """The path of the model where it was read from a file, else its bytes. Raises ModelError."""
    files = files_of(graph)
    if graph.model is not None or files.path is None or files.path not in files.states:
        return model_bytes(graph)
    files.check_file(files.path)
    return files.path


def model_bytes(graph: Graph) -> bytes:
    """The bytes of the model. Raises ModelError for one that is not ONNX, LimitError for more than 2 GB."""
    if (graph.format or graph.dialect) != "onnx":
        raise ModelError("only an ONNX model can be run here", node=graph.source)
    if isinstance(graph.model, bytes):
        return graph.model
    if hasattr(graph.model, "SerializeToString"):
        try:
            return bytes(graph.model.SerializeToString())
        except ValueError as error:
            raise LimitError("is larger than a protobuf may be: store its weights as external data") from error
    if graph.source is None:
        raise ModelError("the graph was not read from an ONNX model: there is nothing to run")
    with open_source(graph) as buffer:
        if len(buffer) > MAX_PROTO:
            raise LimitError("has more than 2 GB in one file: store its weights as external data", node=graph.source)
        return buffer[:]
