"""Every error that reaches a user, under :class:`ShapeInferenceError`: its fields, and a message made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from shapeinf.diagnostics import Diagnostic, Severity, text_position
from shapeinf.texts import escape_lines, escape_unprintable, format_binding, nearest_names

_MAX_NAMES = 8
_CONTEXT = 40


@attrs.frozen
class Source:
    """The provenance of a constraint: the node (or input, or user) and the rule that requires it.

    `assumed` marks a constraint that the inference assumes although the node may run without it.
    """

    node: str
    reason: str
    assumed: bool = False

    def __str__(self) -> str:
        """`reason (node)`."""
        return f"{self.reason} ({self.node})" if self.node else self.reason


class ShapeInferenceError(Exception):
    """Base of everything that shapeinf raises on purpose."""

    def __reduce__(self) -> tuple[Callable[..., ShapeInferenceError], tuple[object, ...]]:
        """A pickle has the fields: a pool of processes raises the error where its result is awaited."""
        return _load_error, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        """The message on one line, printable on any terminal: names in it come from files."""
        return escape_unprintable(super().__str__())


def _load_error(
    error_type: type[ShapeInferenceError], args: tuple[object, ...], fields: dict[str, object]
) -> ShapeInferenceError:
    error = error_type.__new__(error_type)
    error.args = args
    error.__dict__.update(fields)
    return error


class ShapeError(ShapeInferenceError):
    """A node violates a rule of its operator: the model is wrong (code S1xx).

    Args:
        message: the violated rule, the first line of the text.
        code: the code of the diagnostic.
        operands: the two (or more) sides, as declared.
        because: the constraint that decides it.
        help: the repair in one line, where it is unique.
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
        """Store the fields; the engine adds the node, and the types of its outputs where the rule states them."""
        super().__init__(message)
        self.message = message
        self.code = code
        self.operands = tuple(operands)
        self.because = because
        self.help = help
        self.node: str | None = None
        self.op: str | None = None
        self.outputs: Sequence[Any] | None = None
        self.location = ""

    def __str__(self) -> str:
        """Location, node, message, operands and reason on one line."""
        text = self.message
        if self.operands:
            text += ": " + ", ".join(self.operands)
        if self.because:
            text += f" (because {self.because})"
        if self.node is not None:
            text = f"{self.op} '{self.node}': {text}"
        return escape_unprintable(f"{self.location}: {text}" if self.location else text)

    def as_diagnostic(
        self, node: str, op: str, operands: tuple[str, ...] = (), severity: Severity = "error"
    ) -> Diagnostic:
        """The diagnostic of this error at a node, whose operands are lines of text."""
        return Diagnostic(
            severity,
            self.code,
            self.headline,
            node,
            op,
            operands,
            because=self.because,
            help=self.help,
            location=self.location,
        )

    @property
    def headline(self) -> str:
        """The message with the operands."""
        return self.message + (f": {', '.join(self.operands)}" if self.operands else "")


class Contradiction(ShapeError):  # noqa: N818  (a contradiction, as the literature calls it)
    """Two constraints that cannot both hold, with their sources."""

    def __init__(self, message: str, first: Source, second: Source | None = None, operands: Iterable[str] = ()) -> None:
        """Store both sources; `first` is that of the newer constraint."""
        because = str(second) if second is not None and second != first else None
        super().__init__(message, operands=operands, because=because)
        self.first = first
        self.second = second


class AxisError(ShapeError, IndexError):
    """An axis that a shape does not have; also an IndexError, as for a tuple."""


class DivisionByZeroError(ShapeError, ZeroDivisionError):
    """A quotient of sizes whose divisor is 0; also a ZeroDivisionError."""


class SymbolicSizeError(ShapeInferenceError, TypeError):
    """A symbolic dim where a number is needed, as in `int(dim)`; also a TypeError."""


class DimensionError(ShapeInferenceError, ValueError):
    """Dims of two inferences in one expression, or the name of a dim that is not a symbol."""


class NotKnown(ShapeInferenceError):  # noqa: N818  (a fact of an inference, not an error of the model)
    """The rank of a shape, or something else that is read, is not known.

    A rule that raises it, or lets it pass, has unknown outputs with this reason.

    Args:
        reason: what is not known, and why.
        dtype: the element type of the outputs, where only the rule knows it.
        shape: the `OptionalAxes` of the only output, where all but its rank is known.
    """

    def __init__(self, reason: str, dtype: str | None = None, shape: object = None) -> None:
        """Store the fields."""
        super().__init__(reason)
        self.reason = reason
        self.dtype = dtype
        self.shape = shape


