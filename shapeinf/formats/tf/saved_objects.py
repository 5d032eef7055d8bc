"""Reads SavedObjectGraphs for the types of the variables that functions of a SavedModel capture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from shapeinf.formats.protobuf.wire import BYTES, VARINT, Buffer, decode_packed, fields, to_signed
from shapeinf.formats.tf.attributes import read_entry, text
from shapeinf.formats.tf.definitions import read_dtype_and_shape
from shapeinf.graph import DeclaredType, Graph

_VARIABLE = 7


def captured_types(buffer: Buffer, pos: int, end: int) -> dict[str, list[DeclaredType | None]]:
    """By function, the types of the variables that it captures, in the order of its last arguments.

    None stands for a capture that is no variable, such as a table.
    """
    variables: list[DeclaredType | None] = []
    captured: dict[str, list[int]] = {}
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 1 and kind == BYTES:
            variables.append(_read_variable(buffer, start, stop))
        elif number == 2 and kind == BYTES:
            key, begin, finish = read_entry(buffer, start, stop)
            captured[text(key)] = _read_bound_inputs(buffer, begin, finish)
    return {
        name: [variables[index] if 0 <= index < len(variables) else None for index in indices]
        for name, indices in captured.items()
    }


def _read_variable(buffer: Buffer, pos: int, end: int) -> DeclaredType | None:
    """The type of a SavedObject that is a variable."""
    variable = None
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == _VARIABLE and kind == BYTES:
            variable = read_dtype_and_shape(buffer, start, stop)
    return variable


def _read_bound_inputs(buffer: Buffer, pos: int, end: int) -> list[int]:
    indices: list[int] = []
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 2 and kind in (VARINT, BYTES):
            indices += [to_signed(start)] if kind == VARINT else decode_packed(buffer[start:stop])
    return indices


def add_captured_types(graph: Graph, captured: Mapping[str, Sequence[DeclaredType | None]]) -> None:
    """Declare the types behind handles that functions capture, unless their signatures declare them."""
    for (_, name, _), function in graph.functions.items():
        types = captured.get(name, ())
        if not types or len(types) > len(function.inputs):
            continue
        for argument, variable in zip(function.inputs[-len(types) :], types, strict=True):
            declared = function.declared.get(argument)
            if variable is not None and declared is not None and declared.dtype == "resource" and declared.of is None:
                function.declared[argument] = attrs.evolve(declared, of=variable)
