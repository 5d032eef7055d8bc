"""`rebatch`: make a fixed axis of the inputs dynamic, and rewrite the constants that pin it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TextIO

import attrs

from shapeinf.api import as_graph, infer_shapes
from shapeinf.edit.rebatch.search import Rewrite, Search
from shapeinf.engine.annotation import annotation
from shapeinf.errors import ShapeInferenceError, UnknownNameError
from shapeinf.formats import save
from shapeinf.graph import Graph
from shapeinf.inputs.reader import input_names
from shapeinf.lattice import PartialTensor
from shapeinf.ops import OpRegistry
from shapeinf.result import Result
from shapeinf.texts import escape_lines


class RebatchError(ShapeInferenceError):
    """The axis cannot be made dynamic; `reasons` say what is in the way."""

    def __init__(self, headline: str, reasons: Sequence[str] = ()) -> None:
        """Keep both."""
        super().__init__("\n".join([headline, *reasons]))
        self.headline = headline
        self.reasons = tuple(reasons)

    def __str__(self) -> str:
        """The headline, and a line for each reason."""
        return escape_lines([self.headline, *self.reasons])


@attrs.frozen
class Rebatched:
    """A model with a dynamic axis: its shapes, the constants that were rewritten, the inputs, and the old size."""

    result: Result
    rewrites: tuple[Rewrite, ...]
    inputs: tuple[str, ...]
    size: int
    _graph: Graph = attrs.field(repr=False)

    def save(self, target: str | os.PathLike[str] | TextIO) -> None:
        """Write the model with the new constants and shapes."""
        inputs = {name: self.result.tensors[name] for name in self.inputs}
        names = {one.constant for one in self.rewrites}
        constants = {name: self.result.graph.constants[name] for name in names}
        found = attrs.evolve(annotation(self.result.inference), inputs=inputs, constants=constants)
        save(self._graph, found, target)


def rebatch(
    model: Any,
    *,
    axis: int = 0,
    name: str = "batch",
    inputs: Sequence[str] = (),
    registry: OpRegistry | None = None,
) -> Rebatched:
    """Make a fixed axis of the inputs dynamic.

    The axis becomes a symbol; where a node breaks a law for it or forces it back, the constants above that node are
    searched for items that mean the old size. One is rewritten (to 0, a copy of the axis, or -1, what is left) when it
    goes into shapes only, and when afterwards all shapes are the old ones at the old size.

    Args:
        model: what `infer_shapes` takes.
        axis: the axis, from 0.
        name: what the dim is called.
        inputs: the inputs that have it; all that have this axis by default.
        registry: the operators.

    Raises:
        UnknownNameError: an input that the model does not have.
        RebatchError: the inputs have no one fixed size there, or something in the graph keeps the size.
    """
    graph = as_graph(model)
    base = infer_shapes(graph, declared="ignore", registry=registry)
    chosen, old = _fixed(base, axis, inputs)
    if base.scope.has(name):
        raise RebatchError(f"the model has a dim {name} already: choose another name")
    if base.coverage.unknown_ops:
        listed = ", ".join(sorted(base.coverage.unknown_ops))
        raise RebatchError("operators without a rule may demand anything", [listed])
    search = Search(_with_constants(base), old, axis, name, chosen, registry, base)
    result, trouble = search.solve()
    if trouble is not None:
        done = [f"rewritten before that: {one}" for one in search.rewrites]
        others = [f"not known to mean it: {one}" for one in search.others(result, trouble)]
        raise RebatchError(f"axis {axis} cannot be made dynamic: {trouble.text}", [*done, *others])
    for size in (old + 1, 2 * old + 3):
        if not search.holds_at(result, size):
            raise RebatchError(f"axis {axis} cannot be made dynamic: the graph does not run where it is {size}")
    return Rebatched(result, tuple(search.rewrites), chosen, old, graph)


def _fixed(base: Result, axis: int, wanted: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """The inputs with the axis, and its size. Raises RebatchError where it is not one fixed size."""
    names = input_names(base.graph)
    unknown = next((name for name in wanted if name not in names), None)
    if unknown is not None:
        raise UnknownNameError("input", unknown, names)
    sizes: dict[str, int] = {}
    for name in wanted or names:
        dims = base.tensors[name].shape.dims or ()
        size = dims[axis] if axis < len(dims) else None
        if isinstance(size, int):
            sizes[name] = size
        elif wanted:
            raise RebatchError(f"input {name} has no fixed axis {axis}: its shape is {base.tensors[name].shape}")
    if not sizes:
        raise RebatchError(f"no input has a fixed axis {axis}")
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise RebatchError(f"the inputs have different sizes in axis {axis}: say which are meant", [listed])
    return tuple(sizes), next(iter(sizes.values()))


def _with_constants(base: Result) -> Graph:
    """The graph with nodes that read nothing and make known numbers as constants."""
    graph, inference = base.graph, base.inference
    found: dict[str, PartialTensor] = {}
    for step in inference.program.steps:
        made = None if step.inputs or len(step.outputs) != 1 else inference.current(step.outputs[0])
        if isinstance(made, PartialTensor) and made.elements is not None:
            found[step.node.outputs[0]] = made
    nodes = [node for node in graph.nodes if not (len(node.outputs) == 1 and node.outputs[0] in found)]
    return attrs.evolve(graph, nodes=nodes, constants={**graph.constants, **found}) if found else graph
