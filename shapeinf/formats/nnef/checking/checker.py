"""The static rules of NNEF documents, which need no evaluation.

Source: NNEF 1.0.5, 3.3 "Semantics". Where it is silent: fragments may be declared in any order; a loop variable must
have a new name; the result of a fragment may be read after its assignment; `==` compares arrays and tuples as `in`
does; the default type of a generic operation applies unless the invocation has a type argument; the graph may name
attributes; an unknown operation of a tract registry is an undeclared one.
"""

from __future__ import annotations

from contextlib import suppress

from shapeinf.diagnostics import Diagnostic, text_position
from shapeinf.formats.nnef.checking.casting import MAX_TYPE_SIZE, Casting, TypeTooLargeError, format_type, has_tensor
from shapeinf.formats.nnef.checking.declaration_rules import check_declaration, check_fragment_names
from shapeinf.formats.nnef.checking.expression_types import MaybeType
from shapeinf.formats.nnef.checking.flatness import warn_unless_flat
from shapeinf.formats.nnef.checking.invocation_types import InvocationTypes
from shapeinf.formats.nnef.checking.library import Library, with_open_element_types
from shapeinf.formats.nnef.checking.reporter import Reporter, TooManyErrors
from shapeinf.formats.nnef.language.ast import (
    ArrayExpr,
    Assignment,
    Comprehension,
    Document,
    Expr,
    Fragment,
    GraphDefinition,
    Invocation,
    Name,
    Select,
    TupleExpr,
)
from shapeinf.formats.nnef.language.diagnostics import SourceText
from shapeinf.formats.nnef.language.parser import parse
from shapeinf.formats.nnef.language.types import ArrayOf, NnefType, TupleOf


def check(
    document: Document, source: SourceText, library: Library, warnings: list[Diagnostic] | None = None
) -> list[Diagnostic]:
    """All static errors of a document, at most `MAX_DIAGNOSTICS`, in the order of the text.

    Args:
        document: its syntax tree.
        source: its text.
        library: the standard operations of its dialect, without the document's own.
        warnings: warnings are appended to it, one for each rule of the provisional specification that is broken as its
            own examples break it.
    """
    reporter = Reporter(source)
    with suppress(TooManyErrors):
        _Checker(document, library, reporter).check()
    if reporter.diagnostics and reporter.shared_positions:
        return check(parse(source, document.dialect), source, library, warnings)
    if warnings is not None:
        warnings += reporter.warnings
    return sorted(reporter.diagnostics, key=text_position)


