"""The options of an operator as attributes: fields of its table by name, with the names of enumerations and types."""

from __future__ import annotations

from collections.abc import Callable

from shapeinf.formats.tflite.document import OperatorRecord
from shapeinf.formats.tflite.flatbuffer import MalformedError, Number, Table
from shapeinf.formats.tflite.schema import Field, OptionsTable, Schema
from shapeinf.graph import FunctionReference
from shapeinf.lattice.dtypes import TFLITE_NAMES

MAX_ITEMS = 1 << 16
"""Items of a vector."""

Body = Callable[[int], FunctionReference]
"""Returns the function that a subgraph is, by its index."""


def builtin_attributes(schema: Schema, record: OperatorRecord, body: Body) -> dict[str, object]:
    """The attributes that the file sets, and all that are subgraphs: an absent one is the main subgraph.

    Options in the table of another operator are not read, as in LiteRT.
    """
    operator = schema.operators.get(record.code.builtin)
    options = schema.options_of(operator) if operator is not None else None
    if options is None:
        return {}
    table = _own_table(schema, record, options)
    attributes: dict[str, object] = {}
    for slot, field in enumerate(options.fields):
        if field is None:
            continue
        if table is not None and table.has(slot):
            attributes[field.name] = _value(table, slot, field, body)
        elif field.meaning == "subgraph" and not field.vector:
            attributes[field.name] = body(0)
    return attributes


def _own_table(schema: Schema, record: OperatorRecord, options: OptionsTable) -> Table | None:
    """The options of an operator that are in the table of its own; None where there are none."""
    for union, (code, table) in ((1, record.options), (2, record.options_2)):
        if schema.tables.get((union, code)) == options:
            return table
    return None


def _value(table: Table, slot: int, field: Field, body: Body) -> object:
    if field.wire == "string":
        return table.text(slot)
    if not field.vector:
        return _item(table.number(slot, field.wire), field, body)
    numbers = table.numbers(slot, field.wire) or ()
    if len(numbers) > MAX_ITEMS:
        raise MalformedError(f"the option {field.name} has more than {MAX_ITEMS} items")
    return tuple([_item(number, field, body) for number in numbers])


def _item(number: Number, field: Field, body: Body) -> object:
    if field.meaning == "subgraph":
        return body(int(number))
    if field.meaning == "type":
        return TFLITE_NAMES.get(int(number))
    if field.meaning == "enum":
        return field.names[int(number)] if 0 <= number < len(field.names) else str(number)
    return number
