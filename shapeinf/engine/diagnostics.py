"""The diagnostics of an inference together with those of its bodies, and which of them are violations.

For results, checks and contracts. A *violation* is a node that fails at run time. It is *certain* unless the node is in
a body, or behind a condition, that may not run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.declarations import unread_texts, unused_sizes
from shapeinf.engine.inference import Inference, downgrade
from shapeinf.engine.runs import Run, walk_nodes
from shapeinf.engine.schema_violations import DECLARED_TYPE, REPEATED_NAME, SchemaViolation, SchemaViolations
from shapeinf.graph import UNUSED
from shapeinf.ops.conformance import CODES
from shapeinf.solver.budget import CUT


def collect_diagnostics(inference: Inference) -> list[Diagnostic]:
    """All diagnostics of nodes, in the order of the graph; those of bodies follow those of their node.

    Schema violations are errors in any body: runtimes check each body when they load the model. Of a further run only
    errors count, and each of them once. That the budget of work was reached is reported once.
    """
    schema = SchemaViolations(inference)
    by_node: dict[tuple[int, int], list[SchemaViolation]] = {}
    for number, violations_of_run in schema.by_run.items():
        for violation in violations_of_run:
            by_node.setdefault((number, violation.index), []).append(violation)
    seen: dict[tuple[int, int], set[tuple[str, str]]] = {}
    diagnostics = list(unread_texts(inference))
    for run, index in walk_nodes(inference, lambda inside: _noted(inside, schema)):
        here = by_node.get((id(run.inference), index), [])
        for note, is_load_error in _notes_of_node(run.inference, index, here, schema):
            outer_note = _note_outside(run, note, is_load_error, seen)
            diagnostics += [] if outer_note is None else [outer_note]
    cut = [index for index, note in enumerate(diagnostics) if note.code == "S202" and note.message.endswith(CUT)]
    return [note for index, note in enumerate(diagnostics) if index not in cut[1:]]


def _noted(inference: Inference, schema: SchemaViolations) -> Iterator[int]:
    """The indices of nodes with diagnostics; past the last one, for declared sizes that are not used."""
    yield from inference.node_diagnostics
    yield from (violation.index for violation in schema.of(inference))
    if inference.unused_sizes:
        yield len(inference.compiled.rows)


def _notes_of_node(
    inference: Inference, index: int, here: Sequence[SchemaViolation], schema: SchemaViolations
) -> Iterator[tuple[Diagnostic, bool]]:
    """The diagnostics of a node of a run, each with whether it is a schema violation (`here`)."""
    if index == len(inference.compiled.rows):
        yield from ((note, False) for note in unused_sizes(inference))
        return
    yield from ((violation.diagnostic, True) for violation in here)
    names, bodies = inference.compiled.names, inference.children.get(index, {}).values()
    for note in _locate(inference, index):
        follows = _follows(note, here) or (note.code == "S101" and any(map(schema.has_any, bodies)))
        repeats = schema.is_checked and note.severity == "error" and note.code in CODES
        repeats = repeats or (note.code == "S120" and note.tensor in schema.mistyped(inference))
        doubtful = note.tensor and any(names[s] == note.tensor for s in schema.doubtful_slots(inference) if s != UNUSED)
        if not follows and not repeats and not doubtful:
            yield note, False


def _note_outside(
    run: Run, note: Diagnostic, is_load_error: bool, seen: dict[tuple[int, int], set[tuple[str, str]]]
) -> Diagnostic | None:
    """A diagnostic as it counts for the model; None where it counts for nothing. An error need not occur in a body.

    `seen` are the errors of further runs, by the id of the outer inference and the index of the node.
    """
    while run.node is not None:
        outer, index = run.node
        errors = seen.setdefault((id(outer.inference), index), set())
        if (note.node, note.code) in errors or (run.further and note.severity != "error"):
            return None
        if run.further:
            errors.add((note.node, note.code))
            is_load_error = False
        elif not run.inference.certain and not is_load_error:
            note = downgrade(note)
        run = outer
    return note


def _follows(note: Diagnostic, here: Sequence[SchemaViolation]) -> bool:
    """Whether a diagnostic of the rule of a node only repeats a violation of the node, or follows from it."""
    codes = {violation.error.code for violation in here} - {DECLARED_TYPE}
    follows = note.code in ("S103", "S104", "S201", "S202", "S301") or not codes.isdisjoint(("S103", "S109"))
    return bool(codes) and REPEATED_NAME not in codes and follows


def violations(
    inference: Inference, enter: Callable[[Run], bool] = lambda run: True
) -> Iterator[tuple[Diagnostic, bool]]:
    """The violations in the order of the graph, each with whether it is certain; `enter` may exclude some bodies.

    These are the errors, and the warnings of code S101: a violated constraint that no shape depends on. An error of the
    rule itself (S3xx) is not certain.
    """
    seen: set[tuple[int, str, str, str]] = set()
    for run, index in walk_nodes(inference, lambda inside: inside.node_diagnostics, enter):
        notes = [note for note in _locate(run.inference, index) if note.severity == "error" or note.code == "S101"]
        runs_always = bool(notes) and _runs_always(run, index)
        for note in notes:
            key = _outermost(run, index), note.node, note.code, note.message
            if run.outer is None or key not in seen:  # iterations may repeat a violation
                seen.add(key)
                yield note, runs_always and not note.code.startswith("S3")


def _runs_always(run: Run, index: int) -> bool:
    """Whether a node of a run certainly runs."""
    while True:
        conditional = run.inference.compiled.conditional
        if conditional is not None and conditional[index]:
            return False
        if run.node is None:
            return True
        if not run.inference.certain:
            return False
        run, index = run.node


def _outermost(run: Run, index: int) -> int:
    """The node of the outermost graph in whose bodies a node is."""
    while run.node is not None:
        run, index = run.node
    return index


def certain_violations(inference: Inference) -> list[Diagnostic]:
    """The diagnostics of nodes that are certain to fail at run time; a body that may not run has none."""
    certain_runs = violations(inference, lambda run: run.inference.certain)
    return [diagnostic for diagnostic, certain in certain_runs if certain]


def possible_bodies(inference: Inference, index: int) -> Mapping[str, Inference]:
    """The bodies of a node that may run: those in which no node is certain to fail; all of them where each has one."""
    children = inference.children.get(index, {})
    if len(children) < 2:
        return children
    return {name: child for name, child in children.items() if not certain_violations(child)} or children


def _locate(inference: Inference, index: int) -> list[Diagnostic]:
    """The diagnostics of a node, with its location in the file where that is known."""
    notes = inference.node_diagnostics.get(index, [])
    locations = inference.compiled.graph.locations
    location = locations.get(inference.compiled.step(index).node.name, "") if notes and locations else ""
    return [attrs.evolve(note, location=location) for note in notes] if location else notes
