"""The operators of TensorFlow Lite as a file has them: their codes, and the wire form of their options.

The format names no operator: the table of all of them comes from the package of the dialect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from shapeinf.errors import ModelError
from shapeinf.ops import default_registry
from shapeinf.sharing import build_once


class Field(NamedTuple):
    """A field of a table of options.

    Args:
        name: its name in the schema.
        wire: the type of its numbers: int8, uint8, int32, uint32, int64, float32, bool; or string.
        vector: whether it is a vector.
        meaning: what its numbers stand for: `type` for codes of element types, `subgraph` for indices of subgraphs,
            `enum` for `names`; empty for the numbers themselves.
        names: the names of the numbers of an enumeration.
        default: the value where the file leaves it out; empty for a vector.
    """

    name: str
    wire: str
    vector: bool = False
    meaning: str = ""
    names: tuple[str, ...] = ()
    default: object = 0


class OptionsTable(NamedTuple):
    """A table of options: its fields by slot, None for a slot that is no longer used."""

    name: str
    fields: tuple[Field | None, ...]


class Operator(NamedTuple):
    """A builtin operator: its name, and the name of the table of its options, empty where it has none."""

    name: str
    options: str


class Schema(NamedTuple):
    """All builtin operators by code, and all tables of options by union (1 or 2) and code in it."""

    operators: Mapping[int, Operator]
    tables: Mapping[tuple[int, int], OptionsTable]

    def options_of(self, operator: Operator) -> OptionsTable | None:
        """The table of the options of an operator; None where it has none."""
        return next((table for table in self.tables.values() if table.name == operator.options), None)


@build_once
def installed_schema() -> Schema:
    """The schema in the installed package of the dialect. Raises ModelError without one."""
    dialect = default_registry().dialect("tflite")
    if dialect is None or dialect.declarations is None:
        raise ModelError("the operators of TensorFlow Lite are not installed: install the package shapeinf again")
    schema = dialect.declarations(None)[0]
    assert isinstance(schema, Schema)
    return schema
