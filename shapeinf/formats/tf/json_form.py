"""Translates the JSON form of TensorFlow's graphs, as in a `model.json` of TensorFlow.js, to their binary form.

Source: the JSON mapping of proto3. `weight_manifest` has the weights of such a document.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from shapeinf.errors import LimitError, ModelError
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

MAX_DEPTH = 100
"""The most levels of messages in messages, as in the binary form."""

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def parse_document(text: str | bytes, name: str = "JSON") -> dict[str, Any]:
    """The JSON object in a text. Raises ModelError for other texts and duplicate keys, LimitError for deep nesting."""
    try:
        document = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_reject_constant)
    except RecursionError:
        raise LimitError("the document nests too deep", node=name) from None
    except ValueError as error:
        raise ModelError(f"is not a JSON document: {error}", node=name) from None
    if not isinstance(document, dict):
        raise ModelError("is not a JSON object", node=name)
    return document


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} occurs twice in an object")
    return document


def _reject_constant(name: str) -> float:
    raise ValueError(f"{name} must be written as a string")


def graph_def_bytes(document: Mapping[str, Any], name: str = "model.json") -> bytes:
    r"""The binary form of the GraphDef of a TensorFlow.js document, or of a document that is a GraphDef itself.

    Constants whose contents are in the shards of the document have only a type and a shape: see `weight_manifest`.
    Raises ModelError with the path of an illegal field, LimitError for deep nesting.

    >>> graph_def_bytes({"node": [{"name": "x", "op": "Placeholder"}]})
    b'\n\x10\n\x01x\x12\x0bPlaceholder'
    """
    topology = document.get("modelTopology", document)
    is_layers_model = isinstance(topology, Mapping) and "model_config" in topology
    if is_layers_model or document.get("format") == "layers-model":
        raise ModelError(
            "is a layers model of TensorFlow.js, which has no graph: convert it to a graph model", node=name
        )
    return message_bytes(topology, "GraphDef", name)


def message_bytes(value: Any, message: str, name: str) -> bytes:
    """The binary form of a message such as "SignatureDef" in JSON form; errors are those of `graph_def_bytes`."""
    return _Encoder(name).message(value, message_type(message), "")


class _Encoder:
    """Checks and encodes the messages of one document; each error has a path such as `node[3].attr`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def error(self, path: str, message: str) -> ModelError:
        """An error at a path of the document."""
        return ModelError(f"{path[:200]}: {message}" if path else message, node=self.name)

    def message(self, value: Any, type_: MessageType, path: str, depth: int = 0) -> bytes:
        """The bytes of the fields of an object; null stands for an absent field."""
        if depth > MAX_DEPTH:
            raise LimitError(f"messages nest deeper than {MAX_DEPTH}", node=self.name)
        if not isinstance(value, Mapping):
            raise self.error(path, f"expected an object (a {type_.name}), not {describe(value)}")
        fields: dict[str, bytes] = {}
        for key, item in value.items():
            field = _fields(type_.name).get(key)
            if field is None:
                raise self.error(path, unknown_field(key[:100], type_))
            if item is None:
                continue
            if field.name in fields:
                raise self.error(path, f"{field.name} is set twice")
            other = conflicting_field(type_, field.name, fields)
            if other is not None:
                raise self.error(path, f"{field.name} and {other} are both set: only one may be")
            inner = f"{path}.{key}" if path else key
            fields[field.name] = encode_field(field, self.values(field, item, inner, depth))
        return b"".join(fields.values())

    def values(self, field: Field, value: Any, path: str, depth: int) -> list[Scalar]:
        """The values of a field: one, those of a list, or the entries of a map."""
        if field.is_map:
            return self.entries(field, value, path, depth)
        if not field.repeated:
            return [self.value(field, value, path, depth)]
        if not isinstance(value, list):
            raise self.error(path, f"expected a list, not {describe(value)}")
        return [self.value(field, item, f"{path}[{index}]", depth) for index, item in enumerate(value)]

    def entries(self, field: Field, value: Any, path: str, depth: int) -> list[Scalar]:
        """The entries of a map, each a message of a key and a value."""
        if not isinstance(value, Mapping):
            raise self.error(path, f"expected an object (a map), not {describe(value)}")
        parts = message_type(field.type).by_name
        entries: list[Scalar] = []
        for key, item in value.items():
            where = f"{path}.{key}"
            first = encode_field(parts["key"], [self.value(parts["key"], key, where, depth)])
            entries.append(first + encode_field(parts["value"], [self.value(parts["value"], item, where, depth)]))
        return entries

    def value(self, field: Field, value: Any, path: str, depth: int) -> Scalar:
        """One value of a field."""
        if field.kind == "message":
            if field.type == "Any" and isinstance(value, Mapping) and "@type" in value:
                raise self.error(path, "expanded `Any` messages are not read")
            return self.message(value, message_type(field.type), path, depth + 1)
        try:
            scalar = _scalar(field, value)
        except UnfitValueError as error:
            raise self.error(path, str(error)) from None
        if scalar is None:
            raise self.error(path, f"expected a value of type {field.type or field.kind}, not {describe(value)}")
        return scalar


@cache
def _fields(message: str) -> Mapping[str, Field]:
    """The fields of a message by their declared names (`tensor_shape`) and by those of JSON (`tensorShape`)."""
    fields = message_type(message).by_name
    return {**{_json_name(name): field for name, field in fields.items()}, **fields}


def _json_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _scalar(field: Field, value: Any) -> Scalar | None:
    """The value of a field that is no message; None for a JSON value of another type."""
    if field.kind == "bool":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool):
        return None
    if field.kind in ("string", "bytes"):
        return _string(field, value) if isinstance(value, str) else None
    if field.kind in ("float", "double"):
        return _float(field, value)
    if field.kind == "enum" and isinstance(value, str) and not value.lstrip("-").isdigit():
        return enum_value(field, value)
    integer = _integer(value)
    return None if integer is None else check_integer(field, integer)


def _string(field: Field, value: str) -> bytes:
    if field.kind == "string":
        try:
            return check_utf8(value.encode("utf-8"))
        except UnicodeEncodeError:
            raise UnfitValueError("a string must be valid Unicode") from None
    try:
        plain = value.rstrip("=").replace("-", "+").replace("_", "/")
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise UnfitValueError("bytes must be in base64") from None


def _float(field: Field, value: Any) -> float | None:
    if isinstance(value, str) and value in _FLOATS:
        return _FLOATS[value]
    try:
        is_number = _NUMBER.fullmatch(value) if isinstance(value, str) else isinstance(value, (int, float))
        number = float(value) if is_number else None
    except OverflowError:
        number = math.inf
    if number is not None and (math.isinf(number) or (field.kind == "float" and abs(number) > 3.4028235677973366e38)):
        raise UnfitValueError(f"the number is too large for a {field.kind}")
    return number


def _integer(value: Any) -> int | None:
    """The value of an integer, which may be written as a string or with a fraction of zero."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str):
        digits = value.removeprefix("-")
        return int(value) if digits.isascii() and digits.isdigit() and len(digits) < 25 else None
    return value if isinstance(value, int) else None


def describe(value: Any) -> str:
    """The description of a JSON value for a message: its text if that is short, else its kind."""
    if isinstance(value, (Mapping, list)):
        return "an object" if isinstance(value, Mapping) else "a list"
    return repr(value) if len(repr(value)) < 40 else f"a {type(value).__name__}"
