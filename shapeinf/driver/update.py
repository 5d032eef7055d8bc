"""A finished inference, run again for other input shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shapeinf.driver.execution import execute
from shapeinf.driver.inference import Inference, Progress
from shapeinf.driver.inputs import InputReader, SpecLike
from shapeinf.driver.outputs import declare
from shapeinf.lattice import ShapeFacts


def updated(inference: Inference, reader: InputReader, given: Mapping[str, SpecLike]) -> tuple[Inference, InputReader]:
    """The inference for other input shapes; see `Result.update`. The old one must not be used any more."""
    program = inference.program
    learned = inference.learned
    inference.visited = 0
    changed = []
    facts = inference.setup if learned else inference.facts  # what nodes have learned is forgotten, what is given stays
    version = facts.version
    teller = InputReader(facts, reader.min_dim, reader.lints, reader.useless)
    for name, spec in given.items():
        slot = program.slots[name]
        old = inference.numbers[slot]
        inference.set(name, found := teller.given(spec, inference.current(slot), name))
        teller.presume(found)
        if inference.numbers[slot] != old:
            changed.append(slot)
    if learned:
        return _run_again(inference, reader)
    if facts.version != version:
        inference.freeze_setup()
    inference.again = None  # it would be for the old inputs
    inference.update(changed)
    return inference, reader


def rerun(
    inference: Inference,
    facts: ShapeFacts,
    prepare: Callable[[Inference], None] | None = None,
    progress: Progress | None = None,
) -> Inference:
    """A full run of the same program on the same inputs, from other facts about them; the old one stays as it is.

    `prepare` may change the new inference before any node has spoken.
    """
    fresh = Inference(inference.program, facts, False, progress, inner=inference.inner)
    slots, types, numbers = inference.program.slots, inference.table.types, inference.numbers
    for name in inference.program.graph.constants:
        fresh.set(name, types[numbers[slots[name]]])
    for name, asked in inference.asked.items():
        fresh.set(name, asked)
    declare(fresh, InputReader(facts), "ignore" if inference.declaring == "ignore" else "check")
    if prepare is not None:
        prepare(fresh)
    fresh.freeze_setup()
    execute(fresh)
    return fresh


def _run_again(inference: Inference, reader: InputReader) -> tuple[Inference, InputReader]:
    """A full run with the facts of the set-up only."""
    program = inference.program
    facts = inference.setup.copy()
    fresh = Inference(program, facts, inference.strict, inference.progress, inner=inference.inner)
    for name in (*program.graph.inputs, *program.graph.constants):
        fresh.set(name, inference.table.types[inference.numbers[program.slots[name]]])
    other = InputReader(facts, reader.min_dim, reader.lints)
    declare(fresh, other, inference.declaring)
    fresh.freeze_setup()
    execute(fresh)
    return fresh, other
