"""The arguments of nodes as attributes, and the values that nodes of a graph may read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from shapeinf.formats.torch_export import document
from shapeinf.formats.torch_export.document import Json, MalformedError
from shapeinf.graph import Graph, InputContents, InputReference
from shapeinf.lattice.dtypes import TORCH_TEXTS

MAX_ITEMS = 1 << 16
"""Items of a list."""

_MEMORY_FORMATS = ("", "contiguous", "channels_last", "channels_last_3d", "preserve")
_PLAIN = {"as_int": int, "as_float": float, "as_bool": bool, "as_string": str}
_PLAIN_LISTS = {"as_ints": int, "as_floats": float, "as_bools": bool, "as_strings": str}
_SYMBOLIC = ("as_sym_int", "as_sym_float", "as_sym_bool")
_SYMBOLIC_LISTS = ("as_sym_ints", "as_sym_floats", "as_sym_bools")
_NAMED = ("as_tensor", "as_custom_obj")


class Values:
    """The values of one graph by name, and the arguments that read them.

    Args:
        build: the graph of the JSON of a body.
    """

    def __init__(self, build: Callable[[Json], Graph]) -> None:
        """No values."""
        self.names: set[str] = set()
        self._build = build

    # -- definitions ---------------------------------------------------------------------------------------------------

    def add_input(self, kind: str, value: Any) -> str:
        """Add an input of the graph; returns its name, empty for one that is no value. Raises MalformedError."""
        name = _value_name(kind, value)
        if name:
            self._define(name)
        return name

    def add_outputs(self, node: Json) -> tuple[str, ...]:
        """Add the outputs of a node; returns their names, empty for absent ones. Raises MalformedError."""
        names: list[str] = []
        for item in document.listed(node.get("outputs", ()), "outputs"):
            names.extend(_output_names(*document.union(item, "an output")))
            if len(names) > MAX_ITEMS:
                raise MalformedError(f"has more than {MAX_ITEMS} outputs")
        for name in names:
            if name:
                self._define(name)
        return tuple(names)

    def _define(self, name: str) -> None:
        if name in self.names:
            raise MalformedError(f"{name!r} is computed twice")
        self.names.add(name)

    def find(self, kind: str, value: Any) -> str:
        """The value that an output of the graph is; empty for a number or None. Raises MalformedError."""
        name = _value_name(kind, value)
        return self._require(name) if name else ""

    def _require(self, name: str) -> str:
        if name not in self.names:
            raise MalformedError(f"reads {name!r}, which nothing before it computes")
        return name

    # -- arguments -----------------------------------------------------------------------------------------------------

    def read(self, kind: str, value: Any, inputs: list[str]) -> object:
        """An argument as an attribute; the values that it reads are appended to `inputs`. Raises MalformedError."""
        if kind in _PLAIN or kind in _PLAIN_LISTS:
            return _literal(kind, value)
        if kind in _NAMED:
            return InputReference(self._position(document.name_of(value, "an argument"), inputs))
        if kind in _SYMBOLIC:
            return self._number(value, inputs)
        if kind == "as_none":
            return None
        if kind == "as_graph":
            graph = self._build(document.mapping(document.mapping(value, kind).get("graph"), "graph"))
            graph.name = document.name_of(value, "a graph")
            return graph
        if kind == "as_optional_tensor":
            return self.read(*document.union(value, kind), inputs)
        if kind in _LISTS:
            return tuple([self._item(kind, item, inputs) for item in _items(value, kind)])
        return _constant(kind, value)

    def _item(self, kind: str, item: Any, inputs: list[str]) -> object:
        if kind in _SYMBOLIC_LISTS:
            return self._number(item, inputs)
        if kind == "as_tensors":
            return self.read("as_tensor", item, inputs)
        if kind == "as_nested_tensors":
            return self.read("as_tensors", item, inputs)
        if kind == "as_optional_tensors":
            return self.read(*document.union(item, kind), inputs)
        return self.read(_LISTS[kind], item, inputs)

    def _number(self, value: Any, inputs: list[str]) -> object:
        """A number: a literal, or the contents of a value."""
        key, content = document.union(value, "a number")
        if key == "as_name":
            return InputContents(self._position(document.text(content, "a name"), inputs))
        return _literal(key, content) if key in _PLAIN else _constant(key, content)

    def _position(self, name: str, inputs: list[str]) -> int:
        inputs.append(self._require(name))
        return len(inputs) - 1


_LISTS = {
    **dict.fromkeys(_SYMBOLIC_LISTS, ""),
    **dict.fromkeys(("as_tensors", "as_nested_tensors", "as_optional_tensors"), ""),
    "as_int_lists": "as_ints",
    "as_float_lists": "as_floats",
}
"""The kinds of lists, with the kind of their items where these are literals."""


def _items(value: Any, subject: str) -> list[Any]:
    items = document.listed(value, subject)
    if len(items) > MAX_ITEMS:
        raise MalformedError(f"a list has more than {MAX_ITEMS} items")
    return list(items)


def _literal(kind: str, value: Any) -> object:
    """A number, a text or a list of these."""
    if kind in _PLAIN_LISTS:
        return tuple([_scalar(_PLAIN_LISTS[kind], item, kind) for item in _items(value, kind)])
    return _scalar(_PLAIN[kind], value, kind)


def _scalar(expected: type, value: Any, subject: str) -> object:
    if expected is float and value in ("Infinity", "-Infinity", "NaN"):
        return float(value)
    if expected is float and type(value) is int:
        return float(document.integer(value, subject))
    if type(value) is not expected:
        raise MalformedError(f"the value of {subject} has another type")
    return document.integer(value, subject) if expected is int else value


def _constant(kind: str, value: Any) -> object:
    """An argument that is a name of torch's or no number: an element type, a layout, a device."""
    if kind == "as_scalar_type":
        dtype = document.dtype_of(value)
        return TORCH_TEXTS.get(dtype or "", "torch.unknown")
    if kind == "as_memory_format":
        code = document.integer(value, kind)
        return _MEMORY_FORMATS[code] if 0 <= code < len(_MEMORY_FORMATS) else ""
    if kind == "as_operator":
        return document.text(value, kind)
    if kind == "as_complex":
        parts = document.mapping(value, kind)
        return complex(*(float(_scalar(float, parts.get(name), kind)) for name in ("real", "imag")))  # type: ignore[arg-type]
    return kind.removeprefix("as_")


def _value_name(kind: str, value: Any) -> str:
    """The name of an input or output of a graph; empty for a number, a text or None."""
    if kind in _NAMED or kind == "as_token":
        return document.name_of(value, "a value")
    if kind in _SYMBOLIC:
        name = document.mapping(value, kind).get("as_name")
        return "" if name is None else document.text(name, "a name")
    return ""


def _output_names(kind: str, value: Any) -> Iterator[str]:
    """The names of the outputs of a node: a list of tensors has several."""
    if kind == "as_tensors" or kind == "as_optional_tensors":
        for item in _items(value, kind):
            yield from _output_names(*(("as_tensor", item) if kind == "as_tensors" else document.union(item, kind)))
    elif kind == "as_optional_tensor":
        yield from _output_names(*document.union(value, kind))
    else:
        yield _value_name(kind, value)
