"""The guards of a program: conditions on sizes that torch's own module checks before it runs, and declarations.

A guard is a text of Python (`L['x'].size()[0] % 2 == 0`); shapeinf reads those on sizes of inputs and on numbers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Mapping

from shapeinf.formats.torch_export.document import Program
from shapeinf.formats.torch_export.expressions import ExpressionReader, UnreadableError, parse_tree
from shapeinf.formats.torch_export.names import SizeNames, input_sizes
from shapeinf.graph.guards import Condition, Connective, Guard, InputGuards, Relation

UNCHECKED = 2
"""The lower bound that torch declares for all symbols and does not check: it treats the sizes 0 and 1 apart."""
NO_BOUND = 2**62
"""Upper bounds from here on stand for none."""

_MULTIPLE = re.compile(r"\(?(\d+)\*([^\W\d]\w*)\)?")
_SEPARATORS = re.compile(r"\W+")

_RELATIONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


def input_guards(program: Program, names: SizeNames) -> InputGuards:
    """All guards of a program: its lines of guards, what it declares for axes, and the ranges of its symbols.

    Each axis has a name of its own here, also where the program declares that two axes have the same size.
    """
    axes: dict[str, tuple[str, ...]] = {}
    sizes: dict[str, int | str] = {}
    example: dict[str, int] = {}
    sources: dict[str, str] = {}
    for item in input_sizes(program):
        label = _unique(item.label, sizes)
        axes[item.name] = (*axes.get(item.name, ()), label)
        sizes[label] = _declared(item.size, names)
        sources[item.name + ("" if item.axis is None else f".size()[{item.axis}]")] = label
        if item.example is not None:
            example[label] = item.example
    guards = [read_guard(text, sources) for text in program.guards]
    guards += filter(None, (_declaration(label, size) for label, size in sizes.items()))
    guards += _ranges(program, names, sizes)
    return InputGuards(axes, sizes, example, tuple(guards), program.module_checks)


def _unique(label: str, taken: Container[str]) -> str:
    while label in taken:
        label += "_"
    return label


def _declared(size: int | str, names: SizeNames) -> int | str:
    """A size in shapeinf's grammar; empty for one that it cannot express."""
    try:
        return names.read(size) if isinstance(size, str) else size
    except UnreadableError:
        return ""


def _declaration(label: str, size: int | str) -> Guard | None:
    """The guard of an axis; None for one with a symbol of its own, and for one whose expression is not known."""
    if size in (label, ""):
        return None
    if isinstance(size, int):
        return Guard(f"{label} == {size}", Relation(label, "==", str(size)), "fixed")
    multiple = _MULTIPLE.fullmatch(size)
    if multiple is not None:
        return Guard(f"{label} % {multiple[1]} == 0", Relation(f"{label} % {multiple[1]}", "==", "0"), "derived")
    if not size.isidentifier():
        return Guard(f"{label} == {size}", Relation(label, "==", size), "derived")
    return Guard(f"{label} == {size}", Relation(label, "==", size), "equal")


def _ranges(program: Program, names: SizeNames, sizes: Mapping[str, int | str]) -> Iterator[Guard]:
    """The bounds of symbols that are sizes of inputs. Torch checks a lower bound only if it is more than 2."""
    quotients = {match[2]: f"{label}//{match[1]}" for label, match in _multiples(sizes)}
    for symbol, (low, high) in program.ranges.items():
        name = names.names.get(symbol, symbol)
        name = name if name in sizes else quotients.get(name, "")
        if name and low is not None and low > 1:
            yield Guard(f"{name} >= {low}", Relation(name, ">=", str(low)), "range", checked=low > UNCHECKED)
        if name and high is not None and high < NO_BOUND:
            yield Guard(f"{name} <= {high}", Relation(name, "<=", str(high)), "range")


def _multiples(sizes: Mapping[str, int | str]) -> Iterator[tuple[str, re.Match[str]]]:
    """The axes whose size is a multiple of a symbol, each with the match of the multiple."""
    for label, size in sizes.items():
        match = _MULTIPLE.fullmatch(size) if isinstance(size, str) else None
        if match is not None:
            yield label, match


def read_guard(text: str, sizes: Mapping[str, str]) -> Guard:
    """A guard; `sizes` has the names of sizes such as `x.size()[0]`, whose source in torch is `L['x'].size()[0]`.

    >>> str(read_guard("L['x'].size()[0] != 1", {"x.size()[0]": "b"}).condition)
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
    raise UnreadableError(f"the name {name[:40]!r} is not a size of an input")


def _source(tree: ast.expr, sizes: Mapping[str, str]) -> str | None:
    """The name of a size; torch flattens the names of inputs: `L['d']['c'][1].size()[0]` is axis 0 of `d_c_1`."""
    if not isinstance(tree, ast.Subscript):
        return None
    path, size, rest = ast.unparse(tree).partition(".size()")
    if not path.startswith("L["):
        return None
    return sizes.get(_SEPARATORS.sub("_", path.removeprefix("L")).strip("_") + size + rest)


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
