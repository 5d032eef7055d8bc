"""Files of problems and plans."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shapeinf.errors import LimitError, PlanError
from shapeinf.memory.planning.json_form import from_json, to_json
from shapeinf.memory.planning.minimalloc import plan_from_csv, problem_from_csv, to_csv
from shapeinf.memory.planning.problem import Plan, Problem

MOST_FILE = 64 * 2**20
"""Bytes of a file that are read at most."""


def load_problem(path: str | os.PathLike[str], alignment: int = 1) -> Problem:
    """Read a problem: minimalloc's CSV. Raises PlanError, LimitError, OSError."""
    with _named(path):
        return problem_from_csv(_text(path), alignment)


def load_plan(path: str | os.PathLike[str], alignment: int = 1) -> Plan:
    """Read a plan: minimalloc's CSV with an `offset` column, or our JSON, told from the first character.

    A CSV says no alignment: `alignment` does. Raises PlanError, LimitError, OSError.
    """
    with _named(path):
        text = _text(path)
        if not text.lstrip().startswith(("{", "[")):
            return plan_from_csv(text, alignment)
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise PlanError(f"no JSON: {error}") from None
        except (ValueError, RecursionError):  # a number of thousands of digits, or brackets in brackets without end
            raise PlanError("no JSON of a plan: it holds too long a number, or is nested too deeply") from None
        return from_json(data)


def save_plan(plan: Plan, path: str | os.PathLike[str]) -> None:
    """Write a plan: JSON where the name of the file ends in `.json`, else minimalloc's CSV."""
    as_json = os.fspath(path).lower().endswith(".json")
    text = json.dumps(to_json(plan), indent=2) + "\n" if as_json else to_csv(plan)
    Path(path).write_bytes(text.encode("utf8", "backslashreplace"))


@contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the name of the file before what is wrong in it."""
    try:
        yield
    except PlanError as error:
        raise PlanError(f"{os.fspath(path)}: {error}") from None


def _text(path: str | os.PathLike[str]) -> str:
    with open(path, "rb") as file:
        raw = file.read(MOST_FILE + 1)
    if len(raw) > MOST_FILE:
        raise LimitError(f"{os.fspath(path)}: a file of more than {MOST_FILE} bytes is not read")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PlanError(f"no UTF-8 text: {error.reason} at byte {error.start}") from None
