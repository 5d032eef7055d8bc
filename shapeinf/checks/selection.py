"""The selection of the diagnostics to report: by codes and prefixes of codes, for all models or those of a pattern."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from shapeinf.diagnostics import CODES
from shapeinf.errors import UnknownNameError
from shapeinf.formats.model_paths import matches_path

ALL = "ALL"
"""The selector of every code."""

UNREADABLE = "C100"
"""The code of a model that cannot be checked; it is always reported."""


def check_selectors(selectors: Iterable[str]) -> tuple[str, ...]:
    """Codes and prefixes of codes, such as `C101`, `C1` or `ALL`. Raises UnknownNameError for one without a code.

    >>> check_selectors(["C1", "ALL"])
    ('C1', 'ALL')
    """
    checked = tuple(selectors)
    for selector in checked:
        if not _is_selector(selector):
            upper = selector.upper()
            raise UnknownNameError("diagnostic code", selector, [upper] if _is_selector(upper) else [ALL, *CODES])
    return checked


def _is_selector(text: str) -> bool:
    return text == ALL or (text != "" and any(code.startswith(text) for code in CODES))


@attrs.frozen
class Selection:
    """The codes to report.

    The longest selector that matches a code decides: `ignore=["C1"]` with `select=["C101"]` reports C101. A code that
    is selected and ignored by selectors of the same length is ignored.

    Args:
        select: codes, and prefixes of codes, to report; all by default.
        ignore: codes and prefixes not to report.
        per_file_ignores: further codes and prefixes not to report for models whose path matches a pattern.
        folder: the folder to which patterns are relative.
    """

    select: tuple[str, ...] = attrs.field(default=(ALL,), converter=check_selectors)
    ignore: tuple[str, ...] = attrs.field(default=(), converter=check_selectors)
    per_file_ignores: Mapping[str, Sequence[str]] = attrs.field(factory=dict)
    folder: str = ""

    def __attrs_post_init__(self) -> None:
        """Check the selectors of files."""
        for selectors in self.per_file_ignores.values():
            check_selectors(selectors)

    def includes(self, code: str, path: str | None = None) -> bool:
        """Whether a code is reported, for a model with this path.

        >>> Selection(ignore=["C1"], select=["ALL", "C101"]).includes("C101")
        True
        """
        if code == UNREADABLE:
            return True
        ignored = _longest_match(self.ignore, code)
        if path is not None and _longest_match(self._ignores_of(path), code) is not None:
            return False
        selected = _longest_match(self.select, code)
        return selected is not None and (ignored is None or selected > ignored)

    def _ignores_of(self, path: str) -> list[str]:
        ignores = self.per_file_ignores.items()
        matching = (codes for pattern, codes in ignores if matches_path(path, pattern, self.folder))
        return [code for codes in matching for code in codes]


def _longest_match(selectors: Iterable[str], code: str) -> int | None:
    """The length of the longest selector that matches a code; 0 for ALL, None where none does."""
    matching = (selector for selector in selectors if selector == ALL or code.startswith(selector))
    lengths = (0 if selector == ALL else len(selector) for selector in matching)
    return max(lengths, default=None)
