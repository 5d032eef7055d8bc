"""minimalloc's CSV: `id,lower,upper,size`, half-open lifetimes, and `offset` where there is a plan."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from reprlib import repr as shown

from shapeinf.errors import LimitError, PlanError, PlanFileError
from shapeinf.memory.csv_lines import csv_text, text_of
from shapeinf.memory.planning.problem import MOST_BUFFERS, Plan, Problem, Request, Slot, check_alignment

_NUMBER = re.compile(r"-?[0-9]{1,19}")
_WANTED = ("id", "lower", "upper", "size")
_KNOWN = (*_WANTED, "offset", "kind")
"""The columns that are read; omnimalloc's `kind` is read over."""


def problem_from_csv(text: str, alignment: int = 1) -> Problem:
    r"""The problem of a CSV; offsets are not looked at. Raises PlanError, LimitError.

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
            raise PlanFileError(line, f"{shown(request.name)} has no offset: this is a problem, not a plan")
        try:
            slots.append(Slot(request.name, request.lower, request.upper, request.size, offset))
        except PlanError as error:
            raise PlanFileError(line, str(error)) from None
    return Plan(slots, max((slot.top for slot in slots), default=0), alignment)


def to_csv(what: Problem | Plan) -> str:
    """A problem, or a plan with its offsets, as CSV. What a plan could not place is not in it.

    >>> print(to_csv(Plan([Slot("x", 0, 2, 100, 64)], 164)), end="")
    id,lower,upper,size,offset
    x,0,2,100,64
    """
    if isinstance(what, Problem):
        return csv_text([_WANTED, *((_id(r.name), r.lower, r.upper, r.size) for r in what.requests)])
    return csv_text([(*_WANTED, "offset"), *((_id(s.name), s.lower, s.upper, s.size, s.offset) for s in what.slots)])


def _id(name: str) -> str:
    if not name:
        raise PlanError("an id of a CSV cannot be empty: write JSON")
    return name


def _rows(text: str) -> Iterator[tuple[int, Request, int | None]]:
    """The buffers with the numbers of their lines, and their offsets where there are any."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    columns: dict[str, int] | None = None
    seen: dict[str, int] = {}
    try:
        for row in reader:
            line = reader.line_num
            if not row:
                continue
            if columns is None:
                columns = _columns(line, row)
                continue
            if len(row) != len(columns):
                raise PlanFileError(line, f"{len(columns)} fields are expected, there are {len(row)}")
            found = _row(line, row, columns)
            name = found[1].name
            if name in seen:
                raise PlanFileError(line, f"two buffers have the id {shown(name)}, as in line {seen[name]}")
            seen[name] = line
            if len(seen) > MOST_BUFFERS:
                raise LimitError(f"more buffers than the limit of {MOST_BUFFERS}")
            yield found
    except csv.Error as error:
        raise PlanFileError(reader.line_num, f"no CSV: {error}") from None
    if columns is None:
        raise PlanFileError(1, f"the first line must name the columns: {','.join(_WANTED)}")


def _columns(line: int, row: list[str]) -> dict[str, int]:
    names = [name.strip() for name in row]
    for name in names:
        if name not in _KNOWN or names.count(name) > 1:
            why = "is there twice" if name in _KNOWN else f"is not known; known are {', '.join(_KNOWN)}"
            raise PlanFileError(line, f"column {shown(name)} {why}")
    missing = [name for name in _WANTED if name not in names]
    if missing:
        raise PlanFileError(line, f"there is no column {missing[0]!r}: {','.join(_WANTED)} are expected")
    return {name: i for i, name in enumerate(names)}


def _row(line: int, row: list[str], columns: dict[str, int]) -> tuple[int, Request, int | None]:
    name = text_of(row[columns["id"]])
    if not name:
        raise PlanFileError(line, "the id is empty")
    lower, upper, size = (_number(line, key, row[columns[key]]) for key in _WANTED[1:])
    try:
        request = Request(name, lower, upper, size)
    except PlanError as error:
        raise PlanFileError(line, str(error)) from None
    text = row[columns["offset"]] if "offset" in columns else ""
    return line, request, _number(line, "offset", text) if text else None


def _number(line: int, key: str, text: str) -> int:
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        raise PlanFileError(line, f"{key} must be an int of 64 bits, not {shown(text)}")
    return int(text)
