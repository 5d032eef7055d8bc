"""ncnn: the files that PNNX writes for ncnn in the folder of a network, run in a process of their own.

PNNX renames and fuses operators for ncnn, so that only the outputs of the network have certain counterparts: `out0` is
the first one. ncnn's tensors have no batch axis; the axis of each input and output that PNNX removed is in the Python
program in the same folder, which is read as text and never executed.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from shapeinf.errors import MissingPackageError, ModelError
from shapeinf.graph import Graph
from shapeinf.runtime import ncnn_child
from shapeinf.runtime.child_runs import run_child
from shapeinf.runtime.protocol import Buffer, Observation, ObservedType, Refusal, WrittenOutput, refusals

_PARAM = ".pnnx.param"
_AXIS = re.compile(r'"in(\d+)", ncnn\.Mat\(.*batch_index=(\d+)|out(\d+)\.numpy\(batch_index=(\d+)')
_ARRAYS = {"float16": "float32", "float64": "float32", "int64": "int32"}
"""The element types of inputs that are converted for ncnn."""
_INPUTS = frozenset({"float32", "int32", *_ARRAYS})
"""The element types that inputs may have."""
MAX_PROGRAM = 1 << 24
"""The most characters of the Python program."""


def runtime() -> Ncnn:
    """The installed ncnn. Raises MissingPackageError."""
    try:
        import ncnn
    except ImportError as error:
        raise MissingPackageError("verify --runtime ncnn", "ncnn", "ncnn") from error
    return Ncnn(str(ncnn.__version__))


@attrs.frozen
class Ncnn:
    """The package, on the CPU."""

    version: str
    name: str = "ncnn"

    def open(self, graph: Graph, timeout: float | None) -> NcnnNetwork:
        """The network that PNNX wrote for ncnn. Raises ModelError for a model that is not in a file of PNNX."""
        if graph.dialect != "pnnx" or graph.source is None or not graph.source.endswith(_PARAM):
            raise ModelError(f"only a network in a file NAME{_PARAM} can be run in ncnn", node=graph.source)
        return NcnnNetwork(graph, graph.source.removesuffix(_PARAM), timeout)


class NcnnNetwork:
    """The files of one network: each run is a process, whose crash is a refusal."""

    def __init__(self, graph: Graph, stem: str, timeout: float | None) -> None:
        """`stem`: the path of the network without its ending; `timeout`: the most seconds that one run may take."""
        self.graph = graph
        self.stem = stem
        self.timeout = timeout
        self._axes: tuple[dict[str, int], dict[str, int]] | None = None

    def load(self) -> None:
        """Find the files of ncnn. Raises Refusal where one is missing."""
        self.axes()

    def axes(self) -> tuple[dict[str, int], dict[str, int]]:
        """The batch axes of the inputs and of the outputs by ncnn's names."""
        if self._axes is None:
            for path in (f"{self.stem}.ncnn.param", f"{self.stem}.ncnn.bin", f"{self.stem}_ncnn.py"):
                if not os.path.isfile(path):
                    raise Refusal(f"{path} does not exist: PNNX writes it into the folder of the network")
            with open(f"{self.stem}_ncnn.py", encoding="utf-8", errors="replace") as file:
                matches = _AXIS.findall(file.read(MAX_PROGRAM))
            inputs = {f"in{m[0]}": int(m[1]) for m in matches if m[0]}
            outputs = {f"out{m[2]}": int(m[3]) for m in matches if m[2]}
            self._check_count("inputs", len(inputs), len(self.graph.inputs))
            self._check_count("outputs", len(outputs), len(self.graph.outputs))
            self._axes = inputs, outputs
        return self._axes

    def _check_count(self, noun: str, count: int, expected: int) -> None:
        if count != expected:
            raise Refusal(f"the network of ncnn has {count} {noun}, that of PNNX has {expected}")

    def tensor_names(self) -> frozenset[str]:
        """The outputs of the network; the counterparts of other blobs are not certain."""
        return frozenset(self.graph.outputs)

    def prepare(self, arrays: Mapping[str, Any], dtypes: Mapping[str, str]) -> dict[str, Any]:
        """Arrays of the element types that ncnn supports. Raises Refusal for others."""
        for name, dtype in dtypes.items():
            if dtype not in _INPUTS:
                raise Refusal(f"input {name} has element type {dtype}, which ncnn does not support")
        return {name: array.astype(_ARRAYS.get(dtypes[name], dtypes[name])) for name, array in arrays.items()}

    def observe(self, names: Sequence[str], feeds: Mapping[str, Any]) -> list[Observation]:
        """The shapes of these outputs, with the batch axis; ncnn has no element types of its own."""
        numbers = {name: f"out{number}" for number, name in enumerate(self.graph.outputs)}
        shapes = self._run(feeds)
        return [_observation(shapes.get(numbers[name], "ncnn has no such output")) for name in names]

    def _run(self, feeds: Mapping[str, Any]) -> dict[str, Any]:
        """The shape of each output, or the reason why it has none, by ncnn's names. Raises Refusal."""
        inputs, outputs = self.axes()
        task = {
            "param": os.path.abspath(f"{self.stem}.ncnn.param"),
            "bin": os.path.abspath(f"{self.stem}.ncnn.bin"),
            "inputs": inputs,
            "outputs": outputs,
        }
        arrays = {f"in{number}": feeds[name] for number, name in enumerate(self.graph.inputs)}
        with tempfile.TemporaryDirectory() as folder, refusals():
            done = run_child(
                ncnn_child.__file__, folder, task, arrays, title="ncnn", timeout=self.timeout, reason_on_stderr=True
            )
            return dict(done["outputs"])

    def fetch(self, name: str, feeds: Mapping[str, Any]) -> Any:
        """Only outputs are compared."""
        raise Refusal("only outputs of the network have a counterpart in ncnn")

    def binding_refusal(self, feeds: Mapping[str, Any]) -> str:
        """Outputs cannot be bound: ncnn allocates them."""
        return "ncnn writes no outputs into buffers"

    def run_into(self, buffers: Sequence[Buffer], feeds: Mapping[str, Any]) -> list[WrittenOutput]:
        """See `binding_refusal`."""
        raise Refusal("ncnn writes no outputs into buffers")


def _observation(shape: Any) -> Observation:
    return ObservedType(None, tuple(map(int, shape))) if isinstance(shape, list) else str(shape)
