"""A call of an overload of torch: its arguments as plain data, which torch runs and which is a program of one node.

`record.py` runs the cases in torch; the tests compare inferred types with the recorded ones and need no torch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import attrs

from opdefs.torch.schemas import Argument, find_schema
from tests.formats.torch_export import programs

CODES = {
    **{"uint8": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "float16": 6, "float32": 7, "float64": 8},
    **{"complex64": 10, "complex128": 11, "bool": 12, "bfloat16": 13},
}
"""The element types by their codes in programs."""


@attrs.frozen
class Tensor:
    """A tensor of some sizes; `contents` are its elements where they matter, else it has small positive numbers."""

    dtype: str
    sizes: tuple[int, ...]
    contents: tuple[Any, ...] | None = None


@attrs.frozen
class Call:
    """A call: the arguments by name, tensors as `Tensor`; a type such as `float32` for an argument ScalarType."""

    overload: str
    arguments: dict[str, Any]

    @property
    def text(self) -> str:
        """The call as a text, the key of its result."""
        return f"{self.overload}({', '.join(f'{name}={_text(v)}' for name, v in self.arguments.items())})"

    def tensors(self) -> list[Tensor]:
        """The tensors among the arguments, in order."""
        return [x for value in self.arguments.values() for x in _items(value) if isinstance(x, Tensor)]

    def program(self, result: list[Any], *, symbolic: bool) -> bytes:
        """The program of one node, with the declared outputs of a recorded result; sizes are numbers or symbols."""
        declared: dict[str, Any] = {}
        arguments: dict[str, Any] = {}
        kinds = {argument.name: argument for argument in _arguments(self.overload)}
        for name, value in self.arguments.items():
            arguments[name] = _argument(kinds[name].kind, value, declared, symbolic)
        inputs = list(declared)
        outputs = [programs.argument(f"out{i}") for i in range(len(result))]
        declared.update(
            {f"out{i}": programs.tensor(*sizes, dtype=CODES[kind]) for i, (kind, sizes) in enumerate(result)}
        )
        node = programs.node(f"torch.ops.{self.overload}", arguments, *outputs)
        graph = programs.graph(inputs, [node], outputs, tensors=declared)
        return json.dumps(programs.program(graph)).encode()

    def binding(self) -> dict[str, int]:
        """The sizes of the symbols of a program with symbolic sizes."""
        return {f"t{i}_{axis}": size for i, x in enumerate(self.tensors()) for axis, size in enumerate(x.sizes)}


def _arguments(overload: str) -> tuple[Argument, ...]:
    schema = find_schema(overload)
    assert schema is not None, overload
    return schema.arguments


def call(overload: str, *values: Any, **named: Any) -> Call:
    """The call with arguments by position and by name."""
    names = [argument.name for argument in _arguments(overload)]
    return Call(overload, {**dict(zip(names, values, strict=False)), **named})


def _items(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        yield from value
    else:
        yield value


def _text(value: Any) -> str:
    if isinstance(value, Tensor):
        contents = "" if value.contents is None else f"{{{','.join(map(str, value.contents))}}}"
        return f"{value.dtype}{list(value.sizes)}{contents}".replace(" ", "")
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    return repr(value)


def _argument(kind: str, value: Any, declared: dict[str, Any], symbolic: bool) -> Any:
    """The argument of a node; tensors become inputs of the graph."""
    if isinstance(value, Tensor):
        name = f"t{len(declared)}"
        number = len(declared)
        sizes = [programs.symbol(f"s{10 * number + axis}") if symbolic else n for axis, n in enumerate(value.sizes)]
        declared[name] = programs.tensor(*sizes, dtype=CODES[value.dtype])
        return name
    if isinstance(value, list):
        items = [_argument(kind, item, declared, symbolic) for item in value]
        if all(isinstance(item, str) for item in items) and not kind.startswith("Tensor?["):
            return {"as_tensors": [{"name": item} for item in items]}
        rows = [{"as_none": True} if item is None else {"as_tensor": {"name": item}} for item in items]
        return {"as_optional_tensors": rows}
    if kind.startswith("ScalarType") and isinstance(value, str):
        return {"as_scalar_type": CODES[value]}
    if isinstance(value, str):
        return {"as_string": value}
    return {"as_ints": list(value)} if isinstance(value, tuple) else value
