"""A request to bind dims of a model: values, ranges, equalities and new names."""

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
class BindRequest:
    """Requested `values` and `ranges` of dims, `equalities` as relations, and `names`: the new name of each old one."""

    values: dict[str, int] = attrs.Factory(dict)
    ranges: dict[str, tuple[int | None, int | None]] = attrs.Factory(dict)
    equalities: list[str] = attrs.Factory(list)
    names: dict[str, str] = attrs.Factory(dict)

    def __str__(self) -> str:
        """`batch=4, seq=1..512`."""
        bounds = {name: Interval(lo, hi) for name, (lo, hi) in self.ranges.items()}
        texts = [f"{name}={value}" for name, value in {**self.values, **bounds, **self.names}.items()]
        return ", ".join([*texts, *self.equalities])


def sort_requests(
    graph: Graph, dims: Mapping[str, RangeLike], inputs: Mapping[str, SpecLike], min_dim: int = 1
) -> BindRequest:
    """The request in terms of this graph: a number, bounds, another dim or an expression of dims, or a new name each.

    Raises UnknownNameError for a dim that the graph does not have, DimSyntaxError for a text that is none of these.
    """
    known = _known_names(graph, inputs, min_dim)
    request = BindRequest()
    for name, wanted in dims.items():
        if name not in known:
            raise UnknownNameError("dim", name, known)
        if isinstance(wanted, str) and not _BOUNDS.fullmatch(wanted.strip()):
            _add_text(request, name, wanted.strip(), known)
            continue
        named = to_named_dim(name, wanted.replace(":", "..") if isinstance(wanted, str) else wanted)
        if named.min is not None and named.min == named.max:
            request.values[name] = named.min
        else:
            request.ranges[name] = named.min, named.max
        if named.multiple_of > 1:
            request.equalities.append(named.assumptions[-1])
    return request


def _add_text(request: BindRequest, name: str, text: str, known: Sequence[str]) -> None:
    """Add a dim that becomes another one or an expression of others, or gets a new name."""
    scope = ShapeStore().scope
    dim: Dim = scope.symbol(text) if text in known else parse_dim(text, scope)
    unknown = [other for other in scope.names() if other not in known]
    if not unknown:
        request.equalities.append(f"{quote_name(name)} == {quote_name(text) if text in known else text}")
    elif isinstance(dim, int) or not dim.is_symbol:
        raise UnknownNameError("dim", unknown[0], known)
    else:
        same = next((old for old, new in request.names.items() if new == dim.name), None)
        if same is not None:
            request.equalities.append(f"{quote_name(name)} == {quote_name(same)}")
        request.names[name] = dim.name


def _known_names(graph: Graph, inputs: Mapping[str, SpecLike], min_dim: int) -> list[str]:
    """The names of dims in declarations of inputs, in shapes of the user, and in other declarations."""
    reader = InputReader.of_graph(graph, ShapeStore(), min_dim)
    names = input_names(graph)
    for name in names:
        declaration = graph.declared.get(name)
        declared_type = None if declaration is None else reader.read_declared(declaration, name)
        if name in inputs:
            reader.read_spec(inputs[name], declared_type, name)
    unknown = next((name for name in inputs if name not in names), None)
    if unknown is not None:
        raise UnknownNameError("input", unknown, names)
    for declared in graph.declared.values():
        reader.shape(declared.dims, "")
    return reader.store.scope.names()
