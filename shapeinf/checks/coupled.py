"""Axes of one input whose legal sizes depend on each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from shapeinf.checks.registry import register_check
from shapeinf.checks.sampling import LARGE, Binding, legality_test, sample_solutions
from shapeinf.checks.subject import CheckedModel
from shapeinf.checks.trial import shown
from shapeinf.contract import Precondition
from shapeinf.diagnostics import Diagnostic

_KINDS = ("equality", "alternative", "divisibility")
"""Bounds are none of them: a table of positions for the cells of an image has an end."""
_TRIED = 1024
_FEW = 12
"""So many bindings that a condition allows are mixed with each other."""
_LEAST = (2, LARGE)
"""Sizes to begin with: an axis of 1 fits where others do not, small ones are one after a division."""


@register_check(
    "C105",
    "warning",
    "axes of one input that must fit each other",
    "Each axis is dynamic, but a node requires a relation between them.",
)
def coupled(subject: CheckedModel) -> Iterator[Diagnostic]:
    """Conditions that do not leave each axis its own sizes, shown by a legal binding of which one size is changed.

    One a node. Two names that must be equal are C102. Axes of different inputs often belong together (`total == past
    + seq`).
    """
    nodes: set[str] = set()
    for condition in subject.demands:
        symbols = condition.free_symbols
        if condition.kind not in _KINDS or len(symbols) < 2 or set(condition.terms) <= subject.named:
            continue
        if condition.node in nodes or not subject.independent(symbols):
            continue
        example = _example(subject, condition)
        if example is not None:
            nodes.add(condition.node)
            yield _found(subject, condition, *example)


def _example(subject: CheckedModel, condition: Precondition) -> tuple[Binding, Binding] | None:
    """A legal binding, and one that takes the size of one symbol from another legal one and is not legal."""
    names = {symbol.name for symbol in condition.free_symbols}
    fits = legality_test(subject.initial_store, names)
    required = [one for one in subject.demands if one.free_symbols <= condition.free_symbols]
    about = [*condition.terms, *(clause.expression for clause in condition.clauses)]
    for least in _LEAST:
        tried = sample_solutions(subject.initial_store, condition.free_symbols, least, condition.clauses, about)
        legal = (
            binding
            for binding in itertools.islice(tried, _TRIED)
            if fits(binding) and all(one.holds(binding) is not False for one in required)
        )
        for one, other in itertools.permutations(itertools.islice(legal, _FEW), 2):
            for name in names:
                mixed = {**one, name: other[name]}
                if condition.holds(mixed) is False and fits(mixed):
                    return one, mixed
    return None


def _found(subject: CheckedModel, condition: Precondition, legal: Binding, mixed: Binding) -> Diagnostic:
    axes = " and ".join(
        f"{subject.shown(s)} ({subject.axes_of(s)})" for s in subject.axes if s in condition.free_symbols
    )
    return Diagnostic(
        "warning",
        "C105",
        f"{axes} must fit each other: {condition.text}; {shown(subject, mixed)} does not run, though "
        f"{shown(subject, legal)} may",
        condition.node,
        condition.op,
        because=condition.message,
        help="if that is meant, nothing is wrong; else a node before it takes one axis for another",
        location=condition.location,
    )
