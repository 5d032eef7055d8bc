"""`Diagnostic`, the one record of everything that shapeinf reports, and the registry of all diagnostic codes."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Literal, NamedTuple

import attrs

from shapeinf.html import html_block, html_rows
from shapeinf.texts import escape_lines, format_count

Severity = Literal["error", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""The severities, most severe first."""


@attrs.frozen
class Diagnostic:
    """One report about a model, a file, a plan or a deployment.

    Args:
        severity: an error, a warning, or a note that fails no check.
        code: one of `CODES`, which docs/errors.md lists.
        message: one sentence, with the node or tensor as its subject.
        node: the node; empty for a report about a tensor or the entire model.
        op: the operator of the node.
        operands: the operands of the node as lines of text (name, type, producer).
        tensor: the tensor.
        axis: the axis of the tensor.
        because: the constraint or declaration that decides it.
        help: the repair, where it is unique.
        location: the position of the node in the text of the model, such as `graph.nnef:3:5`, for text formats.
        calls: the locations of the calls around it, innermost first.
        cause: the node (or input) that is likely wrong, where this report only follows from it.
    """

    severity: Severity
    code: str
    message: str
    node: str = ""
    op: str = ""
    operands: tuple[str, ...] = ()
    tensor: str = attrs.field(default="", kw_only=True)
    axis: int | None = attrs.field(default=None, kw_only=True)
    because: str | None = attrs.field(default=None, kw_only=True)
    help: str | None = attrs.field(default=None, kw_only=True)
    location: str = attrs.field(default="", kw_only=True)
    calls: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    cause: str = attrs.field(default="", kw_only=True)

    def render(self) -> str:
        """The text for a terminal: message, subject, location, operands, reason, help."""
        lines = [f"{self.severity}[{self.code}]: {self.message}"]
        if self.subject:
            lines.append(f"  --> {self.subject}   {self.op}".rstrip())
        if self.location:
            lines.append(f"   at {self.location}")
        lines += [f"   called at {call}" for call in self.calls]
        lines += [f"   |  {operand}" for operand in self.operands]
        if self.reason:
            lines.append(f"   = because {self.reason}")
        if self.help:
            lines.append(f"   = help: {self.help}")
        return escape_lines(lines)

    def __str__(self) -> str:
        """The rendered text."""
        return self.render()

    def __repr__(self) -> str:
        """The fields that are not empty."""
        fields = ((field.name, getattr(self, field.name), field.default) for field in attrs.fields(Diagnostic))
        listed = ", ".join(f"{name}={value!r}" for name, value, default in fields if value != default)
        return f"Diagnostic({listed})"

    def _repr_html_(self) -> str:
        """A table of one row."""
        return Diagnostics([self])._repr_html_()

    @property
    def subject(self) -> str:
        """The node, else the tensor; empty for a report about the entire model."""
        return self.node or self.tensor

    @property
    def title(self) -> str:
        """The meaning of its code in one line."""
        return code_title(self.code)

    @property
    def reason(self) -> str | None:
        """`because`, and the node that this report follows from."""
        follows = f"{self.cause} is likely wrong: this follows from it" if self.cause else None
        return "; ".join(filter(None, (self.because, follows))) or None

    @property
    def fails(self) -> bool:
        """Whether a check with this diagnostic fails: notes do not."""
        return self.severity != "note"

    @property
    def weight(self) -> int:
        """A key that sorts errors before warnings before notes."""
        return SEVERITIES.index(self.severity)


def text_position(diagnostic: Diagnostic) -> tuple[int, int]:
    """The line and the column, from 1, of a diagnostic whose location is in a text."""
    _, line, column = diagnostic.location.rsplit(":", 2)
    return int(line), int(column)


class Diagnostics(list[Diagnostic]):
    """A list of diagnostics, which a notebook displays as a table.

    >>> Diagnostics().counts
    'no diagnostics'
    """

    @property
    def counts(self) -> str:
        """The number of each severity, such as `1 error, 2 warnings`."""
        counts = Counter(diagnostic.severity for diagnostic in self)
        return ", ".join(format_count(counts[name], name) for name in SEVERITIES if counts[name]) or "no diagnostics"

    def table(self) -> str:
        """A table in HTML, the most severe first."""
        ordered = sorted(self, key=lambda diagnostic: diagnostic.weight)
        rows = [(d.severity, d.code, _subject(d), d.message, d.reason or "", d.help or "") for d in ordered]
        return html_rows(["severity", "code", "node or tensor", "message", "because", "help"], rows)

    def _repr_html_(self) -> str:
        return html_block(f"Diagnostics: {self.counts}", self.table() if self else "")


def _subject(diagnostic: Diagnostic) -> str:
    axis = "" if diagnostic.axis is None else f".shape[{diagnostic.axis}]"
    return f"{diagnostic.op} {diagnostic.subject}{'' if diagnostic.node else axis}".strip()


