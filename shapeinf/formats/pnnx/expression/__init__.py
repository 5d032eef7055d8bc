"""Expressions of `pnnx.Expression`: tokens, trees, reverse Polish order, text.

docs/pnnx-expressions.md has the grammar.
"""

from shapeinf.errors import ExpressionError
from shapeinf.formats.pnnx.expression.functions import ARITIES
from shapeinf.formats.pnnx.expression.lexer import Token, TokenKind, tokenize
from shapeinf.formats.pnnx.expression.parser import parse
from shapeinf.formats.pnnx.expression.tree import (
    Argument,
    Call,
    Expression,
    ListOf,
    Literal,
    format_expression,
    reverse_polish,
    walk,
)

__all__ = [
    "ARITIES",
    "Argument",
    "Call",
    "Expression",
    "ExpressionError",
    "ListOf",
    "Literal",
    "Token",
    "TokenKind",
    "format_expression",
    "parse",
    "reverse_polish",
    "tokenize",
    "walk",
]
