"""All preconditions of a graph: those in the constraints of its inference, and three kinds that need more.

- A trusted declaration of the file may hide the requirement of a node: a what-if run that only compares has it.
- A requirement may follow from an assumption: a what-if run that assumes nothing has the exact one.
- A body that may not run has requirements only where it runs: its undone constraints have them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

import attrs

from shapeinf.constraints.common import States, new_constraints
from shapeinf.contract.preconditions import Precondition
from shapeinf.contract.reader import PreconditionReader
from shapeinf.engine.declarations import trusts_declarations
from shapeinf.engine.inference import Inference
from shapeinf.engine.runs import walk_runs
from shapeinf.engine.session import rerun
from shapeinf.errors import ShapeError, Source
from shapeinf.lattice import ShapeStore
from shapeinf.solver.budget import Budget


def unconditional_preconditions(reader: PreconditionReader) -> Iterator[Precondition]:
    """The preconditions that hold whenever the graph runs, those that a trusted declaration hides included."""
    preconditions = _read_without_assumptions(reader, list(reader.read()))
    yield from preconditions
    yield from _hidden_by_declarations(reader, preconditions)


def body_preconditions(inference: Inference, budget: Budget) -> Iterator[Precondition]:
    """The preconditions on inputs of the graph that only bodies have which may not run.

    Those of a loop are the ones of the inferred trip: any trip where the loop was inferred by induction or to a
    fixpoint, the last one where it was unrolled.
    """
    for where, states in _bodies(inference):
        added = [c for c in new_constraints(*states) if not inference.store.implies(c)]
        if not added:
            continue
        store = inference.store.copy()
        for constraint in added:
            with suppress(ShapeError):  # the rest of the graph contradicts it
                store.add(constraint)
        reader = PreconditionReader(inference, budget, inference.store, store)
        for precondition in reader.read():
            if _is_on_inputs(precondition, reader):
                kind = precondition.kind if precondition.kind == "assumption" else "guard"
                yield attrs.evolve(precondition, kind=kind, where=where, clauses=(), least=None, weaker=())


def _bodies(inference: Inference) -> Iterator[tuple[str, States]]:
    """For each body that may not run a description, and the stores before and after its run."""
    for run in walk_runs(inference):
        if run.outer is not None and run.step is not None and run.inference.undone is not None:
            node_name = run.outer.inference.path + run.step.node_name
            yield f"{run.name} of {run.step.operation.kind.op} '{node_name}'", run.inference.undone


def _is_on_inputs(precondition: Precondition, reader: PreconditionReader) -> bool:
    return bool(precondition.free_symbols) and precondition.free_symbols <= reader.labels.keys()


# -- assumptions -------------------------------------------------------------------------------------------------------


def _read_without_assumptions(reader: PreconditionReader, preconditions: list[Precondition]) -> list[Precondition]:
    """The preconditions, none of which follows from an assumption that need not hold.

    Where some may, the requirements are read from an inference that assumes nothing, and an assumption that follows
    from them is omitted.
    """
    if not _follow_from_assumptions(preconditions):
        return preconditions
    terms = {_key(precondition): precondition.terms for precondition in preconditions}
    rest = rerun(reader.inference, reader.inference.initial_store.copy(), assume=False)
    exact = _decide_guards(list(PreconditionReader(rest, reader.budget).read()), preconditions)
    required = [
        attrs.evolve(precondition, terms=terms.get(_key(precondition), precondition.terms)) for precondition in exact
    ]
    advised = {(c.node, c.text) for c in required if c.kind == "assumption"}  # both inferences have it
    assumed = [
        c
        for c in preconditions
        if c.kind == "assumption" and (c.node, c.text) not in advised and not c.is_implied_by(rest.store)
    ]
    return [*(attrs.evolve(c, weaker=tuple(w for w in c.weaker if w.kind == "assumption")) for c in assumed), *required]


def _decide_guards(exact: list[Precondition], assuming: Sequence[Precondition]) -> list[Precondition]:
    """The exact preconditions; guards that are decided below assumed upper limits, in the form that they have there.

    Beyond such a limit, such as 2**53 of float64, a size is an unknown, and a requirement on it is a guard.
    """
    if any(precondition.kind == "assumption" and precondition.least is not None for precondition in assuming):
        return exact
    decided = {(p.node, p.message): p for p in assuming if p.kind not in ("assumption", "guard")}
    return [
        decided.pop((p.node, p.message), p) if p.kind == "guard" and (p.node, p.message) in decided else p
        for p in exact
    ]


def _key(precondition: Precondition) -> tuple[object, ...]:
    """A key that is equal for a precondition in inferences with and without assumptions, where dims may differ."""
    return (
        precondition.node,
        precondition.message,
        precondition.kind,
        precondition.terms[:1],
        precondition.least is None,
    )


def _follow_from_assumptions(preconditions: Sequence[Precondition]) -> bool:
    """Whether requirements may follow from assumptions.

    That may be so for a lower bound that is no larger than the assumed one, and for other conditions on a symbol with
    an assumption: operands that broadcast need to be equal only where they are assumed to be larger than 1.
    """
    assumptions = [precondition for precondition in preconditions if precondition.kind == "assumption"]
    assumed = {symbol for precondition in assumptions for symbol in precondition.free_symbols}
    least = {
        precondition.terms[0]: precondition.least for precondition in assumptions if precondition.least is not None
    }
    for precondition in preconditions if assumed else ():
        if precondition.kind == "range":
            known = least.get(precondition.terms[0])
            if known is not None and precondition.least is not None and precondition.least <= known:
                return True
        elif precondition.kind != "assumption" and not assumed.isdisjoint(precondition.free_symbols):
            return True
    return False


# -- declarations ------------------------------------------------------------------------------------------------------


def _hidden_by_declarations(reader: PreconditionReader, known: Iterable[Precondition]) -> Iterator[Precondition]:
    """The requirements of nodes that are not in the store, since a declaration of an output implies them.

    They are read from a what-if run that only compares declarations.
    """
    inference = reader.inference
    if not trusts_declarations(inference):
        return
    listed = list(known)
    store = _add_preconditions(inference.initial_store, listed)
    texts = {(precondition.node, precondition.text) for precondition in listed}
    comparing = PreconditionReader(rerun(inference, inference.initial_store.copy()), reader.budget)
    for precondition in comparing.read():
        is_known = (precondition.node, precondition.text) in texts
        if _is_on_inputs(precondition, comparing) and not is_known and not precondition.is_implied_by(store):
            yield precondition


def _add_preconditions(before: ShapeStore, preconditions: Iterable[Precondition]) -> ShapeStore:
    """A copy of the store `before`, with the preconditions of a single clause added."""
    store = before.copy()
    for precondition in preconditions:
        for clause in precondition.clauses if len(precondition.clauses) == 1 else ():
            with suppress(ShapeError):  # the graph cannot run at all
                if clause.zero:
                    store.add_equal(clause.expression, 0, Source(precondition.node, precondition.message))
                else:
                    store.add_le(0, clause.expression, Source(precondition.node, precondition.message))
    return store
