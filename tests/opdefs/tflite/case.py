"""Models of a single operator: the record of one, as it is built for LiteRT and as a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs


@attrs.frozen
class Operand:
    """An input of an operator: a constant with `values`, or an input of the model, which is fed these (default: 0).

    `data` are numbers that are fed, and decide no size.
    """

    dtype: str
    dims: tuple[int, ...] = attrs.field(converter=tuple)
    values: tuple[Any, ...] | None = attrs.field(
        default=None, converter=lambda values: values if values is None else tuple(values)
    )
    constant: bool = False
    variable: bool = False
    data: tuple[Any, ...] | None = None

    @property
    def count(self) -> int:
        """The number of elements."""
        total = 1
        for size in self.dims:
            total *= size
        return total


@attrs.frozen
class Case:
    """One operator with its options, its inputs (None for one that is left out), and the types of its outputs.

    `table` is the name of the table of its options, empty where it has none, and of a custom operator, whose options
    are a map. `declared` are the sizes that the file states of outputs.
    """

    op: str
    inputs: tuple[Operand | None, ...] = attrs.field(converter=tuple)
    outputs: tuple[str, ...] = attrs.field(converter=tuple)
    table: str = ""
    options: Mapping[str, Any] = attrs.Factory(dict)
    declared: tuple[tuple[int, ...], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The record as JSON."""
        return {
            "op": self.op,
            "inputs": [None if x is None else attrs.asdict(x) for x in self.inputs],
            "outputs": list(self.outputs),
            "table": self.table,
            "options": dict(self.options),
            "declared": [list(dims) for dims in self.declared],
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Case:
        """The record of a JSON object."""
        inputs = [None if x is None else Operand(**x) for x in record["inputs"]]
        options = {name: _tuples(value) for name, value in record["options"].items()}
        declared = tuple(tuple(dims) for dims in record["declared"])
        return cls(record["op"], inputs, record["outputs"], record["table"], options, declared)


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
