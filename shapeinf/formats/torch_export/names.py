"""Names of sizes: torch's symbols have arbitrary numbers (`s77`), so that a size has the name of the axis it is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import attrs

from shapeinf.formats.torch_export import document
from shapeinf.formats.torch_export.document import Program
from shapeinf.formats.torch_export.expressions import UnreadableError, parse_tree, read_size, symbols_of


@attrs.define(slots=False)
class SizeNames:
    """The names of symbols.

    Args:
        names: the name of each symbol of torch that has another one here: `{"s77": "x_0"}`.
    """

    names: dict[str, str] = attrs.Factory(dict)
    _texts: dict[str, int | str] = attrs.Factory(dict)

    @classmethod
    def from_program(cls, program: Program) -> SizeNames:
        """The names for a program: of a symbol that is alone the size of an axis, the input and the axis.

        An integer argument has its own name. Raises MalformedError.
        """
        sizes = list(input_sizes(program))
        taken = {symbol for item in sizes if isinstance(item.size, str) for symbol in symbols_of(item.size)}
        result = cls()
        for item in sizes:
            symbol = _single_symbol(item.size)
            if symbol is not None and symbol not in result.names and item.label not in taken:
                result.names[symbol] = item.label
                taken.add(item.label)
        return result

    @property
    def aliases(self) -> Mapping[str, str]:
        """The names by which users may refer to sizes as torch does: `{"s77": "x_0"}`."""
        return self.names

    def read(self, text: str) -> int | str:
        """A size as a number or as a text in shapeinf's grammar. Raises UnreadableError."""
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = read_size(text, lambda symbol: self.names.get(symbol, symbol))
        return known


class InputSize(NamedTuple):
    """An axis of an input of the user, or an integer argument, whose axis is None.

    Args:
        name: the input.
        axis: the axis.
        size: what the program declares: a number, or the text of an expression.
        example: the number in the example with which the program was exported; None where the file has none.
    """

    name: str
    axis: int | None
    size: int | str
    example: int | None

    @property
    def label(self) -> str:
        """`x_0` of axis 0 of `x`; an integer argument has its own name."""
        return self.name if self.axis is None else f"{self.name}_{self.axis}"


def input_sizes(program: Program) -> Iterator[InputSize]:
    """All axes of the inputs of the user, and all integer arguments. Raises MalformedError."""
    tensors = document.mapping(program.graph.get("tensor_values", {}), "tensor_values")
    numbers = document.mapping(program.graph.get("sym_int_values", {}), "sym_int_values")
    inputs = document.listed(program.graph.get("inputs"), "inputs")
    for number, item in enumerate(inputs):
        if number < len(program.inputs) and program.inputs[number][0] != "user_input":
            continue
        kind, value = document.union(item, "an input")
        if kind == "as_tensor":
            name = document.name_of(value, "an input")
            written = document.mapping(tensors.get(name), "the declaration of a tensor").get("sizes", ())
            for axis, size in enumerate(document.tensor_of(tensors.get(name)).sizes):
                yield InputSize(name, axis, size, document.example_of(written[axis]))
        elif kind == "as_sym_int" and isinstance(value, dict) and value.get("as_name") in numbers:
            argument = numbers[value["as_name"]]
            size = document.symbolic(argument, "an integer")
            yield InputSize(value["as_name"], None, size, document.example_of(argument))


def _single_symbol(text: int | str) -> str | None:
    """The symbol that is all of a size."""
    if isinstance(text, int):
        return None
    try:
        parse_tree(text)
        read = read_size(text, str)
    except UnreadableError:
        return None
    return read if isinstance(read, str) and read.isidentifier() else None
