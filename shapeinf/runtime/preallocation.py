"""Outputs of a session in memory that is allocated before the run: exactly their size, or the most that they can have.

For programs that run a model many times and decide themselves where its results lie: shared memory, a pool, the inputs
of the next model.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import attrs
import numpy as np

from shapeinf.api import as_graph, infer
from shapeinf.errors import ModelError, UnknownNameError
from shapeinf.graph import Graph
from shapeinf.inputs.options import InferenceOptions, without_defaults
from shapeinf.result import Result
from shapeinf.runtime.array_types import numpy_type
from shapeinf.runtime.buffers import binding_obstacle, max_bytes, max_shape
from shapeinf.runtime.protocol import RUNTIMES, SESSIONS, BoundRun, Buffer, Refusal, UserSession

MAX_ELEMENTS = 64
"""The most elements of an integer input that is read, where the size of an output depends on it."""
MAX_REMEMBERED = 64
"""The inputs of different shapes for which the sizes of outputs are remembered."""


@attrs.frozen
class OutputSize:
    """The element type and the shape of an output, or of the largest one that data may ask for.

    `obstacle`: why it has no buffer; empty where it has one.
    """

    dtype: str
    shape: tuple[int, ...]
    is_exact: bool
    obstacle: str = ""

    @property
    def bytes(self) -> int:
        """The bytes of all elements."""
        return math.prod(self.shape) * numpy_type(self.dtype).itemsize


@attrs.frozen
class AllocatedOutputs:
    """The buffers of the outputs of one run, bound to the session with the inputs.

    Args:
        arrays: an array for each output with a buffer; one whose size depends on data has the largest shape.
        bounded: the outputs whose size depends on data.
        unbound: why an output has no buffer; the runtime allocates it.
    """

    arrays: dict[str, np.ndarray[Any, Any]]
    bounded: tuple[str, ...]
    unbound: dict[str, str]
    _run: BoundRun

    @property
    def binding(self) -> Any:
        """The object to run, with inputs and outputs set: onnxruntime's IOBinding, OpenVINO's request."""
        return self._run.handle

    def run(self) -> dict[str, Any]:
        """Run, and return all outputs by name: views of the buffers, and those that the runtime allocated.

        A second call runs with what the arrays of the inputs have then, and writes into the same buffers.
        Raises ModelError, with the message of the runtime, when the run fails.
        """
        try:
            return self._run.run()
        except Refusal as refusal:
            raise ModelError(f"the run failed: {refusal}") from refusal


class OutputSizes:
    """The sizes of the outputs of a model, inferred once for inputs of the same shapes."""

    def __init__(self, graph: Graph, takes_larger: bool) -> None:
        """`takes_larger`: whether the runtime accepts a buffer that is larger than the output."""
        self.graph = graph
        self._takes_larger = takes_larger
        self._sizes: dict[object, dict[str, OutputSize]] = {}
        self._lock = Lock()

    def at(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, OutputSize]:
        """The size of each output for inputs of these shapes.

        Where a size depends on data, small arrays of integers are read as well.
        """
        shapes = {name: array.shape for name, array in arrays.items()}
        key = frozenset(shapes.items())
        sizes = self._remembered(key, shapes, {})
        if all(size.is_exact for size in sizes.values()):
            return sizes
        values = {name: a.tolist() for name, a in arrays.items() if a.dtype.kind in "iu" and a.size <= MAX_ELEMENTS}
        contents = frozenset((name, arrays[name].tobytes()) for name in values)
        return self._remembered((key, contents), shapes, values) if values else sizes

    def _remembered(
        self, key: object, shapes: Mapping[str, tuple[int, ...]], values: Mapping[str, object]
    ) -> dict[str, OutputSize]:
        sizes = self._sizes.get(key)
        if sizes is None:
            sizes = self._infer(shapes, values)
            with self._lock:  # a server may run one session in several threads
                while len(self._sizes) >= MAX_REMEMBERED:
                    del self._sizes[next(iter(self._sizes))]
                self._sizes[key] = sizes
        return sizes

    def _infer(self, shapes: Mapping[str, tuple[int, ...]], values: Mapping[str, object]) -> dict[str, OutputSize]:
        graph = without_defaults(self.graph, shapes)
        specs = {name: list(shape) for name, shape in shapes.items()}
        result = infer(graph, InferenceOptions(values=values, min_dim=0), [specs])
        written = {name for node in graph.nodes for name in node.outputs}
        return {name: self._size(result, name, name in written) for name in graph.outputs}

    def _size(self, result: Result, name: str, is_written: bool) -> OutputSize:
        info, most = result.tensors[name], max_bytes(result, name)
        dims = info.shape.dims
        is_exact = dims is not None and all(isinstance(dim, int) for dim in dims)
        obstacle = binding_obstacle(info, most)
        if not is_written:
            obstacle = "it is an input or a constant, which no node writes"
        elif not obstacle and not is_exact and not self._takes_larger:
            obstacle = f"its size depends on data; it has at most {most} bytes"
        return OutputSize(info.dtype or "", max_shape(result, name) or (), is_exact, obstacle)

    def dtype(self, name: str, array: np.ndarray[Any, Any]) -> str:
        """The element type of an input: that of the model, which numpy may lack."""
        constant = self.graph.constants.get(name)
        declared = self.graph.declared.get(name) if constant is None else constant
        return (declared.dtype if declared is not None else None) or array.dtype.name


_SIZES: WeakKeyDictionary[Any, OutputSizes] = WeakKeyDictionary()
"""By the session of the user."""


def allocate_outputs(session: Any, feeds: Mapping[str, Any], model: Any = None) -> AllocatedOutputs:
    """Allocate the outputs of one run of a session, of exactly their sizes, and bind them with the inputs.

    An output whose size depends on data gets a buffer of the proven upper bound where the runtime accepts one
    (OpenVINO); onnxruntime allocates it. The sizes for inputs of the same shapes are inferred once for a session.

    Args:
        session: an `onnxruntime.InferenceSession` or an `openvino.CompiledModel`.
        feeds: the inputs, arrays by name.
        model: what the session was made of, in any form that `infer_shapes` accepts. An InferenceSession knows it; for
            OpenVINO the first call with a session needs it.

    Raises:
        ModelError: another kind of session, no model, or inputs or buffers that the session does not take.
        UnknownNameError: an input that the model does not have.
        ShapeInferenceError: shapes that contradict the model.
    """
    opened = _open_session(session)
    sizes = _SIZES.get(session)
    if sizes is None:
        source = opened.model if model is None else model
        if source is None:
            raise ModelError("the session does not know the model that it was made of: specify it as well")
        sizes = _SIZES[session] = OutputSizes(as_graph(source), opened.takes_larger_buffers)
    arrays = {name: np.asarray(array, order="C") for name, array in feeds.items()}
    for name in arrays:
        if name not in sizes.graph.inputs:
            raise UnknownNameError("input", name, sizes.graph.inputs)
    return _bind(opened, arrays, {name: sizes.dtype(name, array) for name, array in arrays.items()}, sizes.at(arrays))


def _bind(
    session: UserSession,
    arrays: Mapping[str, np.ndarray[Any, Any]],
    dtypes: Mapping[str, str],
    sizes: Mapping[str, OutputSize],
) -> AllocatedOutputs:
    """Buffers of these sizes, bound with the inputs."""
    known = {name: size for name, size in sizes.items() if not size.obstacle}
    buffers = [Buffer.reserve(name, size.dtype, size.shape, size.bytes) for name, size in known.items()]
    try:
        run = session.bind(arrays, dtypes, buffers)
    except Refusal as refusal:
        raise ModelError(f"the session takes no such inputs or outputs: {refusal}") from refusal
    return AllocatedOutputs(
        {buffer.name: buffer.array() for buffer in buffers},
        tuple(name for name, size in known.items() if not size.is_exact),
        {name: size.obstacle for name, size in sizes.items() if size.obstacle},
        run,
    )


def _open_session(session: Any) -> UserSession:
    """The session behind the protocol. Raises ModelError for one of no known runtime."""
    package = type(session).__module__.partition(".")[0]
    if package not in SESSIONS:
        known = " or ".join(SESSIONS)
        raise ModelError(f"expected a session of {known}, not {type(session).__name__}")
    try:
        opened: UserSession = importlib.import_module(RUNTIMES[package]).user_session(session)
    except Refusal as refusal:
        raise ModelError(str(refusal)) from refusal
    return opened
