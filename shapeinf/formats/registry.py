"""The record of a format, and the detection of the format of a model.

A format names itself, recognizes its models, reads and writes them, and has its own options record, so that a new one
adds no parameter to `infer_shapes`, to `bind` or to the command line (docs/dev/add-a-format.md).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TextIO

import attrs

from shapeinf.errors import (
    LimitError,
    MissingPackageError,
    ModelError,
    ShapeInferenceError,
    UnknownFormatError,
    UnknownNameError,
)
from shapeinf.expr.notations import NOTATIONS, NotationName
from shapeinf.formats.annotation import Annotation
from shapeinf.formats.files import ANNOTATE, EXTERNAL_DATA, Annotate, ExternalData, WriteOptions, open_descriptor
from shapeinf.formats.foreign import explain_failure, identify_by_content, identify_compressed, identify_folder
from shapeinf.formats.objects import model_of_object
from shapeinf.formats.read_files import files_of
from shapeinf.graph import Graph
from shapeinf.graph.guards import InputGuards
from shapeinf.sharing import cached_property
from shapeinf.texts import escape_unprintable

HEAD = 4096
"""Bytes at the start of a file by which its format is recognized."""

Target = str | os.PathLike[str] | TextIO
"""Where a model is written; only text formats can be written to a stream."""


@attrs.frozen
class FormatOptions:
    """Base of the options records of the formats, frozen attrs classes with `command_line` metadata on each field."""


class CommandLineOption(NamedTuple):
    """The option of the command line for a field of an options record; a `repeated` one may be typed several times."""

    help: str
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    repeated: bool = False


def command_line(
    text: str, *, choices: Sequence[str] = (), metavar: str | None = None, repeated: bool = False
) -> Mapping[object, object]:
    """The metadata of a field of an options record: the command line offers it as `--name`, with this help text."""
    return {CommandLineOption: CommandLineOption(text, tuple(choices), metavar, repeated)}


@attrs.frozen
class SignatureOptions(FormatOptions):
    """The option that formats with signatures share.

    Args:
        signature: the signature to read: a name for a part of the model, with names for its inputs and outputs.
    """

    signature: str | None = attrs.field(
        default=None,
        metadata=command_line(
            "The signature to read of a SavedModel or a TensorFlow Lite file; the entire graph by default.",
            metavar="NAME",
        ),
    )


class Candidate:
    """A model of unknown format, with the data by which formats recognize it."""

    def __init__(self, model: object) -> None:
        """`model` is a path, a text, bytes or an object of a format's library."""
        self.model = model
        self.text = os.fsdecode(model) if isinstance(model, (str, os.PathLike)) else None
        """The path, or the text of the model itself; None for bytes and objects."""
        self.library = type(model).__module__.partition(".")[0]
        """The package that defines the class of the model."""

    @property
    def label(self) -> str:
        """The name in messages: the path, `<text>` or `<bytes>`."""
        if self.text is None:
            return "<bytes>"
        return "<text>" if "\n" in self.text else escape_unprintable(self.text)

    @cached_property
    def head(self) -> bytes:
        """The first bytes; empty for an object, a folder, a pipe (it can be read only once) and an unreadable file."""
        if isinstance(self.model, bytes):
            return self.model[:HEAD]
        if self.text is None:
            return b""
        try:
            descriptor = open_descriptor(self.text)
            try:
                return os.read(descriptor, HEAD)
            finally:
                os.close(descriptor)
        except (OSError, ValueError):  # the reader of the format reports the error of the path
            return b""


class MissingData(NamedTuple):
    """Missing data of tensors in another file: its path as the model has it, the reason, and the tensors."""

    file: str
    reason: str
    tensors: tuple[str, ...]


class Format(NamedTuple):
    """A format of model files.

    Args:
        name: its name, which each `Graph.format` has. Graphs that are not read from a file have the format of the name
            of their dialect, such as "onnx".
        title: its name in messages.
        sniff: whether a model is of this format.
        read: returns the graph of a model; it is called with the model and the options (None if `options` is None).
        write: write a graph with an annotation; it also changes the input types, constants and assumptions that the
            annotation lists. None for a format that is only read.
        options: the class of its options, None where it has none.
        is_model_path: whether a path in a folder that is searched for models is a model of this format. Stricter than
            `sniff`: other files of such a folder are no models, and errors about them would be noise.
        missing_data: the data of a model that should be in other files, but are missing.
        is_model_head: whether a file that begins with these bytes is a model, in a form that `write` can write.
        writes_folders: whether the target of `write` may be a folder.
        write_with_options: like `write`, for a format whose models may have weights in other files, and whose writer
            can choose which types it writes; None for any other.
        input_guards: the guards that the exporter of a model states on the sizes of its inputs; None where it states
            none.
        interpreter: the runtime that files of this format are for, as `Result.memory` names it; empty where there are
            several.
        stores_contract: whether `write` writes the contract of an annotation into the file.
        triton_platform: the platform by which Triton loads the file of a graph; empty where it loads no such file.
        refuses_others: whether `read` fails for every file of another kind: the kind of a file with the name of this
            format is then identified after a failure only.
    """

    name: str
    title: str
    sniff: Callable[[Candidate], bool]
    read: Callable[[Any, Any], Graph]
    write: Callable[[Graph, Annotation, Target], None] | None = None
    options: type[FormatOptions] | None = None
    is_model_path: Callable[[Candidate], bool] = lambda _: False
    missing_data: Callable[[Graph], Iterable[MissingData]] = lambda _: ()
    is_model_head: Callable[[bytes], bool] = lambda _: False
    writes_folders: bool = False
    write_with_options: Callable[[Graph, Annotation, Target, WriteOptions], None] | None = None
    input_guards: Callable[[Graph], InputGuards | None] = lambda _: None
    interpreter: str = ""
    stores_contract: bool = False
    triton_platform: Callable[[Graph], str] = lambda _: ""
    refuses_others: bool = False

    def command_line(self) -> dict[str, CommandLineOption]:
        """The options of the format on the command line, by the names of their fields."""
        fields = attrs.fields_dict(self.options) if self.options is not None else {}
        return {name: field.metadata[CommandLineOption] for name, field in fields.items()}


