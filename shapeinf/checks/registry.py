"""The kinds of findings: a code, what it means, and the function that looks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import attrs

from shapeinf.checks.finding import Finding
from shapeinf.checks.subject import CheckedModel

Look = Callable[[CheckedModel], Iterable[Finding]]


@attrs.frozen
class Kind:
    """A kind of finding; `look` is None for one that another look (or a comparison with a file) finds."""

    code: str
    title: str
    look: Look | None = None


KINDS: dict[str, Kind] = {}
"""Every kind of finding by its code."""


def kind(code: str, title: str) -> Callable[[Look], Look]:
    """Register the function that looks for findings of a code."""

    def register(look: Look) -> Look:
        _add(Kind(code, title, look))
        return look

    return register


def also(code: str, title: str) -> str:
    """Register a code whose findings come from elsewhere; the code itself."""
    _add(Kind(code, title))
    return code


def title_of(code: str) -> str:
    """What a code means; the code itself for one of the inference."""
    return KINDS[code].title if code in KINDS else code


def _add(new: Kind) -> None:
    assert new.code not in KINDS, f"{new.code} is registered twice"
    KINDS[new.code] = new
