"""Baselines: files of known diagnostics, which a check does not report again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import ConfigError
from shapeinf.formats.files import read_regular
from shapeinf.formats.model_paths import relative_path
from shapeinf.schemas import json_record

SCHEMA = "shapeinf.baseline/1"
_KEYS = ("code", "node", "tensor", "message")


@attrs.frozen(order=True)
class KnownDiagnostic:
    """The fields that identify a diagnostic.

    Args:
        model: the path of its model, relative to the folder of the baseline, with `/`.
        code: its code.
        node: the node; empty for a diagnostic of a tensor or the entire model.
        tensor: the tensor; else empty.
        message: its message.
    """

    model: str
    code: str
    node: str
    tensor: str
    message: str

    @classmethod
    def from_diagnostic(cls, model: str, diagnostic: Diagnostic) -> KnownDiagnostic:
        """The entry of a diagnostic of the model with this path."""
        return cls(model, diagnostic.code, diagnostic.node, diagnostic.tensor, diagnostic.message)

    def __str__(self) -> str:
        """The model, the code and the message."""
        return f"{self.model}: {self.code}: {self.message}"


@json_record(SCHEMA, omit=("path",))
@attrs.frozen
class Baseline:
    """The diagnostics that a check does not report: a file of `shapeinf check --write-baseline`, for `--baseline`.

    Args:
        path: the path of the file.
        known: the diagnostics; the paths of their models are relative to the folder of the file.
    """

    path: str
    known: frozenset[KnownDiagnostic] = frozenset()

    def model_name(self, path: str) -> str:
        """The path of a model in the entries of this baseline."""
        return relative_path(path, os.path.dirname(self.path))

    def includes(self, path: str, diagnostic: Diagnostic) -> bool:
        """Whether a diagnostic of a model is known."""
        return KnownDiagnostic.from_diagnostic(self.model_name(path), diagnostic) in self.known

    def add(self, checked: Mapping[str, Iterable[Diagnostic]]) -> Baseline:
        """The baseline with these diagnostics too, by the path of their model."""
        return Baseline(self.path, self.known | self.entries(checked))

    def entries(self, checked: Mapping[str, Iterable[Diagnostic]]) -> set[KnownDiagnostic]:
        """The entries of diagnostics, by the path of their model."""
        return {
            KnownDiagnostic.from_diagnostic(self.model_name(path), diagnostic)
            for path, diagnostics in checked.items()
            for diagnostic in diagnostics
        }

    def stale_entries(self, checked: Mapping[str, Iterable[Diagnostic]]) -> list[KnownDiagnostic]:
        """The sorted entries that no longer occur in the checked models, and those of models that no longer exist."""
        present = {self.model_name(path) for path in checked}
        folder = os.path.dirname(self.path)
        return sorted(
            entry
            for entry in self.known - self.entries(checked)
            if entry.model in present or not os.path.lexists(os.path.join(folder, entry.model))
        )


def read_baseline(path: str) -> Baseline:
    """Read a file in the form of a `Baseline`. Raises OSError, and ConfigError for a file of another form."""
    try:
        data = json.loads(read_regular(path))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: is not a baseline: {error}") from None
    entries = data.get("known") if isinstance(data, dict) and data.get("schema") == SCHEMA else None
    if not isinstance(entries, list):
        raise ConfigError(f"{path}: is not a baseline: its schema is not {SCHEMA!r}")
    return Baseline(path, frozenset(_read_entry(path, entry) for entry in entries))


def _read_entry(path: str, entry: object) -> KnownDiagnostic:
    fields = entry if isinstance(entry, dict) else {}
    values = {key: text for key in ("model", *_KEYS) if isinstance(text := fields.get(key), str)}
    if len(values) <= len(_KEYS):
        raise ConfigError(
            f"{path}: is not a baseline: an entry lacks one of model, {', '.join(_KEYS)}: {entry!r}"[:300]
        )
    return KnownDiagnostic(**values)
