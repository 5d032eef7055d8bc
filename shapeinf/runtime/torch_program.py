"""A program of torch.export in torch: its graph, node by node, without the guards that torch adds to it.

A file is loaded by `torch.export.load`, which evaluates texts of the file as Python code.
"""

from __future__ import annotations

import io
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shapeinf.errors import ModelError
from shapeinf.formats.torch_export.reader import ExportedModel
from shapeinf.graph import Graph
from shapeinf.runtime.protocol import Buffer, Observation, Refusal, StoppedRun, WrittenOutput, refusals
from shapeinf.runtime.torch_graphs import GraphRuns, observed_names
from shapeinf.runtime.torch_values import to_tensor

_JSON_ALONE = "the JSON of a program has no weights: pass the file that torch.export.save writes, or the program itself"
_NO_WEIGHTS = (
    "the file has no weights, and torch runs no program without them: pass the file that torch.export.save writes"
)


class TorchProgram:
    """A live `ExportedProgram`, or that of a file, which is loaded when a method needs it."""

    def __init__(self, package: Any, graph: Graph, timeout: float | None) -> None:
        """`timeout`: the most seconds that one run may take; it ends after the node in which they pass.

        Raises ModelError for a program without weights.
        """
        if not isinstance(graph.model, ExportedModel) or graph.model.is_json:
            raise ModelError(_JSON_ALONE, node=graph.source)
        if graph.model.lacks_weights:
            raise ModelError(_NO_WEIGHTS, node=graph.source)
        self.package = package
        self.graph = graph
        self.timeout = timeout
        self._origin = graph.model.origin
        self._program: Any = None
        self._traced: tuple[Any, dict[str, Observation]] | None = None

    def load(self) -> None:
        """Load the program of a file."""
        self.program()

    def program(self) -> Any:
        """The program."""
        if self._program is None:
            origin = self._origin
            if isinstance(origin, (str, bytes)):
                with refusals(), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self._program = self._load(io.BytesIO(origin) if isinstance(origin, bytes) else origin)
            else:
                self._program = origin
        return self._program

    def _load(self, file: Any) -> Any:
        """The program of this name in a file: `torch.export.load` takes packages of one program only."""
        name = self.graph.name
        if not name or name == "model":
            return self.package.export.load(file)
        from torch.export.pt2_archive._package import load_pt2

        return load_pt2(file).exported_programs[name]

    def tensor_names(self) -> frozenset[str]:
        """The outputs of all nodes, also of those inside bodies."""
        return frozenset(observed_names(self.graph))

    def prepare(self, arrays: Mapping[str, Any], dtypes: Mapping[str, str]) -> dict[str, Any]:
        """Arrays as tensors."""
        with refusals():
            return {name: to_tensor(self.package, array, dtypes[name]) for name, array in arrays.items()}

    def observe(self, names: Sequence[str], feeds: Mapping[str, Any]) -> list[Observation]:
        """The types of these values; all calls with the same feeds share one run."""
        if self._traced is None or self._traced[0] is not feeds:
            self._traced = feeds, self._run(feeds)
        return [self._traced[1][name] for name in names]

    def _run(self, feeds: Mapping[str, Any]) -> dict[str, Observation]:
        """Run the graph of the program, and return the types of all values of our graph."""
        torch, program = self.package, self.program()
        start = time.monotonic()

        def check() -> None:
            if self.timeout and time.monotonic() - start > self.timeout:
                raise StoppedRun(self.timeout)

        runs = GraphRuns(torch, check)
        with refusals(), torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runs.run(program.graph_module, self.graph, list(self._inputs(feeds)))
        runs.add_missing(self.graph)
        return runs.observed

    def _inputs(self, feeds: Mapping[str, Any]) -> Iterator[Any]:
        """The inputs of the graph in order; copies, since nodes may write to them."""
        program = self.program()
        for spec in program.graph_signature.input_specs:
            kind = spec.kind.name
            if kind != "USER_INPUT":
                stored = program.state_dict if spec.target in program.state_dict else program.constants
                yield _copy(stored[spec.target]) if spec.target in stored else None
            elif spec.arg.name in feeds:
                value = feeds[spec.arg.name]
                yield _copy(value) if type(spec.arg).__name__ == "TensorArgument" else value.item()
            else:
                yield getattr(spec.arg, "value", None)  # a number, a text or None that is part of the program

    def fetch(self, name: str, feeds: Mapping[str, Any]) -> Any:
        """There is nothing to fetch: nodes return tensors and numbers."""
        raise Refusal("the program has no node with an output of this name")

    def binding_refusal(self, feeds: Mapping[str, Any]) -> str:
        """Outputs cannot be bound: torch allocates them."""
        return "torch writes no outputs into buffers"

    def run_into(self, buffers: Sequence[Buffer], feeds: Mapping[str, Any]) -> list[WrittenOutput]:
        """See `binding_refusal`."""
        raise Refusal("torch writes no outputs into buffers")


def _copy(value: Any) -> Any:
    return value.detach().clone() if hasattr(value, "detach") else value
