"""What a user wants of the dims of a model, sorted: values, ranges, equalities, new names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import attrs

from shapeinf.errors import UnknownNameError
from shapeinf.expr import Dim, Interval, parse_dim, quote_name
from shapeinf.graph import Graph
from shapeinf.inputs.reader import InputReader, RangeLike, SpecLike, input_names, to_named_dim
from shapeinf.lattice import ShapeStore

_BOUNDS = re.compile(r"\d*\s*(?:\.\.|~|:)\s*(?:\d*|-1)|\d+")


@attrs.define
class Wishes:
    """`values` and `ranges` of dims, `equalities` as relations, and `names`: the new name of each old one."""

    values: dict[str, int] = attrs.Factory(dict)
    ranges: dict[str, tuple[int | None, int | None]] = attrs.Factory(dict)
    equalities: list[str] = attrs.Factory(list)
    names: dict[str, str] = attrs.Factory(dict)

    def __str__(self) -> str:
        """`batch=4, seq=1..512`."""
        bounds = {name: Interval(lo, hi) for name, (lo, hi) in self.ranges.items()}
        said = [f"{name}={value}" for name, value in {**self.values, **bounds, **self.names}.items()]
        return ", ".join([*said, *self.equalities])


def sorted_wishes(
    graph: Graph, dims: Mapping[str, RangeLike], inputs: Mapping[str, SpecLike], min_dim: int = 1
) -> Wishes:
    """What each text means in this graph: a number, bounds, another dim or an expression of dims, or a new name.

    Raises UnknownNameError for a dim that the graph does not have, DimSyntaxError for a text that is none of these.
    """
    known = _known(graph, inputs, min_dim)
    wishes = Wishes()
    for name, wanted in dims.items():
        if name not in known:
            raise UnknownNameError("dim", name, known)
        if isinstance(wanted, str) and not _BOUNDS.fullmatch(wanted.strip()):
            _named(wishes, name, wanted.strip(), known)
            continue
        found = to_named_dim(name, wanted.replace(":", "..") if isinstance(wanted, str) else wanted)
        if found.min is not None and found.min == found.max:
            wishes.values[name] = found.min
        else:
            wishes.ranges[name] = found.min, found.max
        if found.multiple_of > 1:
            wishes.equalities.append(found.assumptions[-1])
    return wishes


def _named(wishes: Wishes, name: str, text: str, known: Sequence[str]) -> None:
    """A dim that is to be another one or an expression of others, or to have a name that is not taken yet."""
    scope = ShapeStore().scope
    meant: Dim = scope.symbol(text) if text in known else parse_dim(text, scope)
    strangers = [other for other in scope.names() if other not in known]
    if not strangers:
        wishes.equalities.append(f"{quote_name(name)} == {quote_name(text) if text in known else text}")
    elif isinstance(meant, int) or not meant.is_symbol:
        raise UnknownNameError("dim", strangers[0], known)
    else:
        same = next((old for old, new in wishes.names.items() if new == meant.name), None)
        if same is not None:
            wishes.equalities.append(f"{quote_name(name)} == {quote_name(same)}")
        wishes.names[name] = meant.name


def _known(graph: Graph, inputs: Mapping[str, SpecLike], min_dim: int) -> list[str]:
    """The names of dims in declarations of inputs, in shapes that the user gives them, and in other declarations."""
    reader = InputReader(ShapeStore(), min_dim)
    names = input_names(graph)
    for name in names:
        declaration = graph.declared.get(name)
        declared = None if declaration is None else reader.read_declared(declaration, name)
        if name in inputs:
            reader.read_spec(inputs[name], declared, name)
    unknown = next((name for name in inputs if name not in names), None)
    if unknown is not None:
        raise UnknownNameError("input", unknown, names)
    for one in graph.declared.values():
        reader.shape(one.dims, "")
    return reader.store.scope.names()
