"""OpenVINO: its ONNX front end preserves the names of tensors, and each of these can be made an output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from shapeinf.errors import MissingPackageError
from shapeinf.formats.onnx.model_bytes import path_or_bytes
from shapeinf.graph import Graph
from shapeinf.lattice.dtypes import SHORT_NAMES
from shapeinf.runtime.protocol import Buffer, ObservedType, Refusal, StoppedRun, WrittenOutput, refusals

_DTYPES = {
    "boolean": "bool",
    "f8e4m3": "float8e4m3fn",
    "f8e5m2": "float8e5m2",
    "i4": "int4",
    "u4": "uint4",
    **{short: name for short, name in SHORT_NAMES.items() if short != "bool"},
}
"""Our element types by OpenVINO's names."""

_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
"""OpenVINO's names of our element types."""


def runtime() -> OpenVino:
    """The installed OpenVINO. Raises MissingPackageError."""
    try:
        import openvino
    except ImportError as error:
        raise MissingPackageError("verify --runtime openvino", "openvino", "openvino") from error
    return OpenVino(openvino)


@attrs.frozen
class OpenVino:
    """The package, with its CPU device."""

    package: Any
    name: str = "openvino"

    @property
    def version(self) -> str:
        """The version of the package, without the branch and commit of the build."""
        return str(self.package.__version__).split("-")[0]

    def open(self, graph: Graph, timeout: float | None) -> OpenVinoModel:
        """A model, read and compiled when a method needs it."""
        return OpenVinoModel(self.package, graph, timeout)


class OpenVinoModel:
    """The compiled models of one graph: the unchanged one, and the latest one with more tensors as outputs.

    Dims stay dynamic: shapes are those of the tensors that a run returns. A tensor that OpenVINO's front end folds
    away, or creates without a name, cannot be compared.
    """

    def __init__(self, package: Any, graph: Graph, timeout: float | None) -> None:
        """`timeout`: the most seconds that one run may take."""
        self.package = package
        self.graph = graph
        self.timeout = timeout
        self._plain: tuple[dict[str, int], Any] | None = None
        self._exposed: tuple[list[str], dict[str, int], Any] | None = None
        self._names: frozenset[str] | None = None

    def load(self) -> None:
        """Read and compile the unchanged model."""
        self.compile_plain()

    def compile_plain(self) -> tuple[dict[str, int], Any]:
        """The indices of the outputs of the unchanged model by name, and the compiled model."""
        if self._plain is None:
            model = self._read()
            self._plain = _output_indices(model), self._compile(model)
        return self._plain

    def _read(self) -> Any:
        model = path_or_bytes(self.graph)
        with refusals():
            return self.package.Core().read_model(model)

    def _compile(self, model: Any) -> Any:
        with refusals():
            return self.package.Core().compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": 1})

    def tensor_names(self) -> frozenset[str]:
        """The outputs of nodes whose names OpenVINO's model has, and that can be outputs of the model.

        A constant that is also a result of the body of a loop cannot be an output.
        """
        if self._names is None:
            model = self._read()
            named = {name for op in model.get_ops() for output in op.outputs() for name in output.get_names()}
            named.intersection_update(name for node in self.graph.nodes for name in node.outputs)
            self._names = frozenset(named.intersection(_add_outputs(model, sorted(named))))
        return self._names

    def prepare(self, arrays: Mapping[str, Any], dtypes: Mapping[str, str]) -> dict[str, Any]:
        """Arrays as tensors of OpenVINO. Raises Refusal for strings and for types that OpenVINO does not have."""
        return to_tensors(self.package, arrays, dtypes)

    def observe(self, names: Sequence[str], feeds: Mapping[str, Any]) -> list[ObservedType]:
        """The types of these tensors in a run of a copy that has them as outputs."""
        if self._exposed is None or self._exposed[0] != list(names):
            model = self._read()
            self._exposed = list(names), _add_outputs(model, names), self._compile(model)
        _, indices, compiled = self._exposed
        request = self._run(compiled, feeds)
        return [_observe_type(request.get_output_tensor(indices[name])) for name in names]

    def fetch(self, name: str, feeds: Mapping[str, Any]) -> Any:
        """OpenVINO has no sequences and optionals, and no tensors that its front end folds away."""
        raise Refusal("OpenVINO has no tensor of this name")

    def binding_refusal(self, feeds: Mapping[str, Any]) -> str:
        """Outputs can be bound in every run."""
        return ""

    def run_into(self, buffers: Sequence[Buffer], feeds: Mapping[str, Any]) -> list[WrittenOutput]:
        """Run with the buffers as output tensors."""
        indices, compiled = self.compile_plain()
        memory = output_tensors(self.package, indices, buffers)
        request = self._run(compiled, feeds, memory)
        outputs = [request.get_output_tensor(indices[buffer.name]) for buffer in buffers]
        return [WrittenOutput(_observe_type(tensor), tensor.data.ctypes.data) for tensor in outputs]

    def _run(self, compiled: Any, feeds: Mapping[str, Any], outputs: Mapping[int, Any] | None = None) -> Any:
        """The request of one run. A run that takes too long is cancelled (not inside of a loop) and raises Refusal."""
        with refusals():
            request = create_request(compiled, feeds, outputs or {})
            request.start_async()
            if not self.timeout:
                request.wait()
            elif not request.wait_for(round(self.timeout * 1000)):
                request.cancel()
                raise StoppedRun(self.timeout)
            return request


