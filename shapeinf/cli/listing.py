"""A result as text: the table of tensors, then dims, policy, coverage and findings."""

from __future__ import annotations

from itertools import zip_longest

from rich.console import Console
from rich.text import Text

from shapeinf.checks import Finding
from shapeinf.diagnostics import Diagnostic
from shapeinf.expr import Dimension
from shapeinf.report import as_table
from shapeinf.result import Result
from shapeinf.texts import escape_unprintable

WIDE = 100_000
"""Columns of an output that is no terminal: nothing is cut or wrapped in a file or a pipe."""


def terminal() -> Console:
    """Standard output; where it is no terminal, nothing is cut."""
    console = Console()
    if not console.is_terminal:
        console.width = WIDE
    return console


def print_result(result: Result, console: Console) -> None:
    """Print everything that a person wants to know of a result."""
    console.print(as_table(result))
    dims = dims_line(result)
    if dims:
        say(console, f"dims      {dims}")
    for heading, condition in zip_longest(["contract"], result.contract.preconditions):
        if condition is not None:
            say(console, f"{heading or '':10}{condition}")
    say(console, f"policy    {result.policy}")
    say(console, f"coverage  {result.coverage}")
    for found in result.diagnostics:
        say(console, "")
        show_finding(console, found)


def dims_line(result: Result) -> str:
    """The named dims of the inputs with their bounds: `batch 1..8, H 32..512 (a multiple of 32)`."""
    found = {s for name in result.graph.inputs for s in result.tensors[name].shape.symbols() if not s.is_anonymous}
    return ", ".join(f"{s} {result.interval(s)}{_congruence(result, s)}" for s in sorted(found, key=str))


def _congruence(result: Result, symbol: Dimension) -> str:
    """` (a multiple of 32)`, where that is known of a dim."""
    found = result.store.congruences.by_symbol(symbol)
    if found is None:
        return ""
    return f" (a multiple of {found.modulus})" if not found.rest else f" ({found.rest} modulo {found.modulus})"


def show_finding(console: Console, found: Diagnostic | Finding) -> None:
    """Print a finding in the colour of its severity."""
    for line in found.render().split("\n"):
        say(console, line, {"error": "red", "warning": "yellow"}.get(found.severity, ""))


def say(console: Console, line: str, style: str = "") -> None:
    """Print one line, whatever is in it."""
    console.print(Text(escape_unprintable(line), style=style), soft_wrap=True)
