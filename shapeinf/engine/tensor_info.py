"""The types of values as public records (`TensorInfo`), for users and for annotated files."""

from __future__ import annotations

import copyreg
import re
from collections import Counter
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import attrs

from shapeinf.engine.compiled import CompiledGraph
from shapeinf.engine.inference import Inference
from shapeinf.engine.runs import walk_runs
from shapeinf.formats.annotation import Annotation
from shapeinf.graph import FunctionKey
from shapeinf.html import html_table
from shapeinf.lattice import (
    BoundedTensor,
    BroadcastAxes,
    ChosenIndices,
    Element,
    HandleType,
    IndexTuples,
    MapType,
    PartialTensor,
    Progression,
    SequenceType,
    Shape,
    TensorType,
    Type,
)
from shapeinf.lattice.contents import Value, format_contents, nest_elements
from shapeinf.pickling import versioned_pickle
from shapeinf.texts import nearest_names

MAX_VALUE = 256
"""The most elements of a tensor whose `TensorInfo.value` is known."""

MAX_VISITS = 1 << 13
"""The most items of a sequence, those of inner sequences included, that are visited to list its tensors."""


@versioned_pickle
@attrs.frozen
class TensorInfo:
    """The type of one value: element type (None when unknown), shape, and kind.

    `kind` is "tensor", or nested like "sequence", "optional(sequence)", "map(int64)" (a map from int64 keys); dtype
    and shape are then those of the innermost elements.

    Records are equal where these three are.
    """

    dtype: str | None
    shape: Shape
    kind: str = "tensor"
    _contents: PartialTensor | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def value(self) -> Value:
        """The contents of a small tensor as far as they are known; None where nothing is, or for over `MAX_VALUE`.

        Elements are nested in tuples as the axes are: those of a vector are `(batch, -1, 768)`, of a scalar the element
        itself. An element is an int, a float, a bool, a string, or a dim; None where it is unknown. A bool or float
        that sizes of inputs decide is an object whose text is its formula, `batch - 1 >= 0`.
        """
        return None if self._contents is None or self._contents.elements is None else nest_elements(self._contents)

    @property
    def elements(self) -> tuple[Element, ...] | None:
        """Those of `value` in row-major order."""
        return None if self._contents is None else self._contents.elements

    @property
    def value_text(self) -> str:
        """What is known of the contents, as text: `[batch, -1, 768]`, or `0..511`; empty where nothing is.

        Of many elements the first ones are printed.
        """
        return "" if self._contents is None else format_contents(self._contents)

    def __str__(self) -> str:
        """`float32[B, 128]`."""
        text = f"{self.dtype or '?'}{self.shape}"
        for kind in re.findall(r"map\(\w+|sequence|optional", self.kind)[::-1]:
            text = f"{kind}, {text})" if kind.startswith("map") else f"{kind}({text})"
        return text

    def _repr_html_(self) -> str:
        """A table of the type, and of the contents as far as they are known."""
        contents = [["contents", self.value_text]] if self.value_text else []
        return html_table(["type", str(self)], contents)


class TensorInfos(dict[str, TensorInfo]):
    """The types of values by name."""

    def __missing__(self, name: str) -> TensorInfo:
        """Raises KeyError, with the nearest names."""
        near = ", ".join(map(repr, nearest_names(str(name), self)))
        raise KeyError(f"no tensor is named {name!r}" + (f"; did you mean {near}?" if near else ""))


_ARGUMENTS: dict[type[PartialTensor], Callable[[Any], tuple[object, ...]]] = {
    PartialTensor: attrgetter("dtype", "shape", "elements"),
    BoundedTensor: attrgetter("dtype", "shape", "least", "most"),
    BroadcastAxes: attrgetter("dtype", "shape", "sizes", "others"),
    ChosenIndices: attrgetter("dtype", "shape", "size"),
    IndexTuples: attrgetter("dtype", "shape", "parts"),
    Progression: attrgetter("dtype", "shape", "base", "steps"),
}
"""The arguments of the constructor of each class of contents, for pickles: `__new__` of a compiled class needs them."""


def _reduce_contents(contents: PartialTensor) -> tuple[type[PartialTensor], tuple[object, ...]]:
    """What `__reduce__` of the contents would return."""
    return type(contents), _ARGUMENTS[type(contents)](contents)


for _kind in _ARGUMENTS:
    copyreg.pickle(_kind, _reduce_contents)


