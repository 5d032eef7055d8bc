"""`diff`: how the shapes, element types, dims and contracts of two models differ, whatever format each is in."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import attrs

from shapeinf.api import infer_shapes
from shapeinf.edit.correspondence import Correspondence, asked_dims
from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.inputs.reader import input_names
from shapeinf.result import Result
from shapeinf.sharing import hold_locks

if TYPE_CHECKING:
    from shapeinf.contract import Precondition

What = Literal["input", "output", "tensor", "dim", "condition"]


@attrs.frozen
class Difference:
    """One difference: `before` and `after` are texts, None on the side that does not have it.

    `what` is "input", "output", "tensor" (any other value), "dim" (what it is called, or its bounds) or "condition"
    (of the contract).
    """

    what: What
    name: str
    before: str | None
    after: str | None

    @property
    def how(self) -> Literal["added", "removed", "changed"]:
        """What has become of it."""
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    def __str__(self) -> str:
        """`changed output y: float32[1, 8] -> float32[batch, 8]`."""
        if self.how == "changed":
            return f"changed {self.what} {self.name}: {self.before} -> {self.after}"
        return f"{self.how} {self.what} {self.name}: {self.after if self.before is None else self.before}"


def diff(before: Any, after: Any) -> list[Difference]:
    """How two models (or results of inferences) differ: inputs, outputs, other tensors, dims, conditions.

    All are matched by name. Dims that stand in the same places of inputs are the same, whatever they are called; that
    they are called otherwise is one difference. Sizes that are unknown on both sides count as equal.
    """
    old, new = (side if isinstance(side, Result) else infer_shapes(side) for side in (before, after))
    with hold_locks(old, new):
        return _differences(old, new)


def _differences(old: Result, new: Result) -> list[Difference]:
    names = [name for name in input_names(old.graph) if name in input_names(new.graph)]
    same = Correspondence(old.scope, new.scope)
    for name in names:
        same.pair(asked_dims(old.inference, name), asked_dims(new.inference, name))
    same.pair_names()
    return [*_values(old, new, same), *_dims(old, new, same), *_conditions(old, new, same)]


def _values(old: Result, new: Result, same: Correspondence) -> Iterator[Difference]:
    before, after = _parts(old), _parts(new)
    for what, names in before.items():
        for name in dict.fromkeys([*names, *after[what]]):
            a = old.tensors[name] if name in names else None
            b = new.tensors[name] if name in after[what] else None
            if what == "tensor" and any(name in side["output"] for side in (before, after)):
                continue  # said among the outputs
            if a is None or b is None or not _equal(a, b, same):
                yield Difference(what, name, None if a is None else str(a), None if b is None else str(b))


def _parts(result: Result) -> dict[What, dict[str, None]]:
    """The names of the inputs, of the outputs, and of what nodes make besides."""
    graph = result.graph
    made: Iterable[str] = (name for node in graph.nodes for name in node.outputs if name)
    outputs = dict.fromkeys(graph.outputs)
    rest = {name: None for name in made if name not in outputs}
    return {"input": dict.fromkeys(input_names(graph)), "output": outputs, "tensor": rest}


def _equal(a: TensorInfo, b: TensorInfo, same: Correspondence) -> bool:
    if (a.dtype, a.kind, a.shape.rank) != (b.dtype, b.kind, b.shape.rank):
        return False
    pairs = zip(a.shape.dims or (), b.shape.dims or (), strict=True)
    return all(same.of_first(x) == same.of_second(y) for x, y in pairs)


def _dims(old: Result, new: Result, same: Correspondence) -> Iterator[Difference]:
    """Dims that are called otherwise, and dims with other bounds (those that the user or the file gives)."""
    for a, b in same.pairs.items():
        called = [None if one.is_anonymous else one.name for one in (a, b)]
        if called[0] != called[1]:
            yield Difference("dim", called[0] or called[1] or "", called[0] or "no name", called[1] or "no name")
        bounds = [str(one.inference.setup.interval(s)) for one, s in ((old, a), (new, b))]
        if bounds[0] != bounds[1]:
            yield Difference("dim", called[1] or called[0] or str(b), *bounds)


def _conditions(old: Result, new: Result, same: Correspondence) -> Iterator[Difference]:
    """Conditions of one contract that the other does not have."""
    before = {_key(one, same, True): one for one in old.contract.preconditions}
    after = {_key(one, same, False): one for one in new.contract.preconditions}
    for key, one in before.items():
        if key not in after:
            yield Difference("condition", one.text, _who(one), None)
    for key, one in after.items():
        if key not in before:
            yield Difference("condition", one.text, None, _who(one))


def _key(condition: Precondition, same: Correspondence, first: bool) -> Hashable:
    """What a condition says, in terms that both sides share."""
    place = same.of_first if first else same.of_second
    if condition.kind in ("value", "equality") and len(condition.terms) == 2:
        a, b = condition.terms
        return frozenset([place(a - b), place(b - a)])
    return condition.kind, same.text_of_first(condition.text) if first else condition.text


def _who(condition: Precondition) -> str:
    return f"{condition.message} ({condition.node})"