class ModelError(ShapeInferenceError):
    """The model file or graph is malformed.

    Args:
        cause: what is wrong.
        node: the node, tensor or file.
    """

    def __init__(self, cause: str, *, node: str | None = None) -> None:
        """Store the fields."""
        super().__init__(f"{node}: {cause}" if node else cause)
        self.cause = cause
        self.node = node


class CyclicGraphError(ModelError):
    """The graph has a cycle, and its dialect allows none."""


class UnknownFormatError(ModelError):
    """The model is in no format that shapeinf reads."""


class LimitError(ModelError):
    """The input exceeds a limit that protects against hostile files."""


class ChangedFileError(ModelError):
    """A file of a model has changed since the model was read, or is gone: nothing is written from it."""


class MissingDataWarning(UserWarning):
    """A written model refers to files of weights that do not exist."""


class ExpressionError(ModelError):
    """An expression is malformed.

    Args:
        reason: what is wrong.
        text: the expression.
        position: the index of the wrong character; the length of the text where it ends too early.
        expected: what the grammar expects there; empty where the reason includes it.
    """

    def __init__(self, reason: str, text: str, position: int, *, expected: str = "") -> None:
        """Store the fields; the message has the position and what was expected."""
        instead = f", expected {expected}" if expected and not reason.startswith("expected") else ""
        super().__init__(f"{reason} at position {position}{instead}")
        self.reason = reason
        self.text = text
        self.position = position
        self.expected = expected

    def excerpt(self) -> tuple[str, str]:
        """The text around the position, and a line with a caret below it.

        >>> ExpressionError("unexpected ','", "add(@0,,@1)", 7).excerpt()
        ('add(@0,,@1)', '       ^')
        """
        start = max(0, self.position - _CONTEXT)
        before = escape_unprintable(self.text[start : self.position])
        after = escape_unprintable(self.text[self.position : self.position + _CONTEXT])
        return before + after, " " * len(before) + "^"


