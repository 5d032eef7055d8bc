"""The correspondence between the values, and between the dims, of two models."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Literal

import attrs

from shapeinf.engine.inference import Inference
from shapeinf.expr import Dimension, DimSize, Scope, quote_name, substitute
from shapeinf.graph import Graph
from shapeinf.inputs.reader import input_names
from shapeinf.lattice import TensorType

Part = Literal["input", "output", "tensor"]


@attrs.frozen
class ValuePair:
    """A value: its part, its label in reports, and its name in each model, None for a model without it."""

    part: Part
    label: str
    before: str | None
    after: str | None


Labels = Mapping[Dimension, str]
"""Symbols of inputs with their labels."""


def input_dims(inference: Inference, name: str) -> tuple[DimSize, ...]:
    """The dims of an input before any node runs; empty for an unknown rank."""
    input_type = inference.input_types.get(name)
    return input_type.shape.dims or () if isinstance(input_type, TensorType) else ()


def pair_values(old: Graph, new: Graph) -> list[ValuePair]:
    """The inputs, outputs and other values of two models.

    They correspond by name. The values of a traced graph have names of a converter, or numbers: its inputs and outputs
    correspond by the names of signatures, else by position, and the others by the names of their nodes; those are
    omitted if the dialects differ.
    """
    if old.traced or new.traced:
        return [*_pair_by_position(old, new), *_pair_by_node(old, new)]
    return list(_pair_by_name(old, new))


def _pair_by_name(old: Graph, new: Graph) -> Iterator[ValuePair]:
    names = match_names(old, new)
    before, after = _names_by_part(old), _names_by_part(new)
    old_names = {new_name: name for name, new_name in names.items()}
    for part in before:
        renamed = {old_names.get(name, name): name for name in after[part]}
        for name in dict.fromkeys([*before[part], *renamed]):
            if part == "tensor" and (name in before["output"] or names.get(name, name) in after["output"]):
                continue  # a pair of the outputs
            yield ValuePair(part, name, name if name in before[part] else None, renamed.get(name))


def _names_by_part(graph: Graph) -> dict[Part, dict[str, None]]:
    """The names of the inputs, of the outputs, and of the other values."""
    outputs = dict.fromkeys(graph.outputs)
    rest = {name: None for node in graph.nodes for name in node.outputs if name and name not in outputs}
    return {"input": dict.fromkeys(input_names(graph)), "output": outputs, "tensor": rest}


def _pair_by_position(old: Graph, new: Graph) -> Iterator[ValuePair]:
    """The inputs and outputs by the names of signatures, the others by position.

    Where both models have signatures, what is no argument of one is omitted, such as the name of a file of variables.
    """
    parts: tuple[tuple[Part, list[str], list[str]], ...] = (
        ("input", input_names(old), input_names(new)),
        ("output", old.outputs, new.outputs),
    )
    for part, first, second in parts:
        public = _match_public_names(old, new, first, second)
        for label, (before, after) in public.items():
            yield ValuePair(part, label, before, after)
        paired = {before for before, _ in public.values()}, {after for _, after in public.values()}
        if _signature_values(old) and _signature_values(new):
            first = [name for name in first if name in _signature_values(old)]
            second = [name for name in second if name in _signature_values(new)]
        positions = {name: position for names in (second, first) for position, name in enumerate(names)}
        rest = [name for name in first if name not in paired[0]], [name for name in second if name not in paired[1]]
        for before, after in zip_longest(*rest):
            position = positions[before or after]
            names = ", ".join(name for name in dict.fromkeys((before, after)) if name is not None)
            yield ValuePair(part, names if before == after else f"{part}s[{position}] ({names})", before, after)


def _match_public_names(
    old: Graph, new: Graph, first: Sequence[str], second: Sequence[str]
) -> dict[str, tuple[str, str]]:
    """By public name, the values of both models that have it; none if neither model has signatures."""
    if not (_signature_values(old) or _signature_values(new)):
        return {}
    by_name = {public: name for name in reversed(second) for public in _public_names(new, name)}
    matched: dict[str, tuple[str, str]] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(first):
        label = next((p for p in _public_names(old, name) if p in by_name and by_name[p] not in taken), None)
        if label is not None:
            matched[label] = name, by_name[label]
            taken.add(by_name[label])
    return matched


def _public_names(graph: Graph, name: str) -> list[str]:
    """The names of a value in signatures; its own name where it has none."""
    return [alias for alias, value in graph.aliases.items() if value == name] or [name]


def _signature_values(graph: Graph) -> set[str]:
    """The arguments and results of signatures: each has an alias, and the same behind the name of the signature."""
    return {
        value for alias, value in graph.aliases.items() if "." in alias and alias.rpartition(".")[2] in graph.aliases
    }


def _pair_by_node(old: Graph, new: Graph) -> Iterator[ValuePair]:
    """The values that are no outputs of the model, by node and position among its outputs; none for two dialects."""
    if old.dialect != new.dialect:
        return
    first, second = _values_by_node(old), _values_by_node(new)
    outputs = {*old.outputs}, {*new.outputs}
    for key in dict.fromkeys([*first, *second]):
        before, after = first.get(key), second.get(key)
        if before not in outputs[0] and after not in outputs[1]:
            yield ValuePair("tensor", _label_by_node(key[0], before, after), before, after)


def _label_by_node(node: str, before: str | None, after: str | None) -> str:
    names = ", ".join(name for name in dict.fromkeys((before, after)) if name is not None)
    return names if before == after else f"{names} of {node}"


def _values_by_node(graph: Graph) -> dict[tuple[str, int], str]:
    return {
        (node.name or node.outputs[0], position): name
        for node in graph.nodes
        for position, name in enumerate(node.outputs)
        if name
    }


def match_names(old: Graph, new: Graph) -> dict[str, str]:
    """The names in the new model of values of the old one: the same names, else those of inputs and outputs by alias.

    Each value is matched at most once; equal names take precedence.
    """
    names = _value_names(old) & _value_names(new)
    matched = {name: name for name in names}
    for first, second in ((input_names(old), input_names(new)), (old.outputs, new.outputs)):
        by_alias = {alias: name for name in second if name not in names for alias in _known_as(new, name)}
        for name in first:
            other = next((by_alias[alias] for alias in _known_as(old, name) if alias in by_alias), None)
            if name not in names and other is not None:
                matched[name] = other
                by_alias = {alias: value for alias, value in by_alias.items() if value != other}
    return matched


def _value_names(graph: Graph) -> set[str]:
    return {*input_names(graph), *(name for node in graph.nodes for name in node.outputs if name)}


def _known_as(graph: Graph, name: str) -> list[str]:
    """The name of a value and its aliases."""
    return [name, *(alias for alias, value in graph.aliases.items() if value == name)]


class Correspondence:
    """Pairs of symbols of two scopes that stand for the same size, and the dims of both in a common scope.

    A dim with an anonymous symbol that is in no pair is None. A symbol of a traced graph may correspond to a number,
    the size in the traced run; both models are then compared at that size.
    """

    def __init__(self, first: Scope, second: Scope) -> None:
        """No symbols are paired yet."""
        self.first = first
        self.second = second
        self.pairs: dict[Dimension, Dimension] = {}
        self._backwards: dict[Dimension, Dimension] = {}
        self._seconds: dict[Dimension, Dimension] = {}
        """The symbols of the second scope that are in a pair, each by itself."""
        self._common = Scope()
        self.sizes: dict[Dimension, int] = {}
        """The sizes at which symbols of either scope are compared."""

    def pair(self, first: Sequence[DimSize], second: Sequence[DimSize]) -> None:
        """Pair the symbols at the same positions, unless they are already in pairs; none for different ranks."""
        if len(first) != len(second):
            return
        for a, b in zip(first, second, strict=True):
            if isinstance(a, Dimension) and isinstance(b, Dimension) and a.is_symbol and b.is_symbol:
                self._add(a, b)

    def pair_sizes(self, first: Sequence[DimSize], second: Sequence[DimSize]) -> None:
        """Set the size of each symbol to the number at its position in the other shape."""
        if len(first) != len(second):
            return
        for a, b in zip(first, second, strict=True):
            symbol, size = (a, b) if isinstance(b, int) else (b, a)
            if isinstance(symbol, Dimension) and isinstance(size, int) and symbol.is_symbol:
                self.sizes.setdefault(symbol, size)

    def pair_names(self) -> None:
        """Pair symbols of equal names that are in no pair."""
        others = set(self.second.names())
        for name in self.first.names():
            if name in others:
                self._add(self.first.symbol(name), self.second.symbol(name))

    def _add(self, a: Dimension, b: Dimension) -> None:
        if a not in self.pairs and b not in self._backwards:
            self.pairs[a], self._backwards[b], self._seconds[b] = b, a, b

    def map_first(self, dim: DimSize) -> DimSize | None:
        """A dim of the first scope in the common scope."""
        return self._map(dim, self.pairs, "before")

    def map_second(self, dim: DimSize) -> DimSize | None:
        """A dim of the second scope in the common scope."""
        return self._map(dim, self._seconds, "after")

    def _map(self, dim: DimSize, partners: dict[Dimension, Dimension], side: str) -> DimSize | None:
        if isinstance(dim, int):
            return dim
        values: dict[Dimension, DimSize] = {}
        for symbol in dim.symbols():
            partner = partners.get(symbol)
            if symbol in self.sizes:
                values[symbol] = self.sizes[symbol]
                continue
            if partner is None and symbol.is_anonymous:
                return None
            name = f"{side} {symbol.name}" if partner is None else f"both {partner.name}"
            values[symbol] = self._common.symbol(name, 0)
        return substitute(dim, values)

    def renaming(self, first: Labels, second: Labels) -> Callable[[str], str]:
        """A function that replaces labels of dims of the first scope in a text by those of the second."""
        names = {
            first.get(a, quote_name(a.name)): second.get(b, quote_name(b.name))
            for a, b in self.pairs.items()
            if (a in first or not a.is_anonymous) and (b in second or not b.is_anonymous)
        }
        if all(name == other for name, other in names.items()):
            return lambda text: text
        alternatives = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        pattern = re.compile(rf"(?<![\w`.])(?:{alternatives})(?![\w`])")
        return lambda text: pattern.sub(lambda match: names[match[0]], text)
