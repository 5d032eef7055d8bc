"""A `.param` file: a magic number, two counts, and a line for each operator.

A line is `type name inputs outputs`, the last two being numbers of blobs, and the names of these blobs. Then follow
`key=value` (parameters), `@key=type` (weights), `$argument=blob` (named inputs) and `#blob=type` (traced types),
separated by white space.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import attrs

from shapeinf.errors import LimitError, ModelError
from shapeinf.formats.pnnx.sniffing import BYTE_ORDER_MARK, MAGIC
from shapeinf.formats.pnnx.values import Parameter, TensorText, parse_parameter, parse_tensor, quote

INPUT, OUTPUT, CONSTANT, TUPLE = "pnnx.Input", "pnnx.Output", "pnnx.Attribute", "prim::TupleConstruct"
"""The operators that are no nodes of the graph, and the one that combines several outputs."""

WEIGHT, ARGUMENT, TYPE = "@", "$", "#"
"""The first characters of the keys of weights, of named inputs, and of types."""

EXPRESSION = "expr"
"""The parameter that is always a text, even if it starts with a bracket."""

MAX_LINE = 1 << 22
"""Characters of a line."""
MAX_OPERATORS = 1 << 20
MAX_BLOBS = 1 << 21
MAX_ITEMS = 1 << 16
"""Items of a list in a parameter."""
MAX_RANK = 64
"""Axes of a tensor, as in torch."""

T = TypeVar("T")

_HEADER = 2
_WHITE_SPACE = str.maketrans("\t\v\f\r", "    ")


@attrs.frozen
class Operator:
    """One operator: `parameters` by name, `weights` (written `@name`), the positions of inputs by argument (`$name`).

    `types` are the traced element types and sizes of its inputs and outputs (`#name`). `written` has the texts of all
    other fields behind the blobs, `line` is the number of the line.
    """

    type: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: Mapping[str, Parameter]
    weights: Mapping[str, TensorText]
    arguments: Mapping[str, int]
    types: Mapping[str, TensorText]
    written: tuple[str, ...]
    line: int


@attrs.frozen
class Document:
    """A file: its operators in order, the number of blobs that its second line states, and its name in messages."""

    operators: tuple[Operator, ...]
    blobs: int
    source: str

    def location(self, operator: Operator) -> str:
        """The file and line of an operator."""
        return f"{self.source}:{operator.line}"

    def count_blobs(self) -> int:
        """The number of blobs that its operators produce."""
        return sum(len(operator.outputs) for operator in self.operators)


def parse(text: str, source: str) -> Document:
    """Read a file. Raises ModelError with the line of a malformed one, LimitError past a limit."""
    text = text.removeprefix(BYTE_ORDER_MARK)
    lines = text.split("\n")
    number = 1
    try:
        if lines[0].strip() != MAGIC:
            raise _MalformedError(f"is not a network of PNNX: its first line is not {MAGIC}")
        number = _HEADER
        operators, blobs = _parse_counts(lines[1] if len(lines) > 1 else "")
        builder = _Builder()
        for number, line in enumerate(lines[_HEADER:], _HEADER + 1):
            fields = _split(line)
            if fields:
                builder.add(fields, number)
        number = _HEADER
        if len(builder.operators) != operators:
            raise _MalformedError(f"this line states {operators} operators, the file has {len(builder.operators)}")
    except _TooLargeError as error:
        raise LimitError(str(error), node=f"{source}:{number}") from error
    except ValueError as error:
        raise ModelError(str(error), node=f"{source}:{number}") from error
    return Document(tuple(builder.operators), blobs, source)


class _MalformedError(ValueError):
    """A line that is malformed. Internal: caught in `formats.pnnx.document`."""


class _TooLargeError(ValueError):
    """A line past a limit. Internal: caught in `formats.pnnx.document`."""


def _split(line: str) -> list[str]:
    """The fields of a line, separated by the white space of C's `isspace`."""
    if len(line) > MAX_LINE:
        raise _TooLargeError(f"the line has more than {MAX_LINE} characters")
    if line.isprintable() and line.isascii():
        return line.split()
    if "\0" in line:
        raise _MalformedError("the line contains a NUL character")
    return [field for field in line.translate(_WHITE_SPACE).split(" ") if field]


def _parse_counts(line: str) -> tuple[int, int]:
    """The numbers of operators and of blobs."""
    fields = _split(line)
    if len(fields) != 2:
        raise _MalformedError("the second line must be the number of operators and the number of blobs")
    operators, blobs = (_parse_count(field) for field in fields)
    if operators > MAX_OPERATORS:
        raise _TooLargeError(f"{operators} operators; at most {MAX_OPERATORS} are read")
    if blobs > MAX_BLOBS:
        raise _TooLargeError(f"{blobs} blobs; at most {MAX_BLOBS} are read")
    return operators, blobs


