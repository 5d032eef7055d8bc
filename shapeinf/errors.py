"""Every error that shapeinf raises, in one hierarchy under :class:`ShapeInferenceError`.

Errors carry fields; the text is rendered from them, so a program can act on the fields and a person can read the text.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from itertools import islice

import attrs

from shapeinf.texts import escape_unprintable

_MOST_SHOWN = 12
_MOST_NAMES = 8


@attrs.frozen
class Source:
    """Who said a fact: the node (or input, or user) and the law in plain words.

    `assumed` says that the inference takes it to be so, but that the node may run without it.
    """

    node: str
    reason: str
    assumed: bool = False

    def __str__(self) -> str:
        """Read as "reason (node)"."""
        return f"{self.reason} ({self.node})" if self.node else self.reason


class ShapeInferenceError(Exception):
    """Base of everything that shapeinf raises on purpose."""

    def __str__(self) -> str:
        """The message on one line that any terminal may show: names in it come from files."""
        return escape_unprintable(super().__str__())


class ShapeError(ShapeInferenceError):
    """A law of an operator does not hold: the model is wrong (code S1xx).

    Args:
        law: the broken law in plain words, the first line of the message.
        code: stable code of the diagnostic.
        operands: the two (or more) sides, as the user declared them.
        because: the fact that made it decidable.
        help: one line, only where a unique repair exists.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "S101",
        operands: Iterable[str] = (),
        because: str | None = None,
        help: str | None = None,
    ) -> None:
        """Keep the fields; the driver adds the node."""
        super().__init__(message)
        self.message = message
        self.code = code
        self.operands = tuple(operands)
        self.because = because
        self.help = help
        self.node: str | None = None
        self.op: str | None = None
        self.location = ""

    def __str__(self) -> str:
        """The law, the operands, the node and its place in the source, on one line."""
        text = self.message
        if self.operands:
            text += ": " + ", ".join(self.operands)
        if self.because:
            text += f" (because {self.because})"
        if self.node is not None:
            text = f"{self.op} '{self.node}': {text}"
        return escape_unprintable(f"{self.location}: {text}" if self.location else text)


class Contradiction(ShapeError):  # noqa: N818  (a contradiction, as the literature calls it)
    """Two facts cannot both hold; names both of their sources."""

    def __init__(self, message: str, first: Source, second: Source | None = None, operands: Iterable[str] = ()) -> None:
        """Keep both sources; `first` is the one told last."""
        because = str(second) if second is not None and second != first else None
        super().__init__(message, operands=operands, because=because)
        self.first = first
        self.second = second


class ModelError(ShapeInferenceError):
    """The model file or graph is malformed.

    Args:
        cause: what is wrong, in plain words.
        node: the node (or tensor, or file) that it is about.
    """

    def __init__(self, cause: str, *, node: str | None = None) -> None:
        """Keep the fields."""
        super().__init__(f"{node}: {cause}" if node else cause)
        self.cause = cause
        self.node = node


class CyclicGraphError(ModelError):
    """The graph has a cycle where its dialect allows none."""


class UnknownFormatError(ModelError):
    """The bytes are not of a format that shapeinf reads."""


class LimitError(ModelError):
    """A limit that protects against hostile input was reached."""


class UnknownNameError(ShapeInferenceError):
    """A dim, input or tensor name that the model does not have.

    Args:
        kind: what was looked for ("dim", "input", "tensor").
        name: the name as given.
        choices: the names that exist; the nearest are shown.
    """

    def __init__(self, kind: str, name: str, choices: Iterable[str]) -> None:
        """Find the nearest names."""
        self.kind = kind
        self.name = name
        self.choices = sorted(choices)
        near = difflib.get_close_matches(name, self.choices, n=3, cutoff=0.5)
        if near:
            hint = f"did you mean {_quoted(near)}?"
        elif self.choices:
            more = len(self.choices) - _MOST_NAMES
            hint = f"known are {_quoted(self.choices[:_MOST_NAMES])}" + (f" and {more} more" if more > 0 else "")
        else:
            hint = "there is none"
        super().__init__(f"no {kind} is named {name!r}; {hint}")


