"""Translates the text form (`.pbtxt`) of TensorFlow's messages to their binary form."""

from __future__ import annotations

from shapeinf.errors import ModelError
from shapeinf.formats.protobuf.text import TextField, TextMessage, TextScalar, TextSource, parse_tree
from shapeinf.formats.tf.encoding import (
    Scalar,
    UnfitValueError,
    check_integer,
    check_utf8,
    conflicting_field,
    encode_field,
    enum_value,
    unknown_field,
)
from shapeinf.formats.tf.messages import Field, MessageType, message_type

_BOOLS = {"true": 1, "True": 1, "t": 1, "false": 0, "False": 0, "f": 0}


def encode_text(text: str, message: str, name: str = "text") -> bytes:
    r"""The binary form of a message such as "GraphDef" in text form; `name` is the name of the file in errors.

    Raises ModelError with the line and the column of an illegal field or value, LimitError for deep nesting.

    >>> encode_text('node { name: "x" op: "Placeholder" }', "GraphDef")
    b'\n\x10\n\x01x\x12\x0bPlaceholder'
    >>> encode_text('node {\n  nam: "x"\n}', "GraphDef")
    Traceback (most recent call last):
    shapeinf.errors.ModelError: text: line 2, column 3: NodeDef has no field 'nam' (did you mean 'name'?)
    """
    source = TextSource(text, name)
    return _Encoder(source).message(parse_tree(source), message_type(message))


class _Encoder:
    """Checks and encodes the messages of one text."""

    def __init__(self, source: TextSource) -> None:
        self.source = source

    def message(self, tree: TextMessage, type_: MessageType) -> bytes:
        """The bytes of the fields of a message, in the order of their first values."""
        values: dict[str, list[Scalar]] = {}
        for text in tree.fields:
            field = type_.by_name.get(text.name)
            if field is None:
                raise self.source.error(text.position, unknown_field(text.name, type_))
            self._check_repetition(text, field, type_, values)
            values.setdefault(text.name, []).extend(self._value(field, value) for value in text.values)
        return b"".join(encode_field(type_.by_name[name], items) for name, items in values.items())

    def _check_repetition(
        self, text: TextField, field: Field, type_: MessageType, values: dict[str, list[Scalar]]
    ) -> None:
        """Raise ModelError for several values of a field that is no list, and for two fields of a oneof."""
        if text.is_list and not field.repeated:
            raise self.source.error(text.position, f"{field.name} of {type_.name} is not a list")
        if text.name in values and not field.repeated:
            raise self.source.error(text.position, f"{type_.name} has a second {field.name}")
        other = conflicting_field(type_, text.name, values)
        if other is not None:
            raise self.source.error(
                text.position, f"{type_.name} has both {field.name} and {other}: only one may be set"
            )

    def _value(self, field: Field, value: TextScalar | TextMessage) -> Scalar:
        if isinstance(value, TextMessage):
            if field.kind != "message":
                raise self._unfit(field, value, f"a message is not a value of type {field.type or field.kind}")
            return self.message(value, message_type(field.type))
        try:
            return self._scalar(field, value)
        except UnfitValueError as error:
            raise self._unfit(field, value, str(error)) from None

    def _unfit(self, field: Field, value: TextScalar | TextMessage, reason: str) -> ModelError:
        return self.source.error(value.position, f"{field.name}: {reason}")

    def _scalar(self, field: Field, value: TextScalar) -> Scalar:
        expected = field.type or field.kind
        if field.kind in ("string", "bytes"):
            if value.kind != "string":
                raise UnfitValueError(f"expected a string in quotes, not {value.text[:40]!r}")
            data = self.source.decode(value)
            return check_utf8(data) if field.kind == "string" else data
        if field.kind != "message" and value.kind != "string":
            number = _number(field, value)
            if number is not None:
                return number
        raise UnfitValueError(f"expected a value of type {expected}, not {value.text[:40]!r}")


def _number(field: Field, value: TextScalar) -> int | float | None:
    """The value of a field of numbers, flags or names of an enum; None for another text."""
    if field.kind in ("float", "double"):
        return value.number()
    if value.kind == "name":
        if field.kind == "bool":
            return _BOOLS.get(value.text)
        return enum_value(field, value.text) if field.kind == "enum" else None
    integer = value.integer()
    return None if integer is None else check_integer(field, integer)
