"""LiteRT, the runtime of TensorFlow Lite, in a process of its own: some legal files end it.

Inputs are resized as `resize_tensor_input(strict=False)` does, and no delegate runs. All tensors of the main subgraph
are observed; those of bodies are not.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import attrs

from shapeinf.errors import MissingPackageError, ModelError
from shapeinf.formats.read_files import files_of
from shapeinf.formats.tflite.model import TfliteModel
from shapeinf.formats.tflite.reader import open_model
from shapeinf.graph import Graph
from shapeinf.runtime import litert_child
from shapeinf.runtime.child_runs import run_child
from shapeinf.runtime.protocol import Buffer, Observation, ObservedType, Refusal, WrittenOutput, refusals

_PACKAGE = "ai-edge-litert"
_DTYPES = frozenset({"bool", "float16", "float32", "float64", "complex64", "complex128"}) | frozenset(
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
)
"""The element types that LiteRT's arrays have as they are."""


def runtime() -> LiteRt:
    """The installed LiteRT. Raises MissingPackageError."""
    try:
        return LiteRt(version(_PACKAGE))
    except PackageNotFoundError as error:
        raise MissingPackageError("verify --runtime litert", _PACKAGE, "litert") from error


@attrs.frozen
class LiteRt:
    """The package, on the CPU."""

    version: str
    name: str = "litert"

    def open(self, graph: Graph, timeout: float | None) -> LiteRtModel:
        """The file of a graph. Raises ModelError for a graph without one, and for a signature of another subgraph."""
        model = graph.model
        if not isinstance(model, TfliteModel):
            raise ModelError("only a TensorFlow Lite file can be run in LiteRT", node=graph.source)
        if model.subgraph:
            raise ModelError("only the main subgraph can be run, and the signature has another one", node=graph.source)
        return LiteRtModel(graph, timeout)


class LiteRtModel:
    """One file: each run is a process, whose crash is a refusal."""

    def __init__(self, graph: Graph, timeout: float | None) -> None:
        """`timeout`: the most seconds that one run may take."""
        self.graph = graph
        self.timeout = timeout
        names: Mapping[tuple[int, int], str] = graph.model.names
        self._indices = {name: index for (subgraph, index), name in names.items() if subgraph == 0}
        self._indices.update(zip(graph.inputs, graph.model.inputs, strict=True))  # nodes may write inputs
        self._observed: tuple[Any, dict[str, Any]] | None = None

    def load(self) -> None:
        """Nothing: a run loads the file."""

    def tensor_names(self) -> frozenset[str]:
        """The outputs of all nodes outside of bodies; of a tensor that is written twice the last value."""
        return frozenset(name for node in self.graph.nodes for name in node.outputs if name in self._indices)

    def prepare(self, arrays: Mapping[str, Any], dtypes: Mapping[str, str]) -> dict[str, Any]:
        """The arrays themselves. Raises Refusal for element types without an array."""
        for name, dtype in dtypes.items():
            if dtype not in _DTYPES:
                raise Refusal(f"input {name} has element type {dtype}, for which LiteRT takes no array of numpy")
        return dict(arrays)

    def observe(self, names: Sequence[str], feeds: Mapping[str, Any]) -> list[Observation]:
        """The types of these values; all calls with the same feeds share one run."""
        if self._observed is None or self._observed[0] is not feeds:
            self._observed = feeds, self._run(feeds)
        tensors = self._observed[1]
        return [_observation(tensors.get(str(self._indices[name]))) for name in names]

    def _run(self, feeds: Mapping[str, Any]) -> dict[str, Any]:
        """Element type and shape of each tensor by its index. Raises Refusal."""
        with tempfile.TemporaryDirectory() as folder, refusals():
            arrays = {str(number): array for number, array in enumerate(feeds.values())}
            inputs = {str(self._indices[name]): f"{number}.npy" for number, name in enumerate(feeds)}
            task = {"model": self._path(folder), "inputs": inputs}
            done = run_child(litert_child.__file__, folder, task, arrays, title="LiteRT", timeout=self.timeout)
            return dict(done["tensors"])

    def _path(self, folder: str) -> str:
        """The path of the file, or of a copy of bytes without one."""
        files = files_of(self.graph)
        if files.path is not None and not self.graph.model.member:
            files.check()
            return files.path
        path = os.path.join(folder, "model.tflite")
        with open_model(self.graph) as buffer, open(path, "wb") as file:
            file.write(buffer[:])
        return path

    def fetch(self, name: str, feeds: Mapping[str, Any]) -> Any:
        """A file has no sequences, optionals or maps."""
        raise Refusal("the file has no node with an output of this name")

    def binding_refusal(self, feeds: Mapping[str, Any]) -> str:
        """Outputs cannot be bound: LiteRT allocates them."""
        return "LiteRT writes no outputs into buffers here"

    def run_into(self, buffers: Sequence[Buffer], feeds: Mapping[str, Any]) -> list[WrittenOutput]:
        """See `binding_refusal`."""
        raise Refusal("LiteRT writes no outputs into buffers here")


def _observation(tensor: Any) -> Observation:
    """The type of a tensor; LiteRT's arrays do not have the element types of all tensors."""
    if not isinstance(tensor, list):
        return "LiteRT has no such tensor"
    dtype, shape = tensor
    return ObservedType(dtype if dtype in _DTYPES else None, tuple(shape))
