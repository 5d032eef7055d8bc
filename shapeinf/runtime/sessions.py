"""onnxruntime, as far as we need it: sessions of a model, also with every tensor as an output."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
import numpy as np
import onnx

from shapeinf.errors import MissingPackageError, ModelError, ShapeInferenceError
from shapeinf.formats.onnx.names import ONNX_CODES
from shapeinf.graph import Graph
from shapeinf.runtime.compare import Real

MAX_PROTO = (1 << 31) - 1
"""The most bytes that a protobuf may have; larger models keep their weights in files beside them."""

_FOLDER_KEY = "session.model_external_initializers_file_folder_path"


class Refusal(Exception):  # noqa: N818  (no error of ours: what the runtime says)
    """The runtime does not load or run the model; the text is its own."""


def load_runtime() -> Any:
    """The onnxruntime package. Raises MissingPackageError."""
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingPackageError("verify", "onnxruntime", "verify") from error
    return onnxruntime


@contextmanager
def refusals() -> Iterator[None]:
    """Turn whatever the runtime raises (classes of its own, plain RuntimeErrors) into a Refusal."""
    try:
        yield
    except (Refusal, ShapeInferenceError):
        raise
    except Exception as error:
        raise Refusal(" ".join(str(error).split()) or type(error).__name__) from error


@attrs.frozen
class Feeds:
    """The inputs of a run: as arrays, and as values of the runtime; None with strings, of which it takes none."""

    arrays: Mapping[str, Any]
    values: Mapping[str, Any] | None


class Sessions:
    """The sessions of one model, each made when it is first asked for. Weights are neither changed nor copied."""

    def __init__(self, graph: Graph, timeout: float | None) -> None:
        """`timeout`: the most seconds that one run may take. Raises MissingPackageError."""
        self.runtime = load_runtime()
        self.graph = graph
        self.timeout = timeout
        self._plain: Any = None
        self._exposed: Any = None

    def plain(self) -> Any:
        """The model as it is, optimised as the runtime does by default."""
        if self._plain is None:
            self._plain = self._session(self._whole(), optimised=True)
        return self._plain

    def exposed(self) -> Any:
        """A copy of the model with every output of a top-level node as an output of the graph, not optimised."""
        if self._exposed is None:
            self._exposed = self._session(exposed(self.graph), optimised=False)
        return self._exposed

    def _whole(self) -> str | bytes:
        graph = self.graph
        return graph.source if graph.model is None and graph.source is not None else model_bytes(graph)

    def _session(self, model: str | bytes, optimised: bool) -> Any:
        runtime = self.runtime
        options = runtime.SessionOptions()
        level = runtime.GraphOptimizationLevel
        options.graph_optimization_level = level.ORT_ENABLE_ALL if optimised else level.ORT_DISABLE_ALL
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        if isinstance(model, bytes) and self.graph.source is not None:
            options.add_session_config_entry(_FOLDER_KEY, os.path.dirname(os.path.abspath(self.graph.source)))
        with refusals():
            return runtime.InferenceSession(model, options, ["CPUExecutionProvider"])

    @contextmanager
    def running(self) -> Iterator[Any]:
        """The options of one run; it is told to stop when it takes too long, and then raises Refusal."""
        options = self.runtime.RunOptions()
        options.log_severity_level = 4
        late = threading.Event()

        def stop() -> None:
            late.set()
            options.terminate = True

        timer = threading.Timer(self.timeout, stop) if self.timeout else None
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            with refusals():
                yield options
        except Refusal as refusal:
            if late.is_set():
                raise Refusal(f"stopped after {self.timeout:g} seconds") from refusal
            raise
        finally:
            if timer is not None:
                timer.cancel()

    def feed(self, arrays: Mapping[str, Any], dtypes: Mapping[str, str]) -> Feeds:
        """Arrays as inputs, also of types that numpy does not have."""
        if "string" in dtypes.values():
            return Feeds(arrays, None)
        with refusals():
            return Feeds(arrays, {name: self._value(array, dtypes[name]) for name, array in arrays.items()})

    def _value(self, array: Any, dtype: str) -> Any:
        made = self.runtime.OrtValue
        if array.dtype.isbuiltin == 1 and array.dtype.name == dtype:
            return made.ortvalue_from_numpy(array)
        return made.ortvalue_from_numpy_with_onnx_type(array, ONNX_CODES[dtype])

    def types_of(self, names: Sequence[str], feeds: Feeds) -> list[Real]:
        """The types of these tensors in a run of the exposed model."""
        session = self.exposed()
        with self.running() as options:
            if feeds.values is None:
                found = session.run(list(names), dict(feeds.arrays), options)
            else:
                found = session.run_with_ort_values(list(names), dict(feeds.values), options)
        return [Real.of(one) for one in found]

    def fetch(self, name: str, feeds: Feeds) -> Any:
        """A sequence, optional or map of the exposed model, as Python has it."""
        session = self.exposed()
        with self.running() as options:
            return session.run([name], dict(feeds.arrays), options)[0]


def exposed(graph: Graph) -> bytes:
    """The bytes of the model with all outputs of top-level nodes as outputs.

    Two protobufs one after the other are one: what follows here are the outputs alone, so that nothing is decoded.
    """
    added = onnx.ModelProto()
    there = {*graph.outputs, ""}
    for node in graph.nodes:
        for name in node.outputs:
            if name not in there:
                there.add(name)
                added.graph.output.append(onnx.ValueInfoProto(name=name))
    return model_bytes(graph) + bytes(added.SerializeToString())


def model_bytes(graph: Graph) -> bytes:
    """The model as it was read. Raises ModelError for what is no ONNX model or is too large for a protobuf."""
    if graph.dialect != "onnx":
        raise ModelError("only an ONNX model can be run here", node=graph.source)
    if isinstance(graph.model, bytes):
        return graph.model
    if isinstance(graph.model, onnx.ModelProto):
        try:
            return bytes(graph.model.SerializeToString())
        except ValueError as error:
            raise ModelError("is larger than a protobuf may be: keep its weights in a file beside it") from error
    if graph.source is None:
        raise ModelError("the graph was not read from an ONNX model: there is nothing to run")
    if os.path.getsize(graph.source) > MAX_PROTO:
        raise Refusal(f"{graph.source} has more than 2 GB in one file: keep its weights in a file beside it")
    with open(graph.source, "rb") as file:
        return file.read()


def numpy_type(dtype: str) -> np.dtype[Any]:
    """The numpy type of an element type; strings are objects."""
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(ONNX_CODES[dtype]))