def to_tensors(package: Any, arrays: Mapping[str, Any], dtypes: Mapping[str, str]) -> dict[str, Any]:
    """Arrays as tensors of OpenVINO. Raises Refusal for strings and for types that OpenVINO does not have."""
    for name, dtype in dtypes.items():
        if dtype not in _NAMES or dtype == "string":
            raise Refusal(f"input {name} has element type {dtype}, which is not supported in OpenVINO")
    with refusals():
        return {name: _to_tensor(package, array, dtypes[name]) for name, array in arrays.items()}


def _to_tensor(package: Any, array: Any, dtype: str) -> Any:
    contiguous = np.ascontiguousarray(array).reshape(array.shape)
    if contiguous.dtype.isbuiltin != 1:  # bfloat16 and other types of ml_dtypes: the same bytes
        contiguous = contiguous.view(f"u{contiguous.itemsize}")
    return package.Tensor(contiguous, package.Shape(list(array.shape)), _element_type(package, dtype))


def _element_type(package: Any, dtype: str) -> Any:
    return getattr(package.Type, _NAMES[dtype])


def output_tensors(package: Any, indices: Mapping[str, int], buffers: Sequence[Buffer]) -> dict[int, Any]:
    """Tensors in buffers, by the index of the output. Raises Refusal for a buffer whose name no output has."""
    tensors = {}
    for buffer in buffers:
        if buffer.name not in indices:
            raise Refusal(f"OpenVINO has no output named {buffer.name}")
        shape = package.Shape(list(buffer.shape))
        with refusals():
            tensors[indices[buffer.name]] = package.Tensor(buffer.bytes, shape, _element_type(package, buffer.dtype))
    return tensors


def create_request(compiled: Any, feeds: Mapping[str, Any], outputs: Mapping[int, Any]) -> Any:
    """A request of a compiled model with tensors as inputs, by name, and as outputs, by index."""
    request = compiled.create_infer_request()
    for index, parameter in enumerate(compiled.inputs):
        name = next((name for name in parameter.get_names() if name in feeds), "")
        request.set_input_tensor(index, feeds[name])
    for index, tensor in outputs.items():
        request.set_output_tensor(index, tensor)
    return request


@attrs.frozen
class OpenVinoSession:
    """An `openvino.CompiledModel` of the user; it does not know its model."""

    package: Any
    session: Any
    takes_larger_buffers: bool = True
    model: None = None

    def bind(self, arrays: Mapping[str, Any], dtypes: Mapping[str, str], buffers: Sequence[Buffer]) -> BoundRequest:
        """A run of a new request."""
        feeds = to_tensors(self.package, arrays, dtypes)
        names = [output.get_names() for output in self.session.outputs]
        indices = {name: index for index, aliases in enumerate(names) for name in aliases}
        tensors = output_tensors(self.package, indices, buffers)
        with refusals():
            return BoundRequest(create_request(self.session, feeds, tensors), indices, tuple(buffers))


@attrs.frozen
class BoundRequest:
    """A run of a request whose tensors are set."""

    handle: Any
    indices: Mapping[str, int]
    buffers: Sequence[Buffer]

    def run(self) -> dict[str, Any]:
        """All outputs by name; one that is smaller than its buffer is a view of the buffer's first elements."""
        with refusals():
            self.handle.infer()
            tensors = {name: self.handle.get_output_tensor(index) for name, index in self.indices.items()}
        bound = {buffer.name: buffer.array(tuple(tensors[buffer.name].shape)) for buffer in self.buffers}
        return {**{name: tensor.data for name, tensor in tensors.items() if name not in bound}, **bound}


def user_session(session: Any) -> OpenVinoSession:
    """A compiled model of the user. Raises Refusal for another object of the package."""
    import openvino

    if not isinstance(session, openvino.CompiledModel):
        raise Refusal(f"expected an openvino.CompiledModel, not {type(session).__name__}")
    return OpenVinoSession(openvino, session)


def _add_outputs(model: Any, names: Sequence[str]) -> dict[str, int]:
    """Make these tensors outputs of a model; returns the index of the output for each name."""
    indices = _output_indices(model)
    with refusals():
        model.add_outputs([name for name in names if name not in indices])
    return _output_indices(model)


def _output_indices(model: Any) -> dict[str, int]:
    """The index of the output for each name of a tensor; several names may be one tensor, and so one output."""
    return {
        name: index
        for index, result in enumerate(model.get_results())
        for name in (*result.input_value(0).get_names(), *result.output(0).get_names())
    }


def _observe_type(tensor: Any) -> ObservedType:
    return ObservedType(_DTYPES.get(tensor.element_type.get_type_name()), tuple(tensor.shape))
