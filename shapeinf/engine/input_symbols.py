"""The symbols of the inputs, whose sizes users choose, and the labels by which users refer to them."""

from __future__ import annotations

from collections.abc import Mapping

from shapeinf.engine.inference import Inference
from shapeinf.expr import Dimension, axis_label, quote_name
from shapeinf.inputs.dim_names import first_aliases, unknown_dim
from shapeinf.inputs.spec import unquote_name
from shapeinf.lattice import TensorType
from shapeinf.lattice.types import dims_in


def input_symbols(inference: Inference) -> dict[Dimension, str]:
    """The symbols in shapes and values of inputs, each with its label: its name, or the axis whose size it is.

    In the label of an axis, an input has its first alias.
    """
    labels: dict[Dimension, str] = {}
    aliases = first_aliases(inference.compiled.graph.aliases)
    for name, value in inference.input_types.items():
        if not isinstance(value, TensorType) or name in inference.compiled.graph.constants:
            continue
        alias = aliases.get(name, name)
        for axis, d in enumerate(value.shape.dims or ()):
            for symbol in sorted(d.symbols(), key=str) if isinstance(d, Dimension) else ():
                label = quote_name(axis_label(alias, axis)) if symbol.symbol.anonymous else label_of_dim(symbol.name)
                labels.setdefault(symbol, label)
        for size in (d for element in value.elements or () for d in dims_in(element)):
            for symbol in sorted(size.symbols(), key=str):
                labels.setdefault(symbol, label_of_dim(symbol.name))
    return labels


def label_of_dim(name: str) -> str:
    """The label of a named dim: its name, quoted unless it is an identifier."""
    quoted = quote_name(name)
    return quoted if quoted != name or name.isidentifier() else f"`{name}`"


def find_symbol(labels: Mapping[Dimension, str], name: str) -> Dimension:
    """The symbol with this label, else the one with this name, or this name of an axis. Raises UnknownNameError.

    >>> from shapeinf.expr import Scope
    >>> scope = Scope()
    >>> labels = {scope.symbol("batch size"): "`batch size`", scope.fresh("x.0"): "x.shape[0]"}
    >>> find_symbol(labels, "batch size"), find_symbol(labels, "x.shape[0]")
    (`batch size`, `x.0`)
    """
    scope = next(iter(labels)).scope if labels else None
    if scope is not None and scope.has(name) and labels.get(symbol := scope.symbol(name)) == name:
        return symbol  # nearly always: no search
    for symbol, label in labels.items():
        if name == label:
            return symbol
    for symbol in labels:
        if name == symbol.name:
            return symbol
    if scope is not None and scope.has(name) and (symbol := scope.symbol(name)) in labels:
        return symbol  # an axis, by another name of its input
    if unquote_name(name) != name:
        return find_symbol(labels, unquote_name(name))
    raise unknown_dim(name, labels.values())
