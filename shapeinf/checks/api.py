"""`check`: all diagnostics of an inferred model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from shapeinf.checks.checked_model import CheckedModel
from shapeinf.checks.declarations import COMPARISONS
from shapeinf.checks.numeric_runs import fails_everywhere
from shapeinf.checks.operators import MISSPELLED_OPERATOR
from shapeinf.checks.registry import CHECKS, STATIC_CHECKS
from shapeinf.checks.repairs import Candidates, likely_cause
from shapeinf.checks.stale import summarize_stale
from shapeinf.checks.trusted_declarations import trust_declarations
from shapeinf.diagnostics import Diagnostic, register_code
from shapeinf.engine.garbage import pause_garbage_collection
from shapeinf.engine.session import nodes_behind, rows_with_errors
from shapeinf.result import Result
from shapeinf.solver.budget import CUT

C180 = register_code(
    "C180",
    "note",
    "a check that reached its work budget",
    "A part of the checks was not done; what is reported holds. The budget grows with the number of nodes.",
)


def check(result: Result, ranges: Mapping[str, object] | None = None) -> list[Diagnostic]:
    """All diagnostics of a model that was inferred with `declared="check"`, in the order of the graph; notes last.

    The first one is the nearest to the cause. One that follows from another comes after it and names its node as the
    `cause`. `ranges` has the dims with bounds of the user: a tensor that overflows within these is no mere note.
    """
    with result.engine.lock, pause_garbage_collection():
        model = CheckedModel(result, ranges)
        static = _sort((diagnostic for run in STATIC_CHECKS.values() for diagnostic in run(model)), model)
        misspelled = {diagnostic.node for diagnostic in static if diagnostic.code == MISSPELLED_OPERATOR}
        diagnostics = [d for d in _sort(_run_checks(model), model) if d.code != "S201" or d.node not in misspelled]
        diagnostics = summarize_stale(list(_without_consequences(diagnostics, model)), model)
        if not any(diagnostic.fails for diagnostic in diagnostics):
            diagnostics = _sort([*diagnostics, *fails_everywhere(model)], model)
        if any(diagnostic.fails for diagnostic in diagnostics):
            diagnostics = _put_cause_first(diagnostics, model)
        return [*static, *diagnostics, *_cut_note(model)]


def _cut_note(model: CheckedModel) -> Iterator[Diagnostic]:
    if model.budget.cut:
        yield Diagnostic("note", C180, f"some sizes and changes were not tried: {CUT}")


def _run_checks(model: CheckedModel) -> Iterator[Diagnostic]:
    for diagnostic in model.result.diagnostics:
        # The check of declarations compares those of the graph itself; the inference those of bodies.
        if diagnostic.code not in ("S115", "S120") or diagnostic.node not in model.nodes:
            unknown = diagnostic.code.startswith("S2")  # an unknown shape is no fault of the model
            yield attrs.evolve(diagnostic, severity="note") if unknown else diagnostic
    for run in CHECKS.values():
        yield from run(model)


def _without_consequences(diagnostics: Iterable[Diagnostic], model: CheckedModel) -> Iterator[Diagnostic]:
    """The diagnostics without those of declarations behind a node that fails: nothing certain is known there.

    Behind constants that share a name no check is certain.
    """
    inference = model.result.engine.inference
    behind = nodes_behind(inference.compiled, rows_with_errors(inference))
    names = {inference.compiled.step(index).node_name for index in behind}
    repeated = {inference.compiled.slots.get(name) for name in model.graph.repeated_constants}
    readers = [i for i, row in enumerate(inference.compiled.rows) if repeated and not repeated.isdisjoint(row[1])]
    unclear = {inference.compiled.step(i).node_name for i in (*readers, *nodes_behind(inference.compiled, readers))}
    diagnostics = (d for d in diagnostics if not d.code.startswith("C") or d.node not in unclear)
    return (d for d in diagnostics if d.code not in COMPARISONS or d.node not in names)


def _sort(diagnostics: Iterable[Diagnostic], model: CheckedModel) -> list[Diagnostic]:
    """Diagnostics without duplicates: failures before notes, each in graph order of the cause or node; inputs first."""

    def rank(diagnostic: Diagnostic) -> tuple[object, ...]:
        node = diagnostic.cause or diagnostic.node
        position = model.order.get(node, len(model.order) if node else -1)
        return not diagnostic.fails, position, bool(diagnostic.cause), diagnostic.weight, diagnostic.code

    return sorted(dict.fromkeys(diagnostics), key=rank)


def _put_cause_first(diagnostics: list[Diagnostic], model: CheckedModel) -> list[Diagnostic]:
    """The diagnostics with the likely cause first: a violated declaration, else the node of a repair.

    A single failure of one declared axis is caused by the declaration or an input. A single node that violates its
    declaration is the cause, or a node that computes sizes for it, which declarations do not cover. The sizes of the
    inputs of a traced run are those for which all other declarations hold: they cause no difference. What the reader
    of the file reports depends on no size.
    """
    failures = [d for d in diagnostics if d.fails and d not in model.graph.diagnostics]
    if not failures:
        return diagnostics
    remaining = _remaining_with_declarations(failures, model)
    subjects = {diagnostic.subject for diagnostic in remaining}
    single_declaration = len(failures) == 1 and failures[0].code in COMPARISONS
    candidates: Candidates = "sizes" if len(subjects) == 1 else "inputs" if remaining or single_declaration else "all"
    explained = (subjects and single_declaration) or (model.graph.traced and candidates == "inputs")
    likely = None if explained else likely_cause(model, failures, _run_checks, candidates)
    if likely is not None:
        cause, is_unique = likely
        return _lead_with([cause], diagnostics, cause.subject if is_unique else "")
    if not remaining:
        return diagnostics
    return _lead_with(remaining, diagnostics, remaining[0].subject if len(subjects) == 1 else "")


def _remaining_with_declarations(failures: list[Diagnostic], model: CheckedModel) -> list[Diagnostic]:
    """The failures that remain in an inference that trusts all declarations, if these explain all failures; else none.

    That inference only selects: a stale declaration makes others fail in it, which are right.
    """
    trusted = trust_declarations(model)
    if trusted is None:
        return []
    other, violations = trusted
    rest = [diagnostic for diagnostic in _run_checks(other) if diagnostic.code not in COMPARISONS] + violations
    keys = {_identify(diagnostic): None for diagnostic in _sort(rest, other) if diagnostic.fails}
    explains = len(keys) < len(failures) or any(d.code in COMPARISONS for d in violations)
    remaining = [failure for key in keys for failure in failures if _identify(failure) == key]
    return remaining if explains and len({d.subject for d in remaining}) <= len({d.subject for d in failures}) else []


def _identify(diagnostic: Diagnostic) -> tuple[str, str, str]:
    return diagnostic.code, diagnostic.subject, diagnostic.tensor


def _lead_with(first: list[Diagnostic], diagnostics: list[Diagnostic], cause: str) -> list[Diagnostic]:
    """The `first` diagnostics, then the others; failures at other nodes get the `cause`, unless it is empty."""
    subjects, reported = {d.subject for d in first}, set(map(_identify, first))
    rest = [d for d in diagnostics if _identify(d) not in reported]
    return [*first, *(attrs.evolve(d, cause=cause) if d.fails and d.subject not in subjects else d for d in rest)]
