"""Names of sizes: torch's symbols have arbitrary numbers (`s77`), so that a size has the name of the axis it is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from shapeinf.formats.torch_export import document
from shapeinf.formats.torch_export.document import Program
from shapeinf.formats.torch_export.expressions import UnreadableError, parse_tree, read_size, symbols_of


@attrs.define(slots=False)
class SizeNames:
    """The names of symbols, and the sizes of inputs by torch's sources.

    Args:
        names: the name of each symbol of torch that has another one here: `{"s77": "x_0"}`.
        sources: the texts of sizes by torch's sources: `{"L['x'].size()[0]": "x_0"}`.
    """

    names: dict[str, str] = attrs.Factory(dict)
    sources: dict[str, str] = attrs.Factory(dict)
    _texts: dict[str, int | str] = attrs.Factory(dict)

    @classmethod
    def from_program(cls, program: Program) -> SizeNames:
        """The names for a program: of a symbol that is alone the size of an axis, the input and the axis.

        An integer argument has its own name. Raises MalformedError.
        """
        sizes = list(_input_sizes(program))
        taken = {symbol for _, _, text in sizes if isinstance(text, str) for symbol in symbols_of(text)}
        result = cls()
        for name, axis, text in sizes:
            symbol = _single_symbol(text)
            label = name if axis is None else f"{name}_{axis}"
            if symbol is not None and symbol not in result.names and label not in taken:
                result.names[symbol] = label
                taken.add(label)
        for name, axis, text in sizes:
            source = f"L['{name}']" + ("" if axis is None else f".size()[{axis}]")
            try:
                result.sources[source] = str(result.read(text) if isinstance(text, str) else text)
            except UnreadableError:
                continue
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


def _input_sizes(program: Program) -> Iterator[tuple[str, int | None, int | str]]:
    """Name, axis and size of each axis of the inputs of the user; the axis is None for an integer argument."""
    tensors = document.mapping(program.graph.get("tensor_values", {}), "tensor_values")
    numbers = document.mapping(program.graph.get("sym_int_values", {}), "sym_int_values")
    inputs = document.listed(program.graph.get("inputs"), "inputs")
    for number, item in enumerate(inputs):
        if number < len(program.inputs) and program.inputs[number][0] != "user_input":
            continue
        kind, value = document.union(item, "an input")
        if kind == "as_tensor":
            name = document.name_of(value, "an input")
            for axis, size in enumerate(document.tensor_of(tensors.get(name)).sizes):
                yield name, axis, size
        elif kind == "as_sym_int" and isinstance(value, dict) and value.get("as_name") in numbers:
            yield value["as_name"], None, document.symbolic(numbers[value["as_name"]], "an integer")


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
