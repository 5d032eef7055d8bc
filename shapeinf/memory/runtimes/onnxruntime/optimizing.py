"""The file that a session of onnxruntime writes: the graph that it runs, after its optimizations."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory

from shapeinf.errors import MissingPackageError, ModelError
from shapeinf.formats import load
from shapeinf.formats.onnx.model_bytes import path_or_bytes
from shapeinf.formats.read_files import files_of
from shapeinf.graph import Graph
from shapeinf.memory.runtimes.onnxruntime.options import Level

_LEVELS = {
    "off": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}


def optimize(graph: Graph, level: Level) -> Graph:
    """The graph that a session runs at a level of optimization, as the session writes it.

    Raises MissingPackageError without onnxruntime, ModelError for a model that it does not load.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingPackageError("memory of an optimized model", "onnxruntime", "verify") from error
    model = path_or_bytes(graph)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, _LEVELS[level])
    home = files_of(graph).folder
    if isinstance(model, bytes) and home is not None:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", home)
    with TemporaryDirectory() as folder:
        options.optimized_model_filepath = os.path.join(folder, "optimized.onnx")
        try:
            onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            cause = " ".join(str(error).split())
            raise ModelError(f"onnxruntime does not load it: {cause}", node=graph.source) from error
        with open(options.optimized_model_filepath, "rb") as file:
            return load(file.read())
