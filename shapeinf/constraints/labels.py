"""What users call symbols: labels, which axes without a name have as well."""

from __future__ import annotations

from collections.abc import Mapping

from shapeinf.errors import UnknownNameError
from shapeinf.expr.dimension import Dimension


def find_symbol(labels: Mapping[Dimension, str], name: str) -> Dimension:
    """The symbol that a user means: the one with this label, else the one with this name. Raises UnknownNameError.

    >>> from shapeinf.expr import Scope
    >>> scope = Scope()
    >>> labels = {scope.symbol("batch size"): "`batch size`", scope.fresh("x.0"): "x.shape[0]"}
    >>> find_symbol(labels, "batch size"), find_symbol(labels, "x.shape[0]")
    (`batch size`, `x.0`)
    """
    scope = next(iter(labels)).scope if labels else None
    if scope is not None and scope.has(name) and labels.get(symbol := scope.symbol(name)) == name:
        return symbol  # nearly always: no look at all the others
    for symbol, label in labels.items():
        if name == label:
            return symbol
    for symbol in labels:
        if name == symbol.name:
            return symbol
    raise UnknownNameError("dim", name, labels.values())
