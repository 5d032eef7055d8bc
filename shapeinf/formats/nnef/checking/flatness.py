"""Whether the body of a graph is flat, as the provisional specification of 2017 requires (3.2.2).

A flat statement assigns the result of one invocation, whose arguments are names, literals, and arrays and tuples of
these. Khronos' own examples of that time have graphs with other statements, so these are warnings.
"""

from __future__ import annotations

from shapeinf.formats.nnef.checking.reporter import Reporter
from shapeinf.formats.nnef.language.ast import (
    ArrayExpr,
    Assignment,
    Expr,
    Invocation,
    Name,
    Number,
    Text,
    Truth,
    TupleExpr,
    start_of,
)

RULE = "the body of a graph is flat"


def warn_unless_flat(body: tuple[Assignment, ...], reporter: Reporter) -> None:
    """Report the first statement of the body of a graph that is not flat."""
    for assignment in body:
        value = assignment.value
        if not isinstance(value, Invocation):
            reporter.warn(RULE, "the right side is not an invocation", start_of(value))
            return
        nested = next((argument.value for argument in value.arguments if not _is_flat(argument.value)), None)
        if nested is not None:
            reporter.warn(RULE, "the argument is not a name or a literal", start_of(nested))
            return


def _is_flat(expression: Expr) -> bool:
    if isinstance(expression, ArrayExpr | TupleExpr):
        return all(map(_is_flat, expression.items))
    return isinstance(expression, Name | Number | Text | Truth)
