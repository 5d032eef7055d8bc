"""The diagnostics of an inference together with those of its bodies, and which of them are violations.

For results, checks and contracts. A *violation* is a node that fails at run time. It is *certain* unless the node is in
a body, or behind a condition, that may not run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.declarations import unused_sizes
from shapeinf.engine.inference import Inference, downgrade
from shapeinf.engine.schema_violations import DECLARED_TYPE, REPEATED_NAME, SchemaViolation, SchemaViolations
from shapeinf.graph import UNUSED
from shapeinf.ops.conformance import CODES
from shapeinf.solver.budget import CUT


def collect_diagnostics(inference: Inference) -> list[Diagnostic]:
    """All diagnostics of nodes, in the order of the graph; those of bodies follow those of their node.

    Schema violations are errors in any body: runtimes check each body when they load the model. That the budget of work
    was reached is reported once.
    """
    notes = [note for note, _ in _collect(inference, SchemaViolations(inference))]
    cut = [index for index, note in enumerate(notes) if note.code == "S202" and note.message.endswith(CUT)]
    return [note for index, note in enumerate(notes) if index not in cut[1:]]


def _collect(inference: Inference, schema: SchemaViolations) -> list[tuple[Diagnostic, bool]]:
    """The diagnostics of a run, each with whether it is a schema violation."""
    by_node: dict[int, list[SchemaViolation]] = {}
    for violation in schema.of(inference):
        by_node.setdefault(violation.index, []).append(violation)
    doubtful = {inference.compiled.names[slot] for slot in schema.doubtful_slots(inference) if slot != UNUSED}
    diagnostics: list[tuple[Diagnostic, bool]] = []
    for index in sorted({*inference.node_diagnostics, *inference.children, *by_node}):
        here = by_node.get(index, [])
        diagnostics += ((violation.diagnostic, True) for violation in here)
        bodies = inference.children.get(index, {}).values()
        for note in _locate(inference, index):
            follows = _follows(note, here) or (note.code == "S101" and any(map(schema.has_any, bodies)))
            repeats = schema.is_checked and note.severity == "error" and note.code in CODES
            repeats = repeats or (note.code == "S120" and note.tensor in schema.mistyped(inference))
            if not follows and not repeats and note.tensor not in doubtful:
                diagnostics.append((note, False))
        seen = set()
        for note, _ in (item for run in inference.extra_runs.get(index, ()) for item in _collect(run, schema)):
            if note.severity == "error" and (note.node, note.code) not in seen:
                seen.add((note.node, note.code))
                diagnostics.append((note, False))
        for child in inference.children.get(index, {}).values():
            for note, is_load_error in _collect(child, schema):
                if (note.node, note.code) not in seen:
                    diagnostics.append((note if child.certain or is_load_error else downgrade(note), is_load_error))
    if inference.unused_sizes:
        diagnostics += ((note, False) for note in unused_sizes(inference))
    return diagnostics


def _follows(note: Diagnostic, here: Sequence[SchemaViolation]) -> bool:
    """Whether a diagnostic of the rule of a node only repeats a violation of the node, or follows from it."""
    codes = {violation.error.code for violation in here} - {DECLARED_TYPE}
    follows = note.code in ("S103", "S104", "S201", "S202", "S301") or not codes.isdisjoint(("S103", "S109"))
    return bool(codes) and REPEATED_NAME not in codes and follows


def violations(inference: Inference, *, certain: bool = True) -> Iterator[tuple[Diagnostic, bool]]:
    """The violations in the order of the graph, each with whether it is certain.

    These are the errors, and the warnings of code S101: a violated constraint that no shape depends on. An error of the
    rule itself (S3xx) is not certain, nor is anything where this inference may not run (`certain` is false).
    """
    conditional = inference.compiled.conditional
    for index in sorted({*inference.node_diagnostics, *inference.children}):
        runs_always = certain and not (conditional is not None and conditional[index])
        for note in _locate(inference, index):
            if note.severity == "error" or note.code == "S101":
                yield note, runs_always and not note.code.startswith("S3")
        seen = set()
        for run in (*inference.extra_runs.get(index, ()), *inference.children.get(index, {}).values()):
            for note, is_certain in violations(run, certain=runs_always and run.certain):
                if (note.node, note.code, note.message) not in seen:  # iterations may repeat a violation
                    seen.add((note.node, note.code, note.message))
                    yield note, is_certain


def certain_violations(inference: Inference) -> list[Diagnostic]:
    """The diagnostics of nodes that are certain to fail at run time."""
    return [diagnostic for diagnostic, certain in violations(inference) if certain]


def possible_bodies(children: Mapping[str, Inference]) -> Mapping[str, Inference]:
    """The bodies of a node that may run: those in which no node is certain to fail; all of them where each has one."""
    if len(children) < 2:
        return children
    return {name: child for name, child in children.items() if not certain_violations(child)} or children


def _locate(inference: Inference, index: int) -> list[Diagnostic]:
    """The diagnostics of a node, with its location in the file where that is known."""
    notes = inference.node_diagnostics.get(index, [])
    locations = inference.compiled.graph.locations
    location = locations.get(inference.compiled.step(index).node.name, "") if notes and locations else ""
    return [attrs.evolve(note, location=location) for note in notes] if location else notes
