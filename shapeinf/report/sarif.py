"""The diagnostics of checks as a SARIF 2.1.0 log (OASIS), which code hosts and editors read."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from shapeinf.diagnostics import CODES, Code, Diagnostic, Severity, code_title
from shapeinf.texts import escape_unprintable

if TYPE_CHECKING:
    from shapeinf.checks import ModelCheck

VERSION = "2.1.0"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

FINGERPRINT = "shapeinfDiagnostic/v1"
"""The key of our fingerprints; its number changes when other fields are hashed."""

_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "note"}
_POSITION = re.compile(r":(\d+):(\d+)$")
"""The line and column at the end of a location in a source text."""


def checks_as_sarif(checks: Sequence[ModelCheck], notes: Sequence[str] = ()) -> dict[str, Any]:
    """A log with one run. Paths are relative to the current directory and percent-encoded."""
    codes = sorted({diagnostic.code for check in checks for diagnostic in check.diagnostics})
    unchecked = [check for check in checks if not check.checked]
    notifications = [
        {"level": "error", "message": _message(diagnostic.message), "locations": [_file_location(check.path)]}
        for check in unchecked
        for diagnostic in check.diagnostics
    ]
    notifications += [{"level": "note", "message": _message(note)} for note in notes]
    invocation = {"executionSuccessful": not unchecked, "toolExecutionNotifications": notifications}
    run = {
        "tool": {"driver": {"name": "shapeinf", **_version(), "rules": [_rule(code) for code in codes]}},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": [
            _result(check.path, diagnostic, codes.index(diagnostic.code))
            for check in checks
            for diagnostic in check.diagnostics
        ],
    }
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


def _version() -> dict[str, str]:
    try:
        return {"version": version("shapeinf")}
    except PackageNotFoundError:  # run from its source, without being installed
        return {}


def _rule(code: str) -> dict[str, Any]:
    known = CODES.get(code, Code(code, ("warning",), code_title(code)))
    text = ". ".join(filter(None, (known.title.rstrip("."), known.explanation.rstrip(".")))) + "."
    return {
        "id": code,
        "shortDescription": _message(known.title),
        "fullDescription": _message(text),
        "help": _message(text),
        "defaultConfiguration": {"level": _LEVELS[known.severities[0]]},
        "properties": {"tags": ["shapes"]},
    }


def _result(path: str, diagnostic: Diagnostic, rule_index: int) -> dict[str, Any]:
    text = diagnostic.message
    if diagnostic.reason:
        text += f"\nbecause {diagnostic.reason}"
    if diagnostic.help:
        text += f"\nhelp: {diagnostic.help}"
    location: dict[str, Any] = _file_location(path, diagnostic.location)
    names = [(diagnostic.node, "node"), (diagnostic.tensor, "tensor")]
    logical = [_logical_location(name, kind) for name, kind in names if name]
    if logical:
        location["logicalLocations"] = logical
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[diagnostic.severity],
        "message": _message(text),
        "locations": [location],
        "partialFingerprints": {FINGERPRINT: _fingerprint(path, diagnostic)},
    }


def _logical_location(name: str, kind: str) -> dict[str, str]:
    """A node or a tensor; none of the kinds of SARIF's own list fits them, and others are allowed."""
    escaped = escape_unprintable(name)
    return {"name": escaped, "fullyQualifiedName": escaped, "kind": kind}


def _file_location(path: str, location: str = "") -> dict[str, Any]:
    """The file; a binary one has no lines, but code hosts show a result only at one."""
    match = _POSITION.search(location)
    region = {"startLine": 1}
    if match and int(match[1]) > 0 and int(match[2]) > 0:
        region = {"startLine": int(match[1]), "startColumn": int(match[2])}
    return {"physicalLocation": {"artifactLocation": {"uri": artifact_uri(path)}, "region": region}}


def artifact_uri(path: str) -> str:
    """The URI of a path: relative to the current directory, or absolute for a path outside of it.

    >>> artifact_uri("models/50% a:b.onnx")
    'models/50%25%20a%3Ab.onnx'
    """
    absolute = Path(os.path.abspath(path))
    try:
        relative = absolute.relative_to(os.path.abspath(os.curdir)).as_posix()
    except ValueError:
        return absolute.as_uri()
    return quote(relative.encode("utf-8", "surrogateescape"), safe="/")


def _fingerprint(path: str, diagnostic: Diagnostic) -> str:
    parts = (artifact_uri(path), diagnostic.code, diagnostic.node, diagnostic.tensor, diagnostic.message)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _message(text: str) -> dict[str, str]:
    """A plain-text message: braces stand for placeholders unless doubled, and `](` would begin the target of a link."""
    printable = "\n".join(map(escape_unprintable, text.split("\n")))
    return {"text": printable.replace("{", "{{").replace("}", "}}").replace("](", "] (")}
