"""A request to bind dims of a model: values, ranges, equalities and new names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import attrs

from shapeinf.errors import ShapeInferenceError, UnknownNameError
from shapeinf.expr import DimSize, Interval, parse_dim, quote_name
from shapeinf.graph import Graph
from shapeinf.inputs.dim_names import unknown_dim
from shapeinf.inputs.reader import InputReader, RangeLike, SpecLike, input_names, to_named_dim
from shapeinf.inputs.spec import unquote_name
from shapeinf.lattice import Shape, ShapeStore, SizePolicy, TensorType, Type

_BOUNDS = re.compile(r"\d*\s*(?:\.\.|~|:)\s*(?:\d*|-1)|\d+")
"""A size or bounds, as text."""


@attrs.define
class BindRequest:
    """Requested sizes (`values`) and `ranges` of dims, `equalities` as relations, and new `names` by old name."""

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
    """The request for a graph; each dim gets a number, bounds, another dim or an expression of dims, or a new name.

    Raises UnknownNameError for a dim that the graph does not have, DimSyntaxError for a text that is none of these.
    """
    known, axes, replaced = _known_names(graph, inputs, min_dim)
    request = BindRequest()
    for text, wanted in dims.items():
        name = text if text in known else unquote_name(text)
        if name not in known:
            raise unknown_dim(name, map(quote_name, known), replaced)
        if isinstance(wanted, str) and not _BOUNDS.fullmatch(wanted.strip()):
            _add_text(request, name, wanted.strip(), known, axes)
            continue
        named = to_named_dim(name, wanted.replace(":", "..") if isinstance(wanted, str) else wanted)
        if named.min is not None and named.min == named.max:
            request.values[name] = named.min
        else:
            request.ranges[name] = named.min, named.max
        if named.multiple_of > 1:
            request.equalities.append(named.assumptions[-1])
    return request


def _add_text(request: BindRequest, name: str, text: str, known: Sequence[str], axes: Collection[str]) -> None:
    """Add a dim that becomes another dim or an expression, or gets a new name; `axes` are labels of unnamed dims."""
    scope = ShapeStore().scope
    text = unquote_name(text) if unquote_name(text) in known else text
    dim: DimSize = scope.symbol(text) if text in known else parse_dim(text, scope)
    unknown = [other for other in scope.names() if other not in known]
    unnamed = next((other for other in scope.names() if other in axes), None)
    if unnamed is not None:
        hint = f"{quote_name(unnamed)}=NEW_NAME"
        raise ShapeInferenceError(f"a file cannot refer to {quote_name(unnamed)}, which has no name: bind {hint} first")
    if not unknown:
        request.equalities.append(f"{quote_name(name)} == {quote_name(text) if text in known else text}")
    elif isinstance(dim, int) or not dim.is_symbol:
        raise UnknownNameError("dim", unknown[0], known)
    else:
        same = next((old for old, new in request.names.items() if new == dim.name), None)
        if same is not None:
            request.equalities.append(f"{quote_name(name)} == {quote_name(same)}")
        request.names[name] = dim.name


def _known_names(
    graph: Graph, inputs: Mapping[str, SpecLike], min_dim: int
) -> tuple[list[str], set[str], dict[str, str]]:
    """The names of dims in shapes of inputs and in other declarations, and those that are labels of unnamed axes.

    And the names that shapes of the user replace, each with its input.
    """
    reader = InputReader.from_graph(graph, ShapeStore(policy=SizePolicy(min_dim)))
    names = input_names(graph)
    current: dict[str, None] = {}
    replaced: dict[str, str] = {}
    for name in names:
        declaration, user_name = graph.declared.get(name), reader.user_name(name)
        value = None if declaration is None else reader.read_declared(declaration, user_name)
        replaced.update(dict.fromkeys(_symbol_names(value), user_name))
        value = reader.read_spec(inputs[name], value, name) if name in inputs else value
        current.update(dict.fromkeys(_symbol_names(value)))
    unknown = next((name for name in inputs if name not in names), None)
    if unknown is not None:
        raise UnknownNameError("input", unknown, names)
    for declared in graph.declared.values():
        reader.shape(declared.dims, "")
    replaced = {dim: name for dim, name in replaced.items() if dim not in current}
    named = reader.store.scope.names()
    known = [*current, *(name for name in named if name not in current and name not in replaced)]
    return known, set(current).difference(named), replaced


def _symbol_names(value: Type | None) -> list[str]:
    """The names of dims, and of axes without a name, in the shape of an input."""
    shape = value.shape if isinstance(value, TensorType) else Shape.unknown()
    return [symbol.name for symbol in sorted(shape.symbols(), key=str)]
