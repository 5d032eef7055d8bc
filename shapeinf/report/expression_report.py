"""An expression of a PNNX network: its tokens, tree, order and value, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from shapeinf.expressions import InputShape, evaluate_expression
from shapeinf.formats.pnnx.expression import (
    Argument,
    Call,
    Expression,
    ListOf,
    Literal,
    kuiper,
    parse,
    reverse_polish,
    tokenize,
    walk,
)
from shapeinf.lattice import PartialTensor, SequenceType, TensorType, Type
from shapeinf.schemas import EXPRESSION


@attrs.frozen
class TokenRecord:
    """A token: its kind (a number in KuiperInfer), and its text at the positions `start <= p < end`."""

    kind: str | int
    text: str
    start: int
    end: int


@attrs.frozen
class ExpressionReport:
    """A parsed expression; `codes` and `log` are KuiperInfer's, `value` is None without shapes of its inputs."""

    text: str
    tokens: tuple[TokenRecord, ...]
    tree: Expression
    order: tuple[str, ...]
    codes: tuple[int, ...] | None
    log: tuple[str, ...] | None
    value: Type | None


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
    codes = tuple(kuiper.node_codes(tree)) if as_kuiper else None
    log = tuple(kuiper.in_order_log(tree)) if as_kuiper else None
    needs_shapes = any(isinstance(node, Argument) for node in walk(tree))
    value = evaluate_expression(str(tree), shapes) if shapes or not needs_shapes else None
    return ExpressionReport(text, records, tree, tuple(reverse_polish(tree)), codes, log, value)


def expression_lines(report: ExpressionReport) -> Iterator[str]:
    """The lines of a report for a terminal."""
    yield "tokens"
    width = max(len(str(token.end)) for token in report.tokens) * 2 + 2
    for token in report.tokens:
        yield f"  {f'{token.start}..{token.end}':<{width}}  {token.kind!s:<8}  {token.text}"
    yield "tree"
    yield from _tree_lines(report.tree)
    yield "reverse Polish order"
    yield "  " + " ".join(report.order)
    if report.codes is not None and report.log is not None:
        yield "numbers of the nodes"
        yield "  " + " ".join(map(str, report.codes))
        yield "log"
        yield from (f"  {line}" for line in report.log)
    if report.value is not None:
        yield "value"
        yield f"  {report.value!r}"


def _tree_lines(tree: Expression) -> Iterator[str]:
    """A line for each node, indented by its depth."""
    pending = [(tree, 1)]
    while pending:
        node, depth = pending.pop()
        label = node.function if isinstance(node, Call) else "list" if isinstance(node, ListOf) else node.label
        yield "  " * depth + label
        pending.extend((item, depth + 1) for item in reversed(node.items))


def expression_as_json(report: ExpressionReport) -> dict[str, Any]:
    """The report as JSON-ready data; nodes are numbered in reverse Polish order."""
    return {
        "schema": EXPRESSION,
        "expression": report.text,
        "tokens": [{"kind": t.kind, "text": t.text, "start": t.start, "end": t.end} for t in report.tokens],
        "nodes": _nodes(report.tree),
        "reverse_polish": list(report.order),
        **({} if report.codes is None else {"kuiper": {"codes": list(report.codes), "log": list(report.log or ())}}),
        "value": None if report.value is None else _value(report.value),
    }


def _nodes(tree: Expression) -> list[dict[str, Any]]:
    """The nodes in reverse Polish order, each with the numbers of its items."""
    records: list[dict[str, Any]] = []
    stack: list[int] = []
    for node in walk(tree):
        first = len(stack) - len(node.items)
        items, stack[first:] = stack[first:], [len(records)]
        records.append({**_node(node), "position": node.position, "items": items})
    return records


def _node(node: Expression) -> dict[str, Any]:
    if isinstance(node, Call):
        return {"kind": "call", "text": node.function}
    if isinstance(node, ListOf):
        return {"kind": "list", "text": "list"}
    return {"kind": "literal" if isinstance(node, Literal) else "input", "text": node.label}


def _value(value: Type) -> dict[str, Any]:
    if isinstance(value, SequenceType):
        return {"kind": "sequence", "items": [_value(item) for item in value.items or ()]}
    assert isinstance(value, TensorType)
    dims = value.shape.dims
    elements = value.elements if isinstance(value, PartialTensor) else None
    return {
        "kind": "tensor",
        "dtype": value.dtype,
        "shape": None if dims is None else [d if isinstance(d, int) else str(d) for d in dims],
        "elements": None if elements is None else [_element(element) for element in elements],
    }


def _element(element: object) -> object:
    return element if element is None or isinstance(element, (bool, int)) else str(element)
