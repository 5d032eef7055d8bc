"""A result as text: a table of tensors, then policy, coverage and findings."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from shapeinf.algebra import Dimension
from shapeinf.driver import Result, TensorInfo
from shapeinf.lattice import Shape

WIDE = 100_000
"""Columns of an output that is no terminal: nothing is cut or wrapped in a file or a pipe."""


def print_result(result: Result, model: str, console: Console, constants: bool = False) -> None:
    """Print everything that a person wants to know of a result."""
    if not console.is_terminal:
        console.width = WIDE
    console.print(_table(result, constants))
    dims = _dims(result)
    if dims:
        _say(console, f"dims      {dims}")
    _say(console, f"policy    {result.policy}")
    _say(console, f"coverage  {result.coverage}")
    hidden = 0 if constants else len(result.graph.constants)
    if hidden:
        _say(console, f"          and {hidden} constants (--constants lists them)")
    for found in result.diagnostics:
        _say(console, "")
        _say(console, found.render(), {"error": "red", "warning": "yellow"}.get(found.severity, ""))


def printable(text: str) -> str:
    r"""The text without control characters: names come from files that nobody vouches for.

    >>> printable("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def origins(result: Result) -> dict[str, str]:
    """The operator that makes each value; "input" and "constant" for those that none makes."""
    graph = result.graph
    found = dict.fromkeys(graph.inputs, "input")
    found.update(dict.fromkeys(graph.constants, "constant"))
    for node in graph.nodes:
        op = f"{node.domain}.{node.op}" if node.domain else node.op
        found.update({name: op for name in node.outputs if name})
    return found


def shown_shape(info: TensorInfo) -> str:
    """The shape, with the kind of what is no tensor."""
    return str(info.shape) if info.kind == "tensor" else f"{info.kind} of {info.shape}"


def _table(result: Result, constants: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("tensor", "dtype", "shape", "op"):
        table.add_column(heading, overflow="fold")
    outputs = set(result.graph.outputs)
    made_by = origins(result)
    for name, info in result.tensors.items():
        op = made_by.get(name, "")
        if op == "constant" and not constants:
            continue
        style = "bold" if name in outputs or op == "input" else ""
        cells = (name, info.dtype or "?", shown_shape(info), op + (" (output)" if name in outputs else ""))
        table.add_row(*(Text(printable(cell)) for cell in cells), style=style)
    return table


def _dims(result: Result) -> str:
    """The named dims of the inputs with their bounds: `batch 1..8, seq 1..512`."""
    symbols: dict[Dimension, None] = {}
    for name in result.graph.inputs:
        symbols.update(dict.fromkeys(_named(result.tensors[name].shape)))
    return ", ".join(f"{symbol} {result.interval(symbol)}" for symbol in symbols)


def _named(shape: Shape) -> list[Dimension]:
    return sorted((s for s in shape.symbols() if not s.is_anonymous), key=str) if shape.dims is not None else []


def _say(console: Console, text: str, style: str = "") -> None:
    lines = "\n".join(printable(line) for line in text.split("\n"))
    console.print(Text(lines, style=style), soft_wrap=True)
