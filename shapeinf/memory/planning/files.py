"""Files of problems and plans: minimalloc's CSV, and JSON with a versioned schema.

The CSV is `id,lower,upper,size` with half-open lifetimes, and `offset` in a plan.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from reprlib import repr as abridged
from typing import Any

from shapeinf.csv_text import csv_text, unescape_cell
from shapeinf.errors import LimitError, PlanError, PlanFileError
from shapeinf.formats.files import open_regular, write_text
from shapeinf.memory.planning.problem import (
    MAX_BUFFERS,
    PLAN_SCHEMA,
    Plan,
    Problem,
    Request,
    Slot,
    Unplaced,
    check_alignment,
)
from shapeinf.schemas import json_text

MAX_FILE_BYTES = 64 * 2**20
"""Limit on the bytes of a file."""

_SLOT_KEYS = ("name", "lower", "upper", "size", "offset")
_INT64 = re.compile(r"-?[0-9]{1,19}")
_REQUIRED = ("id", "lower", "upper", "size")
_COLUMNS = (*_REQUIRED, "offset", "kind")
"""The columns of a CSV; omnimalloc's `kind` is ignored."""


def load_problem(path: str | os.PathLike[str], alignment: int = 1) -> Problem:
    """Read a problem: minimalloc's CSV. Raises PlanError, LimitError, OSError."""
    with _prefix_errors(path):
        return problem_from_csv(_read_text(path), alignment)


def load_plan(path: str | os.PathLike[str], alignment: int = 1) -> Plan:
    """Read a plan: minimalloc's CSV with an `offset` column, or the JSON of `save_plan`; the first character decides.

    A CSV has no alignment; `alignment` is that of its plan. Raises PlanError, LimitError, OSError.
    """
    with _prefix_errors(path):
        text = _read_text(path)
        if not text.lstrip().startswith(("{", "[")):
            return plan_from_csv(text, alignment)
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise PlanError(f"not valid JSON: {error}") from None
        except (ValueError, RecursionError):  # a number of thousands of digits, or very deep nesting
            raise PlanError("not the JSON of a plan: it has too long a number, or is nested too deeply") from None
        return from_json(data)


def save_plan(plan: Plan, path: str | os.PathLike[str]) -> None:
    """Write a plan: JSON where the name of the file ends in `.json`, else minimalloc's CSV."""
    as_json = os.fspath(path).lower().endswith(".json")
    text = f"{json_text(plan)}\n" if as_json else to_csv(plan)
    write_text(path, text)


def from_json(data: object) -> Plan:
    """The plan of a JSON object. Raises PlanError, LimitError."""
    plan = _record(data, "a plan")
    if plan.get("schema") != PLAN_SCHEMA:
        raise PlanError(f"the schema of a plan is {PLAN_SCHEMA!r}, not {abridged(plan.get('schema'))}")
    slots, names = [], set()
    for i, entry in enumerate(_entries(plan, "slots")):
        record = _record(entry, f"slots[{i}]")
        slot = Slot(_text(record, "name", f"slots[{i}]"), *(record.get(key) for key in _SLOT_KEYS[1:]))  # type: ignore[arg-type]
        if slot.name in names:
            raise PlanError(f"slots[{i}]: two slots are named {abridged(slot.name)}")
        names.add(slot.name)
        slots.append(slot)
    unplaced = [
        Unplaced(_text(record, "name", f"unplaced[{i}]"), _text(record, "cause", f"unplaced[{i}]"))
        for i, entry in enumerate(_entries(plan, "unplaced", []))
        for record in [_record(entry, f"unplaced[{i}]")]
    ]
    planner = _text({"planner": "", **plan}, "planner", "a plan")
    return Plan(slots, plan.get("arena"), plan.get("alignment", 1), planner, unplaced)  # type: ignore[arg-type]


def problem_from_csv(text: str, alignment: int = 1) -> Problem:
    r"""The problem of a CSV; offsets are ignored. Raises PlanError, LimitError.

    >>> problem_from_csv("id,lower,upper,size\nx,0,2,100\n").requests
    (Request(name='x', lower=0, upper=2, size=100),)
    """
    return Problem(tuple(request for _, request, _ in _rows(text)), alignment)


def plan_from_csv(text: str, alignment: int = 1) -> Plan:
    r"""The plan of a CSV with offsets; its arena ends where the last slot does. Raises PlanError, LimitError.

    >>> plan_from_csv("id,lower,upper,size,offset\nx,0,2,100,64\n").arena
    164
    """
    check_alignment(alignment)
    slots = []
    for line, request, offset in _rows(text):
        if offset is None:
            raise PlanFileError(line, f"{abridged(request.name)} has no offset: this is a problem, not a plan")
        try:
            slots.append(Slot(request.name, request.lower, request.upper, request.size, offset))
        except PlanError as error:
            raise PlanFileError(line, str(error)) from None
    return Plan(slots, max((slot.top for slot in slots), default=0), alignment)


