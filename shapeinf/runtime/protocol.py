"""The interface between `verify` and a runtime: a module a runtime implements `Runtime`.

`docs/dev/add-a-runtime.md` shows how to add one.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import attrs
import numpy as np

from shapeinf.errors import ModelError, ShapeInferenceError, UnknownNameError
from shapeinf.graph import Graph

GUARD = 256
"""Bytes before and after a buffer that a run must not write."""
ALIGNMENT = 64
PATTERN = 0xA5

RUNTIMES = {
    "onnxruntime": "shapeinf.runtime.onnx_runtime",
    "openvino": "shapeinf.runtime.openvino_runtime",
    "tensorflow": "shapeinf.runtime.tensorflow_runtime",
    "torch": "shapeinf.runtime.torch_runtime",
    "ncnn": "shapeinf.runtime.ncnn_runtime",
}
"""The module of each runtime; its function `runtime()` returns the `Runtime`, or raises MissingPackageError."""


DIALECTS = {"onnxruntime": "onnx", "openvino": "onnx", "tensorflow": "tf", "torch": "pnnx", "ncnn": "pnnx"}
"""The dialect of the graphs that each runtime runs; of several runtimes of one dialect, the first is the default."""


class Refusal(Exception):  # noqa: N818  (internal, no error)
    """The runtime does not load or run the model; the text is the runtime's own.

    Internal: caught in `runtime.verification` and `passes.comparison`.
    """


@contextmanager
def refusals() -> Iterator[None]:
    """Turn every exception of a runtime (its own classes, plain RuntimeErrors) into a Refusal."""
    try:
        yield
    except (Refusal, ShapeInferenceError):
        raise
    except Exception as error:
        raise Refusal(" ".join(str(error).split()) or type(error).__name__) from error


@attrs.frozen
class ObservedType:
    """The element type (None for an item without one) and the shape of a tensor in a run."""

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
"""What a run shows of a value: its type, those of the items of a sequence, or why it has none in this run."""


@attrs.frozen
class Buffer:
    """The memory of one output: `size` bytes at `start` of `memory`, with guards around them."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    memory: Any
    start: int
    size: int

    @classmethod
    def allocate(cls, name: str, dtype: str, shape: tuple[int, ...], size: int) -> Buffer:
        """A buffer of `size` bytes at an aligned address."""
        memory = np.full(size + 2 * GUARD + ALIGNMENT, PATTERN, np.uint8)
        start = GUARD + -(memory.ctypes.data + GUARD) % ALIGNMENT
        return cls(name, dtype, shape, memory, start, size)

    @property
    def address(self) -> int:
        """The address of the first byte."""
        return int(self.memory.ctypes.data) + self.start

    @property
    def bytes(self) -> np.ndarray[Any, Any]:
        """The memory between the guards."""
        view: np.ndarray[Any, Any] = self.memory[self.start : self.start + self.size]
        return view

    @property
    def intact(self) -> bool:
        """Whether the guards are unchanged."""
        guards = (self.memory[: self.start], self.memory[self.start + self.size :])
        return all(bool(np.all(side == PATTERN)) for side in guards)


@attrs.frozen
class WrittenOutput:
    """An output of a run with a buffer: its type, and the address at which the runtime has it.

    `redeclared`: the file declares another shape, for which the runtime refuses the buffer; it was bound in a copy of
    the model that declares the shape of the buffer.
    """

    type: ObservedType
    address: int
    redeclared: bool = False


class LoadedModel(Protocol):
    """One model in a runtime. Every method raises Refusal where the runtime does not load or run the model.

    `feeds` is what `prepare` returns: only the runtime itself looks into it.
    """

    def load(self) -> None:
        """Load the model unchanged, optimised as the runtime does by default."""

    def tensor_names(self) -> frozenset[str]:
        """The outputs of nodes whose types `observe` returns; a copy of the model with more outputs may be loaded."""

    def prepare(self, arrays: Mapping[str, Any], dtypes: Mapping[str, str]) -> Any:
        """The inputs of a run, also of element types that numpy does not have."""

    def observe(self, names: Sequence[str], feeds: Any) -> Sequence[Observation]:
        """Run the model; what it shows of each of these values."""

    def fetch(self, name: str, feeds: Any) -> Any:
        """Run the model; a sequence, optional or map as a Python value."""

    def binding_refusal(self, feeds: Any) -> str:
        """Why no output of a run with these inputs can be written to a buffer; empty where it can."""

    def run_into(self, buffers: Sequence[Buffer], feeds: Any) -> list[WrittenOutput]:
        """Run the unchanged model with its outputs in buffers; other outputs are where the runtime allocates them."""


class Runtime(Protocol):
    """A runtime that is installed."""

    @property
    def name(self) -> str:
        """The name that `RUNTIMES` has."""

    @property
    def version(self) -> str:
        """The version of the package."""

    def open(self, graph: Graph, timeout: float | None) -> LoadedModel:
        """A model, loaded when a method needs it; a run of more than `timeout` seconds is refused."""


def choose_runtime(graph: Graph, name: str | None) -> Runtime:
    """The runtime of this name, or else the default one of the graph's format.

    Raises UnknownNameError; ModelError for a runtime that does not run the format, and for a format without a runtime;
    MissingPackageError where the runtime is not installed.
    """
    if name is not None and name not in RUNTIMES:
        raise UnknownNameError("runtime", name, RUNTIMES)
    names = [runtime for runtime, dialect in DIALECTS.items() if dialect == graph.dialect]
    if not names:
        raise ModelError("no runtime runs models of its format", node=graph.source)
    if name is not None and name not in names:
        raise ModelError(f"{name} does not run models of its format: choose {' or '.join(names)}", node=graph.source)
    return runtime_by_name(name or names[0])


def runtime_by_name(name: str) -> Runtime:
    """A runtime of `RUNTIMES`. Raises UnknownNameError, and MissingPackageError where it is not installed."""
    if name not in RUNTIMES:
        raise UnknownNameError("runtime", name, RUNTIMES)
    runtime: Runtime = importlib.import_module(RUNTIMES[name]).runtime()
    return runtime
