"""Checks of the files that belong to a model."""

from __future__ import annotations

from collections.abc import Iterator

from shapeinf.checks.checked_model import CheckedModel
from shapeinf.checks.registry import register_check
from shapeinf.diagnostics import Diagnostic
from shapeinf.formats import FORMATS
from shapeinf.texts import format_count

_MAX_NAMES = 3
"""The most tensors that a message names."""


@register_check(
    "C170",
    "error",
    "data of tensors that are not in their file",
    "The file does not exist, is too short, or its path leads out of the folder of the model.",
    static=True,
)
def missing_data(model: CheckedModel) -> Iterator[Diagnostic]:
    """Missing data in other files: one diagnostic for each file and reason."""
    for missing in FORMATS.missing_data(model.graph):
        first = missing.tensors[0]
        others = [repr(name) for name in missing.tensors[1:_MAX_NAMES]]
        more = len(missing.tensors) - 1 - len(others)
        listed = ", ".join([*others, *([format_count(more, "other tensor")] if more else [])])
        also = f"; also those of {listed}" if listed else ""
        yield Diagnostic("error", "C170", f"the data of {first!r} are missing: {missing.reason}{also}", tensor=first)
