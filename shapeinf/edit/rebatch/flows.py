"""The use of the items of constants: in shapes, or in data.

A symbol replaces the item, and the rules of the nodes downstream run again: the item is used where the symbol is in
their outputs. No operator is known by name.
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
"""The most upstream nodes that are searched for constants."""


def upstream_constants(inference: Inference, index: int) -> Iterator[str]:
    """The constants of known integers that a node and the nodes upstream read, the nearest first."""
    compiled = inference.compiled
    constants = compiled.graph.constants
    seen: set[str] = set()
    queue, visited = deque([index]), {index}
    while queue and len(visited) <= MAX_NODES:
        for slot in compiled.step(queue.popleft()).inputs:
            if slot == MISSING:
                continue
            name, producer = compiled.names[slot], compiled.producers[slot]
            if producer is not None and producer not in visited:
                visited.add(producer)
                queue.append(producer)
            elif name in constants and name not in seen and is_integer_list(inference.type_of(slot)):
                seen.add(name)
                yield name


def is_integer_list(type_: Type | None) -> bool:
    """Whether a value is a known integer or a list of known integers."""
    if not isinstance(type_, TensorType) or type_.dtype not in ("int64", "int32") or len(type_.shape.dims or ()) > 1:
        return False
    return type_.elements is not None and all(isinstance(e, int) for e in type_.elements)


def is_only_size(inference: Inference, name: str, index: int) -> bool:
    """Whether an item of a constant is used only as a size in shapes, without arithmetic."""
    compiled = inference.compiled
    constant = inference.type_of(compiled.slots[name])
    assert isinstance(constant, TensorType) and constant.elements is not None
    mark = inference.store.scope.fresh(f"item {index} of {name}", 1)
    marked: dict[int, Type] = {compiled.slots[name]: _replace_item(constant, index, mark)}
    queue, done = deque(compiled.consumers[compiled.slots[name]]), set[int]()
    if name in compiled.graph.outputs:
        return False
    while queue:
        consumer = queue.popleft()
        if consumer in done:
            continue
        done.add(consumer)
        outputs = _outputs_with_mark(inference, compiled.step(consumer), marked, mark)
        if outputs is None or any(compiled.names[slot] in compiled.graph.outputs for slot in outputs):
            return False
        marked.update(outputs)
        queue.extend(reader for slot in outputs for reader in compiled.consumers[slot])
    return True


def _replace_item(constant: TensorType, index: int, mark: Dimension) -> PartialTensor:
    elements = list(constant.elements or ())
    elements[index] = mark
    return PartialTensor(constant.dtype, constant.shape, elements)


def _outputs_with_mark(
    inference: Inference, step: NodeStep, marked: dict[int, Type], mark: Dimension
) -> dict[int, Type] | None:
    """The outputs with the mark in their contents; empty where the mark becomes a size, None for any other use."""
    call = step.operation.call
    if call is None or step.operation.bodies:
        return None
    inputs = [None if slot == MISSING else marked.get(slot, inference.type_of(slot)) for slot in step.arguments]
    if not all(call.reads(i) for i, slot in enumerate(step.arguments) if slot in marked):
        return None
    store = inference.store.copy()
    before = set(store.solved)
    try:
        outcome = call.run(inputs, store, step.node_name)
    except (ShapeError, ModelError, NotKnown, ArithmeticError, ValueError, TypeError, IndexError):
        return None
    outputs: dict[int, Type] = {}
    is_size = any(mark is s or _contains(value, mark) for s, value in store.solved.items() if s not in before)
    for slot, output in zip(step.outputs, outcome.types, strict=False):
        if slot == UNUSED or not isinstance(output, TensorType):
            continue
        with_mark = [e for e in output.elements or () if _contains(e, mark)]
        if any(e is not mark for e in with_mark):
            return None  # part of a calculation
        if with_mark:
            outputs[slot] = output
        is_size = is_size or mark in output.shape.symbols()
    return outputs if outputs or is_size else None


def _contains(value: object, mark: Dimension) -> bool:
    return any(mark in d.symbols() for d in dims_in(value))
