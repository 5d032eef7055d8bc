"""Running a program: once through where it is acyclic; in a cycle, a worklist that relaxes until nothing changes."""

from __future__ import annotations

import heapq

from shapeinf.engine.compiled import Step
from shapeinf.engine.inference import Inference
from shapeinf.graph import MISSING

MAX_VISITS = 64
"""Visits of one node of a cycle after which its outputs are relaxed at its own site."""


def execute(inference: Inference) -> None:
    """Run the whole program: single steps once, in order, cycles to their fixpoint."""
    program = inference.program
    if program.groups is None:
        inference.run_straight()
        return
    for group in program.groups:
        step = program.step(group[0])
        if len(group) == 1 and not any(slot in step.outputs for slot in step.inputs if slot != MISSING):
            inference.visit(step)
        else:
            _run_cycle(inference, group)


def _run_cycle(inference: Inference, group: list[int]) -> None:
    """A worklist in program order; values that no node has made yet are not there (bottom).

    When the bounds of a join site grow, what was proved under the narrower ones may not hold: facts and memo go back to
    where the cycle began, and all of its nodes run again. Widening lets that happen a few times a site.
    """
    store, program = inference.store, inference.program
    before = store.copy()
    widenings = store.relaxer.widenings
    inside = set(group)
    heap = sorted(group)
    queued = set(group)
    visits = dict.fromkeys(group, 0)
    while heap:
        index = heapq.heappop(heap)
        queued.discard(index)
        step = program.step(index)
        if not _ready(inference, step):
            continue
        visits[index] += 1
        changed = inference.visit(step, relax=visits[index] > MAX_VISITS)
        readers = {reader for slot in changed for reader in program.consumers[slot] if reader in inside}
        if store.relaxer.widenings != widenings:
            widenings = store.relaxer.widenings
            store.reset(before)
            inference.forget()
            inference.table.refresh()
            readers = inside
        for reader in readers - queued:
            queued.add(reader)
            heapq.heappush(heap, reader)


def _ready(inference: Inference, step: Step) -> bool:
    """A joining rule (variadic, of optional inputs) runs with what is there; any other waits for all of its inputs."""
    there = [inference.numbers[slot] != 0 for slot in step.inputs if slot != MISSING]
    call = step.operation.call
    joins = call is not None and call.rule.variadic and call.rule.params[-1].optional
    return any(there) if joins else all(there)