def has_unknowns(shape: Shape) -> bool:
    """Whether the rank or a dim is unknown."""
    return shape.dims is None or any(symbol.is_anonymous for symbol in shape.symbols())


def tensor_infos(inference: Inference) -> TensorInfos:
    """The types of all values of a graph by name; equal types share one record.

    The dict begins as a copy of the slots, whose table stores the hashes of names (see `graph.table`): to insert half a
    million names into an empty dict takes twice as long, since names that are not in the processor's cache are read.
    """
    types = inference.table.types
    numbers = [*map(inference.table.canonical.__getitem__, inference.numbers)]
    values = {number: types[number] for number in set(numbers)}
    records = {number: tensor_info(value) for number, value in values.items()}
    slots: dict[str, Any] = inference.compiled.slots
    infos = TensorInfos(slots)
    infos.update(zip(inference.compiled.names, map(records.__getitem__, numbers), strict=False))
    return infos


def output_shapes(inference: Inference) -> list[tuple[Shape, int]]:
    """The shapes of the outputs of nodes, each with a number of values that have it; a shape may be listed twice."""
    table, numbers = inference.table, inference.numbers
    counts: dict[int, int] = {}
    for number, count in Counter(map(numbers.__getitem__, inference.compiled.output_slots)).items():
        number = table.canonical[number]
        counts[number] = counts.get(number, 0) + count
    return [(tensor_info(table.types[number]).shape, count) for number, count in counts.items()]


def tensor_info(value: Type | None) -> TensorInfo:
    """The public record of a type; all is unknown for None, the type of a value that no node has computed."""
    if value is None:
        return TensorInfo(None, Shape.unknown())
    if isinstance(value, TensorType):
        return TensorInfo(value.dtype, value.shape, contents=_small_contents(value))
    inner = tensor_info(value.element)
    kind = f"map({value.key})" if isinstance(value, MapType) else value.kind
    return TensorInfo(inner.dtype, inner.shape, kind if inner.kind == "tensor" else f"{kind}({inner.kind})")


def _small_contents(value: TensorType) -> PartialTensor | None:
    """A tensor of which contents are known, if these are small."""
    if not isinstance(value, PartialTensor) or isinstance(value, HandleType) or value.contents is None:
        return None
    return value if value.elements is None or len(value.elements) <= MAX_VALUE else None


def item_infos(inference: Inference, name: str) -> list[TensorInfo] | None:
    """The tensors in a sequence value, and in the sequences in it, in order.

    None where not all items are known, or where they are more than `MAX_VISITS`: nested tuples may share items.
    """
    items: list[TensorInfo] = []
    pending: list[Type | None] = [inference.type_of(inference.compiled.slots[name])]
    for _ in range(MAX_VISITS):
        if not pending:
            return items
        value = pending.pop()
        if not isinstance(value, SequenceType):
            items.append(tensor_info(value))
        elif value.items is None:
            return None
        else:
            pending.extend(reversed(value.items))
    return None


def annotation(inference: Inference) -> Annotation:
    """The types of the values of all graphs and functions of a model, to be written into its file."""
    return Annotation(tensor_infos(inference), _annotate_bodies(inference), _annotate_functions(inference))


def _annotate_bodies(inference: Inference) -> dict[tuple[str, ...], dict[str, Annotation]]:
    """The types of values in subgraphs, by the outputs of their node and the name of the attribute; no functions."""
    bodies: dict[int, dict[tuple[str, ...], dict[str, Annotation]]] = {id(inference): {}}
    for run in walk_runs(inference, lambda run: isinstance(run.source, CompiledGraph)):
        if run.step is not None and run.outer is not None:
            inner = bodies[id(run.inference)] = {}
            outer = bodies[id(run.outer.inference)].setdefault(run.step.node.outputs, {})
            outer[run.name] = Annotation(tensor_infos(run.inference), inner)
    return bodies[id(inference)]


def _annotate_functions(inference: Inference) -> dict[FunctionKey, dict[str, TensorInfo]]:
    """For each function the types that are equal in all its calls."""
    common: dict[FunctionKey, dict[str, TensorInfo]] = {}
    for run in walk_runs(inference):
        if run.function is None:
            continue
        known = {name: info for name, info in tensor_infos(run.inference).items() if info.dtype is not None}
        before = common.get(run.function)
        common[run.function] = known if before is None else {n: i for n, i in known.items() if before.get(n) == i}
    return common
