"""The ONNX model that a graph was read from, for runtimes that load ONNX models."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from shapeinf.errors import ModelError
from shapeinf.formats.read_files import files_of, open_source
from shapeinf.graph import Graph
from shapeinf.lattice import numpy_dtype
from shapeinf.lattice.dtypes import DTYPES, WITHOUT_NUMPY_TYPE
from shapeinf.runtime.protocol import Refusal

_KINDS = {dtype.name: dtype.kind for dtype in DTYPES}

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
    """The bytes of the model. Raises ModelError for one that is not ONNX or too large, Refusal for a file over 2 GB."""
    if (graph.format or graph.dialect) != "onnx":
        raise ModelError("only an ONNX model can be run here", node=graph.source)
    if isinstance(graph.model, bytes):
        return graph.model
    if isinstance(graph.model, onnx.ModelProto):
        try:
            return bytes(graph.model.SerializeToString())
        except ValueError as error:
            raise ModelError("is larger than a protobuf may be: store its weights as external data") from error
    if graph.source is None:
        raise ModelError("the graph was not read from an ONNX model: there is nothing to run")
    with open_source(graph) as buffer:
        if len(buffer) > MAX_PROTO:
            raise Refusal(f"{graph.source} has more than 2 GB in one file: store its weights as external data")
        return buffer[:]


def numpy_type(dtype: str) -> np.dtype[Any]:
    """The numpy type of an element type; strings are objects. Raises Refusal for a type that has no arrays."""
    if not has_arrays(dtype):
        raise Refusal(f"numpy has no arrays of element type {dtype}")
    return np.dtype(numpy_dtype(dtype))


def has_arrays(dtype: str) -> bool:
    """Whether numpy with `ml_dtypes` has arrays of an element type; it has none of handles and quantized types."""
    return _KINDS[dtype] not in ("handle", "quantized") and dtype not in WITHOUT_NUMPY_TYPE
