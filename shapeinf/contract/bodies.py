"""What the bodies of loops and branches demand: only where they run, which depends on data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

import attrs

from shapeinf.algebra.interval import as_interval
from shapeinf.contract.conditions import Condition, Reader
from shapeinf.contract.merging import merged
from shapeinf.driver.inference import Inference
from shapeinf.errors import ShapeError
from shapeinf.lattice import ShapeFacts


def demands_of_bodies(inference: Inference) -> Iterator[Condition]:
    """The conditions of bodies that may not run, beyond those of the graph around them; only those about its inputs.

    A condition of a loop is one of the trip that was looked at: any trip, where the loop was followed by induction or
    to a fixpoint, the last one where it was unrolled.
    """
    for where, (before, after) in _bodies(inference):
        facts = inference.facts.copy()
        for tell in _told(facts, before, after):
            with suppress(ShapeError):  # what the rest of the graph contradicts
                tell()
        reader = Reader(inference, inference.facts, facts)
        for condition in merged(reader):
            if condition.free and condition.free <= reader.labels.keys():
                kind = condition.kind if condition.kind == "assumption" else "guard"
                yield attrs.evolve(condition, kind=kind, where=where, clauses=(), least=None, weaker=())


def _bodies(inference: Inference) -> Iterator[tuple[str, tuple[ShapeFacts, ShapeFacts]]]:
    """Where the bodies are that have told facts and may not run, and the facts before and after each of them."""
    for index in sorted(inference.children):
        step = inference.program.step(index)
        for name, child in inference.children[index].items():
            if child.told is not None:
                yield f"{name} of {step.operation.kind.op} '{inference.path}{step.site}'", child.told
            yield from _bodies(child)


def _told(facts: ShapeFacts, before: ShapeFacts, after: ShapeFacts) -> Iterator[Callable[[], object]]:
    """What was told between two states of the facts, as calls that tell it to others."""
    for symbol, value in after.solved.items():
        if symbol not in before.solved:
            yield partial(facts.tell_equal, symbol, value, after.sources[symbol])
    known = {id(one) for told in before.ranges.values() for one in told.steps()}
    for atom, told in after.ranges.items():
        for one in told.steps():
            if id(one) not in known and one.source.node:
                within = as_interval(one.bounds)
                yield partial(facts.tell_range, facts.scope.atom_dim(atom), within.lo, within.hi, one.source)
    for relation in after.relations[len(before.relations) :]:
        yield partial(facts.tell_le, 0, relation.expression, relation.source)
    for fact in after.divisibilities[len(before.divisibilities) :]:
        yield partial(facts.tell_divisible, fact.expression, fact.divisor, fact.source)
    for guard in after.guards:
        if guard.equation is not None:
            yield partial(facts.tell_equal, guard.equation, 0, guard.source)
        elif guard not in before.guards:
            yield partial(facts.add_guard, guard.template, guard.source, *guard.operands)