def _quoted(names: Iterable[str]) -> str:
    """Names that may hold spaces and commas, or be words of the sentence ('one')."""
    return ", ".join(map(repr, names))


class MissingSizeError(ShapeInferenceError):
    """A question that needs the size of a dim, or a bound of it, which it does not have.

    Args:
        names: the dims.
        help: what can be given.
    """

    def __init__(self, names: Iterable[str], help: str) -> None:
        """Name all of them."""
        self.names = tuple(names)
        self.help = help
        super().__init__(f"no size is known for {', '.join(self.names)}: {help}")


class BudgetError(ShapeInferenceError):
    """An amount of memory that cannot be read."""

    def __init__(self, budget: object) -> None:
        """Show it, and what can be read."""
        self.budget = budget
        super().__init__(f"{budget!r} is no amount of memory: give bytes as an int, or text such as '64MiB', '1.5 GB'")


class IllegalSizeError(ShapeInferenceError):
    """Sizes that break a bound, a relation or another fact.

    Args:
        condition: what must hold, as text.
        source: who says so, where that is known.
        binding: the number of the first binding that breaks it, from 0.
        sizes: the sizes of that binding, by name.
    """

    def __init__(self, condition: str, source: Source | None, binding: int, sizes: Mapping[str, int]) -> None:
        """Keep the fields."""
        self.condition = condition
        self.source = source
        self.binding = binding
        self.sizes = dict(sizes)
        because = f" (because {source})" if source is not None else ""
        super().__init__(f"{at_binding(binding, sizes)}: {condition} does not hold{because}")


class NoSizeError(ShapeInferenceError):
    """What was asked for has no number: it depends on data, or nobody knows it, or it divides by zero.

    Args:
        what: such as "the shape of 'y'".
        reason: why there is none.
    """

    def __init__(self, what: str, reason: str) -> None:
        """Keep the fields."""
        super().__init__(f"there is no number for {what}: {reason}")
        self.what = what
        self.reason = reason


class SizeOverflowError(ShapeInferenceError):
    """A number that does not fit 64 bits.

    Args:
        what: such as "the bytes of 'y'".
        binding: the number of the first binding at which it does not fit, from 0.
        sizes: the sizes of that binding, by name.
    """

    def __init__(self, what: str, binding: int, sizes: Mapping[str, int]) -> None:
        """Keep the fields."""
        super().__init__(f"{at_binding(binding, sizes)}: 64 bits are too few for {what}")
        self.what = what
        self.binding = binding
        self.sizes = dict(sizes)


def at_binding(binding: int, sizes: Mapping[str, int]) -> str:
    """A binding as messages name it: `binding 3 (batch=1, seq=512)`."""
    shown = ", ".join(f"{name}={size}" for name, size in islice(sizes.items(), _MOST_SHOWN))
    shown += ", ..." if len(sizes) > _MOST_SHOWN else ""
    return f"binding {binding} ({shown})" if shown else f"binding {binding}"


class UnknownOperatorError(ShapeInferenceError):
    """An operator that no installed dialect has a rule for (strict mode; else its outputs are unknown)."""

    def __init__(self, node: str, op: str) -> None:
        """Name both."""
        super().__init__(f"{op} '{node}': no installed dialect has a rule for this operator")
        self.node = node
        self.op = op


class MissingPackageError(ShapeInferenceError):
    """An optional package that is not installed; says how to install it.

    Args:
        what: what needs it.
        package: its name.
        extra: the extra of shapeinf that brings it.
    """

    def __init__(self, what: str, package: str, extra: str) -> None:
        """Name the command."""
        super().__init__(f"{what} needs {package}, which is not installed: pip install 'shapeinf[{extra}]'")
        self.package = package
        self.extra = extra


class LayoutError(ShapeInferenceError):
    """An array in memory that cannot be (a bad layout, tile or padding), or an index or axis that it does not have."""


class NotKnown(Exception):  # noqa: N818  (no error: a rule's way to say so)
    """Raised inside a rule: the outputs cannot be known, for this reason. Not an error of the model."""

    def __init__(self, reason: str, dtype: str | None = None) -> None:
        """Keep the reason for the diagnostics, and the element type where only the rule knows it."""
        super().__init__(reason)
        self.reason = reason
        self.dtype = dtype
