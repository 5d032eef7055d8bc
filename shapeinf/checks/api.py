"""`check`: a result in, everything that is wrong with its model out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from shapeinf.checks.declared import COMPARISONS
from shapeinf.checks.finding import Finding
from shapeinf.checks.nowhere import runs_nowhere
from shapeinf.checks.registry import KINDS
from shapeinf.checks.repairs import Tried, likely_cause
from shapeinf.checks.subject import Subject
from shapeinf.checks.taken import taken_at_its_word
from shapeinf.diagnostics import Diagnostic
from shapeinf.result import Result
from shapeinf.sharing import hold_locks


def check(result: Result, ranges: Mapping[str, object] | None = None) -> list[Finding]:
    """All findings of a model that was inferred with `declared="check"`, in the order of the graph; notes come last.

    So the first finding is the nearest to the cause. What only follows from another finding comes behind it and names
    its node as the `cause`. `ranges` are the dims that the user gave bounds of: what these let happen is more than a
    note.
    """
    with hold_locks(result):
        subject = Subject(result, ranges)
        found = _sorted(_findings(subject), subject)
        if not any(one.fails for one in found):
            found = _sorted([*found, *runs_nowhere(subject)], subject)
        return _causes_first(found, subject) if any(one.fails for one in found) else found


def _findings(subject: Subject) -> Iterator[Finding]:
    yield from (_of_inference(one, subject) for one in subject.result.diagnostics if not _compared_here(one, subject))
    for kind in KINDS.values():
        if kind.look is not None:
            yield from kind.look(subject)


def _sorted(found: Iterable[Finding], subject: Subject) -> list[Finding]:
    def rank(one: Finding) -> tuple[object, ...]:
        return not one.fails, _place(one, subject), bool(one.cause), one.weight, one.code

    return sorted(dict.fromkeys(found), key=rank)


def _causes_first(found: list[Finding], subject: Subject) -> list[Finding]:
    """The findings with the likely cause first: what breaks a declaration by itself, else what a repair shows.

    Where one axis is declared otherwise, and nothing else is found, it is the declaration or an input. Where one node
    breaks its declaration, it is that node or one that makes sizes for it, of which declarations do not tell.
    """
    failing = [one for one in found if one.fails]
    left = _left(failing, subject)
    places = {one.place for one in left}
    one_declaration = len(failing) == 1 and failing[0].code in COMPARISONS
    tried: Tried = "sizes" if len(places) == 1 else "inputs" if left or one_declaration else "all"
    likely = None if places and one_declaration else likely_cause(subject, failing, _findings, tried)
    if likely is not None:
        finding, alone = likely
        return _led_by([finding], found, finding.place if alone else "")
    return _led_by(left, found, left[0].place if len(places) == 1 else "") if left else found


def _left(failing: list[Finding], subject: Subject) -> list[Finding]:
    """What is still found where every declaration is taken at its word, if that explains what is found."""
    taken = taken_at_its_word(subject)
    if taken is None:
        return []
    other, differences = taken
    alone = [one for one in _findings(other) if one.code not in COMPARISONS] + differences
    left = [one for one in _sorted(alone, other) if one.fails]
    fewer = len(left) < len(failing) or any(one.code in COMPARISONS for one in differences)
    return left if fewer and len({one.place for one in left}) <= len({one.place for one in failing}) else []


def _led_by(first: list[Finding], found: list[Finding], cause: str) -> list[Finding]:
    """These first, then what else was found; what the cause explains names it."""
    places, said = {one.place for one in first}, {(one.code, one.place, one.tensor) for one in first}
    rest = [one for one in found if (one.code, one.place, one.tensor) not in said]
    return [*first, *(attrs.evolve(one, cause=cause) if one.fails and one.place not in places else one for one in rest)]


def _compared_here(found: Diagnostic, subject: Subject) -> bool:
    """Declarations of the graph itself are compared by a check of their own; the inference compares those of bodies."""
    return found.code == "S120" and found.node in subject.nodes


def _of_inference(found: Diagnostic, subject: Subject) -> Finding:
    """A finding of the inference; what it could not know is no fault of the model."""
    severity = "note" if found.code.startswith("S2") else found.severity
    fields = attrs.asdict(found, recurse=False)
    return Finding(**{**fields, "severity": severity})


def _place(found: Finding, subject: Subject) -> int:
    """Those of a node, or of what it causes, in the order of the graph; those of inputs and the whole model first."""
    node = found.cause or found.node
    return subject.order.get(node, len(subject.order) if node else -1)
