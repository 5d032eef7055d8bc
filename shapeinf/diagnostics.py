"""What an inference has to say: one record a finding, text rendered from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs

from shapeinf.errors import ShapeError
from shapeinf.texts import escape_lines

Severity = Literal["error", "warning", "note"]


@attrs.frozen
class Diagnostic:
    """One finding.

    Codes: S1xx the model is wrong, S2xx not supported or not knowable (outputs are unknown), S3xx a rule's own bug.
    `inputs` are the operands as lines of text (name, shape, where it comes from); `location` is the place of the node
    in a source text, where the format has one.
    """

    severity: Severity
    code: str
    message: str
    node: str = ""
    op: str = ""
    inputs: tuple[str, ...] = ()
    because: str | None = None
    help: str | None = None
    location: str = ""

    def render(self) -> str:
        """The finding as a person reads it: law, place, operands, reason, repair."""
        lines = [f"{self.severity}[{self.code}]: {self.message}"]
        if self.node:
            lines.append(f"  --> {self.node}   {self.op}".rstrip())
        if self.location:
            lines.append(f"   at {self.location}")
        lines += [f"   |  {text}" for text in self.inputs]
        if self.because:
            lines.append(f"   = because {self.because}")
        if self.help:
            lines.append(f"   = help: {self.help}")
        return escape_lines(lines)

    def __str__(self) -> str:
        """The rendered text."""
        return self.render()


def from_error(
    error: ShapeError, node: str, op: str, inputs: Sequence[str], severity: Severity = "error"
) -> Diagnostic:
    """The diagnostic of a broken law at a node."""
    message = error.message + (f": {', '.join(error.operands)}" if error.operands else "")
    return Diagnostic(severity, error.code, message, node, op, tuple(inputs), error.because, error.help)
