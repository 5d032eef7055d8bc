"""Names for unknown sizes in files: one name for each size, shared by all values that have it.

An unknown, such as the number of elements that a mask selects, has a name of its own in displayed shapes, which files
cannot have: it may contain any character, and other tools read names of dims as identifiers.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from shapeinf.expr import Dimension, axis_label
from shapeinf.expr.notations import RESERVED, NotationName
from shapeinf.expr.printing import try_format_dim, try_format_dim_as
from shapeinf.formats.annotation import GENERATED, Annotation, Info
from shapeinf.graph import DeclaredType, Graph, has_bodies, subgraphs

_WORD = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"#\d+\Z")
"""The number of an unknown among those of one node, which depends on how often a body ran."""

LONGEST_NAME = 60

DimNames = Mapping[Dimension, str]
"""The names of dims in a file."""

AxisNames = Mapping[str, Mapping[int, str]]
"""Names of axes, by output and axis."""

NO_NAMES: Mapping[Any, Any] = MappingProxyType({})


def name_unknowns(
    graph: Graph, annotation: Annotation, outputs: AxisNames = NO_NAMES, notation: NotationName | None = None
) -> DimNames:
    """The names of the unknowns in the types of a graph and of its bodies, by symbol; equal in each call.

    A dim without a text in the notation is a key itself, such as one that is too long, and one with a symbol that may
    be negative, such as an element of a tensor, whereas a name in a file is a size. An unknown in the type of a
    sequence or of an optional is not a key by that: items may differ in it. A name is none of those that stay
    in the file: names of known dims, and names in declarations that the annotation does not replace. `outputs`
    are the names of axes that outputs keep: an unknown has the one of its axis.
    """
    dims = _unnamed_dims(annotation, notation)
    if not dims:
        return {}
    taken = _written_names(graph, annotation)
    names: dict[Dimension, str] = {}
    for output, axes in outputs.items():
        for axis, name in axes.items():
            dim = (annotation.tensors[output].shape.dims or ())[axis]
            if isinstance(dim, Dimension) and dim in dims and name not in taken:
                names[dim] = name
    taken.update(name for axes in outputs.values() for name in axes.values())
    for dim, hint in dims.items():
        if dim not in names:
            names[dim] = _free_name(hint, taken)
            taken.add(names[dim])
    return names


def text_with_names(dim: Dimension, names: DimNames, notation: NotationName | None = None) -> str | None:
    """The text of a dim with these names of unknowns; None where one has no name, and for a dim that has no text."""
    if dim in names:
        return names[dim]
    if dim.is_anonymous and not all(symbol in names for symbol in dim.symbols() if symbol.is_anonymous):
        return None
    return _try_format(dim, names, notation)


def _try_format(dim: Dimension, names: DimNames, notation: NotationName | None) -> str | None:
    return try_format_dim(dim, labels=names) if notation is None else try_format_dim_as(dim, notation, names)


def _unnamed_dims(annotation: Annotation, notation: NotationName | None) -> dict[Dimension, str]:
    """The keys of `name_unknowns` in the order of their first mention, with hints for their names."""
    hints: dict[Dimension, str] = {}
    seen: set[Dimension] = set()
    for name, axis, dim in _dims(annotation):
        if dim not in seen:
            seen.add(dim)
            for key, hint in _nameless(name, axis, dim, notation):
                hints.setdefault(key, hint)
    return hints


def _dims(annotation: Annotation) -> Iterator[tuple[str, int, Dimension]]:
    """The symbolic dims of tensors, each with its value and axis: those of the graph, then those in its bodies."""
    visited: set[int] = set()
    for name, info in annotation.tensors.items():
        if id(info) not in visited and info.kind == "tensor":
            visited.add(id(info))  # values share records of types
            for axis, dim in enumerate(info.shape.dims or ()):
                if isinstance(dim, Dimension):
                    yield name, axis, dim
    for bodies in annotation.bodies.values():
        for body in bodies.values():
            yield from _dims(body)


def _nameless(name: str, axis: int, dim: Dimension, notation: NotationName | None) -> Iterable[tuple[Dimension, str]]:
    """The unknowns in a dim, or the dim itself where it has no text, each with a hint for its name."""
    if dim.is_symbol:
        return [(dim, dim.name)] if dim.is_anonymous else ()
    unknowns = sorted((symbol for symbol in dim.symbols() if symbol.is_anonymous), key=lambda symbol: symbol.atom)
    may_be_negative = any(symbol.symbol.lo is None or symbol.symbol.lo < 0 for symbol in unknowns)
    labels = {symbol: f"unknown{number}" for number, symbol in enumerate(unknowns)}
    if may_be_negative or _try_format(dim, labels, notation) is None:
        return [(dim, axis_label(name, axis))]
    return [(symbol, symbol.name) for symbol in unknowns]


def _free_name(hint: str, taken: set[str]) -> str:
    """An identifier that resembles the hint and is not taken."""
    parts = "".join(c if f"_{c}".isidentifier() else " " for c in _NUMBER.sub("", hint)).split()
    name = "_".join(parts).strip("_")
    if not name.isidentifier() or keyword.iskeyword(name) or name in RESERVED or GENERATED.fullmatch(name):
        name = f"dim_{name}"
    if len(name) > LONGEST_NAME:
        name = f"{name[: LONGEST_NAME - 13]}_{sha256(name.encode()).hexdigest()[:12]}"
    free, count = name, 0
    while free in taken:
        count += 1
        free = f"{name}_{count}"
    return free


def _written_names(graph: Graph, annotation: Annotation) -> set[str]:
    """The names in a file that is written with an annotation, but for those of unknowns and of axes of outputs."""
    texts: list[str] = [*graph.assumptions, *(annotation.assumptions or ())]
    infos = {id(info): info for info in _infos(annotation)}  # values share records of types
    symbols = frozenset[Dimension]().union(*[info.shape.symbols() for info in infos.values()])
    texts.extend(symbol.name for symbol in symbols if not symbol.is_anonymous)
    texts.extend(_other_texts(graph, annotation))
    return {word for text in texts for word in (text, *_WORD.findall(text))}


def _infos(annotation: Annotation) -> Iterator[Info]:
    yield from annotation.tensors.values()
    yield from annotation.inputs.values()
    for function in annotation.functions.values():
        yield from function.values()
    for bodies in annotation.bodies.values():
        for body in bodies.values():
            yield from _infos(body)


def _other_texts(graph: Graph, annotation: Annotation) -> Iterator[str]:
    """The texts of declared dims that stay: those of inputs, and of values without a new type."""
    inputs = set(graph.inputs)
    for name, declared in graph.declared.items():
        info = annotation.tensors.get(name)
        if name in inputs or info is None or info.dtype is None:
            yield from _texts(declared)
    for function in graph.functions.values():
        for declared in function.declared.values():
            yield from _texts(declared)
    if not has_bodies(graph):
        return
    for node in graph.nodes:
        for attribute, body in subgraphs(node.kind):
            inner = annotation.bodies.get(node.outputs, {}).get(attribute, Annotation({}))
            yield from _other_texts(body, inner)


def _texts(declared: DeclaredType) -> Iterator[str]:
    """The texts of the dims of a type, or of the items of a sequence or an optional."""
    inner: DeclaredType | None = declared
    while inner is not None:
        yield from (dim for dim in inner.dims or () if isinstance(dim, str))
        inner = inner.of
