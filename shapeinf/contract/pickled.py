"""The contract that a pickle has: its preconditions, without the inference that answers further questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import attrs

from shapeinf.contract.preconditions import Precondition
from shapeinf.html import html_block, html_rows
from shapeinf.pickling import Pickled
from shapeinf.solver.budget import cut_text
from shapeinf.texts import escape_lines, format_count, object_text

NOT_SIMPLIFIED = f"{cut_text('contract.with_work(...)')}: some of these are listed as they were added, not simplified"


@attrs.frozen
class PickledContract(Pickled):
    """The preconditions of a `Contract` that was pickled; `check` and `solve` need the inference, and raise.

    Args:
        preconditions: all of them, with their provenance; `Precondition.holds` works.
        always: those that hold whichever bodies run, with those that trusted declarations imply.
        assumptions: what the user specifies besides the dims of inputs, and the preconditions hold for.
        cut: the work budget was reached: some are listed without being simplified.
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
        """How many there are."""
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
    """One precondition a line, then what they hold for, and whether some are not simplified."""
    lines = [*map(str, preconditions)] or ["no preconditions on the inputs"]
    lines += [f"holds for {text}" for text in assumptions]
    return escape_lines([*lines, f"({NOT_SIMPLIFIED})"] if cut else lines)


def contract_text(title: str, preconditions: Sequence[Precondition]) -> str:
    """The `repr` of a contract."""
    return object_text(f"{title}: {format_count(len(preconditions), 'precondition')}", map(str, preconditions))


def contract_html(title: str, preconditions: Sequence[Precondition]) -> str:
    """What a notebook shows of a contract."""
    count = format_count(len(preconditions), "precondition")
    return html_block(f"{title}: {count}", precondition_table(preconditions))


def precondition_table(preconditions: Sequence[Precondition]) -> str:
    """A table in HTML: the condition, the node that requires it, its rule; nothing without preconditions."""
    rows = [(p.legal, f"{p.op} {p.node}".strip(), p.message, _when(p)) for p in preconditions]
    return html_rows(["condition", "required by", "rule", "when"], rows) if rows else ""


def _when(precondition: Precondition) -> str:
    if precondition.kind == "assumption":
        return "assumed"
    return f"where the {precondition.where} runs" if precondition.where else "always"
