"""OpDefs of all operators that TensorFlow registers, from `schemas.txt`, whose first lines describe it.

Those that only TensorFlow.js has are in `web_schemas`.

The file has the inputs and outputs of each operator of TensorFlow 2.21, its attributes with defaults and allowed
values, and the version of graphs from which TensorFlow rejects it.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, NamedTuple

import attrs

from shapeinf.graph import DeclaredType
from shapeinf.lattice.dtypes import DTYPES
from shapeinf.ops import ArgDef, AttrDef, OpDef
from shapeinf.ops.tables import table_lines
from shapeinf.sharing import build_once

_NAMES = frozenset(dtype.name for dtype in DTYPES)


class Deprecation(NamedTuple):
    """The first version of graphs that must not use an operator, and what to use instead."""

    version: int
    explanation: str


@build_once
def _table() -> dict[str, dict[str, str]]:
    """The JSON of each operator by name, and the allowed values of attributes by number."""
    sections: dict[str, dict[str, str]] = {}
    for line in table_lines("opdefs.tf", "schemas.txt"):
        sections.setdefault(line.section, {})[line.name] = line.text
    return sections


def _entry(op: str) -> dict[str, Any]:
    """The record of an operator in the file; empty for an unknown one."""
    entry: dict[str, Any] = json.loads(_table()["operators"].get(op, "{}"))
    return entry


@lru_cache(maxsize=4096)
def schema(domain: str, op: str, version: int) -> OpDef | None:
    """The OpDef of an operator of TensorFlow or TensorFlow.js, None for others; the same for all versions of graphs.

    >>> concat = schema("", "ConcatV2", 0)
    >>> concat.inputs[0].number_attr, concat.attributes["Tidx"].default
    ('N', 'int32')
    """
    entry = {} if domain else _entry(op)
    if not entry:
        return None if domain else _web_schema(op)
    deprecation = Deprecation(*entry["dep"]) if "dep" in entry else None
    attributes = {name: _attribute(name, definition) for name, definition in entry.get("a", {}).items()}
    return OpDef(
        op,
        "tf",
        inputs=tuple(_arg(name, text, attributes) for name, text in entry["i"]),
        outputs=tuple(_arg(name, text, attributes) for name, text in entry["o"]),
        attributes=attributes,
        stateful=bool(entry.get("s")),
        deprecated=deprecation is not None,
        deprecation=deprecation,
    )


@lru_cache(maxsize=4096)
def history(domain: str, op: str, version: int) -> tuple[OpDef, ...]:
    """The OpDef of an operator of TensorFlow, against which it checks nodes; none of an operator that it does not have.

    TensorFlow ignores attributes that an operator does not have: a newer one may have written them.

    >>> [op_def.name for op_def in history("", "Relu", 0)], history("", "Prelu", 0)
    (['Relu'], ())
    """
    op_def = None if domain or not _entry(op) else schema(domain, op, version)
    if op_def is None:
        return ()
    return (attrs.evolve(_add_stored(op_def), since=0, complete=True, any_attribute=True),)


def _add_stored(op_def: OpDef) -> OpDef:
    """The OpDef with the values that `connect` appends to the inputs of a node that loads them; none by default."""
    from opdefs.tf.stored_values import LOADS, STORED

    if op_def.name not in LOADS:
        return op_def
    inputs = (*op_def.inputs, ArgDef("stored", number_attr=STORED))
    attributes = {**op_def.attributes, STORED: AttrDef(STORED, "forms", 0, has_default=True)}
    return attrs.evolve(op_def, inputs=inputs, attributes=attributes)


def _web_schema(op: str) -> OpDef | None:
    """The OpDef of an operator that only TensorFlow.js has."""
    from opdefs.tf.web_schemas import WEB

    return WEB.get(op)


def names() -> list[str]:
    """The names of all registered operators."""
    return sorted(_table()["operators"])


def _arg(name: str, text: str, attributes: dict[str, AttrDef]) -> ArgDef:
    """An argument from its type in the syntax of the builder: `T`, `N*T`, `Ref(T)`, a list attribute or a dtype."""
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
    """An attribute from its record, or from its type if the record is a text."""
    if isinstance(definition, str):
        return AttrDef(name, definition, required=True)
    kind, allowed = definition["t"], definition.get("a")
    return AttrDef(
        name,
        kind,
        _value(kind, definition["d"]) if "d" in definition else None,
        "d" in definition,
        definition.get("m"),
        None if allowed is None else tuple(json.loads(_table()["allowed values"][str(allowed)])),
        required="d" not in definition,
    )


def _value(kind: str, value: Any) -> object:
    """A default in the form of the attributes of nodes."""
    if kind.startswith("list("):
        return tuple(_value(kind[5:-1], item) for item in value)
    if kind == "shape":
        return DeclaredType(dims=None if value is None else tuple(None if d == -1 else d for d in value))
    return value
