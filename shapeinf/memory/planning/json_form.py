"""Plans as JSON objects, with a version."""

from __future__ import annotations

from reprlib import repr as shown
from typing import Any

from shapeinf.errors import LimitError
from shapeinf.memory.planning.problem import MOST_BUFFERS, Plan, PlanError, Slot, Unplaced
from shapeinf.schemas import PLAN

_SLOT = ("name", "lower", "upper", "size", "offset")


def to_json(plan: Plan) -> dict[str, Any]:
    """The plan as a JSON object; its field `schema` names the version.

    >>> to_json(Plan([Slot("x", 0, 2, 100, 0)], 100))["slots"]
    [{'name': 'x', 'lower': 0, 'upper': 2, 'size': 100, 'offset': 0}]
    """
    return {
        "schema": PLAN,
        "planner": plan.planner,
        "alignment": plan.alignment,
        "arena": plan.arena,
        "slots": [{key: getattr(slot, key) for key in _SLOT} for slot in plan.slots],
        "unplaced": [{"name": one.name, "cause": one.cause} for one in plan.unplaced],
    }


def from_json(data: object) -> Plan:
    """The plan of a JSON object of `to_json`. Raises PlanError, LimitError."""
    whole = _record(data, "a plan")
    if whole.get("schema") != PLAN:
        raise PlanError(f"the schema of a plan is {PLAN!r}, not {shown(whole.get('schema'))}")
    slots, names = [], set()
    for i, entry in enumerate(_entries(whole, "slots")):
        one = _record(entry, f"slots[{i}]")
        slot = Slot(_text(one, "name", f"slots[{i}]"), *(one.get(key) for key in _SLOT[1:]))  # type: ignore[arg-type]
        if slot.name in names:
            raise PlanError(f"slots[{i}]: two slots are named {shown(slot.name)}")
        names.add(slot.name)
        slots.append(slot)
    unplaced = [
        Unplaced(_text(one, "name", f"unplaced[{i}]"), _text(one, "cause", f"unplaced[{i}]"))
        for i, entry in enumerate(_entries(whole, "unplaced", []))
        for one in [_record(entry, f"unplaced[{i}]")]
    ]
    planner = _text({"planner": "", **whole}, "planner", "a plan")
    return Plan(slots, whole.get("arena"), whole.get("alignment", 1), planner, unplaced)  # type: ignore[arg-type]


def _record(data: object, where: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise PlanError(f"{where} must be an object, not {type(data).__name__}")
    return data


def _entries(whole: dict[str, Any], key: str, default: object = None) -> list[object]:
    found = whole.get(key, default)
    if not isinstance(found, list):
        raise PlanError(f"a plan needs a list `{key}`")
    if len(found) > MOST_BUFFERS:
        raise LimitError(f"{len(found)} {key} are more than the limit of {MOST_BUFFERS}")
    return found


def _text(one: dict[str, Any], key: str, where: str) -> str:
    found = one.get(key)
    if not isinstance(found, str):
        raise PlanError(f"{where}: `{key}` must be a text, not {shown(found)}")
    return found
