"""The records of a scan: a candidate, the options, and the row of a model with the records of its other tables.

All are plain data that JSON can hold: they cross the pipes of child processes and the network of a cluster.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, TypedDict, get_args

import attrs

from shapeinf.errors import ShapeInferenceError
from shapeinf.formats import FormatOptions
from shapeinf.inputs.config import Config
from shapeinf.schemas import json_record

Outcome = Literal["ok", "findings", "unreadable", "limit", "timeout", "memory", "crash", "archive", "folder"]
"""How the scan of a path ended.

"ok": no error and no warning was reported; "findings": some were. All others have no result: "unreadable" (the file, or
what it holds), "limit" (the file passes a limit that protects against hostile files), "timeout", "memory" (the limits
of the scan), "crash" (the process died, or a bug of shapeinf), "archive" (listed, never unpacked), "folder" (cannot be
read).
"""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
DONE: tuple[Outcome, ...] = ("ok", "findings", "archive")
"""Outcomes that `--retry` does not repeat."""
PROBLEMS: tuple[Outcome, ...] = ("unreadable", "limit", "timeout", "memory", "crash", "folder")
"""Outcomes without a result."""

MAX_TEXT = 4000
"""Limit on the characters of one text in a row."""
MAX_RECORDS = 100_000
"""Limit on the records of one model in each table; the row has the true numbers."""
MAX_INT = 2**63 - 1


@attrs.frozen
class Candidate:
    """A path that is scanned.

    Args:
        path: a file, a folder that is a model, or a URL; absolute.
        size: bytes; 0 for a folder.
        mtime_ns: the time of its last change, in nanoseconds since 1970.
        outcome: set for a path that is listed without being scanned; `message` is the reason.
    """

    path: str
    size: int = 0
    mtime_ns: int = 0
    outcome: Outcome | None = None
    message: str = ""


@attrs.frozen
class ScanOptions:
    """How each model is scanned.

    Args:
        config: the assumptions, as the table of a `Config`.
        format_options: the options of formats by their names on the command line.
        checksum: whether rows have a SHA-256.
        tensors: whether all tensors are listed.
        timeout: seconds for a model.
        memory: bytes of address space of a process; None for no limit.
    """

    config: Mapping[str, Any] = attrs.Factory(dict)
    format_options: Mapping[str, Any] = attrs.Factory(dict)
    checksum: bool = False
    tensors: bool = False
    timeout: float = 60.0
    memory: int | None = 4 << 30


def config_as_table(config: Config) -> dict[str, Any]:
    """A config as the table that `read_config` reads. Raises ShapeInferenceError for shapes with and without a name."""
    table: dict[str, Any] = {key: getattr(config, key) for key in config.used_keys}
    if "dims" in table:
        table["dims"] = {
            name: {"min": dim.min, "max": dim.max, "multiple_of": dim.multiple_of} for name, dim in config.dims.items()
        }
    if None in config.inputs:
        if len(config.inputs) > 1:
            raise ShapeInferenceError(f"{config.inputs[None]} has no name, but other shapes have: name its input")
        table["inputs"] = str(config.inputs[None])
    copy: dict[str, Any] = json.loads(json.dumps(table))
    return copy


def format_options_as_table(options: FormatOptions | None) -> dict[str, Any]:
    """The options of a format by name, for `FORMATS.options`."""
    return {} if options is None else dict(attrs.asdict(options))


class OpsetRow(TypedDict):
    """The version of the operators of a domain."""

    domain: str
    version: int | None


class DiagnosticRow(TypedDict):
    """A diagnostic of a model."""

    severity: str
    code: str
    message: str
    node: str
    op: str
    tensor: str
    location: str


class OperatorRow(TypedDict):
    """The number of nodes of an operator, also of those in bodies and functions."""

    op: str
    domain: str
    nodes: int
    has_rule: bool


class TensorRow(TypedDict):
    """A tensor; its shape is a text, and its producer the operator that computes it, "input", or empty."""

    name: str
    kind: str
    dtype: str | None
    shape: str
    producer: str
    node: str
    output: bool


@json_record("shapeinf.scan.row/1")
@attrs.define(kw_only=True)
class ModelRow:
    """The row of a path; columns are None where there is no result. A line of `shapeinf scan --json-lines`.

    Args:
        path: absolute, or a URL; bytes that are no UTF-8 are escaped.
        size: bytes of the file.
        mtime_ns: the time of its last change, in nanoseconds since 1970.
        outcome: how the scan of the path ended; docs/scan.md describes each.
        message: the reason of an outcome without a result; empty otherwise.
        seconds: the time that the model took.
        sha256: with `--checksum`.
        format: "ONNX", "TensorFlow", ...
        file_version, producer: as the file has them.
        opsets: the version of the operators of each domain.
        nodes: the nodes of the graph.
        inner_nodes: the nodes of its bodies and functions.
        tensors: the values of the graph.
        ranked: tensors of known rank.
        known: tensors of which every dim is known.
        parameters: elements of weights that nodes read.
        weight_bytes: the bytes of the weights.
        macs_formula: multiply-accumulates in the dims of the inputs.
        macs: the number at the sizes of `--bind`.
        macs_note, peak_note: "at least" or "at most" for a bound, or why there is no number; empty for an exact one.
        peak_formula: the most bytes of activations in use at once.
        peak_bytes: the number at the sizes of `--bind`.
        unknowns: the number of unknown axes and ranks.
        unknown_causes: their causes.
        requirements: what nodes require of the dims of the inputs.
        errors, warnings, notes: the number of diagnostics of that severity.
        diagnostics: those of the check; a table of its own.
        operators: the nodes by operator; a table of its own.
        tensor_rows: all tensors, with `--tensors`; a table of its own.
    """

    path: str
    size: int = 0
    mtime_ns: int = 0
    outcome: Outcome
    message: str = ""
    seconds: float = 0.0
    sha256: str | None = None
    format: str | None = None
    file_version: str | None = None
    producer: str | None = None
    opsets: list[OpsetRow] = attrs.Factory(list)
    nodes: int | None = None
    inner_nodes: int | None = None
    tensors: int | None = None
    ranked: int | None = None
    known: int | None = None
    parameters: int | None = None
    weight_bytes: int | None = None
    macs_formula: str | None = None
    macs: int | None = None
    macs_note: str | None = None
    peak_formula: str | None = None
    peak_bytes: int | None = None
    peak_note: str | None = None
    unknowns: int | None = None
    unknown_causes: list[str] = attrs.Factory(list)
    requirements: list[str] = attrs.Factory(list)
    errors: int | None = None
    warnings: int | None = None
    notes: int | None = None
    diagnostics: list[DiagnosticRow] = attrs.Factory(list)
    operators: list[OperatorRow] = attrs.Factory(list)
    tensor_rows: list[TensorRow] = attrs.Factory(list)

    @classmethod
    def from_candidate(
        cls, candidate: Candidate, outcome: Outcome, message: str = "", seconds: float = 0.0
    ) -> ModelRow:
        """The row of a candidate without a result."""
        return cls(
            path=clean_text(candidate.path),
            size=candidate.size,
            mtime_ns=candidate.mtime_ns,
            outcome=outcome,
            message=clean_text(message),
            seconds=seconds,
        )

    def columns(self) -> dict[str, Any]:
        """The row with its records, from which `ModelRow(**columns)` makes it again."""
        return attrs.asdict(self, recurse=False)

    @property
    def failed(self) -> bool:
        """Whether the path has no result."""
        return self.outcome in PROBLEMS


def clean_text(text: str) -> str:
    r"""A text that UTF-8 and Parquet can hold, without the middle of a very long one; names come from untrusted files.

    >>> clean_text("a\udcff")
    'a\\xff'
    """
    if not text.isascii():
        text = "".join(f"\\x{ord(c) - 0xDC00:02x}" if "\udc80" <= c <= "\udcff" else c for c in text)
        text = text.encode("utf-8", "backslashreplace").decode()
    half = MAX_TEXT // 2
    return text if len(text) <= MAX_TEXT else f"{text[:half]}...{text[-half:]}"


def clean_int(number: int | None) -> int | None:
    """A number that a column can hold; None where it is larger."""
    return number if number is not None and abs(number) <= MAX_INT else None
