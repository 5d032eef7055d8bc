"""`diff`: the differences of the shapes, element types, dims and contracts of two models of any formats."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import attrs

from shapeinf.api import infer_shapes
from shapeinf.edit.correspondence import Correspondence, Part, ValuePair, input_dims, pair_values
from shapeinf.engine.garbage import pause_garbage_collection
from shapeinf.engine.input_symbols import input_symbols
from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.result import Result
from shapeinf.schemas import json_record
from shapeinf.sharing import hold_locks

if TYPE_CHECKING:
    from shapeinf.contract import Precondition

Kind = Part | Literal["dim", "condition"]


@json_record(add=("change",))
@attrs.frozen
class Difference:
    """One difference.

    Args:
        part: "tensor" for a value that is neither input nor output, "dim" for its name or bounds, "condition" for a
            precondition of the contract.
        name: of the part.
        before: as text; None where the first model does not have it.
        after: as text; None where the second model does not have it.
    """

    part: Kind
    name: str
    before: str | None
    after: str | None

    @property
    def change(self) -> Literal["added", "removed", "changed"]:
        """The kind of difference."""
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    def __str__(self) -> str:
        """`changed output y: float32[1, 8] -> float32[batch, 8]`."""
        if self.change == "changed":
            return f"changed {self.part} {self.name}: {self.before} -> {self.after}"
        return f"{self.change} {self.part} {self.name}: {self.after if self.before is None else self.before}"


def diff(before: Any, after: Any) -> list[Difference]:
    """The differences of two models (or results of inferences): inputs, outputs, other tensors, dims, preconditions.

    All are matched by name; where the names differ, inputs and outputs are matched by their aliases too, such as the
    arguments of a signature of TensorFlow. Dims at the same positions of inputs correspond, whatever their names;
    different names are one difference. Sizes that are unknown on both sides count as equal.

    The inputs and outputs of a traced graph (PNNX, TensorFlow Lite) are matched by the names of signatures, else by
    position, and its other values by their nodes. Where an axis of an input is open in one model and a number in the
    other, only the inputs differ: all else is compared at that number, and an unknown size equals any other.
    """
    old, new = (side if isinstance(side, Result) else infer_shapes(side) for side in (before, after))
    with hold_locks(old.engine.lock, new.engine.lock), pause_garbage_collection():
        return _differences(old, new)


def _differences(old: Result, new: Result) -> list[Difference]:
    pairs = pair_values(old.graph, new.graph)
    dims = Correspondence(old.engine.scope, new.engine.scope)
    for pair in pairs:
        if pair.part == "input" and pair.before is not None and pair.after is not None:
            shapes = input_dims(old.engine.inference, pair.before), input_dims(new.engine.inference, pair.after)
            dims.pair(*shapes)
            if old.graph.traced or new.graph.traced:
                dims.pair_sizes(*shapes)
    dims.pair_names()
    return [
        *_compare_values(old, new, dims, pairs),
        *_compare_dims(old, new, dims),
        *_compare_preconditions(old, new, dims),
    ]


def _compare_values(old: Result, new: Result, dims: Correspondence, pairs: Iterable[ValuePair]) -> Iterator[Difference]:
    """The differences of values."""
    for pair in pairs:
        a = None if pair.before is None else old.tensors[pair.before]
        b = None if pair.after is None else new.tensors[pair.after]
        if a is None or b is None or not _are_equal(a, b, dims, pair.part):
            yield Difference(pair.part, pair.label, None if a is None else str(a), None if b is None else str(b))


def _are_equal(a: TensorInfo, b: TensorInfo, dims: Correspondence, part: Part) -> bool:
    if (a.dtype, a.kind, a.shape.rank) != (b.dtype, b.kind, b.shape.rank):
        return False
    pairs = list(zip(a.shape.dims or (), b.shape.dims or (), strict=True))
    if part == "input" and any(isinstance(x, int) != isinstance(y, int) for x, y in pairs):
        return False
    sizes = [(dims.map_first(x), dims.map_second(y)) for x, y in pairs]
    return all(x == y or (bool(dims.sizes) and None in (x, y)) for x, y in sizes)


def _compare_dims(old: Result, new: Result, dims: Correspondence) -> Iterator[Difference]:
    """Dims with other names, and dims with other bounds of the user or the file."""
    for a, b in dims.pairs.items():
        before, after = (None if symbol.is_anonymous else symbol.name for symbol in (a, b))
        if before != after:
            yield Difference("dim", before or after or "", before or "no name", after or "no name")
        bounds = [
            str(result.engine.inference.initial_store.interval(symbol)) for result, symbol in ((old, a), (new, b))
        ]
        if bounds[0] != bounds[1]:
            yield Difference("dim", after or before or str(b), *bounds)


def _compare_preconditions(old: Result, new: Result, dims: Correspondence) -> Iterator[Difference]:
    """Preconditions that only one of the contracts has."""
    rename = dims.renaming(input_symbols(old.engine.inference), input_symbols(new.engine.inference))
    before = {_key(precondition, dims, rename): precondition for precondition in old.contract.preconditions}
    after = {_key(precondition, dims): precondition for precondition in new.contract.preconditions}
    for key, precondition in before.items():
        if key not in after and not _is_fixed(precondition, dims):
            yield Difference("condition", precondition.text, _source_text(precondition), None)
    for key, precondition in after.items():
        if key not in before and not _is_fixed(precondition, dims):
            yield Difference("condition", precondition.text, None, _source_text(precondition))


def _is_fixed(precondition: Precondition, dims: Correspondence) -> bool:
    """Whether a precondition concerns only dims that are compared at one size."""
    return bool(precondition.free_symbols) and precondition.free_symbols <= dims.sizes.keys()


def _key(precondition: Precondition, dims: Correspondence, rename: Callable[[str], str] | None = None) -> Hashable:
    """A key that is equal for equal preconditions of both models; `rename` for one of the first model."""
    map_dim = dims.map_second if rename is None else dims.map_first
    if precondition.kind in ("value", "equality") and len(precondition.terms) == 2:
        a, b = precondition.terms
        return frozenset([map_dim(a - b), map_dim(b - a)])
    return precondition.kind, precondition.text if rename is None else rename(precondition.text)


def _source_text(precondition: Precondition) -> str:
    return f"{precondition.message} ({precondition.node})"
