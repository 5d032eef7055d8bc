"""Why an axis has its size, found on demand: nothing is recorded while inferring.

To explain an axis, the rule of the node that made it runs again with a distinct symbol for every axis of its inputs;
the symbols in the answer are the axes that it comes from.
"""

from __future__ import annotations

from shapeinf.algebra import Dim, Dimension
from shapeinf.driver.inference import Inference
from shapeinf.driver.program import Step
from shapeinf.errors import ShapeInferenceError
from shapeinf.graph import MISSING
from shapeinf.lattice import Shape, TensorType, Type

MAX_STEPS = 200


def explain(inference: Inference, name: str, axis: int) -> list[str]:
    """One line a step, from the axis back to an input, a constant or a law."""
    lines: list[str] = []
    slot: int | None = inference.program.slots[name]
    for _ in range(MAX_STEPS):
        if slot is None:
            break
        found = inference.current(slot)
        if not isinstance(found, TensorType) or found.shape.dims is None:
            lines.append(f"{_name(inference, slot)} has an unknown rank{_reason(inference, slot)}")
            break
        line, slot, axis = _step(inference, slot, axis, found.shape[axis])
        lines.append(line)
    return lines


def _name(inference: Inference, slot: int) -> str:
    return inference.program.names[slot]


def _reason(inference: Inference, slot: int) -> str:
    producer = inference.program.producers[slot]
    reason = None if producer is None else inference.reasons.get(producer)
    return "" if reason is None else f": {reason}"


def _step(inference: Inference, slot: int, axis: int, dim: Dim) -> tuple[str, int | None, int]:
    here = f"{_name(inference, slot)}.shape[{axis}] = {dim}"
    producer = inference.program.producers[slot]
    if producer is None:
        return f"{here}, {_origin(inference, slot, axis, dim)}", None, axis
    step = inference.program.step(producer)
    sources = _probe(inference, step, step.outputs.index(slot), axis)
    if not sources:
        return f"{here} by {step.operation} {_place(inference, step)}{_reason(inference, slot)}", None, axis
    names = ", ".join(f"{_name(inference, s)}.shape[{a}]" for s, a in sources)
    follow = _follow(inference, sources, dim)
    return f"{here} by {step.operation} {_place(inference, step)} from {names}", *follow


def _place(inference: Inference, step: Step) -> str:
    """A node's name, and where its source says it."""
    return _located(inference, step.site, step.node.name)


def _located(inference: Inference, text: str, node: str) -> str:
    at = inference.program.graph.locations.get(node)
    return f"{text} at {at}" if at else text


def _follow(inference: Inference, sources: list[tuple[int, int]], dim: Dim) -> tuple[int, int]:
    """The axis to go on with: one that has the same size, else one that shares a symbol, else the first."""

    def closeness(source: tuple[int, int]) -> int:
        found = inference.current(source[0])
        size = found.shape[source[1]] if isinstance(found, TensorType) else None
        if size is dim or size == dim:
            return 0
        shared = isinstance(size, Dimension) and isinstance(dim, Dimension) and size.symbols() & dim.symbols()
        return 1 if shared else 2

    return min(sources, key=closeness)


def _origin(inference: Inference, slot: int, axis: int, dim: Dim) -> str:
    """Who says the size of an input or a constant: its declaration, or the law that a declared dim was solved by."""
    graph, name = inference.program.graph, _name(inference, slot)
    kind = "the shape of a constant" if name in graph.constants else "declared by an input"
    asked = inference.asked.get(name)
    first = asked.shape[axis] if isinstance(asked, TensorType) and asked.shape.dims is not None else dim
    symbols = first.symbols() if isinstance(first, Dimension) else ()
    told = [inference.facts.sources[s] for s in inference.facts.solved if s in symbols]
    return kind + (f"; {_located(inference, str(told[0]), told[0].node)}" if told else "")


def _probe(inference: Inference, step: Step, output: int, axis: int) -> list[tuple[int, int]]:
    """The (slot, axis) pairs of the inputs that the size of one output axis is computed from."""
    call = step.operation.call
    if call is None or step.operation.bodies:
        return []
    facts = inference.facts.copy()
    marks: dict[Dimension, tuple[int, int]] = {}
    inputs: list[Type | None] = []
    for position, slot in enumerate(step.arguments):
        found = None if slot == MISSING else inference.current(slot)
        contents = call.reads(position) and isinstance(found, TensorType) and found.elements is not None
        if isinstance(found, TensorType) and found.shape.dims is not None and not contents:
            dims = [_mark(inference, marks, slot, a, d) for a, d in enumerate(found.shape.dims)]
            found = TensorType(found.dtype, Shape(dims))
        inputs.append(found)
    try:
        outcome = call.run(inputs, facts, step.site)
    except (ShapeInferenceError, ArithmeticError, ValueError, TypeError, IndexError):
        return []
    found = outcome.types[output]
    if not isinstance(found, TensorType) or found.shape.dims is None or axis >= len(found.shape.dims):
        return []
    dim = found.shape[axis]
    return [] if isinstance(dim, int) else [marks[s] for s in sorted(dim.symbols(), key=str) if s in marks]


def _mark(inference: Inference, marks: dict[Dimension, tuple[int, int]], slot: int, axis: int, dim: Dim) -> Dim:
    """A symbol in place of an axis, with the bounds of its size; sizes of 1 stay, broadcasting branches on them."""
    if dim == 1:
        return dim
    bounds = inference.facts.interval(dim)
    wide = dim if isinstance(dim, int) else None
    symbol = inference.facts.scope.fresh(f"probe.{slot}.{axis}", min(2, wide) if wide is not None else bounds.lo)
    marks[symbol] = (slot, axis)
    return symbol
