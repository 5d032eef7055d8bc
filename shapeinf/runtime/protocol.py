"""The interface between `verify` and a runtime: a module a runtime implements `Runtime`.

`docs/dev/add-a-runtime.md` shows how to add one.
"""

from __future__ import annotations

import importlib
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import attrs
import numpy as np

from shapeinf.errors import ModelError, ShapeInferenceError, UnknownNameError
from shapeinf.graph import Graph
from shapeinf.lattice import numpy_dtype

GUARD = 256
"""The bytes before and after a buffer that a run must not change."""
ALIGNMENT = 64
"""The alignment of a buffer, in bytes."""
PATTERN = 0xA5
"""The value of all bytes of a guard."""

RUNTIMES = {
    "onnxruntime": "shapeinf.runtime.onnx_runtime",
    "openvino": "shapeinf.runtime.openvino_runtime",
    "tensorflow": "shapeinf.runtime.tensorflow_runtime",
    "torch": "shapeinf.runtime.torch_runtime",
    "ncnn": "shapeinf.runtime.ncnn_runtime",
    "litert": "shapeinf.runtime.litert_runtime",
}
"""The module of each runtime; its function `runtime()` returns the `Runtime`, or raises MissingPackageError."""

FORMATS = {
    "onnxruntime": ("onnx",),
    "openvino": ("onnx",),
    "tensorflow": ("tf",),
    "torch": ("torch_export", "pnnx"),
    "ncnn": ("pnnx",),
    "litert": ("tflite",),
}
"""The formats of the models that each runtime runs; the first runtime of a format is its default."""

SESSIONS = ("onnxruntime", "openvino")
"""The runtimes with sessions whose outputs can be allocated before a run; their modules have `user_session`."""


class Refusal(Exception):  # noqa: N818  (internal, no error)
    """The runtime does not load or run the model; the text is the reason, mostly the runtime's message.

    Internal: caught in `runtime.verification`, `runtime.memory_verification`, `runtime.preallocation` and
    `passes.comparison`.
    """


class NotLoaded(Refusal):
    """The runtime does not load the model, whatever its inputs are.

    Internal: caught in `runtime.model_runs` and `runtime.memory_verification`.
    """


class StoppedRun(Refusal):
    """A run took longer than allowed. Internal: caught in `runtime.verification` and `runtime.memory_verification`."""

    def __init__(self, seconds: float | None) -> None:
        """After this time; None where it is not known."""
        super().__init__("stopped" if seconds is None else f"stopped after {seconds:g} seconds")


@contextmanager
def refusals() -> Iterator[None]:
    """Turn every exception of a runtime (its own classes, plain RuntimeErrors) into a Refusal."""
    try:
        yield
    except (Refusal, ShapeInferenceError):
        raise
    except Exception as error:
        raise Refusal(" ".join(str(error).split()) or type(error).__name__) from error


