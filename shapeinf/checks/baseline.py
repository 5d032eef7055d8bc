"""Baselines: a file with the diagnostics of models that are known, so that a check reports only others."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from shapeinf.checks.selection import relative_path
from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import ConfigError
from shapeinf.schemas import BASELINE

_KEYS = ("code", "node", "tensor", "message")


@attrs.frozen(order=True)
class KnownDiagnostic:
    """A diagnostic of a model by what identifies it: `model` is its path relative to the folder of the baseline."""

    model: str
    code: str
    node: str
    tensor: str
    message: str

    @classmethod
    def from_diagnostic(cls, model: str, diagnostic: Diagnostic) -> KnownDiagnostic:
        """That of a diagnostic."""
        return cls(model, diagnostic.code, diagnostic.node, diagnostic.tensor, diagnostic.message)

    def __str__(self) -> str:
        """The model, the code and the message."""
        return f"{self.model}: {self.code}: {self.message}"


@attrs.frozen
class Baseline:
    """Known diagnostics; `path` is that of the file, whose folder the paths of models are relative to."""

    path: str
    known: frozenset[KnownDiagnostic] = frozenset()

    def model_name(self, path: str) -> str:
        """The path of a model in this file."""
        return relative_path(path, os.path.dirname(self.path))

    def includes(self, path: str, diagnostic: Diagnostic) -> bool:
        """Whether a diagnostic of a model is known."""
        return KnownDiagnostic.from_diagnostic(self.model_name(path), diagnostic) in self.known

    def stale_entries(self, checked: Mapping[str, Iterable[Diagnostic]]) -> list[KnownDiagnostic]:
        """The entries that the checked models no longer have, and those of models that do not exist any more."""
        present = {self.model_name(path): diagnostics for path, diagnostics in checked.items()}
        current = {
            KnownDiagnostic.from_diagnostic(name, d) for name, diagnostics in present.items() for d in diagnostics
        }
        folder = os.path.dirname(self.path)
        return sorted(
            entry
            for entry in self.known - current
            if entry.model in present or not os.path.lexists(os.path.join(folder, entry.model))
        )


def read_baseline(path: str) -> Baseline:
    """Read a file of `write_baseline`. Raises OSError, and ConfigError for a file of another form."""
    with open(path, encoding="utf-8") as file:
        try:
            data = json.load(file)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}: is no baseline: {error}") from None
    entries = data.get("findings") if isinstance(data, dict) and data.get("schema") == BASELINE else None
    if not isinstance(entries, list):
        raise ConfigError(f"{path}: is no baseline: its schema is not {BASELINE!r}")
    return Baseline(path, frozenset(_read_entry(path, entry) for entry in entries))


def _read_entry(path: str, entry: object) -> KnownDiagnostic:
    fields = entry if isinstance(entry, dict) else {}
    values = {key: text for key in ("model", *_KEYS) if isinstance(text := fields.get(key), str)}
    if len(values) <= len(_KEYS):
        raise ConfigError(f"{path}: is no baseline: an entry lacks one of model, {', '.join(_KEYS)}: {entry!r}"[:300])
    return KnownDiagnostic(**values)


def baseline_as_json(path: str, checked: Mapping[str, Iterable[Diagnostic]]) -> dict[str, Any]:
    """The baseline of these diagnostics, by path of their model, in a file with this path."""
    empty = Baseline(path)
    entries = sorted(
        {
            KnownDiagnostic.from_diagnostic(empty.model_name(model), d)
            for model, diagnostics in checked.items()
            for d in diagnostics
        }
    )
    records = [{key: getattr(entry, key) for key in ("model", *_KEYS)} for entry in entries]
    return {"schema": BASELINE, "findings": records}
