"""The runs of a model that a verification makes: their sizes and inputs, and others where the runtime refuses these."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import attrs
import numpy as np

from shapeinf.api import infer
from shapeinf.engine.input_symbols import input_symbols
from shapeinf.errors import ShapeInferenceError
from shapeinf.graph import Graph
from shapeinf.inputs.options import InferenceOptions
from shapeinf.inputs.reader import SpecLike, key_by_input
from shapeinf.result import Result
from shapeinf.runtime.buffers import max_bytes
from shapeinf.runtime.feeds import feeds
from shapeinf.runtime.protocol import NotLoaded, Refusal
from shapeinf.runtime.sizes import MAX_SIZES, RunSizes, legal_sizes
from shapeinf.texts import exact_bytes

MAX_TENSOR = 1 << 32
"""A model with a tensor of more bytes is not run: it could use up the memory of this machine."""

T = TypeVar("T")
Inputs = TypeVar("Inputs")


@attrs.frozen
class ModelRuns:
    """The runs of a graph under the user's options.

    Args:
        graph: of the model.
        options: as for `infer_shapes`; `bind` has the sizes that all runs share.
        arrays: values of inputs by name.
        seed: of the random numbers of other inputs.
        symbolic: the inference without sizes.
    """

    graph: Graph
    options: InferenceOptions
    arrays: Mapping[str, Any]
    seed: int
    symbolic: Result

    @classmethod
    def of_graph(
        cls, graph: Graph, arrays: Mapping[str, Any] | None, seed: int, options: InferenceOptions
    ) -> ModelRuns:
        """Infer without sizes. Raises UnknownNameError for an array without an input, and as `infer_shapes`."""
        named = key_by_input(arrays or {}, graph)
        specified = options.values_by_name(graph)
        for name in named:
            if name in specified:
                raise ShapeInferenceError(f"input {name} has a value and an array: specify one of them")
        contents = {name: np.asarray(array, order="C") for name, array in named.items()}
        return cls(graph, options, contents, seed, _infer(graph, options, {}, {}))

    def infer(self, bind: Mapping[str, int], inputs: Mapping[str, SpecLike]) -> Result:
        """The inference at these sizes of named dims and shapes of inputs."""
        return _infer(self.graph, self.options, bind, inputs)

    def widen(self, sizes: RunSizes) -> Result:
        """The symbolic inference that holds for the sizes of a run; axes without a name may be empty in it, too."""
        empty = any(0 in shape for shape in sizes.shapes.values())
        if empty and self.options.min_dim:
            return _infer(self.graph, attrs.evolve(self.options, min_dim=0), {}, {})
        labels = input_symbols(self.symbolic.engine.inference)
        named = {s: sizes.sizes.get(label, sizes.sizes.get(s.name)) for s, label in labels.items()}
        return self.symbolic.result_for({s: (size, size) for s, size in named.items() if size is not None})

    def sizes(self, binding: Mapping[str, int]) -> Iterator[RunSizes]:
        """The user's sizes of a run with legal ones for all other dims, several times; see `legal_sizes`."""
        shapes = {name: array.shape for name, array in self.arrays.items()}
        chosen = legal_sizes(self.symbolic, self.infer, {**self.options.bind, **binding}, shapes)
        return itertools.islice(chosen, MAX_SIZES)

    def feeds(self, sizes: RunSizes) -> Iterator[tuple[str, dict[str, Any]]]:
        """Arrays for all inputs at these sizes, several times; see `feeds`."""
        return feeds(sizes.result, sizes.shapes, self.arrays, self.seed, sizes.elements)


def _infer(graph: Graph, options: InferenceOptions, bind: Mapping[str, int], inputs: Mapping[str, SpecLike]) -> Result:
    return infer(graph, attrs.evolve(options, bind=bind), [inputs] if inputs else [])


def refuse_huge(result: Result) -> None:
    """Raise Refusal where a node computes a tensor of more than `MAX_TENSOR` bytes."""
    for name in (name for node in result.graph.nodes for name in node.outputs if name):
        if all(isinstance(dim, int) for dim in result.tensors[name].shape.dims or [None]):
            size = max_bytes(result, name) or 0
            if size > MAX_TENSOR:
                raise Refusal(f"{name} would take {exact_bytes(size)}: bind smaller sizes")


def run_feeds(draws: Iterable[tuple[str, Inputs]], run: Callable[[Inputs], T]) -> tuple[str, T]:
    """Run with the first inputs that the runtime does not refuse; the description of these, and what the run returns.

    Raises the first Refusal where it refuses all; NotLoaded at once.
    """
    first: Refusal | None = None
    for description, inputs in draws:
        try:
            return description, run(inputs)
        except NotLoaded:
            raise
        except Refusal as refusal:
            first = first or refusal
    assert first is not None
    raise first


def choose_run(attempts: Iterable[tuple[T, str, bool]]) -> T:
    """The first run that the runtime does not refuse, else the first one.

    An attempt is a run, why the runtime refuses it, and whether it may accept other sizes.
    """
    first: T | None = None
    for run, refused, retry in attempts:
        if not refused:
            return run
        first = first or run
        if not retry:
            break
    assert first is not None
    return first
