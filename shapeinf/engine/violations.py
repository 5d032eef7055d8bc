"""The laws that a finished inference found broken: where the graph fails when it runs."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.inference import Inference


def violations(inference: Inference, *, certain: bool = True) -> Iterator[tuple[Diagnostic, bool]]:
    """The findings at nodes that fail when they run, in the order of the graph, each with whether that is sure.

    Errors are among them, and warnings of code S101: a broken law that no shape depends on. It is not sure in a branch
    that may not run, nor where it is our own rule that failed.
    """
    program = inference.compiled
    for index in sorted({*inference.found, *inference.children}):
        at = program.graph.locations.get(program.step(index).node.name, "")
        for note in inference.found.get(index, ()):
            if note.severity == "error" or note.code == "S101":
                yield attrs.evolve(note, location=at), certain and not note.code.startswith("S3")
        seen = set()
        for run in (*inference.trials.get(index, ()), *inference.children.get(index, {}).values()):
            for note, sure in violations(run, certain=certain and run.certain):
                if (note.node, note.code, note.message) not in seen:  # trips may break the same law
                    seen.add((note.node, note.code, note.message))
                    yield note, sure


def certain_violations(inference: Inference) -> list[Diagnostic]:
    """The findings at nodes that are sure to fail when they run."""
    return [found for found, certain in violations(inference) if certain]