class Code(NamedTuple):
    """The meaning of a diagnostic code.

    Args:
        code: a letter (C checks, N language of a document, P plans, S inference, X PNNX) and three digits, the first
            of which groups codes of one subject.
        severities: the severities with which it is reported.
        title: its meaning in one line.
        explanation: when it is reported, and the repair; empty where the title is enough.
        owner: the module that registers it.
    """

    code: str
    severities: tuple[Severity, ...]
    title: str
    explanation: str = ""
    owner: str = ""


CODES: dict[str, Code] = {}
"""Every diagnostic code, from which `tools/make_error_table.py` writes docs/errors.md.

A package registers the codes that it reports; those of inference are below.
"""


def register_code(
    code: str, severities: Severity | tuple[Severity, ...], title: str, explanation: str = "", *, owner: str = ""
) -> str:
    """Add a code to `CODES`; returns the code, so that a module can name it.

    `owner` is the module that calls by default. Raises ValueError for the code of another owner.
    """
    owner = owner or sys._getframe(1).f_globals["__name__"]
    if code in CODES:
        taken = CODES[code]
        raise ValueError(f"{code} is taken by {taken.owner} ({taken.title}); docs/dev/add-a-check.md lists free codes")
    CODES[code] = Code(code, (severities,) if isinstance(severities, str) else severities, title, explanation, owner)
    return code


def code_title(code: str) -> str:
    """The title of a code; the code itself where a package outside of shapeinf defines it."""
    return CODES[code].title if code in CODES else code


register_code(
    "S101",
    ("error", "warning"),
    "a rule of an operator is violated",
    "A warning in a branch that may never run, or where no shape depends on it.",
)
register_code(
    "S103",
    "error",
    "a call that no operator allows",
    "A required input or attribute is missing, the node has another number of inputs or outputs than its operator "
    "in this opset (or than its bodies), or the call of a function passes more than the function has. The usual "
    "cause is an opset that was changed by hand: `axes` of Squeeze, Unsqueeze and ReduceSum is an input from opset "
    "13 on, an attribute before.",
)
register_code(
    "S104",
    "error",
    "an input of the wrong kind",
    "Such as a sequence instead of a tensor; in strict mode, an unknown element type too.",
)
register_code("S105", "error", "a size outside of 0..2**63 - 1")
register_code(
    "S106",
    "error",
    "operands of different types where the operator takes one type",
    "The usual cause is a model that was converted to float16 in part: an initializer or an input kept its type. "
    "Insert a Cast at the operand that the help names, or convert the rest.",
)
register_code(
    "S107",
    "error",
    "a type that the operator does not allow",
    "Such as indices of floats, a shape of int32, or integers for an operator that takes them only in a later opset.",
)
register_code(
    "S108",
    "error",
    "an operator that the opset of the model does not have",
    "It exists only from a later opset on (Gelu from 20 on), or was removed (Upsample in 10: use Resize). The usual "
    "cause is an opset import that was changed by hand: use a converter of versions.",
)
register_code(
    "S109",
    "error",
    "an attribute that the operator does not have, or not in this form",
    "It is unknown in this opset, set twice, of another kind (1 where a float is required) or none of the allowed "
    "values. The usual causes are a typing error and an opset that was changed by hand.",
)
register_code("S110", "note", "an unusual dim name in the file", "The message states how the name was read.")
register_code(
    "S111",
    "warning",
    "an unused assumption of the file",
    "It names a dim that no input has, or has an unsupported form.",
)
register_code("S112", "note", "a redundant assumption of the user", "It follows from known constraints.")
register_code(
    "S113",
    "error",
    "a name that the graph uses twice",
    "Two initializers or two nodes have the name. The usual cause is a merge of two graphs without a prefix for names.",
)
register_code(
    "S114",
    "error",
    "an initializer whose element type is not that of the input of its name",
    "The usual cause is a conversion of the weights alone: convert the declaration too, or remove the input.",
)
register_code(
    "S115",
    "error",
    "a declared element type or kind of a value that its node does not compute",
    "The usual cause is a conversion of the declarations alone, or of the weights alone: infer the shapes of the file "
    "again. In `shapeinf check` it is C110 or C111.",
)
register_code(
    "S120",
    "warning",
    "a declared shape differs from the inferred shape",
    "The code includes declared element types in formats whose runtimes do not compare them. An error in strict mode.",
)
register_code(
    "S121",
    "note",
    "declared types of a traced run that are not used",
    "They hold for the sizes of the inputs in that run, and the inputs have, or may have, other sizes.",
)
register_code("S140", "error", "a range for `bind` contains sizes with which the graph cannot run")
register_code("S201", "warning", "an operator without a rule", "Its outputs are unknown.")
register_code("S202", "warning", "a shape that cannot be inferred", "The message has the reason.")
register_code("S301", "error", "a rule failed", "A bug of the rule, not of the model.")
register_code(
    "S401",
    "warning",
    "an installed package of operators is not in use",
    "It cannot be loaded, or its entry point adds to no dialect.",
)
register_code(
    "S402",
    "note",
    "an installed package of operators for another dialect",
    "Reported where operators are unknown and the name of its entry point does not match this dialect.",
)
