"""The guards of a program: relations of sizes that torch's own module checks before it runs.

A guard is a text of Python (`L['x'].size()[0] % 2 == 0`); shapeinf reads those on sizes of inputs and on numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

import attrs

from shapeinf.formats.torch_export.expressions import ExpressionReader, UnreadableError, parse_tree

_RELATIONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


@attrs.frozen
class Relation:
    """A comparison of two sizes, as texts in shapeinf's grammar; `operator` is one of == != < <= > >=."""

    left: str
    operator: str
    right: str

    def __str__(self) -> str:
        """The relation as a text."""
        return f"{self.left} {self.operator} {self.right}"


@attrs.frozen
class Connective:
    """Conditions joined by `operator`: `and`, `or`, or `not` of a single one."""

    operator: str
    parts: tuple[Condition, ...]


Condition = Relation | Connective


@attrs.frozen
class Guard:
    """One line of guards: its text and its condition, None where the text is no condition on sizes."""

    text: str
    condition: Condition | None


def read_guard(text: str, sizes: Mapping[str, str]) -> Guard:
    """A guard; `sizes` has the texts in shapeinf's grammar of sources such as `L['x'].size()[0]`.

    >>> str(read_guard("L['x'].size()[0] != 1", {"L['x'].size()[0]": "b"}).condition)
    'b != 1'
    >>> read_guard("L['x'].is_contiguous()", {}).condition is None
    True
    """
    reader = ExpressionReader(_no_name, lambda tree: _source(tree, sizes))
    try:
        return Guard(text, _condition(parse_tree(text), reader))
    except UnreadableError:
        return Guard(text, None)


def _no_name(name: str) -> str:
    raise UnreadableError(f"the name {name[:40]!r} is no size of an input")


def _source(tree: ast.expr, sizes: Mapping[str, str]) -> str | None:
    return sizes.get(ast.unparse(tree)) if isinstance(tree, ast.Subscript) else None


def _condition(tree: ast.expr, reader: ExpressionReader) -> Condition:
    if isinstance(tree, ast.BoolOp):
        operator = "and" if isinstance(tree.op, ast.And) else "or"
        return Connective(operator, tuple(_condition(part, reader) for part in tree.values))
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        return Connective("not", (_condition(tree.operand, reader),))
    if not isinstance(tree, ast.Compare):
        raise UnreadableError("the guard is not a relation")
    operands = [tree.left, *tree.comparators]
    relations = tuple(map(_relation, operands, tree.ops, operands[1:], [reader] * len(tree.ops)))
    return relations[0] if len(relations) == 1 else Connective("and", relations)


def _relation(left: ast.expr, operator: ast.cmpop, right: ast.expr, reader: ExpressionReader) -> Relation:
    if type(operator) not in _RELATIONS:
        raise UnreadableError("the guard is not a relation of sizes")
    return Relation(reader.read(left).text, _RELATIONS[type(operator)], reader.read(right).text)