def _parse_count(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 10:
        raise _MalformedError(f"{quote(text)} is not a count")
    return int(text)


@attrs.define
class _Fields:
    """The fields behind the names of the blobs of one operator."""

    blobs: set[str]
    line: int
    parameters: dict[str, Parameter] = attrs.Factory(dict)
    weights: dict[str, TensorText] = attrs.Factory(dict)
    arguments: dict[str, str] = attrs.Factory(dict)
    types: dict[str, TensorText] = attrs.Factory(dict)
    written: list[str] = attrs.Factory(list)


class _Builder:
    """The operators of the lines so far, with tables to compare later lines with."""

    def __init__(self) -> None:
        self.operators: list[Operator] = []
        self._names: dict[str, int] = {}
        self._producers: dict[str, int] = {}
        self._types: dict[str, tuple[TensorText, int]] = {}
        self._parsed_types: dict[str, TensorText] = {}
        self._parsed_parameters: dict[str, Parameter] = {}

    def add(self, fields: list[str], line: int) -> None:
        """Add the operator of a line. Raises a ValueError without the position."""
        if len(fields) < 4:
            raise _MalformedError("an operator needs a type, a name, and the numbers of its inputs and outputs")
        type_, name = fields[:2]
        counts = [_parse_count(field) for field in fields[2:4]]
        end = 4 + sum(counts)
        if end > len(fields):
            raise _MalformedError(f"the operator has {len(fields) - 4} names of blobs, not {sum(counts)}")
        inputs, outputs = tuple(fields[4 : 4 + counts[0]]), tuple(fields[4 + counts[0] : end])
        if self._names.setdefault(name, line) != line:
            raise _MalformedError(f"the operator {quote(name)} is defined twice, first in line {self._names[name]}")
        self._check_blobs(inputs, outputs, line)
        read = _Fields({*inputs, *outputs}, line)
        for field in fields[end:]:
            self._read(field, read)
        self.operators.append(
            Operator(
                type_,
                name,
                inputs,
                outputs,
                read.parameters,
                read.weights,
                _positions(inputs, read.arguments),
                read.types,
                tuple(read.written),
                line,
            )
        )

    def _check_blobs(self, inputs: Sequence[str], outputs: Sequence[str], line: int) -> None:
        for blob in inputs:
            if blob not in self._producers:
                raise _MalformedError(f"the blob {quote(blob)} is used before an operator produces it")
        for blob in outputs:
            if blob in self._producers:
                first = self._producers[blob]
                raise _MalformedError(f"the blob {quote(blob)} is produced twice, first in line {first}")
            self._producers[blob] = line

    def _read(self, field: str, read: _Fields) -> None:
        """Read a field behind the names of the blobs."""
        key, separator, value = field.partition("=")
        mark, name = key[:1], key[1:]
        if not separator or not key or (mark in (WEIGHT, ARGUMENT, TYPE) and not name):
            raise _MalformedError(f"{quote(field)} is not of the form key=value")
        if mark == TYPE:
            read.types[name] = self._read_type(name, value, read)
            return
        read.written.append(field)
        if mark == WEIGHT:
            _enter(read.weights, name, key, self._parse_type(value))
        elif mark == ARGUMENT:
            _enter(read.arguments, name, key, value)
        else:
            _enter(read.parameters, key, key, self._parse_parameter(key, value))

    def _read_type(self, blob: str, text: str, read: _Fields) -> TensorText:
        """The type of a blob, which must be the same in all lines."""
        if blob not in read.blobs:
            raise _MalformedError(f"{quote(TYPE + blob)} is the type of a blob that the operator does not have")
        type_ = self._parse_type(text)
        if not type_.dims:
            raise _MalformedError(f"{quote(text)} has no sizes: scalars and unknown shapes have no type in a file")
        first, at = self._types.setdefault(blob, (type_, read.line))
        if first != type_:
            raise _MalformedError(f"the type {quote(text)} of the blob {quote(blob)} is not that of line {at}")
        return type_

    def _parse_type(self, text: str) -> TensorText:
        if text not in self._parsed_types:
            if text.count(",") >= MAX_RANK:
                raise _TooLargeError(f"{quote(text)} has {text.count(',') + 1} axes; at most {MAX_RANK} are read")
            self._parsed_types[text] = parse_tensor(text)
        return self._parsed_types[text]

    def _parse_parameter(self, key: str, text: str) -> Parameter:
        if key == EXPRESSION:
            return text
        if text not in self._parsed_parameters:
            if text.count(",") >= MAX_ITEMS:
                raise _TooLargeError(f"{quote(key)} has {text.count(',') + 1} items; at most {MAX_ITEMS} are read")
            self._parsed_parameters[text] = parse_parameter(text)
        return self._parsed_parameters[text]


def _enter(table: dict[str, T], name: str, key: str, value: T) -> None:
    if name in table:
        raise _MalformedError(f"{quote(key)} occurs twice")
    table[name] = value


def _positions(operands: Sequence[str], arguments: Mapping[str, str]) -> dict[str, int]:
    """The position of the input that each argument names; no two arguments have the same one."""
    if not arguments:
        return {}
    inputs: dict[str, list[int]] = {}
    for position in reversed(range(len(operands))):
        inputs.setdefault(operands[position], []).append(position)
    positions: dict[str, int] = {}
    for name, blob in arguments.items():
        if not inputs.get(blob):
            noun = "a further input" if blob in inputs else "an input"
            raise _MalformedError(f"{quote(f'{ARGUMENT}{name}={blob}')}: the blob is not {noun} of the operator")
        positions[name] = inputs[blob].pop()
    return positions
