"""`check`: a result in, everything that is wrong with its model out."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from shapeinf.checks.finding import Finding
from shapeinf.checks.registry import KINDS
from shapeinf.checks.subject import Subject
from shapeinf.driver import Diagnostic, Result


def check(result: Result, ranges: Mapping[str, object] | None = None) -> list[Finding]:
    """All findings of a model that was inferred with `declared="check"`, in the order of the graph; notes come last.

    So the first finding is the nearest to the cause. `ranges` are the dims that the user gave bounds of: what these
    let happen is more than a note.
    """
    subject = Subject(result, ranges)
    found = [_of_inference(one, subject) for one in result.diagnostics if not _compared_here(one, subject)]
    for kind in KINDS.values():
        if kind.look is not None:
            found += kind.look(subject)
    return sorted(dict.fromkeys(found), key=lambda one: (not one.fails, _place(one, subject), one.weight, one.code))


def _compared_here(found: Diagnostic, subject: Subject) -> bool:
    """Declarations of the graph itself are compared by a check of their own; the inference compares those of bodies."""
    return found.code == "S120" and found.node in subject.nodes


def _of_inference(found: Diagnostic, subject: Subject) -> Finding:
    """A finding of the inference; what it could not know is no fault of the model."""
    severity = "note" if found.code.startswith("S2") else found.severity
    fields = attrs.asdict(found, recurse=False)
    return Finding(**{**fields, "severity": severity})


def _place(found: Finding, subject: Subject) -> int:
    """Those of a node in the order of the graph; those of inputs and of the whole model first."""
    return subject.order.get(found.node, len(subject.order) if found.node else -1)
