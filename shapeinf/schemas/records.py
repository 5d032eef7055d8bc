"""JSON is the records: `to_json` writes any record by the fields of its class, and `json_record` names its form.

The rules, which the schemas of `tools/make_json_schemas.py` follow too:

- every public field is a key of the same name, whatever its value: None is null, and an absent text is empty;
- a tuple, list or set is an array, a mapping is an object, and a dim is a number or a text that `parse_dim` reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.expr import Dimension, Interval
from shapeinf.pickling import versioned_pickle

Record = TypeVar("Record", bound=type)

JsonSchema = dict[str, Any]


class Converter(NamedTuple):
    """How values of a type that is no record are written, and their JSON Schema."""

    convert: Callable[[Any], object]
    schema: JsonSchema


_BOUND: JsonSchema = {"type": ["integer", "null"]}
CONVERTERS: Mapping[type, Converter] = {
    Dimension: Converter(str, {"type": "string"}),
    Interval: Converter(
        lambda bounds: {"min": bounds.lo, "max": bounds.hi},
        {
            "type": "object",
            "required": ["min", "max"],
            "properties": {"min": _BOUND, "max": _BOUND},
            "description": "null: no bound",
        },
    ),
}
"""The types of fields that are neither plain values nor records."""

_PLAIN = frozenset((str, int, float, bool, type(None)))


class JsonForm(NamedTuple):
    """What a class states about its JSON, besides its fields.

    Args:
        schema: the value of the key `schema`; empty for a part of a document.
        omit: fields for other renderers.
        add: properties that are keys too.
    """

    schema: str = ""
    omit: tuple[str, ...] = ()
    add: tuple[str, ...] = ()


FORMS: dict[type, JsonForm] = {Diagnostic: JsonForm(add=("title",))}
"""The forms of the imported classes that `json_record` decorates, and of one that is below this package."""


def json_record(
    schema: str = "", *, omit: tuple[str, ...] = (), add: tuple[str, ...] = ()
) -> Callable[[Record], Record]:
    """Decorate a record whose JSON is a document, or is not exactly its fields; see `JsonForm`.

    Users store such records, so its pickles state the version, too: `versioned_pickle`.
    """

    def decorate(cls: Record) -> Record:
        FORMS[cls] = JsonForm(schema, omit, add)
        if attrs.has(cls):
            versioned_pickle(cls)
        return cls

    return decorate


_KEYS: dict[type, tuple[str, ...] | None] = {}


def json_keys(cls: type) -> tuple[str, ...] | None:
    """The keys of a class of records, an attrs class or a named tuple; None for any other class."""
    if cls not in _KEYS:
        _KEYS[cls] = _read_keys(cls)
    return _KEYS[cls]


def _read_keys(cls: type) -> tuple[str, ...] | None:
    if attrs.has(cls):
        fields = [field.name for field in attrs.fields(cls)]
    elif issubclass(cls, tuple) and hasattr(cls, "_fields"):
        fields = list(cls._fields)
    else:
        return None
    form = FORMS.get(cls, JsonForm())
    return (*(name for name in fields if name not in form.omit and not name.startswith("_")), *form.add)


def to_json(value: object) -> Any:
    """A record, or a value of one of its fields, as JSON-ready data. Raises TypeError for a value without a JSON form.

    >>> @json_record("example/1", add=("ok",))
    ... @attrs.frozen
    ... class Example:
    ...     bounds: Interval
    ...     ok = True
    >>> to_json(Example(Interval(1, None)))
    {'schema': 'example/1', 'bounds': {'min': 1, 'max': None}, 'ok': True}
    """
    cls: type[Any] = type(value)
    if cls in _PLAIN:
        return value
    if cls in CONVERTERS:
        return CONVERTERS[cls].convert(value)
    keys = json_keys(cls)
    if keys is not None:
        schema = FORMS[cls].schema if cls in FORMS else ""
        data = {"schema": schema} if schema else {}
        for key in keys:
            item = getattr(value, key)
            data[key] = item if type(item) in _PLAIN else to_json(item)
        return data
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return [to_json(item) for item in sorted(value)]
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return [to_json(item) for item in value]
    raise TypeError(f"{cls.__name__} has no JSON form")
