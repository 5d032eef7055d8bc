"""onnxruntime: a session of the model, and one of a copy with every tensor as an output."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
import numpy as np

from shapeinf.errors import LimitError, MissingPackageError
from shapeinf.formats.onnx.model_bytes import model_bytes, path_or_bytes
from shapeinf.graph import Graph
from shapeinf.lattice.dtypes import ONNX_CODES, ONNX_NAMES
from shapeinf.packages import is_installed
from shapeinf.runtime.protocol import Buffer, ObservedType, Refusal, WrittenOutput, refusals, stop_after

_FOLDER_KEY = "session.model_external_initializers_file_folder_path"


def runtime() -> OnnxRuntime:
    """The installed onnxruntime. Raises MissingPackageError, also without onnx, which edits the model."""
    package = import_onnxruntime("verify")
    if not is_installed("onnx"):
        raise MissingPackageError("verify", "onnx", "verify")
    return OnnxRuntime(package)


def import_onnxruntime(command: str) -> Any:
    """The package, for a command that needs it. Raises MissingPackageError."""
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingPackageError(command, "onnxruntime", "verify") from error
    return onnxruntime


def create_session(package: Any, model: str | bytes, folder: str | None, *, optimized: bool) -> Any:
    """A session on the CPU, with one thread and no log. Raises Refusal.

    `folder` has the external data of a model in bytes. `optimized`: with all graph optimizations, else with none.
    """
    options = package.SessionOptions()
    level = package.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if optimized else level.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if isinstance(model, bytes) and folder is not None:
        options.add_session_config_entry(_FOLDER_KEY, folder)
    with refusals():
        return package.InferenceSession(model, options, ["CPUExecutionProvider"])


@attrs.frozen
class OnnxRuntime:
    """The package, on the CPU."""

    package: Any
    name: str = "onnxruntime"

    @property
    def version(self) -> str:
        """The version of the package."""
        return str(self.package.__version__)

    def open(self, graph: Graph, timeout: float | None) -> OnnxRuntimeModel:
        """A model, loaded when a method needs it."""
        return OnnxRuntimeModel(self.package, graph, timeout)


@attrs.frozen
class Feeds:
    """The inputs of a run as arrays, and as OrtValues; None where some are strings, which have no OrtValue."""

    arrays: Mapping[str, Any]
    values: Mapping[str, Any] | None


class OnnxRuntimeModel:
    """The sessions of one model, each created on first use. Weights in other files stay there."""

    def __init__(self, package: Any, graph: Graph, timeout: float | None) -> None:
        """`timeout`: the most seconds that one run may take."""
        self.package = package
        self.graph = graph
        self.timeout = timeout
        self._plain: Any = None
        self._exposed: Any = None

    def load(self) -> None:
        """Load the model unchanged, with all optimizations."""
        self.plain_session()

    def plain_session(self) -> Any:
        """The session of the unchanged model."""
        if self._plain is None:
            self._plain = self._session(path_or_bytes(self.graph), optimized=True)
        return self._plain

    def exposed_session(self) -> Any:
        """The session, without optimizations, of a copy whose outputs are those of all top-level nodes."""
        if self._exposed is None:
            try:
                model = bytes_with_all_outputs(self.graph)
            except LimitError as error:
                raise Refusal(str(error)) from error
            self._exposed = self._session(model, optimized=False)
        return self._exposed

    def _session(self, model: str | bytes, optimized: bool) -> Any:
        source = self.graph.source
        folder = None if source is None else os.path.dirname(os.path.abspath(source))
        return create_session(self.package, model, folder, optimized=optimized)

    def tensor_names(self) -> frozenset[str]:
        """The outputs of nodes that are tensors, not sequences, optionals or maps."""
        outputs = self.exposed_session().get_outputs()
        return frozenset(output.name for output in outputs if output.type.startswith("tensor("))

    @contextmanager
    def _running(self) -> Iterator[Any]:
        """The options of one run. A run that takes too long is stopped and raises Refusal."""
        options = self.package.RunOptions()
        options.log_severity_level = 4
        with stop_after(self.timeout, lambda: setattr(options, "terminate", True)), refusals():
            yield options

    def prepare(self, arrays: Mapping[str, Any], dtypes: Mapping[str, str]) -> Feeds:
        """Arrays as inputs, also of types that numpy does not have."""
        if "string" in dtypes.values():
            return Feeds(arrays, None)
        with refusals():
            return Feeds(
                arrays, {name: to_ort_value(self.package, array, dtypes[name]) for name, array in arrays.items()}
            )

    def observe(self, names: Sequence[str], feeds: Feeds) -> list[ObservedType]:
        """The types of these tensors in a run of the copy with all outputs."""
        session = self.exposed_session()
        with self._running() as options:
            if feeds.values is None:
                values = session.run(list(names), dict(feeds.arrays), options)
            else:
                values = session.run_with_ort_values(list(names), dict(feeds.values), options)
        return [_observe_type(value) for value in values]

    def fetch(self, name: str, feeds: Feeds) -> Any:
        """A sequence, optional or map of the copy with all outputs as a Python value."""
        session = self.exposed_session()
        with self._running() as options:
            return session.run([name], dict(feeds.arrays), options)[0]

    def binding_refusal(self, feeds: Feeds) -> str:
        """Inputs of strings cannot be bound, hence no outputs either."""
        return "outputs cannot be bound with string inputs" if feeds.values is None else ""

    def run_into(self, buffers: Sequence[Buffer], feeds: Feeds) -> list[WrittenOutput]:
        """Run with an IOBinding of the buffers; if the file declares other shapes, a copy with those of the buffers."""
        session = self.plain_session()
        declared = {output.name: output.shape for output in session.get_outputs()}
        wrong = {b.name: b for b in buffers if not _agrees(declared.get(b.name), b.shape)}
        if wrong:
            session = self._session(bytes_with_declared_types(self.graph, wrong), optimized=True)
        binding = bind_values(session, feeds.values or {}, buffers)
        with self._running() as options:
            session.run_with_iobinding(binding, options)
        values = binding.get_outputs()[: len(buffers)]  # in the order of the binding
        return [
            WrittenOutput(_observe_type(value), value.data_ptr(), buffer.name in wrong)
            for buffer, value in zip(buffers, values, strict=True)
        ]


def to_ort_value(package: Any, array: Any, dtype: str) -> Any:
    """An OrtValue in the memory of an array, also of an element type that numpy lacks."""
    if array.dtype.isbuiltin == 1 and array.dtype.name == dtype:
        return package.OrtValue.ortvalue_from_numpy(array)
    return package.OrtValue.ortvalue_from_numpy_with_onnx_type(array, ONNX_CODES[dtype])


def bind_values(session: Any, values: Mapping[str, Any], buffers: Sequence[Buffer]) -> Any:
    """An IOBinding of inputs and of outputs in buffers; its outputs are these, then all others of the session."""
    binding = session.io_binding()
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    for buffer in buffers:
        code = ONNX_CODES[buffer.dtype]
        binding.bind_output(buffer.name, "cpu", 0, code, list(buffer.shape), buffer.address)
    bound = {buffer.name for buffer in buffers}
    for output in session.get_outputs():
        if output.name not in bound:
            binding.bind_output(output.name)
    return binding


@attrs.frozen
class OnnxRuntimeSession:
    """An `onnxruntime.InferenceSession` of the user."""

    package: Any
    session: Any
    takes_larger_buffers: bool = False

    @property
    def model(self) -> str | bytes | None:
        """The model, which the Python class keeps in order to create its session again with other providers."""
        path, data = (getattr(self.session, name, None) for name in ("_model_path", "_model_bytes"))
        return path or data or None

    def bind(self, arrays: Mapping[str, Any], dtypes: Mapping[str, str], buffers: Sequence[Buffer]) -> BoundSession:
        """A run with an IOBinding. Raises Refusal for inputs of strings, which have no memory to bind."""
        strings = [name for name, dtype in dtypes.items() if dtype == "string"]
        if strings:
            raise Refusal(f"input {strings[0]} has strings, which onnxruntime does not bind")
        with refusals():
            values = {name: to_ort_value(self.package, array, dtypes[name]) for name, array in arrays.items()}
            return BoundSession(self.session, bind_values(self.session, values, buffers), tuple(buffers))


@attrs.frozen
class BoundSession:
    """A run of a session with an IOBinding."""

    session: Any
    handle: Any
    buffers: Sequence[Buffer]

    def run(self) -> dict[str, Any]:
        """All outputs by name."""
        with refusals():
            self.session.run_with_iobinding(self.handle)
            others = [o.name for o in self.session.get_outputs() if all(b.name != o.name for b in self.buffers)]
            values = self.handle.get_outputs()[len(self.buffers) :]
            results = {name: _to_python(value) for name, value in zip(others, values, strict=True)}
        return {**{buffer.name: buffer.array() for buffer in self.buffers}, **results}


def user_session(session: Any) -> OnnxRuntimeSession:
    """A session of the user. Raises Refusal for another object of the package."""
    package = import_onnxruntime("allocate_outputs")
    if not isinstance(session, package.InferenceSession):
        raise Refusal(f"expected an onnxruntime.InferenceSession, not {type(session).__name__}")
    return OnnxRuntimeSession(package, session)


def _to_python(value: Any) -> Any:
    """The array of a tensor; an OrtValue of another kind as it is."""
    return value.numpy() if value.is_tensor() else value


def _observe_type(value: Any) -> ObservedType:
    """The type of an OrtValue, or of an array."""
    if isinstance(value, np.ndarray):
        return ObservedType.from_array(value)
    return ObservedType(ONNX_NAMES.get(value.element_type()), tuple(value.shape()))


def _agrees(declared: Sequence[int | str | None] | None, shape: tuple[int, ...]) -> bool:
    """Whether a declared shape allows a buffer; an empty one also stands for no declaration."""
    if not declared:
        return True
    return len(declared) == len(shape) and all(
        not isinstance(dim, int) or dim == size for dim, size in zip(declared, shape, strict=True)
    )


def bytes_with_declared_types(graph: Graph, buffers: Mapping[str, Buffer]) -> bytes:
    """The bytes of the model with the types of buffers as the declared ones of outputs."""
    import onnx

    model = onnx.load_from_string(model_bytes(graph))
    for output in model.graph.output:
        if output.name in buffers:
            buffer = buffers[output.name]
            output.type.tensor_type.elem_type = ONNX_CODES[buffer.dtype]
            dims = output.type.tensor_type.shape.dim
            del dims[:]
            for size in buffer.shape:
                dims.add(dim_value=size)
    return bytes(model.SerializeToString())


def bytes_with_all_outputs(graph: Graph) -> bytes:
    """The bytes of the model with the outputs of all top-level nodes as outputs of the graph.

    Two concatenated protobufs are merged by readers: the second has only the added outputs, so that nothing is decoded.
    """
    import onnx

    added = onnx.ModelProto()
    outputs = {*graph.outputs, ""}
    for node in graph.nodes:
        for name in node.outputs:
            if name not in outputs:
                outputs.add(name)
                added.graph.output.append(onnx.ValueInfoProto(name=name))
    return model_bytes(graph) + bytes(added.SerializeToString())
