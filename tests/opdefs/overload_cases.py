"""Cases of torch's overloads: calls with sizes of tensors, and the neighboring sizes at which they are run too."""

from __future__ import annotations

import ast
import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import attrs

FOLDER = Path(__file__).parent
CASES, RECORDED = FOLDER / "overload_cases.txt", FOLDER / "overloads.json.xz"
LISTED = "s"
"""The ending of the names of tensors whose items are listed, which have no neighboring sizes."""

DTYPES = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "i64": "int64", "i32": "int32", "i8": "int8"}
DTYPES |= {"m": "float32", "b": "bool", "u8": "uint8", "f16": "float16", "c64": "complex64"}


class Tensor(NamedTuple):
    """A tensor of a call: `f32u(2, 3)` has the name `f32u` and the numbers (2, 3)."""

    name: str
    numbers: tuple[int, ...]

    @property
    def dtype(self) -> str:
        """The element type."""
        return DTYPES[self.name.rstrip("us")]

    @property
    def dims(self) -> tuple[int, ...]:
        """The sizes."""
        return (len(self.numbers),) if self.name.endswith(LISTED) else self.numbers


@attrs.frozen
class Case:
    """A call: arguments by position and by name, whose tensors are `Tensor`s."""

    text: str
    overload: str
    positional: list[Any]
    named: dict[str, Any]

    def neighbors(self) -> Iterator[Case]:
        """The call with one size of one tensor changed to 0, 1 and the next larger number."""
        for i, tensor in enumerate(tensors_in([self.positional, self.named])):
            for axis, size in enumerate(() if tensor.name.endswith(LISTED) else tensor.numbers):
                for new in dict.fromkeys((0, 1, size + 1)):
                    if new != size:
                        numbers = (*tensor.numbers[:axis], new, *tensor.numbers[axis + 1 :])
                        yield self.with_tensor(i, Tensor(tensor.name, numbers))

    def with_tensor(self, index: int, tensor: Tensor) -> Case:
        """The call with another tensor at this position among all tensors."""
        count = iter(range(1 << 20))
        positional, named = replace([self.positional, self.named], lambda old: tensor if next(count) == index else old)
        return Case(self.text, self.overload, positional, named)


def tensors_in(value: Any) -> list[Tensor]:
    """All tensors, in order."""
    found: list[Tensor] = []
    replace(value, lambda tensor: found.append(tensor))
    return found


def replace(value: Any, function: Any) -> Any:
    """The value with the results of a function in place of tensors."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, list):
        return [replace(item, function) for item in value]
    if isinstance(value, dict):
        return {name: replace(item, function) for name, item in value.items()}
    return value


def read_cases() -> list[Case]:
    """The cases of the file."""
    lines = CASES.read_text(encoding="utf-8").splitlines()
    return [read_case(line) for line in lines if line and not line.startswith("#")]


def read_case(text: str) -> Case:
    """The case of a line."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    named = {str(keyword.arg): _read(keyword.value) for keyword in call.keywords}
    return Case(text, ast.unparse(call.func), [_read(argument) for argument in call.args], named)


def _read(node: ast.expr) -> Any:
    if isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name)
        return Tensor(node.func.id, tuple(ast.literal_eval(argument) for argument in node.args))
    if isinstance(node, ast.List):
        return [_read(item) for item in node.elts]
    return ast.literal_eval(node)


def read_recorded() -> dict[str, list[list[str] | None]]:
    """By case the types that torch returned: at its own sizes, then at the neighbors; None where torch failed."""
    recorded: dict[str, list[list[str] | None]] = json.loads(lzma.decompress(RECORDED.read_bytes()))
    return recorded


def write_recorded(recorded: dict[str, list[list[str] | None]]) -> None:
    """Write what torch returned."""
    RECORDED.write_bytes(lzma.compress(json.dumps(recorded, separators=(",", ":")).encode()))