@contextmanager
def stop_after(seconds: float | None, stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop`, in another thread, if a block takes longer; a Refusal of the block is then a StoppedRun."""
    late = threading.Event()

    def stop_late() -> None:
        late.set()
        stop()

    timer = threading.Timer(seconds, stop_late) if seconds else None
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        yield
    except Refusal as refusal:
        if late.is_set():
            raise StoppedRun(seconds) from refusal
        raise
    finally:
        if timer is not None:
            timer.cancel()


@attrs.frozen
class ObservedType:
    """The element type (None where the runtime has none) and the shape of a tensor in a run."""

    dtype: str | None
    shape: tuple[int, ...]

    @classmethod
    def from_array(cls, array: np.ndarray[Any, Any]) -> ObservedType:
        """The type of a numpy array."""
        return cls("string" if array.dtype.kind in "OUS" else array.dtype.name, array.shape)

    def __str__(self) -> str:
        """`float32[2, 3]`."""
        return f"{self.dtype or '?'}[{', '.join(map(str, self.shape))}]"


Observation = ObservedType | list[ObservedType | None] | str
"""The type of a value in a run, the types of the items of a sequence, or the reason why the run has no type."""


@attrs.frozen
class Buffer:
    """The memory for one output: `size` bytes from `start` of `memory` on, mostly between two guards."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    memory: Any
    start: int
    size: int

    @classmethod
    def allocate(cls, name: str, dtype: str, shape: tuple[int, ...], size: int) -> Buffer:
        """Allocate a buffer of `size` bytes at an aligned address between guards."""
        memory = np.full(size + 2 * GUARD + ALIGNMENT, PATTERN, np.uint8)
        start = GUARD + -(memory.ctypes.data + GUARD) % ALIGNMENT
        return cls(name, dtype, shape, memory, start, size)

    @classmethod
    def reserve(cls, name: str, dtype: str, shape: tuple[int, ...], size: int) -> Buffer:
        """Allocate a buffer of `size` bytes at an aligned address without guards; its pages are not written."""
        memory = np.empty(size + ALIGNMENT, np.uint8)
        return cls(name, dtype, shape, memory, -memory.ctypes.data % ALIGNMENT, size)

    @property
    def address(self) -> int:
        """The address of the first byte."""
        return int(self.memory.ctypes.data) + self.start

    @property
    def bytes(self) -> np.ndarray[Any, Any]:
        """The memory between the guards."""
        view: np.ndarray[Any, Any] = self.memory[self.start : self.start + self.size]
        return view

    def array(self, shape: tuple[int, ...] | None = None) -> np.ndarray[Any, Any]:
        """The elements as an array of the buffer's shape, or the first ones as an array of a smaller shape."""
        shape = self.shape if shape is None else shape
        elements: np.ndarray[Any, Any] = self.bytes.view(np.dtype(numpy_dtype(self.dtype)))
        return elements[: math.prod(shape)].reshape(shape)

    @property
    def intact(self) -> bool:
        """Whether the guards are unchanged."""
        guards = (self.memory[: self.start], self.memory[self.start + self.size :])
        return all(bool(np.all(side == PATTERN)) for side in guards)


@attrs.frozen
class WrittenOutput:
    """An output after a run with its buffer: its type, and the address of its data in the runtime.

    `redeclared`: the file declares another shape, so that the runtime refuses the buffer; the run was one of a copy of
    the model that declares the shape of the buffer.
    """

    type: ObservedType
    address: int
    redeclared: bool = False


class BoundRun(Protocol):
    """A run of a user's session with its inputs and some outputs in the user's memory."""

    @property
    def handle(self) -> Any:
        """The object of the runtime that has the bindings: an IOBinding of onnxruntime, a request of OpenVINO."""

    def run(self) -> dict[str, Any]:
        """Run, and return all outputs by name, those with a buffer as views of it. Raises Refusal."""


class UserSession(Protocol):
    """A session that the user made of a model."""

    @property
    def model(self) -> str | bytes | None:
        """The path or the bytes of its model; None where the session does not know it."""

    @property
    def takes_larger_buffers(self) -> bool:
        """Whether an output may be smaller than its buffer."""

    def bind(self, arrays: Mapping[str, Any], dtypes: Mapping[str, str], buffers: Sequence[Buffer]) -> BoundRun:
        """A run with these inputs, whose element types `dtypes` has, and with outputs in buffers. Raises Refusal."""


class LoadedModel(Protocol):
    """One model in a runtime. Every method raises Refusal where the runtime does not load or run the model.

    `feeds` are the inputs as `prepare` returns them; their type is private to the runtime.
    """

    def load(self) -> None:
        """Load the model unchanged, optimized as the runtime does by default."""

    def tensor_names(self) -> frozenset[str]:
        """The outputs of nodes that `observe` takes. A copy of the model with more outputs may be loaded."""

    def prepare(self, arrays: Mapping[str, Any], dtypes: Mapping[str, str]) -> Any:
        """The inputs of a run from arrays, and their element types, of which numpy may lack some (bfloat16)."""

    def observe(self, names: Sequence[str], feeds: Any) -> Sequence[Observation]:
        """Run the model, and return the observation of each of these values, in order."""

    def fetch(self, name: str, feeds: Any) -> Any:
        """Run the model, and return a sequence, optional or map as a Python value of lists and arrays."""

    def binding_refusal(self, feeds: Any) -> str:
        """Why no output of a run with these inputs can be written to a buffer; empty where outputs can."""

    def run_into(self, buffers: Sequence[Buffer], feeds: Any) -> list[WrittenOutput]:
        """Run the unchanged model with these outputs in buffers, and return the outputs in the order of the buffers."""


class Runtime(Protocol):
    """A runtime that is installed."""

    @property
    def name(self) -> str:
        """The name in `RUNTIMES`."""

    @property
    def version(self) -> str:
        """The version of the package."""

    def open(self, graph: Graph, timeout: float | None) -> LoadedModel:
        """The model of a graph, loaded when a method needs it. A run of more than `timeout` seconds raises Refusal.

        Raises ModelError for a graph that cannot be run.
        """


def choose_runtime(graph: Graph, name: str | None) -> Runtime:
    """The runtime of this name; None: the default runtime of the graph's format.

    Raises UnknownNameError, ModelError for a runtime that does not run the format and for a format without a runtime,
    MissingPackageError where the runtime is not installed.
    """
    if name is not None and name not in RUNTIMES:
        raise UnknownNameError("runtime", name, RUNTIMES)
    names = [runtime for runtime, formats in FORMATS.items() if (graph.format or graph.dialect) in formats]
    if not names:
        raise ModelError("no runtime runs models of this format", node=graph.source)
    if name is not None and name not in names:
        raise ModelError(f"{name} does not run models of this format: choose {' or '.join(names)}", node=graph.source)
    return runtime_by_name(name or names[0])


def runtime_by_name(name: str) -> Runtime:
    """A runtime of `RUNTIMES`. Raises UnknownNameError, and MissingPackageError where it is not installed."""
    if name not in RUNTIMES:
        raise UnknownNameError("runtime", name, RUNTIMES)
    runtime: Runtime = importlib.import_module(RUNTIMES[name]).runtime()
    return runtime
