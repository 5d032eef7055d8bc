"""What the bodies of loops and branches demand: only where they run, which depends on data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import attrs

from shapeinf.contract.merging import merged
from shapeinf.contract.preconditions import Precondition, Reader
from shapeinf.engine.inference import Inference
from shapeinf.engine.learned import added_between
from shapeinf.errors import ShapeError
from shapeinf.lattice import ShapeStore
from shapeinf.solver.budget import Budget


def demands_of_bodies(inference: Inference, budget: Budget) -> Iterator[Precondition]:
    """The conditions of bodies that may not run, beyond those of the graph around them; only those about its inputs.

    A condition of a loop is one of the trip that was looked at: any trip, where the loop was followed by induction or
    to a fixpoint, the last one where it was unrolled.
    """
    for where, (before, after) in _bodies(inference):
        store = inference.store.copy()
        for told in added_between(before, after):
            with suppress(ShapeError):  # what the rest of the graph contradicts
                told.tell(store)
        reader = Reader(inference, budget, inference.store, store)
        for condition in merged(reader):
            if condition.free_symbols and condition.free_symbols <= reader.labels.keys():
                kind = condition.kind if condition.kind == "assumption" else "guard"
                yield attrs.evolve(condition, kind=kind, where=where, clauses=(), least=None, weaker=())


def _bodies(inference: Inference) -> Iterator[tuple[str, tuple[ShapeStore, ShapeStore]]]:
    """Where the bodies are that have told facts and may not run, and the facts before and after each of them."""
    for index in sorted(inference.children):
        step = inference.compiled.step(index)
        for name, child in inference.children[index].items():
            if child.undone is not None:
                yield f"{name} of {step.operation.kind.op} '{inference.path}{step.site}'", child.undone
            yield from _bodies(child)
