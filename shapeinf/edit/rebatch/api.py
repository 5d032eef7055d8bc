"""`rebatch`: makes a fixed axis of the inputs dynamic, and rewrites the constants that fix it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, TextIO

import attrs

from shapeinf.api import as_graph, infer
from shapeinf.edit.rebatch.search import Rewrite, Search
from shapeinf.engine.tensor_info import annotation
from shapeinf.errors import RebatchError
from shapeinf.expr.notations import NotationName
from shapeinf.formats import save
from shapeinf.formats.files import Annotate, ExternalData
from shapeinf.graph import Graph
from shapeinf.inputs.options import DEFAULT_OPTIONS, InferenceOptions
from shapeinf.inputs.reader import find_input, input_names, key_by_input
from shapeinf.lattice import PartialTensor
from shapeinf.pickling import refuse_pickle
from shapeinf.result import Result
from shapeinf.texts import format_count, object_text


@attrs.frozen
class Rebatched:
    """A model with a dynamic axis.

    Args:
        result: its shapes.
        rewrites: the rewritten items of constants.
        axes: the dynamic axis of each changed input.
        name: the name of the dim.
        size: the old size.
        sizes: two other sizes that the graph was inferred at.
        spatial: whether the axis is no batch: its items may be combined.
    """

    result: Result
    rewrites: tuple[Rewrite, ...]
    axes: Mapping[str, int]
    name: str
    size: int
    sizes: tuple[int, ...]
    spatial: bool
    _graph: Graph = attrs.field(repr=False)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The changed inputs."""
        return tuple(self.axes)

    def __repr__(self) -> str:
        """The inputs with the axis, and the constants that were rewritten."""
        inputs = (f"{name}: {self.result.tensors[name]}" for name in self.inputs)
        title = (
            f"Rebatched of {self.result.source or 'a model'}: {format_count(len(self.rewrites), 'constant')} rewritten"
        )
        return object_text(title, [*inputs, *map(str, self.rewrites)])

    def __reduce__(self) -> NoReturn:
        """Raises UnpicklableError."""
        refuse_pickle(self, "save the model and pass on its path, or pickle its `result`")

    def save(
        self,
        target: str | os.PathLike[str] | TextIO,
        *,
        external_data: ExternalData | None = None,
        annotate: Annotate | None = None,
        dim_text: NotationName | None = None,
    ) -> None:
        """Write the model with the new constants and shapes; the options are as for `Result.save`."""
        inputs = {name: self.result.tensors[name] for name in self.inputs}
        names = {rewrite.constant for rewrite in self.rewrites}
        constants = {name: self.result.graph.constants[name] for name in names}
        changes = attrs.evolve(annotation(self.result.engine.inference), inputs=inputs, constants=constants)
        save(self._graph, changes, target, external_data, annotate, dim_text)


