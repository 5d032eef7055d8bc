"""A runtime in one module, as docs/dev/add-a-runtime.md has it: the reference evaluator of the onnx package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from shapeinf.formats.onnx.model_bytes import path_or_bytes
from shapeinf.graph import Graph
from shapeinf.runtime.protocol import Buffer, Observation, ObservedType, Refusal, WrittenOutput, refusals


def runtime() -> Reference:
    """The evaluator of the installed onnx package."""
    import onnx.reference

    return Reference(onnx)


@attrs.frozen
class Reference:
    """The package."""

    package: Any
    name: str = "reference"

    @property
    def version(self) -> str:
        """The version of the package."""
        return str(self.package.__version__)

    def open(self, graph: Graph, timeout: float | None) -> ReferenceModel:
        """A model, loaded when a method needs it."""
        return ReferenceModel(self.package, graph)


class ReferenceModel:
    """One evaluator, and the values of the latest run."""

    def __init__(self, package: Any, graph: Graph) -> None:
        """Nothing is loaded yet."""
        self.package = package
        self.graph = graph
        self._evaluator: Any = None

    def load(self) -> None:
        """Load the model."""
        if self._evaluator is None:
            with refusals():
                self._evaluator = self.package.reference.ReferenceEvaluator(path_or_bytes(self.graph))

    def tensor_names(self) -> frozenset[str]:
        """The outputs of all nodes."""
        return frozenset(name for node in self.graph.nodes for name in node.outputs if name)

    def prepare(self, arrays: Mapping[str, Any], dtypes: Mapping[str, str]) -> dict[str, Any]:
        """The arrays themselves."""
        return dict(arrays)

    def _run(self, feeds: Mapping[str, Any]) -> dict[str, Any]:
        self.load()
        with refusals():
            values: dict[str, Any] = self._evaluator.run(None, dict(feeds), intermediate=True)
            return values

    def observe(self, names: Sequence[str], feeds: Mapping[str, Any]) -> list[Observation]:
        """The types of these values in a run."""
        values = self._run(feeds)
        return [_observe(values.get(name)) for name in names]

    def fetch(self, name: str, feeds: Mapping[str, Any]) -> Any:
        """`observe` has every value."""
        raise Refusal(f"the evaluator has no value {name}")

    def binding_refusal(self, feeds: Mapping[str, Any]) -> str:
        """Outputs cannot be bound."""
        return "the evaluator writes no outputs into buffers"

    def run_into(self, buffers: Sequence[Buffer], feeds: Mapping[str, Any]) -> list[WrittenOutput]:
        """See `binding_refusal`."""
        raise Refusal("the evaluator writes no outputs into buffers")


def _observe(value: Any) -> Observation:
    if isinstance(value, list):
        return [ObservedType.from_array(np.asarray(item)) for item in value]
    return "the run has no value of this name" if value is None else ObservedType.from_array(np.asarray(value))
