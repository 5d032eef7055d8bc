"""The tree of an expression, its reverse Polish order and its text.

A node has the depth of its tree, and creating it raises LimitError above `MAX_DEPTH`, so that no tree is too deep to be
walked, compared or freed. Nodes are equal where their texts are: NaN equals NaN, and 0.0 differs from -0.0.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from shapeinf.formats.pnnx.expression.limits import MAX_DEPTH, MAX_NODES, check_limit


class Expression:
    """A node and its operands; comparisons ignore its position in the text."""

    __slots__ = ()

    items: tuple[Expression, ...] = ()
    depth: int = 1
    count: int = 1
    position: int

    @property
    def label(self) -> str:
        """The node in reverse Polish order: `@0`, a number, or a function with the number of its arguments."""
        raise NotImplementedError

    def __str__(self) -> str:
        """The text that parses to this tree."""
        return format_expression(self)

    def __eq__(self, other: object) -> bool:
        """Whether the trees have the same nodes, at any positions."""
        if not isinstance(other, Expression):
            return NotImplemented
        return self.count == other.count and reverse_polish(self) == reverse_polish(other)

    def __hash__(self) -> int:
        """The hash of the text."""
        return hash(format_expression(self))


def _depth(node: _Parent) -> int:
    depth = 1 + max((item.depth for item in node.items), default=0)
    check_limit(depth, MAX_DEPTH, f"{depth} levels of nesting", node.position)
    return depth


def _count(node: _Parent) -> int:
    count = 1 + sum(item.count for item in node.items)
    check_limit(count, MAX_NODES, f"{count} nodes", node.position)
    return count


@attrs.frozen(eq=False)
class _Parent(Expression):
    """A node with items; `depth` and `count` are of its whole tree."""

    items: tuple[Expression, ...] = attrs.field(repr=False)
    position: int = attrs.field(default=0, kw_only=True)
    depth: int = attrs.field(init=False, repr=False, default=attrs.Factory(_depth, takes_self=True))
    count: int = attrs.field(init=False, repr=False, default=attrs.Factory(_count, takes_self=True))


@attrs.frozen(eq=False)
class Call(_Parent):
    """A function and its arguments."""

    function: str = attrs.field(kw_only=True)

    @property
    def label(self) -> str:
        """`add/2`."""
        return f"{self.function}/{len(self.items)}"


@attrs.frozen(eq=False)
class ListOf(_Parent):
    """A list, `[...]`."""

    @property
    def label(self) -> str:
        """`list/2`."""
        return f"list/{len(self.items)}"


@attrs.frozen(eq=False)
class Argument(Expression):
    """`@index`: an input of the node that the expression belongs to."""

    index: int
    position: int = attrs.field(default=0, kw_only=True)

    @property
    def label(self) -> str:
        """`@0`."""
        return f"@{self.index}"


@attrs.frozen(eq=False)
class Literal(Expression):
    """A number, or True, False or None."""

    value: bool | int | float | complex | None
    position: int = attrs.field(default=0, kw_only=True)

    @property
    def label(self) -> str:
        """The text of the value: `2`, `1e-05`, `1.0+2.0j`, `True`."""
        return _format_complex(self.value) if isinstance(self.value, complex) else repr(self.value)


def _format_complex(value: complex) -> str:
    sign = "" if repr(value.imag).startswith("-") else "+"
    return f"{value.real!r}{sign}{value.imag!r}j"


def walk(tree: Expression) -> Iterator[Expression]:
    """The nodes in reverse Polish order: arguments before their functions, from left to right."""
    pending = [(tree, False)]
    while pending:
        node, visited = pending.pop()
        if visited or not node.items:
            yield node
        else:
            pending.append((node, True))
            pending.extend((item, False) for item in reversed(node.items))


def reverse_polish(tree: Expression) -> list[str]:
    """The labels of the nodes in reverse Polish order."""
    return [node.label for node in walk(tree)]


def format_expression(tree: Expression) -> str:
    """The text of an expression; `parse` reads the same tree from it."""
    parts: list[str] = []
    pending: list[Expression | str] = [tree]
    while pending:
        node = pending.pop()
        if not isinstance(node, _Parent):
            parts.append(node if isinstance(node, str) else node.label)
            continue
        start, end = (f"{node.function}(", ")") if isinstance(node, Call) else ("[", "]")
        parts.append(start)
        pending.append(end)
        for number, item in reversed(list(enumerate(node.items))):
            pending.append(item)
            if number:
                pending.append(",")
    return "".join(parts)
