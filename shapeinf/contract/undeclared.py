"""Preconditions that a file's own declarations hide: a declaration that is trusted may say what a node requires."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from shapeinf.contract.merging import merged
from shapeinf.contract.preconditions import Precondition, Reader
from shapeinf.engine.declarations import trusts_declarations
from shapeinf.engine.inference import Inference
from shapeinf.engine.session import rerun
from shapeinf.errors import ShapeError, Source
from shapeinf.lattice import ShapeStore
from shapeinf.solver.budget import Budget


def hidden_by_declarations(
    inference: Inference, shown: Iterable[Precondition], budget: Budget
) -> Iterator[Precondition]:
    """What nodes require of the inputs that `shown` does not say, because a declaration of an output said it first.

    It is found by the same inference with declarations that are only compared.
    """
    if not trusts_declarations(inference):
        return
    said = list(shown)
    store = _store_of(inference.initial_store, said)
    texts = {(one.node, one.text) for one in said}
    reader = Reader(rerun(inference, inference.initial_store.copy()), budget)
    for condition in merged(reader):
        about_inputs = bool(condition.free_symbols) and condition.free_symbols <= reader.labels.keys()
        if about_inputs and (condition.node, condition.text) not in texts and not condition.follows(store):
            yield condition


def _store_of(before: ShapeStore, preconditions: Iterable[Precondition]) -> ShapeStore:
    """What is known before any node has spoken, and these conditions."""
    store = before.copy()
    for condition in preconditions:
        for clause in condition.clauses if len(condition.clauses) == 1 else ():
            with suppress(ShapeError):  # the graph cannot run at all
                if clause.zero:
                    store.add_equal(clause.expression, 0, Source(condition.node, condition.message))
                else:
                    store.add_le(0, clause.expression, Source(condition.node, condition.message))
    return store
