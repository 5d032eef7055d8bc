"""What a check finds: one record a finding, text rendered from it."""

from __future__ import annotations

import attrs

from shapeinf.diagnostics import Diagnostic, Severity

_WEIGHTS: dict[Severity, int] = {"error": 0, "warning": 1, "note": 2}


@attrs.frozen
class Finding:
    """One thing that is wrong, or worth a look, in a model or in what is asked of it.

    `node` and `op` say which operation it is about, `tensor` which value; either may be empty. `because` is the fact
    that makes it so, `help` what to do about it. `cause` is the node (or input) that is
    likely wrong, where that is another one: the finding only follows from it.
    """

    severity: Severity
    code: str
    message: str
    node: str = ""
    op: str = ""
    tensor: str = ""
    because: str | None = None
    help: str | None = None
    location: str = ""
    inputs: tuple[str, ...] = ()
    cause: str = ""

    def render(self) -> str:
        """The finding as a person reads it, in the form of all diagnostics."""
        return Diagnostic(
            self.severity,
            self.code,
            self.message,
            self.node or self.tensor,
            self.op,
            self.inputs,
            self.reason,
            self.help,
            self.location,
        ).render()

    @property
    def reason(self) -> str | None:
        """The fact that makes it so, and the node that it follows from."""
        follows = f"{self.cause} is likely wrong: this follows from it" if self.cause else None
        return "; ".join(filter(None, (self.because, follows))) or None

    def __str__(self) -> str:
        """The rendered text."""
        return self.render()

    @property
    def place(self) -> str:
        """The node, else the tensor, that it is about; empty for the model as a whole."""
        return self.node or self.tensor

    @property
    def fails(self) -> bool:
        """Whether a check with this finding has failed: notes are only worth knowing."""
        return self.severity != "note"

    @property
    def weight(self) -> int:
        """Errors before warnings before notes."""
        return _WEIGHTS[self.severity]
