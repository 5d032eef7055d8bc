"""Values that are not known when the graph is built: what operators, indices and `shape_of` make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from shapeinf.formats.nnef.evaluation.emitter import Emitter, Target
from shapeinf.formats.nnef.evaluation.forms import Form
from shapeinf.formats.nnef.evaluation.operation import Operation
from shapeinf.formats.nnef.evaluation.values import AxisOf, BadValue, Symbol, Tensor, Value, literal_shape
from shapeinf.formats.nnef.language.ast import DialectName, Fragment, Invocation
from shapeinf.graph import InputContents

ShapeOf = Callable[[Sequence[Operation], str], "Sequence[int | None] | None"]
"""The extents of a tensor after some operations, as far as they are known; None where the rank is not."""

_DIMENSION_OPERATORS = {"+": "+", "-": "-", "*": "*", "/": "//"}


def operated(emitter: Emitter, op: str, operands: Sequence[Value], target: Target, base: str, at: int) -> Value:
    """An operator of which a side is not known: an operation of the graph, or an expression of named extents."""
    if op in _DIMENSION_OPERATORS and all(type(one) in (Symbol, int) for one in operands):
        return _symbolic(_DIMENSION_OPERATORS[op], operands)
    if op == "*" and isinstance(operands[0], (tuple, str)) and emitter.dialect != "tract":
        raise BadValue("how many times to repeat must be known when the graph is built", 1, "N502")
    return emitter.operator(op, operands, target, base, at)


def _symbolic(op: str, operands: Sequence[Value]) -> Symbol:
    texts = [one.text if isinstance(one, Symbol) else str(one) for one in operands]
    if len(texts) == 1:
        texts.insert(0, "0")
    wrapped = [text if text.isidentifier() or text.isdigit() else f"({text})" for text in texts]
    found = f" {op} ".join(wrapped)
    if len(found) > 1000:
        raise BadValue("the expression of an extent is too long", code="N902")
    return Symbol(found)


def part_of_tensor(
    emitter: Emitter,
    value: Tensor,
    begin: Value,
    ends: tuple[Value] | None,
    target: Target,
    base: str,
    at: int,
) -> Tensor:
    """An item (`ends` None) or a range of a tensor, along its first axis (tract)."""
    last: Value
    if ends is not None:
        last = ends[0]
    elif isinstance(begin, int):
        last = begin + 1
    else:
        last = emitter.operator("+", (begin, 1), None, base, at)
    inputs: list[Value | None] = [emitter.operand(value, at)]
    attributes: dict[str, object] = {"axes": (0,), "stride": (1,)}
    for name, bound in (("begin", begin), ("end", last)):
        if isinstance(bound, int):
            attributes[name] = (bound,)
        else:
            inputs.append(emitter.operand(bound, at))
            attributes[name] = (InputContents(len(inputs) - 1),)
    found = emitter.simple("slice", tuple(inputs), attributes, value.of, target if ends else None, base, at)
    return found if ends else emitter.simple("squeeze", (found,), {"axes": (0,)}, value.of, target, base, at)


def extents_of(value: Value, emitter: Emitter, shape_of: ShapeOf, dialect: DialectName) -> tuple[Value, ...]:
    """What `shape_of` gives: extents that are known as integers, the others to be asked for when they are used."""
    if not isinstance(value, Tensor):
        shape: list[Value] = []  # of a literal, unless it stands for a tensor (1.0.1)
    elif value.literal is not None:
        shape = list(literal_shape(value.literal))
    else:
        found = shape_of(emitter.operations, value.name)
        if found is None:
            raise BadValue(f"the rank of {value.name} is not known here, so shape_of has no length", 0, "N502")
        shape = [AxisOf(value.name, axis) if extent is None else extent for axis, extent in enumerate(found)]
    if dialect == "provisional":
        shape += [1] * (2 - len(shape))
    return tuple(shape)


def array_length(
    form: Form, values: Sequence[Value], target: Target, emitter: Emitter, shape_of: ShapeOf
) -> int | None:
    """How many tensors an operation gives as an array, where its arguments say; None where only the target does."""
    op = form.fragment.name
    if op not in ("copy_n", "split", "unstack"):
        return None
    given: dict[str, Value] = {slot.name: value for slot, value in zip(form.slots, values, strict=True)}
    if op == "copy_n":
        times = given.get("times")
        return times if isinstance(times, int) else None
    if op == "split":
        ratios = given.get("ratios")
        return len(ratios) if isinstance(ratios, tuple) else None
    value, axis = given.get("value"), given.get("axis")
    if target is not None and not isinstance(target, str):
        return None
    if not isinstance(value, Tensor) or not value.name or not isinstance(axis, int):
        return None
    found = shape_of(emitter.operations, value.name)
    return found[axis] if found is not None and 0 <= axis < len(found) else None


def invoked(fragment: Fragment) -> Iterator[str]:
    """The operations that the body of a fragment invokes."""
    pending: list[Any] = list(fragment.body or ())
    while pending:
        one = pending.pop()
        if isinstance(one, Invocation):
            yield one.name
        if isinstance(one, tuple):
            pending += one
        elif attrs.has(type(one)):
            pending += [getattr(one, field.name) for field in attrs.fields(type(one))]
