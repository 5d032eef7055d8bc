"""The rules of declarations of fragments.

Source: NNEF 1.0.5, 3.3.1 "Compound Types" and 3.3.2 "Declarations".
"""

from __future__ import annotations

from shapeinf.formats.nnef.checking.casting import has_attribute, has_tensor, is_generic, shown_type
from shapeinf.formats.nnef.checking.expression_types import ExpressionTypes
from shapeinf.formats.nnef.checking.findings import Findings
from shapeinf.formats.nnef.checking.library import Library
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


def check_declaration(fragment: Fragment, expressions: ExpressionTypes, findings: Findings) -> None:
    """Checks everything of a fragment but its name and its body."""
    dialect = expressions.dialect
    _check_names(fragment, findings)
    _check_generic(fragment, findings)
    if dialect == "final":
        _check_order(fragment, findings)
    for parameter in fragment.parameters:
        _check_type(parameter, dialect, findings)
        if parameter.default is not None:
            _check_default(parameter, parameter.default, expressions, findings)
    for result in fragment.results:
        _check_type(result, dialect, findings)
        if TensorOf(None) in _parts(result.type):
            findings.add(
                "N303", f"result {result.name!r} needs a data-type: tensor<> is for parameters only", result.at
            )
    _check_results(fragment, dialect, findings)


def check_fragment_names(
    fragments: tuple[Fragment, ...], standard: Library, dialect: DialectName, findings: Findings
) -> None:
    """Checks that no operation is declared twice; tract's documents may declare its own operations again."""
    seen: set[str] = set()
    for fragment in fragments:
        if fragment.name in seen:
            findings.add("N301", f"fragment {fragment.name!r} is declared twice", findings.name_of(fragment))
        elif fragment.name in standard and fragment.name not in standard.replaceable and dialect != "tract":
            findings.add(
                "N301",
                f"{fragment.name!r} is an operation of the standard",
                findings.name_of(fragment),
            )
        seen.add(fragment.name)


def _check_names(fragment: Fragment, findings: Findings) -> None:
    parameters: set[str] = set()
    for parameter in fragment.parameters:
        if parameter.name in parameters:
            findings.add("N302", f"there are two parameters {parameter.name!r}", parameter.at)
        parameters.add(parameter.name)
    results: set[str] = set()
    for result in fragment.results:
        if result.name in results:
            findings.add("N302", f"there are two results {result.name!r}", result.at)
        elif result.name in parameters:
            findings.add("N302", f"{result.name!r} is both a parameter and a result", result.at)
        results.add(result.name)


def _check_generic(fragment: Fragment, findings: Findings) -> None:
    types = [declared.type for declared in fragment.parameters] + [declared.type for declared in fragment.results]
    used = any(map(is_generic, types))
    if used and not fragment.generic:
        message = f"fragment {fragment.name!r} has parameters or results of type '?': declare it as {fragment.name}<?>"
        findings.add("N304", message, findings.name_of(fragment))
    elif fragment.generic and not used:
        message = f"generic fragment {fragment.name!r} has no parameter and no result of type '?'"
        findings.add("N304", message, findings.name_of(fragment))


def _check_order(fragment: Fragment, findings: Findings) -> None:
    attribute = None
    for parameter in fragment.parameters:
        if has_attribute(parameter.type):
            attribute = attribute or parameter.name
        elif attribute is not None:
            message = f"tensors come before other parameters: {parameter.name!r} before {attribute!r}"
            findings.add("N302", message, parameter.at)
            return


def _parts(of: NnefType | None) -> list[NnefType]:
    """A type and all that it is made of."""
    if of is None:
        return []
    if isinstance(of, TupleOf):
        return [of, *(part for item in of.items for part in _parts(item))]
    return [of, *_parts(of.of)] if isinstance(of, ArrayOf) else [of]


def _check_type(declared: Parameter | FragmentResult, dialect: DialectName, findings: Findings) -> None:
    if dialect == "tract":
        return
    if any(isinstance(part, TupleOf) and has_tensor(part) and has_attribute(part) for part in _parts(declared.type)):
        message = f"a tuple has tensors or other values, not both as {shown_type(declared.type)}"
        findings.add("N303", message, declared.at)


def _check_results(fragment: Fragment, dialect: DialectName, findings: Findings) -> None:
    first = fragment.results[0]
    if dialect == "tract":
        return
    for result in fragment.results[1:]:
        if has_tensor(result.type) != has_tensor(first.type):
            message = f"the results are tensors or other values, not both as {first.name!r} and {result.name!r}"
            findings.add("N303", message, result.at)
            return


def _check_default(parameter: Parameter, default: Expr, expressions: ExpressionTypes, findings: Findings) -> None:
    other = _not_literal(default)
    if other is not None:
        what = f"{other.name!r} is a name" if isinstance(other, Name) else "this is none"
        findings.add("N305", f"the default of parameter {parameter.name!r} must be a literal, {what}", start_of(other))
        return
    of = expressions.type_of(default)
    if not expressions.casting.casts(of, parameter.type):
        types = f"{shown_type(parameter.type)}, its default {shown_type(of)}"  # type: ignore[arg-type]
        findings.add("N305", f"parameter {parameter.name!r} is {types}", start_of(default))


def _not_literal(expression: Expr) -> Expr | None:
    """The first part of an expression that makes it more than a literal."""
    if isinstance(expression, ArrayExpr | TupleExpr):
        return next((other for item in expression.items if (other := _not_literal(item)) is not None), None)
    return None if isinstance(expression, Number | Text | Truth) else expression
