"""Cycles of a graph, such as the loops of TensorFlow's version 1: their nodes run until no type changes (a fixpoint).

An inference runs the nodes of a cycle again and again, in order, where an input has changed; a value that no node has
computed yet is absent (bottom). Joins relax the types of iterations at their *site*. The bounds of a site widen a few
times at most, and a node that still changes is relaxed at its own site, so that the iterations end.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.frames import leave_loop, share_exit_types
from shapeinf.graph import MISSING

if TYPE_CHECKING:
    from shapeinf.engine.inference import Inference

MAX_VISITS = 64
"""Visits of one node after which its outputs are relaxed at its own site."""


def run_cycle(inference: Inference, group: list[int]) -> None:
    """Run the nodes of a cycle, by index, to their fixpoint; then infer the values behind a loop."""
    relaxer = inference.store.relaxer
    relaxer.cycles += 1
    try:
        _iterate(inference, group)
    finally:
        relaxer.cycles -= 1
    share_exit_types(inference, group)
    leave_loop(inference, group)


def _iterate(inference: Inference, group: list[int]) -> None:
    """Visit the nodes of a worklist, in order, until it is empty.

    When the bounds of a site widen, what was proved under the narrower ones may not hold: the store returns to its
    state at the start, and all nodes run again.
    """
    store, before = inference.store, inference.store.copy()
    consumers = inference.compiled.dependents
    widenings = store.relaxer.widenings
    inside = set(group)
    heap, queued = sorted(group), set(group)
    visits = dict.fromkeys(group, 0)
    while heap:
        index = heapq.heappop(heap)
        queued.discard(index)
        step = inference.compiled.step(index)
        if not _is_ready(inference, step):
            continue
        visits[index] += 1
        changed = inference.visit(step, relax=visits[index] > MAX_VISITS)
        readers = {reader for slot in changed for reader in consumers[slot] if reader in inside}
        if store.relaxer.widenings != widenings:
            widenings = store.relaxer.widenings
            store.reset(before)
            inference.forget_calls()
            readers = inside
        for reader in readers - queued:
            queued.add(reader)
            heapq.heappush(heap, reader)


def _is_ready(inference: Inference, step: NodeStep) -> bool:
    """Whether a node can run: with all inputs present, a join (a variadic rule of optional inputs) with one."""
    present = [inference.numbers[slot] != 0 for slot in step.inputs if slot != MISSING]
    call = step.operation.call
    joins = call is not None and call.rule.variadic and call.rule.params[-1].optional
    return any(present) if joins else all(present)
