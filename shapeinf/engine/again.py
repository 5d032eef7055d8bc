"""Nodes that run again: those that created unknowns, when later nodes have inferred more of their inputs.

A rank or a size may be fixed by a later reader of a value, after an earlier reader had to leave its outputs unknown.
Both outputs of such a node describe the same value, so what the second run infers is merged with the first.
"""

from __future__ import annotations

import heapq

from shapeinf.engine.inference import Inference
from shapeinf.engine.records import OpenCall
from shapeinf.errors import ShapeError, Source
from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice import PartialTensor, Shape, ShapeStore, TensorType, Type, type_symbols

MAX_ROUNDS = 4
"""A constraint that a second run adds may affect other nodes: they run in the next round."""

_SOURCE = Source("", "the inputs of the node are known better")


def run_affected_again(inference: Inference) -> None:
    """Run the nodes again whose unknowns depend on what was inferred after them, and the readers of what changes."""
    for _ in range(MAX_ROUNDS):
        calls, inference.open_calls = inference.open_calls, []
        affected = {call.row for call in calls if _is_affected(inference, call)}
        inference.open_calls += [call for call in calls if call.row not in affected]
        if not affected:
            return
        _run_rows(inference, affected)


def _is_affected(inference: Inference, call: OpenCall) -> bool:
    """Whether an input of a call has another type now, or more is known about a symbol in its type."""
    if inference.call_key(call.row) != call.key:
        return True
    later = set(inference.store.changed_symbols[call.changes :])
    types = inference.table.types
    return bool(later) and any(not later.isdisjoint(type_symbols(types[number])) for number in call.key[1:])


def _run_rows(inference: Inference, rows: set[int]) -> None:
    """Run rows in order, once each, and all readers of values whose type changes."""
    heap, queued = sorted(rows), set(rows)
    while heap:
        index = heapq.heappop(heap)
        step = inference.compiled.step(index)
        slots = [slot for slot in step.outputs if slot >= 0]
        before = [inference.numbers[slot] for slot in slots]
        known = [inference.table.canonical[number] for number in before]
        first_atom = len(inference.store.scope.atoms)
        inference.visit(step)
        for slot, old, same in zip(slots, before, known, strict=True):
            inference.numbers[slot] = _merge(inference, old, inference.numbers[slot], first_atom)
            if inference.table.canonical[inference.numbers[slot]] != same:
                for reader in inference.compiled.consumers[slot]:
                    if reader not in queued:
                        queued.add(reader)
                        heapq.heappush(heap, reader)


def _merge(inference: Inference, old: int, new: int, first_atom: int) -> int:
    """The number of what two runs of a node infer of an output; symbols from `first_atom` on are of the second run."""
    table, store = inference.table, inference.store
    first, second = table.get(old), table.get(new)
    if not isinstance(first, TensorType) or not isinstance(second, TensorType) or first == second:
        return new
    try:
        merged = _merge_tensors(store, first, second, first_atom)
    except ShapeError:  # the second run reports it
        return new
    return table.add_any(merged)


def _merge_tensors(store: ShapeStore, first: TensorType, second: TensorType, first_atom: int) -> Type:
    """What both runs infer."""
    shape = _merge_shapes(store, first.shape, second.shape, first_atom)
    dtype = second.dtype or first.dtype
    if second.contents is not None or first.contents is None:
        return second.with_type(dtype, shape)
    return first.with_type(dtype, shape) if first.shape == shape else PartialTensor(dtype, shape, None)


def _merge_shapes(store: ShapeStore, first: Shape, second: Shape, first_atom: int) -> Shape:
    if first.dims is None or second.dims is None:
        return first if first is second else store.bind_shape(first, second, _SOURCE)
    if len(first.dims) != len(second.dims):
        return second
    return Shape(_merge_dims(store, a, b, first_atom) for a, b in zip(first.dims, second.dims, strict=True))


def _merge_dims(store: ShapeStore, first: DimSize, second: DimSize, first_atom: int) -> DimSize:
    """The size that both runs infer; an unknown of the second run only bounds that of the first."""
    symbols = second.symbols() if isinstance(second, Dimension) else frozenset()
    if first is second or first == second:
        return first
    if any(symbol.atom >= first_atom for symbol in symbols):
        bounds = store.interval(second)
        store.add_range(first, bounds.lo, bounds.hi, _SOURCE)
        return first
    return store.add_equal(first, second, _SOURCE)
