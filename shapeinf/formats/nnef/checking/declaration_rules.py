"""Checks the declarations of fragments.

Source: NNEF 1.0.5, 3.3.1 "Compound Types" and 3.3.2 "Declarations".
"""

from __future__ import annotations

from shapeinf.formats.nnef.checking.casting import format_type, has_attribute, has_tensor, is_generic
from shapeinf.formats.nnef.checking.expression_types import ExpressionTypes
from shapeinf.formats.nnef.checking.library import Library
from shapeinf.formats.nnef.checking.reporter import Reporter
from shapeinf.formats.nnef.language.ast import (
    ArrayExpr,
    Expr,
    Fragment,
    FragmentResult,
    Name,
    Number,
    Parameter,
    Text,
    Truth,
    TupleExpr,
    start_of,
)
from shapeinf.formats.nnef.language.types import ArrayOf, NnefType, TensorOf, TupleOf
from shapeinf.formats.nnef.versions import DialectName


def check_declaration(fragment: Fragment, expressions: ExpressionTypes, reporter: Reporter) -> None:
    """Check a declaration except for its name and its body."""
    dialect = expressions.dialect
    _check_names(fragment, reporter)
    _check_generic(fragment, reporter)
    if dialect == "final":
        _check_order(fragment, reporter)
    for parameter in fragment.parameters:
        _check_type(parameter, dialect, reporter)
        if parameter.default is not None:
            _check_default(parameter, parameter.default, expressions, reporter)
    for result in fragment.results:
        _check_type(result, dialect, reporter)
        if dialect != "provisional" and TensorOf(None) in _parts(result.type):
            reporter.error(
                "N303", f"result {result.name!r} needs a data-type: tensor<> is for parameters only", result.at
            )
    _check_results(fragment, dialect, reporter)


def check_fragment_names(
    fragments: tuple[Fragment, ...], standard: Library, dialect: DialectName, reporter: Reporter
) -> None:
    """Check that no operation is declared twice; documents of tract may declare its operations again."""
    seen: set[str] = set()
    for fragment in fragments:
        if fragment.name in seen:
            reporter.error("N301", f"fragment {fragment.name!r} is declared twice", reporter.name_offset(fragment))
        elif fragment.name in standard and fragment.name not in standard.replaceable and dialect != "tract":
            reporter.error(
                "N301",
                f"{fragment.name!r} is an operation of the standard",
                reporter.name_offset(fragment),
            )
        seen.add(fragment.name)


def _check_names(fragment: Fragment, reporter: Reporter) -> None:
    parameters: set[str] = set()
    for parameter in fragment.parameters:
        if parameter.name in parameters:
            reporter.error("N302", f"parameter {parameter.name!r} is declared twice", parameter.at)
        parameters.add(parameter.name)
    results: set[str] = set()
    for result in fragment.results:
        if result.name in results:
            reporter.error("N302", f"result {result.name!r} is declared twice", result.at)
        elif result.name in parameters:
            reporter.error("N302", f"{result.name!r} is both a parameter and a result", result.at)
        results.add(result.name)


def _check_generic(fragment: Fragment, reporter: Reporter) -> None:
    types = [declared.type for declared in fragment.parameters] + [declared.type for declared in fragment.results]
    used = any(map(is_generic, types))
    if used and not fragment.generic:
        message = f"fragment {fragment.name!r} has parameters or results of type '?': declare it as {fragment.name}<?>"
        reporter.error("N304", message, reporter.name_offset(fragment))
    elif fragment.generic and not used:
        message = f"generic fragment {fragment.name!r} has no parameter and no result of type '?'"
        reporter.error("N304", message, reporter.name_offset(fragment))


def _check_order(fragment: Fragment, reporter: Reporter) -> None:
    attribute = None
    for parameter in fragment.parameters:
        if has_attribute(parameter.type):
            attribute = attribute or parameter.name
        elif attribute is not None:
            message = f"tensors come before other parameters: {parameter.name!r} before {attribute!r}"
            reporter.error("N302", message, parameter.at)
            return


def _parts(of: NnefType | None) -> list[NnefType]:
    """A type and all its parts."""
    if of is None:
        return []
    if isinstance(of, TupleOf):
        return [of, *(part for item in of.items for part in _parts(item))]
    return [of, *_parts(of.of)] if isinstance(of, ArrayOf) else [of]


def _check_type(declared: Parameter | FragmentResult, dialect: DialectName, reporter: Reporter) -> None:
    if dialect == "tract":
        return
    if any(isinstance(part, TupleOf) and has_tensor(part) and has_attribute(part) for part in _parts(declared.type)):
        message = f"a tuple has tensors or other values, not both as {format_type(declared.type)}"
        reporter.error("N303", message, declared.at)


def _check_results(fragment: Fragment, dialect: DialectName, reporter: Reporter) -> None:
    first = fragment.results[0]
    if dialect == "tract":
        return
    for result in fragment.results[1:]:
        if has_tensor(result.type) != has_tensor(first.type):
            message = f"the results are tensors or other values, not both as {first.name!r} and {result.name!r}"
            reporter.error("N303", message, result.at)
            return


def _check_default(parameter: Parameter, default: Expr, expressions: ExpressionTypes, reporter: Reporter) -> None:
    other = _not_literal(default)
    if other is not None:
        reason = f"{other.name!r} is a name" if isinstance(other, Name) else "this is an expression"
        message = f"the default of parameter {parameter.name!r} must be a literal, but {reason}"
        reporter.error("N305", message, start_of(other))
        return
    of = expressions.type_of(default)
    if not expressions.casting.casts(of, parameter.type):
        types = f"{format_type(parameter.type)}, its default {format_type(of)}"  # type: ignore[arg-type]
        reporter.error("N305", f"parameter {parameter.name!r} is {types}", start_of(default))


def _not_literal(expression: Expr) -> Expr | None:
    """The first part of an expression that is not a literal; None if all are."""
    if isinstance(expression, ArrayExpr | TupleExpr):
        return next((other for item in expression.items if (other := _not_literal(item)) is not None), None)
    return None if isinstance(expression, Number | Text | Truth) else expression