def rebatch(
    model: Any,
    *,
    axis: int = 0,
    axes: Mapping[str, int] | None = None,
    name: str = "batch",
    inputs: Sequence[str] = (),
    spatial: bool | None = None,
    options: InferenceOptions = DEFAULT_OPTIONS,
) -> Rebatched:
    """Make a fixed axis of the inputs dynamic.

    The axis becomes a symbol. Where a node fails with the symbol or fixes it, the constants upstream of that node are
    searched for items that stand for the old size. An item is rewritten (to 0, a copy of the axis, or -1, the remaining
    elements) if it is used in shapes only, and if all new shapes are the old ones at the old size.

    The items along a batch stay separate: the outputs of a batch are those of its items. A spatial axis, such as the
    height of images, is one that nodes move windows over; the contract of the result has its legal sizes.

    Args:
        model: any model that `infer_shapes` takes.
        axis: the axis, from 0.
        axes: the axis of single inputs by name, where it differs from `axis`.
        name: the new name of the dim.
        inputs: the inputs to change, besides those in `axes`; by default all with a fixed size on their axis.
        spatial: whether the axis is no batch, so that nodes may combine its items; by default the axis 0 is a batch,
            and another axis is spatial where windows of convolutions, pools or resampling move over it.
        options: as for `infer_shapes`; declared shapes of node outputs are ignored.

    Raises:
        UnknownNameError: an input that the model does not have.
        RebatchError: the inputs have no common fixed size there, the graph fixes the size, or a node may combine the
            items of a batch.
    """
    graph, options = as_graph(model, options), attrs.evolve(options, declared="ignore", format_options=None)
    base = infer(graph, options)
    own = key_by_input(axes or {}, graph)
    names = [*own, *(find_input(graph, other, input_names(graph)) for other in inputs)]
    chosen, old = _fixed_axes(base, axis, own, names if inputs else [])
    if base.engine.scope.has(name):
        raise RebatchError(f"the model already has a dim {name}: choose another name")
    if base.coverage.unknown_ops:
        listed = ", ".join(sorted(base.coverage.unknown_ops))
        raise RebatchError("operators without a rule may require the old size", [listed])
    which = f"axis {axis}" if not own else ", ".join(f"axis {k} of {item}" for item, k in chosen.items())
    search = Search(_fold_constants(base), old, chosen, name, options, base, spatial is True)
    result, obstacle = search.solve()
    if obstacle is not None and obstacle.spatial and spatial is None and 0 not in chosen.values():
        search = attrs.evolve(search, spatial=True, constants={}, rewrites=[])
        result, obstacle = search.solve()
    refusal = f"{which} cannot be made dynamic"
    if obstacle is not None:
        done = [f"rewritten before: {rewrite}" for rewrite in search.rewrites]
        others = [f"not proved to be the batch: {item}" for item in search.unproved_items(result, obstacle)]
        raise RebatchError(f"{refusal}: {obstacle.text}", [*done, *others])
    sizes = _proven_sizes(search, result, refusal)
    return Rebatched(result, tuple(search.rewrites), chosen, name, old, tuple(sizes), search.spatial, graph)


def _proven_sizes(search: Search, result: Result, refusal: str) -> list[int]:
    """Other sizes at which the graph runs. Raises RebatchError where there are none, or the graph fails at one."""
    sizes = list(search.other_sizes(result))
    if not sizes:
        raise RebatchError(f"{refusal}: no other size up to {search.limit} is legal")
    for size in sizes:
        if not search.holds_at(result, size):
            raise RebatchError(f"{refusal}: the graph fails where it is {size}")
    return sizes


def _fixed_axes(base: Result, axis: int, own: Mapping[str, int], wanted: Sequence[str]) -> tuple[dict[str, int], int]:
    """The axis of each input, and their common size. Raises RebatchError where they have no common fixed size."""
    axes, sizes = dict[str, int](), dict[str, int]()
    for name in wanted or input_names(base.graph):
        axes[name] = own.get(name, axis)
        dims = base.tensors[name].shape.dims or ()
        size = dims[axes[name]] if axes[name] < len(dims) else None
        if isinstance(size, int):
            sizes[name] = size
        elif wanted or name in own:
            raise RebatchError(f"input {name} has no fixed axis {axes[name]}: its shape is {base.tensors[name].shape}")
    if not sizes:
        raise RebatchError(f"no input has a fixed axis {axis}")
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"axis {axes[name]} of {name} is {size}" for name, size in sizes.items())
        raise RebatchError(
            "the inputs have different sizes on this axis: name the inputs, or an axis for each", [listed]
        )
    (name, size), *_ = sizes.items()
    if size == 0:
        raise RebatchError(
            f"axis {axes[name]} of {name} is 0: shapes of an empty batch show no size that depends on it"
        )
    return {name: axes[name] for name in sizes}, size


def _fold_constants(base: Result) -> Graph:
    """The graph with constants instead of nodes without inputs whose output has known contents."""
    graph, inference = base.graph, base.engine.inference
    constants: dict[str, PartialTensor] = {}
    for step in inference.compiled.steps:
        computed = None if step.inputs or len(step.outputs) != 1 else inference.type_of(step.outputs[0])
        if isinstance(computed, PartialTensor) and computed.elements is not None:
            constants[step.node.outputs[0]] = computed
    nodes = [node for node in graph.nodes if not (len(node.outputs) == 1 and node.outputs[0] in constants)]
    return attrs.evolve(graph, nodes=nodes, constants={**graph.constants, **constants}) if constants else graph
