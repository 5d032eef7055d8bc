"""A `.param` file: one line an operator, `type name inputs outputs` and then what it is called with."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from shapeinf.errors import ModelError
from shapeinf.formats.pnnx.sniffing import MAGIC
from shapeinf.formats.pnnx.values import Parameter, TensorText, parse_parameter, parse_tensor


@attrs.frozen
class Operator:
    """One operator: `parameters` by name, `weights` (written `@name`), the names of some inputs by argument (`$name`).

    `types` are the element types and sizes of its inputs and outputs, as traced (`#name`).
    """

    type: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: Mapping[str, Parameter]
    weights: Mapping[str, TensorText]
    arguments: Mapping[str, str]
    types: Mapping[str, TensorText]
    line: int


def parse(text: str, source: str) -> list[Operator]:
    """The operators of a file. Raises ModelError, with the line, for a malformed one."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != MAGIC:
        raise ModelError(f"is not a PNNX network: the first line must be {MAGIC}", node=f"{source}:1")
    operators = []
    for number, line in enumerate(lines[2:], 3):
        if line.strip():
            try:
                operators.append(_parse_operator(line.split(), number))
            except (ValueError, IndexError) as error:
                raise ModelError(str(error), node=f"{source}:{number}") from error
    return operators


def _parse_operator(fields: list[str], line: int) -> Operator:
    type_, name, inputs, outputs = fields[0], fields[1], int(fields[2]), int(fields[3])
    values = fields[4 : 4 + inputs + outputs]
    operator = Operator(type_, name, tuple(values[:inputs]), tuple(values[inputs:]), {}, {}, {}, {}, line)
    for field in fields[4 + inputs + outputs :]:
        key, _, value = field.partition("=")
        mark, rest = key[:1], key[1:]
        if mark == "@":
            operator.weights[rest] = parse_tensor(value)  # type: ignore[index]
        elif mark == "$":
            operator.arguments[rest] = value  # type: ignore[index]
        elif mark == "#":
            operator.types[rest] = parse_tensor(value)  # type: ignore[index]
        else:
            operator.parameters[key] = value if key == "expr" else parse_parameter(value)  # type: ignore[index]
    return operator