def to_csv(source: Problem | Plan) -> str:
    """A problem, or a plan with its offsets, as CSV; it has no line for a tensor without a slot.

    >>> print(to_csv(Plan([Slot("x", 0, 2, 100, 64)], 164)), end="")
    id,lower,upper,size,offset
    x,0,2,100,64
    """
    if isinstance(source, Problem):
        return csv_text([_REQUIRED, *((_id(r.name), r.lower, r.upper, r.size) for r in source.requests)])
    rows = ((_id(s.name), s.lower, s.upper, s.size, s.offset) for s in source.slots)
    return csv_text([(*_REQUIRED, "offset"), *rows])


def _id(name: str) -> str:
    if not name:
        raise PlanError("an id of a CSV cannot be empty: write JSON")
    return name


def _rows(text: str) -> Iterator[tuple[int, Request, int | None]]:
    """The buffers with the numbers of their lines, and their offsets or None."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    columns: dict[str, int] | None = None
    seen: dict[str, int] = {}
    try:
        for row in reader:
            line = reader.line_num
            if not row:
                continue
            if columns is None:
                columns = _column_indices(line, row)
                continue
            if len(row) != len(columns):
                raise PlanFileError(line, f"expected {len(columns)} fields, not {len(row)}")
            parsed = _row(line, row, columns)
            name = parsed[1].name
            if name in seen:
                raise PlanFileError(line, f"two buffers have the id {abridged(name)}, as in line {seen[name]}")
            seen[name] = line
            if len(seen) > MAX_BUFFERS:
                raise LimitError(f"more buffers than the limit of {MAX_BUFFERS}")
            yield parsed
    except csv.Error as error:
        raise PlanFileError(reader.line_num, f"not valid CSV: {error}") from None
    if columns is None:
        raise PlanFileError(1, f"the first line must name the columns: {','.join(_REQUIRED)}")


def _column_indices(line: int, row: list[str]) -> dict[str, int]:
    names = [name.strip() for name in row]
    for name in names:
        if name not in _COLUMNS or names.count(name) > 1:
            problem = "is duplicated" if name in _COLUMNS else f"is unknown; known are {', '.join(_COLUMNS)}"
            raise PlanFileError(line, f"column {abridged(name)} {problem}")
    missing = [name for name in _REQUIRED if name not in names]
    if missing:
        raise PlanFileError(line, f"column {missing[0]!r} is missing: {','.join(_REQUIRED)} are required")
    return {name: i for i, name in enumerate(names)}


def _row(line: int, row: list[str], columns: dict[str, int]) -> tuple[int, Request, int | None]:
    name = unescape_cell(row[columns["id"]])
    if not name:
        raise PlanFileError(line, "the id is empty")
    lower, upper, size = (_number(line, key, row[columns[key]]) for key in _REQUIRED[1:])
    try:
        request = Request(name, lower, upper, size)
    except PlanError as error:
        raise PlanFileError(line, str(error)) from None
    text = row[columns["offset"]] if "offset" in columns else ""
    return line, request, _number(line, "offset", text) if text else None


def _number(line: int, key: str, text: str) -> int:
    text = text.strip()
    if not _INT64.fullmatch(text):
        raise PlanFileError(line, f"{key} must be an int of 64 bits, not {abridged(text)}")
    return int(text)


def _record(data: object, where: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise PlanError(f"{where} must be an object, not {type(data).__name__}")
    return data


def _entries(plan: dict[str, Any], key: str, default: object = None) -> list[object]:
    entries = plan.get(key, default)
    if not isinstance(entries, list):
        raise PlanError(f"a plan needs a list `{key}`")
    if len(entries) > MAX_BUFFERS:
        raise LimitError(f"{len(entries)} {key} are more than the limit of {MAX_BUFFERS}")
    return entries


def _text(record: dict[str, Any], key: str, where: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        raise PlanError(f"{where}: `{key}` must be a text, not {abridged(value)}")
    return value


@contextmanager
def _prefix_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Prefix errors with the name of the file."""
    try:
        yield
    except PlanError as error:
        raise PlanError(f"{os.fspath(path)}: {error}") from None


def _read_text(path: str | os.PathLike[str]) -> str:
    with open_regular(os.fspath(path), pipe=True) as file:
        raw = file.read(MAX_FILE_BYTES + 1)
    if len(raw) > MAX_FILE_BYTES:
        raise LimitError(f"{os.fspath(path)}: the file has more than {MAX_FILE_BYTES} bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PlanError(f"not valid UTF-8: {error.reason} at byte {error.start}") from None
