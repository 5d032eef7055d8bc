"""The syntax tree of an NNEF document. Equality of trees ignores offsets and redundant brackets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Union

import attrs
from attrs import field

from shapeinf.formats.nnef.language.types import NnefType, Primitive
from shapeinf.formats.nnef.versions import DialectName

NOWHERE = -1
"""The offset of a node that no text has."""


@attrs.define(unsafe_hash=True)
class SyntaxNode:
    """What all nodes have: `at`, the offset of the first character in the text, or `NOWHERE`."""

    at: int = field(eq=False, repr=False)


@attrs.define(unsafe_hash=True)
class Number(SyntaxNode):
    """A literal integer or scalar, with its sign; `text` is its text in the document."""

    value: int | float
    text: str = field(eq=False, repr=False, default="")


@attrs.define(unsafe_hash=True)
class Text(SyntaxNode):
    """A literal string, unescaped."""

    value: str


@attrs.define(unsafe_hash=True)
class Truth(SyntaxNode):
    """`true` or `false`."""

    value: bool


@attrs.define(unsafe_hash=True)
class Name(SyntaxNode):
    """An identifier."""

    name: str


@attrs.define(unsafe_hash=True)
class ArrayExpr(SyntaxNode):
    """`[a, b, ...]`, also on the left side of an assignment."""

    items: tuple[Expr, ...]


@attrs.define(unsafe_hash=True)
class TupleExpr(SyntaxNode):
    """`(a, b, ...)`, also on the left side, where the parentheses may be missing."""

    items: tuple[Expr, ...]


@attrs.define(unsafe_hash=True)
class Unary(SyntaxNode):
    """`op` is `+`, `-` or `!`."""

    op: str
    operand: Expr


@attrs.define(unsafe_hash=True)
class Binary(SyntaxNode):
    """`op` is one of `+ - * / ^ < > <= >= == != && || in`; `at` is the offset of the operator."""

    op: str
    left: Expr
    right: Expr


@attrs.define(unsafe_hash=True)
class Select(SyntaxNode):
    """`then if condition else otherwise`."""

    then: Expr
    condition: Expr
    otherwise: Expr


@attrs.define(unsafe_hash=True)
class Comprehension(SyntaxNode):
    """`[for i in a, j in b if condition yield item]`; provisional: `[item for i in a if condition]`."""

    iterators: tuple[tuple[Name, Expr], ...]
    condition: Expr | None
    item: Expr


@attrs.define(unsafe_hash=True)
class Subscript(SyntaxNode):
    """`value[index]`."""

    value: Expr
    index: Expr


@attrs.define(unsafe_hash=True)
class Range(SyntaxNode):
    """`value[begin:end]`; a missing end is None."""

    value: Expr
    begin: Expr | None
    end: Expr | None


@attrs.define(unsafe_hash=True)
class Builtin(SyntaxNode):
    """`shape_of`, `length_of`, `range_of`, or a cast `integer`, `scalar`, `logical`, `string`, of one operand."""

    name: str
    operand: Expr


@attrs.define(unsafe_hash=True)
class Argument(SyntaxNode):
    """An argument of an invocation; `name` is None for a positional one."""

    name: str | None
    value: Expr


@attrs.define(unsafe_hash=True)
class Invocation(SyntaxNode):
    """`name<type_argument>(arguments)`.

    `shared` has the last arguments if these are literals: equal ones of several invocations are one object, so that
    results can be cached by its identity. Its offsets are those of the first invocation.
    """

    name: str
    type_argument: Primitive | None
    arguments: tuple[Argument, ...]
    shared: tuple[Argument, ...] = field(eq=False, repr=False, default=())


Expr = Union[  # noqa: UP007  (used before it is defined, in quotes only)
    Number,
    Text,
    Truth,
    Name,
    ArrayExpr,
    TupleExpr,
    Unary,
    Binary,
    Select,
    Comprehension,
    Subscript,
    Range,
    Builtin,
    Invocation,
]


def start_of(expression: Expr) -> int:
    """The offset of the first character of an expression (brackets around it do not count)."""
    while True:
        match expression:
            case Binary():
                expression = expression.left
            case Select():
                expression = expression.then
            case Subscript() | Range():
                expression = expression.value
            case _:
                return expression.at


def items_of(expr: Expr) -> tuple[Expr, ...]:
    """The items on the left side of an assignment."""
    return expr.items if isinstance(expr, (ArrayExpr, TupleExpr)) else ()


def names_in(expr: Expr) -> Iterator[Name]:
    """The identifiers on the left side of an assignment."""
    if isinstance(expr, Name):
        yield expr
    for item in items_of(expr):
        yield from names_in(item)


@attrs.define(unsafe_hash=True)
class Assignment(SyntaxNode):
    """`target = value`; the target consists of names, arrays and tuples."""

    target: Expr
    value: Expr


@attrs.define(unsafe_hash=True)
class Parameter(SyntaxNode):
    """A parameter of a fragment."""

    name: str
    type: NnefType
    default: Expr | None = None


@attrs.define(unsafe_hash=True)
class FragmentResult(SyntaxNode):
    """A result of a fragment."""

    name: str
    type: NnefType


@attrs.define(unsafe_hash=True)
class Fragment(SyntaxNode):
    """A fragment; `body` is None for a primitive operation. `generic`: it has a type argument `?`."""

    name: str
    parameters: tuple[Parameter, ...]
    results: tuple[FragmentResult, ...]
    body: tuple[Assignment, ...] | None
    generic: bool = False
    generic_default: Primitive | None = None

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of this name; None if there is none."""
        return next((p for p in self.parameters if p.name == name), None)


@attrs.define(unsafe_hash=True)
class GraphDefinition(SyntaxNode):
    """The graph: names of its parameters and results, and its body."""

    name: str
    parameters: tuple[Name, ...]
    results: tuple[Name, ...]
    body: tuple[Assignment, ...]


@attrs.define(unsafe_hash=True)
class Extension(SyntaxNode):
    """One extension as written between `extension` and `;`; each name in a list of KHR extensions is one."""

    text: str


@attrs.define(unsafe_hash=True)
class Document(SyntaxNode):
    """A document. `version` is the text after `version`, such as `1.0`.

    Documents of the provisional dialect may define several graphs: `graph` is the first.
    """

    version: str
    extensions: tuple[Extension, ...]
    fragments: tuple[Fragment, ...]
    graph: GraphDefinition
    dialect: DialectName
    further_graphs: tuple[GraphDefinition, ...] = ()