class _Checker:
    """Checks one document."""

    def __init__(self, document: Document, standard: Library, reporter: Reporter) -> None:
        self.document = document
        self.standard = standard
        self.fragments = document.fragments
        if document.dialect == "provisional":
            self.fragments = tuple(map(with_open_element_types, document.fragments))
        self.library = standard.with_fragments(self.fragments) if self.fragments else standard
        self.reporter = reporter
        self.casting = Casting(document.dialect)
        self.forms: dict[tuple[object, ...], MaybeType] = {}
        self.symbols = _declared_symbols(document)

    def check(self) -> None:
        document = self.document
        check_fragment_names(document.fragments, self.standard, document.dialect, self.reporter)
        if document.dialect == "tract":
            # The graph may introduce symbols that fragments use.
            self._graphs()
        for fragment in self.fragments:
            self._fragment(fragment)
        if document.dialect != "tract":
            self._graphs()

    def _body(self, fragment: str | None, *, generic: bool = False) -> _Body:
        body = _Body(self.library, self.casting, self.reporter, self.forms, fragment=fragment, generic=generic)
        body.symbols = self.symbols
        return body

    def _fragment(self, fragment: Fragment) -> None:
        check_declaration(fragment, self._body(fragment.name, generic=fragment.generic), self.reporter)
        if fragment.body is None:
            return
        body = self._body(fragment.name, generic=fragment.generic)
        body.names = {parameter.name: parameter.type for parameter in fragment.parameters}
        body.parameters = frozenset(body.names)
        body.results = {result.name: result.type for result in fragment.results}
        body.check(fragment.body)
        for result in fragment.results:
            if result.name not in body.names:
                message = f"result {result.name!r} of fragment {fragment.name!r} is not assigned"
                self.reporter.error("N407", message, self._end(fragment.body))

    def _graphs(self) -> None:
        for graph in (self.document.graph, *self.document.further_graphs):
            self._graph(graph)

    def _graph(self, graph: GraphDefinition) -> None:
        if self.document.dialect == "final" and graph.name in self.library:
            # The specification does not forbid it, but all other names are unique.
            self.reporter.error(
                "N301", f"the graph has the name of an operation, {graph.name!r}", self.reporter.name_offset(graph)
            )
        self._check_names(graph)
        body = self._body(None)
        body.graph_parameters = frozenset(parameter.name for parameter in graph.parameters)
        if self.document.dialect == "provisional":
            warn_unless_flat(graph.body, self.reporter)
        body.check(graph.body)
        end = self._end(graph.body)
        for parameter in graph.parameters:
            if parameter.name not in body.names:
                self.reporter.error("N407", f"graph parameter {parameter.name!r} is not assigned by 'external'", end)
        for result in graph.results:
            self._check_result(result, body, end)

    def _check_names(self, graph: GraphDefinition) -> None:
        for role, names in (("parameters", graph.parameters), ("results", graph.results)):
            seen: set[str] = set()
            for name in names:
                if name.name in seen:
                    self.reporter.error("N302", f"the graph has two {role} {name.name!r}", name.at)
                seen.add(name.name)
        parameters = {parameter.name for parameter in graph.parameters}
        for result in graph.results:
            if result.name in parameters and self.document.dialect != "tract":
                self.reporter.error("N302", f"{result.name!r} is both a parameter and a result of the graph", result.at)

    def _check_result(self, result: Name, body: _Body, end: int) -> None:
        if result.name not in body.names:
            self.reporter.error("N407", f"graph result {result.name!r} is not assigned", end)
            return
        of = body.names[result.name]
        if isinstance(of, ArrayOf | TupleOf) and not has_tensor(of) and self.document.dialect != "tract":
            self.reporter.error(
                "N407", f"graph result {result.name!r} must be a tensor, it is {format_type(of)}", result.at
            )

    def _end(self, body: tuple[Assignment, ...]) -> int:
        return self.reporter.end_of_body(body[-1].at)


def _declared_symbols(document: Document) -> set[str]:
    streaming = any(e.text.startswith("tract_pulse_streaming_symbol") for e in document.extensions)
    symbols = {"S"} if streaming else set()
    for extension in document.extensions:
        words = extension.text.replace(",", " ").split()
        if words[0] in ("tract_symbol", "tract_pulse_streaming_symbol"):
            symbols.update(words[1:])
    return symbols


