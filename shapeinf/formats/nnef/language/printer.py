"""Prints a syntax tree in a canonical form: `parse(format_document(tree)) == tree`.

Numbers keep their text in the document that they were read from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from shapeinf.formats.nnef.language import ast
from shapeinf.formats.nnef.language.cursor import KEYWORDS
from shapeinf.formats.nnef.language.lexer import is_identifier, quote
from shapeinf.formats.nnef.language.precedence import (
    BINARY_PRECEDENCE,
    IN_PRECEDENCE,
    PRIMARY_PRECEDENCE,
    SELECT_PRECEDENCE,
    UNARY_PRECEDENCE,
)
from shapeinf.formats.nnef.language.types import SCALAR, ArrayOf, NnefType, Primitive, TensorOf, TupleOf
from shapeinf.formats.nnef.versions import DialectName
from shapeinf.texts import escape_unprintable

_INDENT = "    "

Comment = Callable[[ast.Assignment], str]
"""Returns the comment after an assignment of the graph; empty for none."""


def format_document(document: ast.Document, comment: Comment | None = None) -> str:
    """The document as canonical text in its dialect, with an optional comment after each assignment of the graph."""
    return _Printer(document.dialect).document(document, comment)


class _Printer:
    def __init__(self, dialect: DialectName) -> None:
        self.dialect = dialect
        self.end = "" if dialect == "provisional" else ";"

    def document(self, document: ast.Document, comment: Comment | None) -> str:
        head = f"version {document.version}{self.end}\n"
        extensions = "".join(f"extension {extension.text};\n" for extension in document.extensions)
        graphs = [
            self._graph(document.graph, comment),
            *(self._graph(g, None) for g in document.further_graphs),
        ]
        return "\n".join([head + extensions, *map(self._fragment, document.fragments), *graphs])

    def _fragment(self, fragment: ast.Fragment) -> str:
        generic = ""
        if fragment.generic:
            generic = f"<? = {fragment.generic_default}>" if fragment.generic_default else "<?>"
        parameters = []
        for parameter in fragment.parameters:
            default = "" if parameter.default is None else f" = {self.expression(parameter.default)}"
            parameters.append(f"{self._identifier(parameter.name)}: {self._type(parameter.type)}{default}")
        results = [f"{self._identifier(result.name)}: {self._type(result.type)}" for result in fragment.results]
        head = f"fragment {self._identifier(fragment.name)}{generic}( {', '.join(parameters)} )"
        head += f" -> ( {', '.join(results)} )"
        return f"{head};\n" if fragment.body is None else f"{head}\n{self._body(fragment.body, None)}"

    def _graph(self, graph: ast.GraphDefinition, comment: Comment | None) -> str:
        parameters, results = (", ".join(map(self.expression, names)) for names in (graph.parameters, graph.results))
        head = f"graph {self._identifier(graph.name)}( {parameters} ) -> ( {results} )"
        return f"{head}\n{self._body(graph.body, comment)}"

    def _body(self, body: Iterable[ast.Assignment], comment: Comment | None) -> str:
        lines: list[tuple[str, str]] = []
        for assignment in body:
            target = assignment.target
            text = self._items(target.items) if isinstance(target, ast.TupleExpr) else self.expression(target)
            note = comment(assignment) if comment else ""
            if lines and text[0] in "[(" and not self.end:
                # Without a `;` this would be a subscript or the arguments of the statement before.
                lines[-1] = (f"{lines[-1][0]};", lines[-1][1])
            line = f"{_INDENT}{text} = {self.expression(assignment.value)}{self.end}"
            lines.append((line, f"  # {escape_unprintable(note)}" if note else ""))
        return "{\n" + "".join(f"{line}{note}\n" for line, note in lines) + "}\n"

    def _type(self, of: NnefType) -> str:
        if self.dialect == "provisional":
            if isinstance(of, Primitive):
                return "extent" if of.name == "integer" else of.name
            if of == TensorOf(SCALAR):
                return "tensor"
            if isinstance(of, TensorOf):
                return f"tensor<{self._type(of.of) if of.of else ''}>"
        if isinstance(of, ArrayOf) and of.of is not None:
            return f"{self._type(of.of)}[]"
        if isinstance(of, TupleOf):
            return f"({', '.join(map(self._type, of.items))})"
        return str(of)

    def _identifier(self, name: str) -> str:
        if self.dialect == "tract" and (not is_identifier(name) or name in KEYWORDS["tract"]):
            return f'i"{name}"'
        return name

    def _items(self, items: Iterable[ast.Expr]) -> str:
        return ", ".join(map(self.expression, items))

    def expression(self, expression: ast.Expr, lowest: int = SELECT_PRECEDENCE) -> str:
        """An expression, in parentheses where its precedence is lower than `lowest`."""
        match expression:
            case ast.Number():
                text, precedence = _number(expression), UNARY_PRECEDENCE if expression.value < 0 else PRIMARY_PRECEDENCE
            case ast.Unary():
                text, precedence = self._unary(expression), UNARY_PRECEDENCE
            case ast.Binary(op=op):
                precedence = BINARY_PRECEDENCE[op]
                left = self.expression(expression.left, precedence)
                text = f"{left} {op} {self.expression(expression.right, precedence + 1)}"
            case ast.Select():
                precedence = SELECT_PRECEDENCE
                then, condition = (self.expression(e, IN_PRECEDENCE) for e in (expression.then, expression.condition))
                text = f"{then} if {condition} else {self.expression(expression.otherwise)}"
            case _:
                text, precedence = self._primary(expression), PRIMARY_PRECEDENCE
        return text if precedence >= lowest else f"({text})"

    def _unary(self, expression: ast.Unary) -> str:
        operand = expression.operand
        text = self.expression(operand, UNARY_PRECEDENCE)
        # `-5` is a literal; the negation of the literal 5 needs brackets.
        literal = expression.op == "-" and isinstance(operand, ast.Number) and not text.startswith("-")
        return f"{expression.op}({text})" if literal else f"{expression.op}{text}"

    def _primary(self, expression: ast.Expr) -> str:
        match expression:
            case ast.Name(name=name):
                return self._identifier(name)
            case ast.Text(value=value):
                return quote(value)
            case ast.Truth(value=value):
                return "true" if value else "false"
            case ast.ArrayExpr(items=items):
                return f"[{self._items(items)}]"
            case ast.TupleExpr(items=items):
                return f"({self._items(items)})"
            case ast.Subscript():
                return f"{self.expression(expression.value, PRIMARY_PRECEDENCE)}[{self.expression(expression.index)}]"
            case ast.Range():
                begin, end = ("" if e is None else self.expression(e) for e in (expression.begin, expression.end))
                return f"{self.expression(expression.value, PRIMARY_PRECEDENCE)}[{begin}:{end}]"
            case ast.Builtin(name=name, operand=operand):
                return f"{name}({self.expression(operand)})"
            case ast.Comprehension():
                return self._comprehension(expression)
            case ast.Invocation():
                return self._invocation(expression)
        raise AssertionError(expression)

    def _comprehension(self, expression: ast.Comprehension) -> str:
        loops = ", ".join(
            f"{self.expression(i)} in {self.expression(a, IN_PRECEDENCE + 1)}" for i, a in expression.iterators
        )
        condition = f" if {self.expression(expression.condition)}" if expression.condition else ""
        item = self.expression(expression.item)
        if self.dialect == "provisional":
            return f"[{item} for {loops}{condition}]"
        return f"[for {loops}{condition} yield {item}]"

    def _invocation(self, expression: ast.Invocation) -> str:
        type_argument = f"<{expression.type_argument}>" if expression.type_argument else ""
        arguments = []
        for argument in expression.arguments:
            value = self.expression(argument.value)
            arguments.append(value if argument.name is None else f"{self._identifier(argument.name)} = {value}")
        return f"{self._identifier(expression.name)}{type_argument}({', '.join(arguments)})"


def _number(number: ast.Number) -> str:
    if number.text:
        return number.text
    text = repr(number.value)
    return text if isinstance(number.value, int) or "." in text or "n" in text else text.replace("e", ".0e")
