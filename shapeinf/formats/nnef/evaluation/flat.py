"""The fast path for arguments of the flat syntax: literals, names, and arrays of these."""

from __future__ import annotations

from collections.abc import Mapping

from shapeinf.formats.nnef.evaluation.values import Value
from shapeinf.formats.nnef.language.ast import ArrayExpr, Expr, Name, Number, Text, Truth, TupleExpr


class NotFlat(Exception):  # noqa: N818  (internal, no error)
    """An expression that is not of the flat syntax. Internal: caught in `formats.nnef.evaluation.evaluator`."""


def value_of(expr: Expr, known: Mapping[str, Value]) -> Value:
    """The value of an argument. Raises NotFlat for anything but literals, known names and arrays of these."""
    kind = type(expr)
    if kind is Name:
        value = known.get(expr.name)  # type: ignore[union-attr]
        if value is None or type(value) is tuple:  # only the machine counts the items of shared arrays
            raise NotFlat
        return value
    if kind is Number or kind is Text or kind is Truth:
        return expr.value  # type: ignore[union-attr,return-value]
    if kind is ArrayExpr or kind is TupleExpr:
        return tuple(
            [item.value if type(item) is Number else value_of(item, known) for item in expr.items]  # type: ignore[union-attr]
        )
    raise NotFlat