@attrs.frozen
class FormatRegistry:
    """All formats, in the order in which they sniff a model."""

    formats: Sequence[Format]
    default: Format
    """The format of models that no format recognizes: its reader reports the error."""

    def load(self, model: Any, options: FormatOptions | None = None) -> Graph:
        """Read a model.

        Raises UnknownFormatError for a file that is no model, with what it is instead; ShapeInferenceError for options
        of another format.
        """
        model = model_of_object(model)
        candidate = Candidate(model)
        recognized = self.recognize(candidate)
        chosen = self._format_of(recognized, options)
        by_contents = recognized not in (None, self.default)
        is_read_first = recognized is not None and recognized.refuses_others
        if not is_read_first:
            refuse_foreign(candidate, by_contents)
        if chosen.options is not None and not isinstance(options, chosen.options):
            options = chosen.options(**({} if options is None else attrs.asdict(options, recurse=False)))
        try:
            graph = chosen.read(model, options)
        except (ModelError, MissingPackageError) as error:
            if is_read_first:
                refuse_foreign(candidate, by_contents)
            if isinstance(error, (LimitError, MissingPackageError)):
                raise
            text = _foreign_text(candidate, recognized, error)
            if text is None:
                raise
            raise UnknownFormatError(text, node=error.node) from error
        graph.format = chosen.name
        return graph

    def format_of(self, graph: Graph) -> Format | None:
        """The format that a graph was read from; for a graph in memory the one with the name of its dialect.

        None for a graph of a format that is not in this registry.
        """
        name = graph.format or graph.dialect
        return next((format_ for format_ in self.formats if format_.name == name), None)

    def save(
        self,
        graph: Graph,
        annotation: Annotation,
        target: Target,
        external_data: ExternalData | None = None,
        annotate: Annotate | None = None,
        dim_text: NotationName | None = None,
        *,
        order: Sequence[int] | None = None,
    ) -> None:
        """Write an annotated graph in the format that it was read from.

        `external_data`, `annotate`, `dim_text` and `order` are the fields of `WriteOptions`; None means their default:
        with `dim_text` that of `annotate` is "all". Raises ShapeInferenceError for one of the first three in a format
        that has no such choice, and for texts of a tool with numbers of chains, UnknownNameError for an unknown value,
        ModelError if the file cannot be written.
        """
        chosen = self.format_of(graph)
        if chosen is None and graph.format:
            raise ShapeInferenceError(f"models of the format {graph.format!r} cannot be written here")
        chosen = chosen or self.default  # its writer reports a graph that was not read from a file
        if chosen.write is None:
            raise ShapeInferenceError(f"{chosen.title} models can be read, but not written")
        if external_data not in (None, *EXTERNAL_DATA):
            raise UnknownNameError("way to write external data", str(external_data), EXTERNAL_DATA)
        if annotate not in (None, *ANNOTATE):
            raise UnknownNameError("way to annotate", str(annotate), ANNOTATE)
        if dim_text not in (None, *NOTATIONS):
            raise UnknownNameError("notation of dims", str(dim_text), list(NOTATIONS))
        if dim_text is not None and annotate == "chains":
            raise ShapeInferenceError(f"{dim_text} does not read the numbers of chains: use annotate='all' or 'io'")
        if chosen.write_with_options is None:
            if external_data is not None:
                raise ShapeInferenceError(f"external_data has no effect: {chosen.title} models have no external data")
            if annotate is not None:
                raise ShapeInferenceError(f"annotate has no effect: {chosen.title} models are written with all types")
            if dim_text is not None:
                raise ShapeInferenceError(f"dim_text has no effect: {chosen.title} models have dims in their own form")
        try:
            files_of(graph).check()
            if chosen.write_with_options is not None:
                default: Annotate = "chains" if dim_text is None else "all"
                options = WriteOptions(external_data or "keep", annotate or default, dim_text, order)
                chosen.write_with_options(graph, annotation, target, options)
            else:
                chosen.write(graph, annotation, target)
        except OSError as error:
            where = os.fsdecode(target) if isinstance(target, (str, os.PathLike)) else None
            raise ModelError(f"cannot be written: {error.strerror or error}", node=where) from error

    def is_model_path(self, path: str) -> bool:
        """Whether a path in a folder that is searched for models is a model: a file, or a folder of one model."""
        candidate = Candidate(path)
        return any(format_.is_model_path(candidate) for format_ in self.formats)

    def is_model_file(self, path: str) -> bool:
        """Whether the first bytes of a file are those of a model, in a form that can be written."""
        head = Candidate(path).head
        return any(format_.is_model_head(head) for format_ in self.formats)

    def writes_folder(self, model: Any) -> bool:
        """Whether a model of this format may be written into a folder."""
        recognized = self.recognize(Candidate(model))
        return recognized is not None and recognized.writes_folders

    def accepts(self, model: Any, options: FormatOptions | None) -> bool:
        """Whether the options are those of the format of a model; true where no format recognizes it."""
        if options is None:
            return True
        recognized = self.recognize(Candidate(model))
        return recognized is None or _has_options(recognized, options)

    def missing_data(self, graph: Graph) -> list[MissingData]:
        """The data of the model of a graph that should be in other files, but are missing."""
        chosen = self.format_of(graph)
        return [] if chosen is None else list(chosen.missing_data(graph))

    def input_guards(self, graph: Graph) -> InputGuards | None:
        """The guards that the exporter of a model states on the sizes of its inputs; None where it states none."""
        chosen = self.format_of(graph)
        return None if chosen is None else chosen.input_guards(graph)

    def recognize(self, candidate: Candidate) -> Format | None:
        """The format of a model by its name or its first bytes; None where these are those of no format."""
        return next((format_ for format_ in self.formats if format_.sniff(candidate)), None)

    def _format_of(self, recognized: Format | None, options: FormatOptions | None) -> Format:
        if options is None:
            return recognized or self.default
        owners = [format_ for format_ in self.formats if _has_options(format_, options)]
        if not owners:
            raise ShapeInferenceError(f"{options!r} are not options of a format")
        if recognized is None or recognized in owners:
            return recognized or owners[0]
        names = ", ".join(field.name for field in attrs.fields(type(options)))
        titles = " or ".join(format_.title for format_ in owners)
        raise ShapeInferenceError(f"the options {names} are for {titles}, but the model is {recognized.title}")

    def command_line(self) -> dict[str, CommandLineOption]:
        """The options of all formats on the command line, by name."""
        return {name: option for format_ in self.formats for name, option in format_.command_line().items()}

    def options(self, values: Mapping[str, object]) -> FormatOptions | None:
        """The options record of values from the command line, by name; None where all have their defaults.

        A value of None or () is that of an option that was not typed. The record of options that several formats share
        is of the class that has them. Raises ShapeInferenceError for options of two formats.
        """
        values = {name: value for name, value in values.items() if value not in (None, ())}
        records = list(self._records(values))
        typed = {name for record in records for name in _changed(record)}
        complete = [record for record in records if typed <= attrs.fields_dict(type(record)).keys()]
        if records and not complete:
            raise ShapeInferenceError(f"the options belong to different formats: {records[0]!r}, {records[1]!r}")
        if len(complete) < 2:
            return complete[0] if complete else None
        classes = type(complete[0]).__mro__
        shared = next(base for base in classes if all(isinstance(record, base) for record in complete))
        return shared(**{name: values[name] for name in typed})  # type: ignore[no-any-return]

    def _records(self, values: Mapping[str, object]) -> Iterable[FormatOptions]:
        for format_ in self.formats:
            if format_.options is not None:
                record = format_.options(**{name: values[name] for name in format_.command_line() if name in values})
                if record != format_.options():
                    yield record


