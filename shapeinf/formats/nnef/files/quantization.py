"""Quantization files (`.quant`): the quantization of tensors.

Source: NNEF 1.0.5, 5.3 "Quantization File Format". An entry is `"tensor": operation(parameter = literal, ...);`, the
invocation of a quantization operation without its tensor; in the provisional dialect the `;` may be missing.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import repeat

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import NnefError
from shapeinf.formats.nnef.language.ast import (
    Argument,
    ArrayExpr,
    Expr,
    Fragment,
    Invocation,
    Number,
    Parameter,
    Text,
    Truth,
    TupleExpr,
)
from shapeinf.formats.nnef.language.cursor import Stop
from shapeinf.formats.nnef.language.diagnostics import MAX_DIAGNOSTICS, SourceText
from shapeinf.formats.nnef.language.expressions import ExpressionParser
from shapeinf.formats.nnef.language.lexer import QUOTES, tokenize, unquote
from shapeinf.formats.nnef.language.types import ArrayOf, NnefType, Primitive, TensorOf, TupleOf
from shapeinf.formats.nnef.versions import DialectName


@attrs.frozen
class Entry:
    """The quantization of one tensor; `at` is the offset of its name."""

    tensor: str
    call: Invocation
    at: int


@attrs.frozen
class ParameterTensor:
    """A parameter of a quantization that is an array: its shape must broadcast to that of the quantized tensor."""

    tensor: str
    parameter: str
    shape: tuple[int, ...]
    at: int


def parse_quantization(source: SourceText, dialect: DialectName) -> tuple[Entry, ...]:
    """The entries of a file. Raises NnefError with all syntax errors."""
    tokens, offsets = tokenize(source)
    parser = _QuantizationParser(tokens, offsets, dialect)
    entries: list[Entry] = []
    errors: list[Diagnostic] = []
    while parser.tokens[parser.next] and len(errors) < MAX_DIAGNOSTICS:
        try:
            entries.append(parser.entry())
        except Stop as stop:
            errors.append(stop.diagnostic(source))
            parser.recover()
    if errors:
        raise NnefError(errors, source.render)
    return tuple(entries)


class _QuantizationParser(ExpressionParser):
    def entry(self) -> Entry:
        at = self.at
        token = self.tokens[self.next]
        if token[0] not in QUOTES:
            self.fail(f"expected the name of a tensor in quotes, found {self.describe_token()}")
        self.next += 1
        self.expect(":", "after the name of a tensor")
        call = self.expression()
        if not isinstance(call, Invocation):
            self.fail("expected the invocation of a quantization operation", at=call.at)
        if not self.accept(";") and self.dialect != "provisional":
            self.fail(f"expected ';' after an entry, found {self.describe_token()}")
        return Entry(unquote(token), call, at)

    def recover(self) -> None:
        """Skip to the token after the next `;`."""
        self.depth = 0
        while self.tokens[self.next] and not self.accept(";"):
            self.next += 1


def check_quantization(
    entries: Sequence[Entry], source: SourceText, library: Mapping[str, Fragment], names: Container[str], exact: bool
) -> list[ParameterTensor]:
    """Check entries against operations and tensors of the graph; return the parameters that must broadcast.

    `exact`: an integer is not a scalar. Raises NnefError with all errors.
    """
    errors: list[Diagnostic] = []
    tensors: list[ParameterTensor] = []
    seen: set[str] = set()
    for entry in entries:
        if entry.tensor not in names:
            errors.append(source.error("N710", f"the graph has no tensor {entry.tensor!r}", entry.at))
        if entry.tensor in seen:
            errors.append(source.error("N711", f"the tensor {entry.tensor!r} has two quantizations", entry.at))
        seen.add(entry.tensor)
        fragment = library.get(entry.call.name)
        if fragment is None or not _is_quantization(fragment):
            reason = (
                "is not declared"
                if fragment is None
                else "is not a quantization: the operation must take and return one tensor"
            )
            errors.append(source.error("N712", f"the operation {entry.call.name!r} {reason}", entry.call.at))
            continue
        check = _EntryCheck(entry, fragment, source, exact)
        errors += check.errors()
        tensors += check.tensors
        if len(errors) >= MAX_DIAGNOSTICS:
            break
    if errors:
        raise NnefError(errors[:MAX_DIAGNOSTICS], source.render)
    return tensors


def _is_quantization(fragment: Fragment) -> bool:
    return (
        bool(fragment.parameters)
        and isinstance(fragment.parameters[0].type, TensorOf)
        and len(fragment.results) == 1
        and isinstance(fragment.results[0].type, TensorOf)
    )


class _EntryCheck:
    """Compares the arguments of an entry with the parameters of its operation after the first."""

    def __init__(self, entry: Entry, fragment: Fragment, source: SourceText, exact: bool) -> None:
        self.entry = entry
        self.source = source
        self.fragment = fragment
        self.exact = exact
        self.tensors: list[ParameterTensor] = []

    def errors(self) -> Iterator[Diagnostic]:
        """The errors of the entry."""
        error, op = self.source.error, self.fragment.name
        parameters = self.fragment.parameters[1:]
        by_parameter: dict[str, Argument] = {}
        for index, argument in enumerate(self.entry.call.arguments):
            name = argument.name
            if name is None:
                # The specification is silent on positional arguments: here they are the parameters in order.
                name = parameters[index].name if index < len(parameters) else ""
            if name == self.fragment.parameters[0].name:
                message = f"{name!r} of {op!r} is the quantized tensor, which an entry must not name"
                yield error("N713", message, argument.at)
            elif not any(p.name == name for p in parameters):
                message = (
                    f"{op!r} has no parameter {name!r}" if name else f"{op!r} has {len(parameters)} parameters only"
                )
                yield error("N713", message, argument.at)
            elif name in by_parameter:
                yield error("N713", f"the parameter {name!r} is specified twice", argument.at)
            by_parameter.setdefault(name, argument)
        for parameter in parameters:
            if parameter.name in by_parameter:
                yield from self.value(parameter, by_parameter[parameter.name].value)
            elif parameter.default is None:
                yield error("N713", f"{op!r} needs the parameter {parameter.name!r}", self.entry.call.at)

    def value(self, parameter: Parameter, value: Expr) -> Iterator[Diagnostic]:
        """The errors of the value of one parameter."""
        error, kind = self.source.error, parameter.type
        reference = next((e for e in _leaves(value) if not isinstance(e, (Number, Text, Truth))), None)
        if reference is not None:
            message = f"the value of {parameter.name!r} is not a literal"
            yield error("N714", message, reference.at)
        elif isinstance(kind, TensorOf) and isinstance(value, ArrayExpr):
            shape = _extents(value)
            if shape is None:
                yield error("N714", f"the arrays in {parameter.name!r} differ in length, or are empty", value.at)
            elif not all(_fits(e, kind.of, self.exact) for e in _leaves(value)):
                yield error("N714", f"the items of {parameter.name!r} are not all of its type {kind}", value.at)
            else:
                self.tensors.append(ParameterTensor(self.entry.tensor, parameter.name, shape, value.at))
        elif not _fits(value, kind.of if isinstance(kind, TensorOf) else kind, self.exact):
            yield error("N714", f"the value of {parameter.name!r} is not of its type {kind}", value.at)


def _leaves(value: Expr) -> Iterator[Expr]:
    """The items of nested arrays and tuples; the parser limits their depth."""
    if isinstance(value, (ArrayExpr, TupleExpr)):
        for item in value.items:
            yield from _leaves(item)
    else:
        yield value


def _extents(value: Expr) -> tuple[int, ...] | None:
    """The shape of nested arrays; None if their lengths differ, and for an empty array."""
    if not isinstance(value, ArrayExpr):
        return ()
    inner = {_extents(item) for item in value.items}
    extents = inner.pop() if len(inner) == 1 else None
    return None if extents is None else (len(value.items), *extents)


def _fits(value: Expr, kind: NnefType | None, exact: bool) -> bool:
    """Whether a literal has a type; None stands for any primitive."""
    if isinstance(kind, ArrayOf):
        return isinstance(value, ArrayExpr) and all(_fits(item, kind.of, exact) for item in value.items)
    if isinstance(kind, TupleOf):
        if not isinstance(value, TupleExpr) or len(value.items) != len(kind.items):
            return False
        return all(map(_fits, value.items, kind.items, repeat(exact)))
    if isinstance(value, Number):
        names = ["integer", "?"] if isinstance(value.value, int) else ["scalar", "?"]
        names += [] if exact else ["scalar"]
    elif isinstance(value, (Text, Truth)):
        names = ["string" if isinstance(value, Text) else "logical", "?"]
    else:
        return False
    return kind is None or (isinstance(kind, Primitive) and kind.name in names)
