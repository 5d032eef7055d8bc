"""tract's scan: a fragment that is called for each chunk of an axis.

Its states keep their shape, so the shapes of one call are those of all: the body is written once, between operations
of our own that turn a whole tensor into a chunk of it, and the result of a call into those of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from shapeinf.formats.nnef.evaluation.emitter import Emitter, Target
from shapeinf.formats.nnef.evaluation.values import BadValue, Tensor, Value, primitive_of
from shapeinf.formats.nnef.language.ast import Fragment

SCAN = "tract_core_scan"

_CHUNK, _STATE, _NEXT, _LAST, _FULL = (f"tract_scan_{what}" for what in ("chunk", "state", "next", "last", "full"))


@attrs.frozen
class _Scanned:
    """A tensor that is cut into chunks along an axis."""

    name: str
    tensor: Value
    axis: int
    chunk: int


class Scan:
    """One scan: what its body takes, and what becomes of the results of the body."""

    def __init__(self, fragment: Fragment, given: Mapping[str, Value], emitter: Emitter, base: str, at: int) -> None:
        """`given` are the arguments by name. Raises BadValue for what is no scan of this fragment."""
        self.fragment = fragment
        self.emitter, self.base, self.at = emitter, base, at
        self.scanned = [_scanned(item) for item in _items(given, "scan")]
        self.full = {_text(item, 0): _item(item, 1) for item in _items(given, "full")}
        self.states = {_text(item, 0): (_item(item, 1), _text(item, 2)) for item in _items(given, "state")}
        self.outputs = [_output(item) for item in _items(given, "output")]

    def argument(self, name: str) -> Value:
        """What one call of the body takes as one of its parameters."""
        for one in self.scanned:
            if _same(one.name, name):
                return self._own(_CHUNK, (one.tensor,), {"axis": one.axis, "chunk": one.chunk}, name)
        for given, value in self.full.items():
            if _same(given, name):
                return value
        for given, (value, _) in self.states.items():
            if _same(given, name):
                return self._own(_STATE, (value,), {}, name)
        raise BadValue(f"{name!r} of the body {self.fragment.name} gets no value", code="N403")

    def results(self, found: Value, target: Target) -> Value:
        """The results of the scan, from those of one call."""
        values = found if len(self.fragment.results) != 1 and isinstance(found, tuple) else (found,)
        results = dict(zip((result.name for result in self.fragment.results), values, strict=True))
        for initial, wanted in self.states.values():
            name = self._result(results, wanted)
            results[name] = self._own(_NEXT, (results[name], initial), {}, name)
        targets = target if isinstance(target, tuple) else (target,)
        if len(targets) != len(self.outputs) and target is not None:
            raise BadValue(
                f"the scan gives {len(self.outputs)} tensors, the left side takes {len(targets)}", code="N503"
            )
        made = tuple(
            [
                self._made(results[self._result(results, name)], kind, axis, one)
                for (name, kind, axis), one in zip(self.outputs, targets, strict=target is not None)
            ]
        )
        return made if isinstance(target, tuple) or len(made) != 1 else made[0]

    def _made(self, value: Value, kind: str, axis: int, target: Target) -> Tensor:
        if kind == "last":
            return self._own(_LAST, (value,), {}, "last", target)
        scanned = tuple(one.tensor for one in self.scanned)
        axes, chunks = tuple(one.axis for one in self.scanned), tuple(one.chunk for one in self.scanned)
        return self._own(_FULL, (value, *scanned), {"axis": axis, "axes": axes, "chunks": chunks}, "full", target)

    def _result(self, results: Mapping[str, Value], wanted: str) -> str:
        for name in results:
            if _same(wanted, name):
                return name
        raise BadValue(f"the body {self.fragment.name} has no result {wanted!r}", code="N403")

    def _own(
        self, op: str, values: Sequence[Value], attributes: Mapping[str, object], name: str, target: Target = None
    ) -> Tensor:
        inputs = tuple(self.emitter.operand(value, self.at) for value in values)
        of = primitive_of(values[0])
        return self.emitter.simple(op, inputs, attributes, of, target, f"{self.base}.{name}", self.at)


def _same(given: str, name: str) -> bool:
    """Tract's exporters name what they scan as another format does, and the fragment's parameters in plain letters."""
    plain = "".join(char if char.isalnum() else "_" for char in given)
    return name in (given, plain, f"_{plain}")


def _items(given: Mapping[str, Value], name: str) -> tuple[Value, ...]:
    value = given.get(name, ())
    if not isinstance(value, tuple):
        raise BadValue(f"{name!r} of a scan must be an array of tuples")
    return value


def _item(value: Value, place: int) -> Value:
    if not isinstance(value, tuple) or place >= len(value):
        raise BadValue(f"a tuple of a scan must have {place + 1} items or more")
    return value[place]


def _text(value: Value, place: int) -> str:
    found = _item(value, place)
    if not isinstance(found, str):
        raise BadValue(f"item {place} of a tuple of a scan must be a string")
    return found


def _int(value: Value, place: int) -> int:
    found = _item(value, place)
    if isinstance(found, bool) or not isinstance(found, int):
        raise BadValue(f"item {place} of a tuple of a scan must be an integer that is known", code="N502")
    return found


def _scanned(value: Value) -> _Scanned:
    return _Scanned(_text(value, 0), _item(value, 1), _int(value, 2), _int(value, 3))


def _output(value: Value) -> tuple[str, str, int]:
    """Name, "full" or "last", and axis; the chunk that may follow is that of the results themselves."""
    kind = _text(value, 1)
    if kind not in ("full", "last"):
        raise BadValue(f"a result of a scan must be 'full' or 'last', not {kind!r}")
    return _text(value, 0), kind, _int(value, 2) if kind == "full" else 0