def _changed(record: FormatOptions) -> Iterable[str]:
    """The names of the options that differ from their defaults."""
    default = type(record)()
    return (f.name for f in attrs.fields(type(record)) if getattr(record, f.name) != getattr(default, f.name))


def _has_options(format_: Format, options: FormatOptions) -> bool:
    """Whether options are those of a format: of its class, or of a class that it shares with others."""
    return format_.options is not None and issubclass(format_.options, type(options))


def refuse_foreign(candidate: Candidate, recognized: bool) -> None:
    """Raise UnknownFormatError for a file whose first bytes are not those of a model, with what it is instead.

    `recognized`: a format recognizes the file by its contents.
    """
    head = candidate.head
    if not head:
        return
    kind = identify_by_content(head, recognized) or identify_compressed(candidate.text, head)
    if kind is not None:
        raise UnknownFormatError(str(kind), node=candidate.label)


def _foreign_text(candidate: Candidate, recognized: Format | None, error: ModelError) -> str | None:
    """The message for a path that is no model; None where the message of the reader is better."""
    path = candidate.text
    if path is None or not isinstance(error.node, str):
        return None
    if os.path.isdir(path):
        return identify_folder(path) if recognized is None else None
    if recognized is None and candidate.head:
        return explain_failure(path, candidate.head, error.cause)
    kind = identify_by_content(candidate.head, False) if isinstance(error, UnknownFormatError) else None
    return None if kind is None else str(kind)
