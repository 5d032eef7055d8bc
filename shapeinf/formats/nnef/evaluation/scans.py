"""The scan of tract: a fragment that is called for each chunk of an axis.

Its states keep their shapes, so all calls have the same shapes. The body is emitted once, between operations that only
shapeinf has: these cut a chunk from a tensor, and combine the results of all calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from shapeinf.formats.nnef.evaluation.emitter import Emitter, Target
from shapeinf.formats.nnef.evaluation.values import BadValue, Tensor, Value, primitive_of
from shapeinf.formats.nnef.language.ast import Fragment

SCAN = "tract_core_scan"

_CHUNK, _STATE, _NEXT, _LAST, _FULL = (f"tract_scan_{role}" for role in ("chunk", "state", "next", "last", "full"))


@attrs.frozen
class _Scanned:
    """A tensor that is cut into chunks along an axis."""

    name: str
    tensor: Value
    axis: int
    chunk: int


class Scan:
    """One scan: computes the arguments of its body, and the results of the scan."""

    def __init__(
        self, fragment: Fragment, arguments: Mapping[str, Value], emitter: Emitter, base: str, at: int
    ) -> None:
        """`arguments` are the arguments of the scan by name. Raises BadValue for malformed ones."""
        self.fragment = fragment
        self.emitter, self.base, self.at = emitter, base, at
        self.scanned = [_parse_scanned(item) for item in _items(arguments, "scan")]
        self.full = {_text(item, 0): _item(item, 1) for item in _items(arguments, "full")}
        self.states = {_text(item, 0): (_item(item, 1), _text(item, 2)) for item in _items(arguments, "state")}
        self.outputs = [_output(item) for item in _items(arguments, "output")]

    def argument(self, name: str) -> Value:
        """The argument for a parameter in one call of the body. Raises BadValue if the scan has none."""
        for scanned in self.scanned:
            if _is_same_name(scanned.name, name):
                return self._add_operation(
                    _CHUNK, (scanned.tensor,), {"axis": scanned.axis, "chunk": scanned.chunk}, name
                )
        for original, value in self.full.items():
            if _is_same_name(original, name):
                return value
        for original, (value, _) in self.states.items():
            if _is_same_name(original, name):
                return self._add_operation(_STATE, (value,), {}, name)
        raise BadValue(f"the scan has no value for {name!r} of its body {self.fragment.name}", code="N403")

    def results(self, body_results: Value, target: Target) -> Value:
        """The results of the scan, from those of one call of the body."""
        values = (
            body_results if len(self.fragment.results) != 1 and isinstance(body_results, tuple) else (body_results,)
        )
        results = dict(zip((result.name for result in self.fragment.results), values, strict=True))
        for initial, original in self.states.values():
            name = self._result(results, original)
            results[name] = self._add_operation(_NEXT, (results[name], initial), {}, name)
        targets = target if isinstance(target, tuple) else (target,)
        if len(targets) != len(self.outputs) and target is not None:
            message = f"the scan has {len(self.outputs)} tensors, but the left side has {len(targets)}"
            raise BadValue(message, code="N503")
        outputs = tuple(
            [
                self._output_tensor(results[self._result(results, name)], kind, axis, output_target)
                for (name, kind, axis), output_target in zip(self.outputs, targets, strict=target is not None)
            ]
        )
        return outputs if isinstance(target, tuple) or len(outputs) != 1 else outputs[0]

    def _output_tensor(self, value: Value, kind: str, axis: int, target: Target) -> Tensor:
        if kind == "last":
            return self._add_operation(_LAST, (value,), {}, "last", target)
        inputs = (value, *(item.tensor for item in self.scanned))
        axes, chunks = (tuple(item.axis for item in self.scanned), tuple(item.chunk for item in self.scanned))
        return self._add_operation(_FULL, inputs, {"axis": axis, "axes": axes, "chunks": chunks}, "full", target)

    def _result(self, results: Mapping[str, Value], original: str) -> str:
        for name in results:
            if _is_same_name(original, name):
                return name
        raise BadValue(f"the body {self.fragment.name} has no result {original!r}", code="N403")

    def _add_operation(
        self, op: str, values: Sequence[Value], attributes: Mapping[str, object], name: str, target: Target = None
    ) -> Tensor:
        inputs = tuple(self.emitter.operand(value, self.at) for value in values)
        of = primitive_of(values[0])
        return self.emitter.add_simple(op, inputs, attributes, of, target, f"{self.base}.{name}", self.at)


def _is_same_name(original: str, name: str) -> bool:
    """Whether a name of a scanned value, which may have any characters, is that of a parameter or result."""
    plain = "".join(char if char.isalnum() else "_" for char in original)
    return name in (original, plain, f"_{plain}")


def _items(arguments: Mapping[str, Value], name: str) -> tuple[Value, ...]:
    value = arguments.get(name, ())
    if not isinstance(value, tuple):
        raise BadValue(f"{name!r} of a scan must be an array of tuples")
    return value


def _item(value: Value, index: int) -> Value:
    if not isinstance(value, tuple) or index >= len(value):
        raise BadValue(f"a tuple of a scan must have {index + 1} items or more")
    return value[index]


def _text(value: Value, index: int) -> str:
    item = _item(value, index)
    if not isinstance(item, str):
        raise BadValue(f"item {index} of a tuple of a scan must be a string")
    return item


def _int(value: Value, index: int) -> int:
    item = _item(value, index)
    if isinstance(item, bool) or not isinstance(item, int):
        raise BadValue(f"item {index} of a tuple of a scan must be an integer that is known", code="N502")
    return item


def _parse_scanned(value: Value) -> _Scanned:
    return _Scanned(_text(value, 0), _item(value, 1), _int(value, 2), _int(value, 3))


def _output(value: Value) -> tuple[str, str, int]:
    """The name, "full" or "last", and the axis of an output; a further item, the chunk, is not needed."""
    kind = _text(value, 1)
    if kind not in ("full", "last"):
        raise BadValue(f"a result of a scan must be 'full' or 'last', not {kind!r}")
    return _text(value, 0), kind, _int(value, 2) if kind == "full" else 0
