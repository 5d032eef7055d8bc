"""Where the items of constants go: straight into shapes, or into data.

An item is replaced by a symbol, and the rules of the nodes that read it run again: what they make of the symbol says
what the item is for. No operator is known by name.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.errors import ModelError, NotKnown, ShapeError
from shapeinf.expr import Dimension
from shapeinf.graph import MISSING, UNUSED
from shapeinf.lattice import PartialTensor, TensorType, Type, dims_in

MAX_NODES = 400
"""Nodes upstream of one that are searched for constants."""


def constants_above(inference: Inference, place: int) -> Iterator[str]:
    """The constants with known whole numbers that the nodes above a place read, nearest first."""
    program = inference.compiled
    constants = program.graph.constants
    seen: set[str] = set()
    queue, visited = deque([place]), {place}
    while queue and len(visited) <= MAX_NODES:
        for slot in program.step(queue.popleft()).inputs:
            if slot == MISSING:
                continue
            name, producer = program.names[slot], program.producers[slot]
            if producer is not None and producer not in visited:
                visited.add(producer)
                queue.append(producer)
            elif name in constants and name not in seen and is_list(inference.current(slot)):
                seen.add(name)
                yield name


def is_list(found: Type | None) -> bool:
    """Whether a value is a list (or one) of known whole numbers."""
    if not isinstance(found, TensorType) or found.dtype not in ("int64", "int32") or len(found.shape.dims or ()) > 1:
        return False
    return found.elements is not None and all(isinstance(e, int) for e in found.elements)


def only_sizes(inference: Inference, name: str, index: int) -> bool:
    """Whether an item of a constant goes, as it is, into shapes and nowhere else."""
    program = inference.compiled
    found = inference.current(program.slots[name])
    assert isinstance(found, TensorType) and found.elements is not None
    mark = inference.store.scope.fresh(f"item {index} of {name}", 1)
    marked: dict[int, Type] = {program.slots[name]: _with(found, index, mark)}
    queue, done = deque(program.consumers[program.slots[name]]), set[int]()
    if name in program.graph.outputs:
        return False
    while queue:
        place = queue.popleft()
        if place in done:
            continue
        done.add(place)
        made = _goes_on(inference, program.step(place), marked, mark)
        if made is None or any(program.names[slot] in program.graph.outputs for slot in made):
            return False
        marked.update(made)
        queue.extend(reader for slot in made for reader in program.consumers[slot])
    return True


def _with(found: TensorType, index: int, mark: Dimension) -> PartialTensor:
    elements = list(found.elements or ())
    elements[index] = mark
    return PartialTensor(found.dtype, found.shape, elements)


def _goes_on(inference: Inference, step: NodeStep, marked: dict[int, Type], mark: Dimension) -> dict[int, Type] | None:
    """The outputs that hold the mark among their contents (none where it has become a size); None for other uses."""
    call = step.operation.call
    if call is None or step.operation.bodies:
        return None
    inputs = [None if slot == MISSING else marked.get(slot, inference.current(slot)) for slot in step.arguments]
    if not all(call.reads(i) for i, slot in enumerate(step.arguments) if slot in marked):
        return None
    store = inference.store.copy()
    before = set(store.solved)
    try:
        outcome = call.run(inputs, store, step.site)
    except (ShapeError, ModelError, NotKnown, ArithmeticError, ValueError, TypeError, IndexError):
        return None
    made: dict[int, Type] = {}
    a_size = any(mark is s or _has(value, mark) for s, value in store.solved.items() if s not in before)
    for slot, found in zip(step.outputs, outcome.types, strict=False):
        if slot == UNUSED or not isinstance(found, TensorType):
            continue
        held = [e for e in found.elements or () if _has(e, mark)]
        if any(e is not mark for e in held):
            return None  # it is calculated with
        if held:
            made[slot] = found
        a_size = a_size or mark in found.shape.symbols()
    return made if made or a_size else None


def _has(value: object, mark: Dimension) -> bool:
    return any(mark in d.symbols() for d in dims_in(value))
