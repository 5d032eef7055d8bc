"""The builtin operators of TensorFlow Lite and the fields of their options, from `schemas.txt`."""

from __future__ import annotations

from functools import cache

from shapeinf.errors import StaleTableError
from shapeinf.formats.tflite.schema import Field, Operator, OptionsTable, Schema
from shapeinf.lattice.dtypes import TFLITE_NAMES
from shapeinf.ops import ArgDef, AttrDef, OpDef
from shapeinf.ops.package_data import read_package_text

COMMAND = "python tools/make_tflite_schemas.py"

CUSTOM = "custom"
"""The domain of custom operators."""

OUTPUT_TYPES = "output_types"
"""The attribute with the element types of the outputs of a node: those of the file, which kernels do not compute."""

_OPERANDS = (ArgDef("operand", optional=True, variadic=True),)
_RESULTS = (ArgDef("result", type_list_attr=OUTPUT_TYPES),)
_TYPES = {OUTPUT_TYPES: AttrDef(OUTPUT_TYPES, "list(type)")}


@cache
def wire_schema() -> Schema:
    """The table of the file.

    >>> operator = wire_schema().operators[3]
    >>> operator.name, [field.name for field in wire_schema().tables[1, 1].fields][:2]
    ('CONV_2D', ['padding', 'stride_w'])
    """
    enums: dict[str, tuple[str, ...]] = {}
    tables: dict[tuple[int, int], OptionsTable] = {}
    operators: dict[int, Operator] = {}
    section = ""
    for line in read_package_text(__package__, "schemas.txt").splitlines():
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line
        elif section == "[enums]":
            enums[words[0]] = tuple(words[1:])
        elif section == "[tables]":
            union, _, code = words[0].partition(".")
            tables[int(union), int(code)] = OptionsTable(words[1], tuple(_field(text, enums) for text in words[2:]))
        else:
            operators[int(words[0])] = Operator(words[1], words[2] if len(words) > 2 else "")
    return Schema(operators, tables)


def _field(text: str, enums: dict[str, tuple[str, ...]]) -> Field | None:
    """A field from its text, such as `padding:int8/Padding`."""
    if text == "-":
        return None
    try:
        name, rest = text.split(":")
    except ValueError as error:
        raise StaleTableError(f"{text!r} is not a field of options", COMMAND) from error
    rest, _, default = rest.partition("=")
    wire, _, meaning = rest.partition("/")
    vector = wire.endswith("[]")
    names = enums.get(meaning, ())
    kind = "enum" if names else meaning
    return Field(name, wire.removesuffix("[]"), vector, kind, names, _default(wire, kind, names, default))


def _default(wire: str, kind: str, names: tuple[str, ...], text: str) -> object:
    """The default of a field as an attribute has it."""
    if wire.endswith("[]"):
        return ()
    if wire in ("bool", "string"):
        return text == "True" if wire == "bool" else text
    if wire == "float32":
        return float(text or 0)
    number = int(text or 0)
    return names[number] if names else TFLITE_NAMES[number] if kind == "type" else number


def schema(domain: str, op: str, version: int) -> OpDef | None:
    """The OpDef of a builtin operator; of a custom operator only its operands are known.

    >>> schema("", "CONV_2D", 1).attributes["dilation_w_factor"].default
    1
    """
    if domain == CUSTOM:
        return OpDef(op, "tflite", domain, inputs=_OPERANDS, outputs=_RESULTS, attributes=_TYPES)
    fields = None if domain else _fields_by_operator().get(op)
    if fields is None:
        return None
    attributes = {**_TYPES, **{field.name: _attribute(field) for field in fields}}
    return OpDef(op, "tflite", inputs=_OPERANDS, outputs=_RESULTS, attributes=attributes)


@cache
def _fields_by_operator() -> dict[str, list[Field]]:
    known = wire_schema()
    tables = {table.name: [field for field in table.fields if field is not None] for table in known.tables.values()}
    return {operator.name: tables.get(operator.options, []) for operator in known.operators.values()}


def operators() -> list[str]:
    """The names of all builtin operators."""
    return sorted(_fields_by_operator())


_KINDS = {"bool": "bool", "string": "string", "float32": "float"}


def _attribute(field: Field) -> AttrDef:
    if field.meaning == "subgraph":
        return AttrDef(field.name, "list(func)" if field.vector else "func")
    kind = {"type": "type", "enum": "string"}.get(field.meaning) or _KINDS.get(field.wire, "int")
    return AttrDef(field.name, f"list({kind})" if field.vector else kind, field.default, True)
