"""OpDefs of all operators that TensorFlow registers, from `opdefs.json` (its key `format` describes it).

The file is the table of TensorFlow 2.21 as facts: inputs, outputs, attributes with defaults and allowed values, and the
version of graphs from which an operator is refused.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, NamedTuple

from shapeinf.graph import DeclaredType
from shapeinf.lattice.dtypes import DTYPES
from shapeinf.ops import ArgDef, AttrDef, OpDef
from shapeinf.ops.package_data import read_package_text
from shapeinf.sharing import build_once

_NAMES = frozenset(dtype.name for dtype in DTYPES)
PRODUCER = 2474
"""The version of graphs that TensorFlow 2.21 writes."""


class Deprecation(NamedTuple):
    """The first version of graphs that may not use an operator, and what to use instead."""

    version: int
    explanation: str


@build_once
def _table() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(read_package_text(__package__, "opdefs.json"))
    return loaded


@lru_cache(maxsize=4096)
def schema(domain: str, op: str, version: int) -> OpDef | None:
    """The OpDef of a registered operator, None for any other. All versions of graphs have the same ones.

    >>> concat = schema("", "ConcatV2", 0)
    >>> concat.inputs[0].number_attr, concat.attributes["Tidx"].default
    ('N', 'int32')
    """
    entry = None if domain else _table()["ops"].get(op)
    if entry is None:
        return None
    attributes = {name: _attribute(name, definition) for name, definition in entry.get("a", {}).items()}
    return OpDef(
        op,
        "tf",
        inputs=tuple(_arg(name, text, attributes) for name, text in entry["i"]),
        outputs=tuple(_arg(name, text, attributes) for name, text in entry["o"]),
        attributes=attributes,
        stateful=bool(entry.get("s")),
        deprecated=deprecation(op) is not None,
        deprecation=deprecation(op),
    )


def deprecation(op: str) -> Deprecation | None:
    """The deprecation of a registered operator, None where it has none."""
    entry = _table()["ops"].get(op, {}).get("dep")
    return None if entry is None else Deprecation(*entry)


def names() -> list[str]:
    """The names of all registered operators."""
    return sorted(_table()["ops"])


def _arg(name: str, text: str, attributes: dict[str, AttrDef]) -> ArgDef:
    """An argument by its type in the builder's language: `T`, `N*T`, `Ref(T)`, a list attribute or a dtype."""
    is_ref = text.startswith("Ref(")
    count, _, kind = (text[4:-1] if is_ref else text).rpartition("*")
    listed = kind in attributes and attributes[kind].type == "list(type)"
    return ArgDef(
        name,
        type=kind if kind in _NAMES else None,
        type_attr=None if kind in _NAMES or listed else kind,
        type_list_attr=kind if listed else None,
        number_attr=count or None,
        is_ref=is_ref,
    )


def _attribute(name: str, definition: str | dict[str, Any]) -> AttrDef:
    if isinstance(definition, str):
        return AttrDef(name, definition, required=True)
    kind, allowed = definition["t"], definition.get("a")
    return AttrDef(
        name,
        kind,
        _value(kind, definition["d"]) if "d" in definition else None,
        "d" in definition,
        definition.get("m"),
        None if allowed is None else tuple(_table()["allowed"][allowed]),
        required="d" not in definition,
    )


def _value(kind: str, value: Any) -> object:
    """A default in the form that attributes of nodes have."""
    if kind.startswith("list("):
        return tuple(_value(kind[5:-1], item) for item in value)
    if kind == "shape":
        return DeclaredType(dims=None if value is None else tuple(None if d == -1 else d for d in value))
    return value
