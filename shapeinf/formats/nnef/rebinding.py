"""Rewrites the shapes of external tensors and the assertions of a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from shapeinf.errors import ModelError
from shapeinf.expr import Dimension, DimSize
from shapeinf.formats.annotation import Annotation, Info
from shapeinf.formats.nnef.language.ast import (
    NOWHERE,
    Argument,
    ArrayExpr,
    Assignment,
    Binary,
    Document,
    Expr,
    Extension,
    Invocation,
    Name,
    Number,
)
from shapeinf.formats.nnef.model import NnefModel
from shapeinf.formats.nnef.versions import DialectName

EXTERNALS = ("external", "tract_core_external")
_ASSERTION = "tract_assert"


def rebind(model: NnefModel, annotation: Annotation) -> NnefModel:
    """The model with the inputs and assumptions of an annotation in its document.

    Raises ModelError where the dialect cannot express a dim or an assumption.
    """
    document = model.document
    if annotation.constants:
        raise ModelError("constants of a document cannot be rewritten", node=next(iter(annotation.constants)))
    if annotation.inputs:
        document = _with_symbols(_with_inputs(document, annotation.inputs), annotation.inputs)
    if annotation.assumptions is not None:
        document = attrs.evolve(document, extensions=_extensions(document, annotation.assumptions))
    return model if document is model.document else attrs.evolve(model, document=document)


def _with_inputs(document: Document, inputs: Mapping[str, Info]) -> Document:
    done: set[str] = set()
    body: list[Assignment] = []
    for assignment in document.graph.body:
        target, value = assignment.target, assignment.value
        if isinstance(target, Name) and isinstance(value, Invocation) and value.name in EXTERNALS:
            info = inputs.get(target.name)
            if info is not None and info.shape.dims is not None:
                extents = _extents(target.name, info.shape.dims, document.dialect)
                assignment = attrs.evolve(assignment, value=_with_shape(value, extents))
                done.add(target.name)
        body.append(assignment)
    missing = next((name for name in inputs if name not in done), None)
    if missing is not None:
        raise ModelError("its shape cannot be written: it has no statement of its own in the graph", node=missing)
    return attrs.evolve(document, graph=attrs.evolve(document.graph, body=tuple(body)))


def _with_symbols(document: Document, inputs: Mapping[str, Info]) -> Document:
    """The document with declarations of the symbols of these inputs, if its dialect is tract's."""
    if document.dialect != "tract":
        return document
    declared = {extension.text for extension in document.extensions}
    names = sorted({symbol.name for info in inputs.values() for symbol in info.shape.symbols()})
    missing = [Extension(NOWHERE, text) for name in names if (text := f"tract_symbol {name}") not in declared]
    return attrs.evolve(document, extensions=(*document.extensions, *missing))


def _with_shape(call: Invocation, extents: ArrayExpr) -> Invocation:
    """The invocation with a new argument `shape`: the one of this name, or the first if that is positional."""
    arguments = [
        Argument(argument.at, argument.name, extents) if _is_shape(argument, index) else argument
        for index, argument in enumerate(call.arguments)
    ]
    return attrs.evolve(call, arguments=tuple(arguments), shared=())


def _is_shape(argument: Argument, index: int) -> bool:
    return argument.name == "shape" or (index == 0 and argument.name is None)


def _extents(name: str, dims: Iterable[DimSize], dialect: DialectName) -> ArrayExpr:
    return ArrayExpr(NOWHERE, tuple(_extent(f"{name}.shape[{axis}]", dim, dialect) for axis, dim in enumerate(dims)))


def _extent(where: str, dim: DimSize, dialect: DialectName) -> Expr:
    if isinstance(dim, int):
        least = 0 if dialect == "tract" else 1
        if dim < least:
            raise ModelError(f"an extent of a document must be at least {least}", node=where)
        return Number(NOWHERE, dim)
    if dialect == "provisional" and dim.is_anonymous:
        return Number(NOWHERE, 0)  # "unspecified", 3.3.4
    if dialect != "tract":
        raise ModelError(f"a document of this dialect cannot express {dim}: use a number", node=where)
    if any(symbol.is_anonymous for symbol in dim.symbols()):
        raise ModelError("use a number or a name", node=where)
    return _sum(where, dim)


def _sum(where: str, dim: Dimension) -> Expr:
    """A sum of terms as tract writes it: `2*S + 1`. Raises ModelError for a dim that is no polynomial."""
    total: Expr | None = None
    for monomial, coefficient in sorted(dim.terms, key=lambda term: (term[1] < 0, not term[0])):
        symbols = [dim.scope.atom_dim(atom) for atom in monomial]
        if not all(symbol.is_symbol for symbol in symbols):
            raise ModelError(f"a document cannot express {dim}: use a number or a name", node=where)
        size = coefficient if total is None else abs(coefficient)
        factors: list[Expr] = [Number(NOWHERE, size)] if size != 1 or not symbols else []
        factors += [Name(NOWHERE, symbol.name) for symbol in symbols]
        term = factors[0]
        for factor in factors[1:]:
            term = Binary(NOWHERE, "*", term, factor)
        total = term if total is None else Binary(NOWHERE, "-" if coefficient < 0 else "+", total, term)
    assert total is not None
    return total


def _extensions(document: Document, assumptions: Iterable[str]) -> tuple[Extension, ...]:
    """The extensions with these assertions instead of all but those of scenarios."""
    relations = list(assumptions)
    if relations and document.dialect != "tract":
        raise ModelError(f"a document of this dialect cannot express {relations[0]}")
    others = [e for e in document.extensions if e.text.split(" ")[0] != _ASSERTION or ":" in e.text]
    return (*others, *(Extension(NOWHERE, f"{_ASSERTION} {relation}") for relation in relations))
