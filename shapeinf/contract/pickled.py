"""The contract in a pickle: its preconditions, without the inference that answers further queries; and its display."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import attrs

from shapeinf.contract.preconditions import Precondition
from shapeinf.html import html_block, html_rows
from shapeinf.pickling import Pickled, versioned_pickle
from shapeinf.solver.budget import cut_text
from shapeinf.texts import escape_lines, format_count, object_text

NOT_SIMPLIFIED = f"{cut_text('contract.with_work(...)')}: some of these are listed as they were added, not simplified"


@versioned_pickle
@attrs.frozen
class PickledContract(Pickled):
    """The preconditions of a `Contract` that was pickled; `check` and `solve` need the inference, and raise.

    Args:
        preconditions: all preconditions, with their provenance; `Precondition.holds` works.
        always: those that hold whichever bodies run, those that trusted declarations imply included.
        assumptions: what the user specifies besides the dims of inputs; the preconditions hold for these.
        cut: whether the budget was exhausted: then some preconditions are not simplified.
    """

    preconditions: tuple[Precondition, ...]
    always: tuple[Precondition, ...]
    assumptions: tuple[str, ...]
    cut: bool

    kind: ClassVar[str] = "contract"

    def __iter__(self) -> Iterator[Precondition]:
        """The preconditions."""
        return iter(self.preconditions)

    def __len__(self) -> int:
        """The number of preconditions."""
        return len(self.preconditions)

    def __str__(self) -> str:
        """One precondition a line."""
        return contract_lines(self.preconditions, self.assumptions, self.cut)

    def __repr__(self) -> str:
        """The first preconditions."""
        return contract_text("PickledContract", self.preconditions)

    def _repr_html_(self) -> str:
        """A table of the preconditions."""
        return contract_html("PickledContract", self.preconditions)


def contract_lines(preconditions: Sequence[Precondition], assumptions: Sequence[str], cut: bool) -> str:
    """One precondition a line, then the assumptions that they hold for, and whether some are not simplified."""
    lines = [*map(str, preconditions)] or ["no preconditions on the inputs"]
    lines += [f"holds for {text}" for text in assumptions]
    return escape_lines([*lines, f"({NOT_SIMPLIFIED})"] if cut else lines)


def contract_text(title: str, preconditions: Sequence[Precondition]) -> str:
    """The `repr` of a contract."""
    return object_text(f"{title}: {format_count(len(preconditions), 'precondition')}", map(str, preconditions))


def contract_html(title: str, preconditions: Sequence[Precondition]) -> str:
    """The display of a contract in a notebook."""
    count = format_count(len(preconditions), "precondition")
    return html_block(f"{title}: {count}", precondition_table(preconditions))


def precondition_table(preconditions: Sequence[Precondition]) -> str:
    """A table in HTML: condition, node, message, and when it holds; empty without preconditions."""
    rows = [(p.legal, f"{p.op} {p.node}".strip(), p.message, _when(p)) for p in preconditions]
    return html_rows(["condition", "required by", "rule", "when"], rows) if rows else ""


def _when(precondition: Precondition) -> str:
    if precondition.kind == "assumption":
        return "assumed"
    return f"where the {precondition.where} runs" if precondition.where else "always"