class _Body(InvocationTypes):
    """Checks the body of a fragment or of the graph, statement by statement."""

    parameters: frozenset[str] = frozenset()
    """The parameters of a fragment, which cannot be assigned."""
    graph_parameters: frozenset[str] = frozenset()
    results: dict[str, NnefType] = {}  # noqa: RUF012  (replaced, never changed)

    def check(self, body: tuple[Assignment, ...]) -> None:
        """Check all assignments."""
        self.body = body
        for assignment in body:
            target, value = assignment.target, assignment.value
            try:
                if self.fragment is None and self.dialect != "tract":
                    self._check_sources(target, value)
                self._assign(target, self.value_type(value), value)
            except TypeTooLargeError:
                message = f"the type of a value has more than {MAX_TYPE_SIZE} parts"
                self.reporter.error("N906", message, assignment.at)
                self._assign(target, None, None)

    def _check_sources(self, target: Expr, value: Expr) -> None:
        """Check that `external` assigns all graph parameters and nothing else (3.3.2 "Identifier Usage")."""
        if target.__class__ is Name:
            producer = value.name if value.__class__ is Invocation else ""
            if producer == "external":
                self.externals.add(id(value))
            self._check_producer(target, producer)
            if producer == "variable" or (producer == "" and _consists_of_variables(value)):
                self.variables.add(target.name)
        elif isinstance(target, ArrayExpr | TupleExpr):
            same = isinstance(value, ArrayExpr | TupleExpr) and len(value.items) == len(target.items)
            values = value.items if same else (value,) * len(target.items)  # type: ignore[union-attr]
            for item, item_value in zip(target.items, values, strict=True):
                self._check_sources(item, item_value)

    def _check_producer(self, target: Name, producer: str) -> None:
        if (producer == "external") == (target.name in self.graph_parameters):
            return
        if producer != "external":
            message = f"graph parameter {target.name!r} can only be assigned by 'external'"
        elif self.dialect == "provisional":
            return
        else:
            message = f"the result of 'external' must be a parameter of the graph, {target.name!r} is not"
        self.reporter.error("N406", message, target.at)

    def _assign(self, target: Expr, of: MaybeType, value: Expr | None) -> None:
        """Set the types of the names on the left side."""
        if target.__class__ is Name:
            self._assign_name(target, of)
        elif isinstance(target, TupleExpr):
            if isinstance(of, TupleOf) and len(of.items) == len(target.items):
                items: tuple[MaybeType, ...] = of.items
            else:
                items = (None,) * len(target.items)
                if of is not None and self.dialect != "tract":
                    message = f"the left side is a tuple of {len(target.items)}, the right side is {format_type(of)}"
                    self.reporter.error("N405", message, target.at)
            for item, item_type in zip(target.items, items, strict=True):
                self._assign(item, item_type, None)
        elif isinstance(target, ArrayExpr):
            item_type = of.of if isinstance(of, ArrayOf) else None
            self._check_array(target, of, value)
            for item in target.items:
                self._assign(item, item_type, None)

    def _check_array(self, target: ArrayExpr, of: MaybeType, value: Expr | None) -> None:
        count = len(target.items)
        if isinstance(value, ArrayExpr) and len(value.items) != count:
            right = f"one of {len(value.items)}"
        elif of is None or isinstance(of, ArrayOf) or self.dialect == "tract":
            return
        else:
            right = format_type(of)
        self.reporter.error("N405", f"the left side is an array of {count}, the right side is {right}", target.at)

    def _assign_name(self, target: Name, of: MaybeType) -> None:
        name = target.name
        if self.dialect != "tract":
            if name in self.names:
                use = "a parameter, it cannot be assigned" if name in self.parameters else "assigned already"
                self.reporter.error("N402", f"{name!r} is {use}", target.at)
                return
            if self.fragment is None and isinstance(of, ArrayOf | TupleOf) and has_tensor(of):
                kind = "an array" if isinstance(of, ArrayOf) else "a tuple"
                message = (
                    f"every tensor of the graph has a name of its own: {name!r} would be {kind}, {format_type(of)}"
                )
                self.reporter.error("N402", message, target.at)
        declared = self.results.get(name)
        if declared is None:
            self.names[name] = of
            return
        if not self.casting.casts(of, declared):
            types = f"declared as {format_type(declared)}, this is {format_type(of)}"  # type: ignore[arg-type]
            self.reporter.error("N405", f"result {name!r} is {types}", target.at)
        self.names[name] = declared


def _consists_of_variables(value: Expr) -> bool:
    """Whether the value of an expression consists of results of `variable` only."""
    while isinstance(value, Select | Comprehension):
        if isinstance(value, Comprehension):
            value = value.item
        elif not _consists_of_variables(value.then):
            return False
        else:
            value = value.otherwise
    return isinstance(value, Invocation) and value.name == "variable"