class NnefError(ModelError):
    """A document that violates rules of the NNEF specification.

    Args:
        diagnostics: at least one error, each with a location.
        render: the text of an error, with an excerpt of the document.

    Fields: `diagnostics` in the order of the document; `line` and `column` of the first one, from 1.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic], render: Callable[[Diagnostic], str]) -> None:
        """The message lists all errors."""
        self.diagnostics = tuple(sorted(diagnostics, key=text_position))
        self.line, self.column = text_position(self.diagnostics[0])
        super().__init__("\n".join(map(render, self.diagnostics)))

    def __str__(self) -> str:
        """The lines of all errors."""
        return str(self.args[0])


class PlanError(ModelError):
    """A memory plan, a planning problem or a file of one is malformed; names the line or the buffer."""


class PlanFileError(PlanError):
    """A line of a CSV file of a plan is malformed.

    Args:
        line: its number, from 1.
        cause: what is wrong with it.
    """

    def __init__(self, line: int, cause: str) -> None:
        """Store the fields."""
        super().__init__(f"line {line}: {cause}")
        self.line = line
        self.cause = cause


class ExportError(ShapeInferenceError):
    """The format has no place for what is exported, or the suffix of a path belongs to no format."""


class BindError(ShapeInferenceError):
    """The graph cannot run with the requested dims; `diagnostics` name the nodes and their requirements."""

    def __init__(self, headline: str, diagnostics: Sequence[Diagnostic]) -> None:
        """Store both."""
        super().__init__("\n".join([headline, *map(str, diagnostics)]))
        self.headline = headline
        self.diagnostics = tuple(diagnostics)

    def __str__(self) -> str:
        """The headline, and the lines of each diagnostic."""
        return "\n".join([escape_unprintable(self.headline), *map(str, self.diagnostics)])


class RebatchError(ShapeInferenceError):
    """The axis cannot be made dynamic; `reasons` name the causes."""

    def __init__(self, headline: str, reasons: Sequence[str] = ()) -> None:
        """Store both."""
        super().__init__("\n".join([headline, *reasons]))
        self.headline = headline
        self.reasons = tuple(reasons)

    def __str__(self) -> str:
        """The headline, and a line for each reason."""
        return escape_lines([self.headline, *self.reasons])


class TextError(ShapeInferenceError, ValueError):
    """A text of the user has a syntax error.

    Args:
        text: the text.
        position: the position of the error in it, from 0.
        expected: what the grammar expects there.
        message: the message instead of the usual one.
    """

    def __init__(self, text: str, position: int, expected: str, message: str = "") -> None:
        """Store the fields."""
        super().__init__(message or f"{_abbreviate(text, 80)!r}: expected {expected} at character {position + 1}")
        self.text = text
        self.position = position
        self.expected = expected


class DimSyntaxError(TextError):
    """A dimension with a syntax error."""

    def __init__(self, text: str, position: int, expected: str, message: str = "") -> None:
        """Store the fields."""
        at = f"expected {expected} at character {position + 1}"
        super().__init__(text, position, expected, message or f"{_abbreviate(text, 60)!r} is not a dimension: {at}")


class AssumptionSyntaxError(DimSyntaxError):
    """An assumption with a syntax error, or in a form that is not supported."""

    def __init__(self, text: str, position: int, expected: str) -> None:
        """Store the fields."""
        at = f"at character {position + 1}, expected {expected}"
        super().__init__(text, position, expected, f"{text!r} cannot be assumed: {at}")


class SpecError(TextError):
    """A shape, range or binding with a syntax error."""


class OpDefError(ShapeInferenceError, ValueError):
    """A definition of an operator has errors, or an operator has two; the message has a line for each problem."""

    def __str__(self) -> str:
        """All lines."""
        return escape_lines(str(self.args[0]).split("\n"))


class StaleTableError(ShapeInferenceError, RuntimeError):
    """A generated table differs from its source: an index of rules (`rules.txt`), schemas of torch."""

    def __init__(self, problem: str, command: str) -> None:
        """The message has the command that writes the table."""
        super().__init__(f"{problem}; run: {command}")


def _abbreviate(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


class UnknownNameError(ShapeInferenceError):
    """The model has no dim, input or tensor of this name.

    Args:
        kind: "dim", "input" or "tensor".
        name: the unknown name.
        choices: the existing names; the message lists the nearest.
        reason: why the model no longer has it.
        hint: what to write instead, in place of the nearest names.
    """

    def __init__(self, kind: str, name: str, choices: Iterable[str], *, reason: str = "", hint: str = "") -> None:
        """The message has the nearest names."""
        self.kind = kind
        self.name = name
        self.choices = sorted(set(choices))
        because = f": {reason}" if reason else ""
        super().__init__(f"no {kind} is named {name!r}{because}; {hint or self._nearest()}")

    def _nearest(self) -> str:
        """A hint at the nearest names, or else at all."""
        near = nearest_names(self.name, self.choices)
        if near:
            return f"did you mean {_quote_names(near)}?"
        if not self.choices:
            return "none is available"
        more = len(self.choices) - _MAX_NAMES
        return f"available: {_quote_names(self.choices[:_MAX_NAMES])}" + (f" and {more} more" if more > 0 else "")


class UnnamedInputError(UnknownNameError):
    """A shape without the name of its input, for a model that does not have exactly one input.

    Args:
        shape: its text.
        choices: the inputs of the model.
    """

    def __init__(self, shape: object, choices: Iterable[str]) -> None:
        """Name the inputs."""
        self.shape = shape
        super().__init__("input", "", choices)
        listed = ", ".join(self.choices) or "none"
        self.args = (f"{shape} has no name, which needs a model with one input; this one has: {listed}",)


def _quote_names(names: Iterable[str]) -> str:
    """The names in quotes, since they may contain spaces and commas, or be words of the sentence."""
    return ", ".join(map(repr, names))


class ConfigError(ShapeInferenceError, ValueError):
    """A config file with an unknown key, or a value of the wrong type."""


class PathPatternError(ShapeInferenceError):
    """A path or glob pattern of a command line that names no model."""

    def __init__(self, path: str, reason: str) -> None:
        """Store both."""
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")


class ScanError(ShapeInferenceError):
    """A scan of many models cannot go on: its results cannot be read or written, or no cluster answers."""


class DamagedPartError(ScanError):
    """A part of a dataset that cannot be read.

    Args:
        file: the part.
        reason: what the reader reports.
    """

    def __init__(self, file: str, reason: str) -> None:
        """Store both."""
        text = f"{file} is damaged: {reason}; `shapeinf scan ... --repair` sets it aside and scans its models again"
        super().__init__(text)
        self.file = file
        self.reason = reason


class MissingSizeError(ShapeInferenceError):
    """A query needs the size or a bound of dims that have none.

    Args:
        names: the dims.
        help: how to specify them.
        bounds: whether upper bounds are enough.
    """

    def __init__(self, names: Iterable[str], help: str, *, bounds: bool = False) -> None:
        """Name all of them."""
        self.names, self.help, self.bounds = tuple(names), help, bounds
        super().__init__(f"no {'upper bound' if bounds else 'size'} for {', '.join(self.names)}: {help}")


class BytesError(ShapeInferenceError):
    """A value that is not an amount of memory."""

    def __init__(self, amount: object) -> None:
        """Store the value; the message has the accepted forms."""
        self.amount = amount
        forms = "bytes as an int, or text such as '64MiB' or '1.5 GB'"
        super().__init__(f"{amount!r} is not an amount of memory: expected {forms}")


class BindingError(ShapeInferenceError, ValueError):
    """Sizes that are not a binding: not integers of 64 bits, specified twice, or arrays of different lengths."""


class IllegalSizeError(ShapeInferenceError):
    """Sizes that violate a constraint of the model.

    Args:
        condition: the constraint, as text.
        source: its provenance, where known.
        binding: the index of the first binding that violates it.
        sizes: the sizes of that binding, by name.
        count: the number of bindings; the message names the index where there are several.
    """

    def __init__(
        self, condition: str, source: Source | None, binding: int, sizes: Mapping[str, int], count: int = 1
    ) -> None:
        """Store the fields."""
        self.condition = condition
        self.source = source
        self.binding = binding
        self.sizes = dict(sizes)
        because = f" (because {source})" if source is not None else ""
        super().__init__(f"{format_binding(binding, sizes, count)}: {condition} does not hold{because}")


class NoSizeError(ShapeInferenceError):
    """The queried quantity has no numeric value: it depends on data, is unknown, or divides by zero.

    Args:
        subject: such as "the shape of 'y'".
        reason: the reason.
    """

    def __init__(self, subject: str, reason: str) -> None:
        """Store the fields."""
        super().__init__(f"{subject} has no numeric value: {reason}")
        self.subject = subject
        self.reason = reason


class SizeOverflowError(ShapeInferenceError):
    """The queried quantity overflows 64 bits.

    Args:
        subject: such as "the bytes of 'y'".
        binding: the index of the first binding at which it overflows.
        sizes: the sizes of that binding, by name.
        count: the number of bindings; the message names the index where there are several.
    """

    def __init__(self, subject: str, binding: int, sizes: Mapping[str, int], count: int = 1) -> None:
        """Store the fields."""
        super().__init__(f"{format_binding(binding, sizes, count)}: 64-bit overflow in {subject}")
        self.subject = subject
        self.binding = binding
        self.sizes = dict(sizes)


class UnknownOperatorError(ShapeInferenceError):
    """No installed dialect has a rule for an operator (strict mode; otherwise its outputs are unknown)."""

    def __init__(self, node: str, op: str) -> None:
        """Name both."""
        super().__init__(f"{op} '{node}': no installed dialect has a rule for this operator")
        self.node = node
        self.op = op


class MissingPackageError(ShapeInferenceError):
    """A feature needs an optional package that is not installed.

    Args:
        feature: what needs it.
        package: its name.
        extra: the extra of shapeinf that installs it.
    """

    def __init__(self, feature: str, package: str, extra: str) -> None:
        """Store the fields; the message has the command that installs it."""
        super().__init__(f"{feature} needs {package}, which is not installed: pip install 'shapeinf[{extra}]'")
        self.package = package
        self.extra = extra


class PageError(ShapeInferenceError):
    """The files of Pyodide cannot be used for a page, or its folder has other files."""


class LayoutError(ShapeInferenceError):
    """An illegal array in memory (layout, tile, padding), or an index or axis that an array does not have."""


class LayoutSyntaxError(LayoutError, TextError):
    """The text of an array type or layout has a syntax error."""

    def __init__(self, text: str, position: int, expected: str) -> None:
        """Store the fields; the message has the text around the position."""
        begin, end = max(position - _CONTEXT, 0), position + _CONTEXT
        excerpt = ("..." if begin else "") + text[begin:end] + ("..." if text[end:] else "")
        message = f"{excerpt!r}: expected {expected} at character {position + 1}"
        TextError.__init__(self, text, position, expected, message)


class NotPickledError(ShapeInferenceError, AttributeError):
    """A part of a result that its pickle does not have; also an AttributeError, so that `hasattr` is False.

    Args:
        kind: what was pickled, such as "result".
        name: the attribute.
    """

    def __init__(self, kind: str, name: str) -> None:
        """Store the fields."""
        again = "use it where the model was inferred, or infer the model again"
        super().__init__(f"this {kind} was pickled, and a pickle has no {name!r}: {again}")
        self.kind = kind
        self.name = name


class PickleVersionError(ShapeInferenceError):
    """A pickle that another version of shapeinf has written: its records have other fields."""


class UnpicklableError(ShapeInferenceError, TypeError):
    """An object that cannot be pickled; also a TypeError, as Python raises for such objects."""
