"""An expression of a PNNX network: its tokens, tree, order and value, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import attrs

from shapeinf.expressions import InputShape, evaluate_expression
from shapeinf.formats.pnnx.expression import (
    Argument,
    Call,
    Expression,
    ListOf,
    kuiper,
    parse,
    reverse_polish,
    tokenize,
    walk,
)
from shapeinf.formats.pnnx.expression import Literal as LiteralNode
from shapeinf.lattice import PartialTensor, SequenceType, TensorType, Type
from shapeinf.schemas import json_record


@attrs.frozen
class TokenRecord:
    """A token.

    Args:
        kind: name, lparen, rparen, lbracket, rbracket, comma, arg, int, float, complex or const; with `--kuiper` its
            number in that course.
        text: its text.
        start: the position of its first character, from 0; with `--kuiper` without white space.
        end: the position after its last character.
    """

    kind: str | int
    text: str
    start: int
    end: int


@attrs.frozen
class NodeRecord:
    """A node of the tree.

    Args:
        kind: what it is.
        text: the function, `list`, `@0`, or the number or constant.
        position: the position of its first token.
        items: the indices of its arguments in the list of the nodes.
    """

    kind: Literal["call", "list", "literal", "input"]
    text: str
    position: int
    items: tuple[int, ...]


@attrs.frozen
class KuiperRecord:
    """An expression in the course KuiperInfer.

    Args:
        codes: the numbers of the nodes in reverse Polish order.
        log: what the course prints, in order.
    """

    codes: tuple[int, ...]
    log: tuple[str, ...]


@attrs.frozen
class ValueRecord:
    """The value of an expression.

    Args:
        kind: what it is.
        dtype: the element type of a tensor; None for a sequence, and where it is unknown.
        shape: sizes as numbers or formulas; None for a sequence, and for an unknown rank.
        elements: the contents of a tensor, row by row: formulas and fractions as texts, None for an unknown element;
            None where no element is known.
        items: the values of a sequence.
    """

    kind: Literal["tensor", "sequence"]
    dtype: str | None = None
    shape: tuple[int | str, ...] | None = None
    elements: tuple[int | bool | str | None, ...] | None = None
    items: tuple[ValueRecord, ...] = ()


@json_record("shapeinf.expression/1", omit=("tree", "type"), add=("value",))
@attrs.frozen
class ExpressionReport:
    """A parsed expression: the output of `shapeinf expression --json`.

    Args:
        expression: its text.
        tokens: its tokens.
        tree: its tree.
        nodes: the nodes of the tree in reverse Polish order; the last one is the root.
        reverse_polish: functions as `add/2`, lists as `list/2`.
        kuiper: with `--kuiper`; else None.
        type: of its value; None without shapes of its inputs.
    """

    expression: str
    tokens: tuple[TokenRecord, ...]
    tree: Expression
    nodes: tuple[NodeRecord, ...]
    reverse_polish: tuple[str, ...]
    kuiper: KuiperRecord | None
    type: Type | None

    @property
    def value(self) -> ValueRecord | None:
        """Its value; None without shapes of its inputs."""
        return None if self.type is None else _value(self.type)


def report_expression(text: str, shapes: Sequence[InputShape] = (), *, as_kuiper: bool = False) -> ExpressionReport:
    """The report of an expression, with its value for these shapes of its inputs. Raises as `evaluate_expression`."""
    records: tuple[TokenRecord, ...]
    if as_kuiper:
        tree = kuiper.parse(text)
        tokens = kuiper.tokenize(text)
        records = tuple(TokenRecord(int(t.number), t.text, t.start, t.start + len(t.text)) for t in tokens)
    else:
        tree = parse(text)
        records = tuple(TokenRecord(t.kind.value, t.text, t.start, t.end) for t in tokenize(text))
    course = KuiperRecord(tuple(kuiper.node_codes(tree)), tuple(kuiper.in_order_log(tree))) if as_kuiper else None
    needs_shapes = any(isinstance(node, Argument) for node in walk(tree))
    value = evaluate_expression(str(tree), shapes) if shapes or not needs_shapes else None
    return ExpressionReport(text, records, tree, tuple(_nodes(tree)), tuple(reverse_polish(tree)), course, value)


def _nodes(tree: Expression) -> list[NodeRecord]:
    """The nodes in reverse Polish order, each with the numbers of its items."""
    records: list[NodeRecord] = []
    stack: list[int] = []
    for node in walk(tree):
        first = len(stack) - len(node.items)
        items, stack[first:] = tuple(stack[first:]), [len(records)]
        records.append(_node(node, items))
    return records


def _node(node: Expression, items: tuple[int, ...]) -> NodeRecord:
    if isinstance(node, Call):
        return NodeRecord("call", node.function, node.position, items)
    if isinstance(node, ListOf):
        return NodeRecord("list", "list", node.position, items)
    return NodeRecord("literal" if isinstance(node, LiteralNode) else "input", node.label, node.position, items)


def _value(value: Type) -> ValueRecord:
    if isinstance(value, SequenceType):
        return ValueRecord("sequence", items=tuple(map(_value, value.items or ())))
    assert isinstance(value, TensorType)
    dims = value.shape.dims
    elements = value.elements if isinstance(value, PartialTensor) else None
    return ValueRecord(
        "tensor",
        value.dtype,
        None if dims is None else tuple(d if isinstance(d, int) else str(d) for d in dims),
        None if elements is None else tuple(map(_element, elements)),
    )


def _element(element: object) -> int | bool | str | None:
    return element if element is None or isinstance(element, (bool, int)) else str(element)


def expression_lines(report: ExpressionReport) -> Iterator[str]:
    """The lines of a report for a terminal."""
    yield "tokens"
    width = max(len(str(token.end)) for token in report.tokens) * 2 + 2
    for token in report.tokens:
        yield f"  {f'{token.start}..{token.end}':<{width}}  {token.kind!s:<8}  {token.text}"
    yield "tree"
    yield from _tree_lines(report.tree)
    yield "reverse Polish order"
    yield "  " + " ".join(report.reverse_polish)
    if report.kuiper is not None:
        yield "numbers of the nodes"
        yield "  " + " ".join(map(str, report.kuiper.codes))
        yield "log"
        yield from (f"  {line}" for line in report.kuiper.log)
    if report.type is not None:
        yield "value"
        yield f"  {report.type!r}"


def _tree_lines(tree: Expression) -> Iterator[str]:
    """A line for each node, indented by its depth."""
    pending = [(tree, 1)]
    while pending:
        node, depth = pending.pop()
        label = node.function if isinstance(node, Call) else "list" if isinstance(node, ListOf) else node.label
        yield "  " * depth + label
        pending.extend((item, depth + 1) for item in reversed(node.items))
