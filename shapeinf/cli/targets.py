"""Files that commands write: checked before the work, and written before anything is printed.

So a mistake in a path costs no time, and a reader of standard output that leaves early (`| head`) loses no file.
"""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import click

from shapeinf.cli.output import FAILURE, echo, stop
from shapeinf.cli.sections import Command
from shapeinf.errors import MissingDataWarning
from shapeinf.expr.notations import NOTATIONS, NotationName
from shapeinf.formats import FORMATS
from shapeinf.formats.files import ANNOTATE, EXTERNAL_DATA, Annotate, ExternalData, is_path, is_same_file
from shapeinf.texts import escape_unprintable

Saved = TypeVar("Saved")


def output_option(text: str, *aliases: str, stream: bool = False, folder: bool = False) -> Callable[[Command], Command]:
    """The option `-o/--output` of a command that writes a file, as its argument `output`.

    Args:
        text: what is written, for the help.
        aliases: older spellings of the option.
        stream: `-` prints to standard output.
        folder: the target may be a folder.
    """
    return click.option(
        "--output",
        "-o",
        *aliases,
        "output",
        type=click.Path(dir_okay=folder, writable=True, allow_dash=stream),
        metavar="OUT",
        help=text,
    )


_EXTERNAL_DATA = click.option(
    "--external-data",
    "--external",
    type=click.Choice(EXTERNAL_DATA),
    help="Weights of an ONNX model in other files stay there (keep, the default), are copied to OUT.data, or are "
    "embedded in OUT.",
)
_ANNOTATE = click.option(
    "--annotate",
    type=click.Choice(ANNOTATE),
    help="Which types an ONNX model gets: the types of all values, with texts that cost a runtime no memory (chains, "
    "the default) or with equal texts for equal dims (all), or the types of the outputs only (io).",
)
_DIM_TEXT = click.option(
    "--dim-text",
    type=click.Choice(list(NOTATIONS)),
    help="Write the dims of an ONNX model in the notation of this tool: sympy (which onnxruntime uses), torch, jax, "
    "or onnx for the form that is proposed as a standard. Equal dims then have equal texts.",
)
_FORCE = click.option("--force", is_flag=True, help="Overwrite OUT even if it is a file other than a model.")


class ModelTarget(NamedTuple):
    """Where a command writes a model; `path` is None where it writes none, and `-` for standard output."""

    path: str | None
    external_data: ExternalData | None
    annotate: Annotate | None
    dim_text: NotationName | None
    force: bool

    @property
    def is_stdout(self) -> bool:
        """Whether the model is printed."""
        return self.path == "-"

    def check(self, model: str) -> None:
        """End the command where its model cannot be written, or would replace a file that is not a model.

        A model may be replaced, also the one that the command reads.
        """
        if self.path is None or self.is_stdout:
            choices = {
                "external-data": self.external_data,
                "annotate": self.annotate,
                "dim-text": self.dim_text,
                "force": self.force or None,
            }
            alone = next((f"--{name}" for name, choice in choices.items() if choice is not None), None)
            if alone is not None:
                raise click.UsageError(f"{alone} has no effect without a file to write: add -o OUT")
            return
        _check_writable(self.path, folder=FORMATS.writes_folder(model))
        if self.force or os.path.isdir(self.path):
            return
        if _has_content(self.path) and not FORMATS.is_model_file(self.path):
            raise click.UsageError(f"{self.path} exists and is not a model: write to another file, or add --force")
        data = f"{self.path}.data"
        if self.external_data == "copy" and os.path.exists(data) and not os.path.exists(self.path):
            text = f"{data} exists, but {self.path} does not: write to another file, or add --force"
            raise click.UsageError(text)

    def save(self, save: Callable[..., Saved]) -> Saved | None:
        """Write the model by the `save` of its result, if there is a file to write; returns what `save` does.

        Raises ModelError.
        """
        if self.path is None or self.is_stdout:
            return None
        choices = {"annotate": self.annotate, "dim_text": self.dim_text}
        choices = {name: choice for name, choice in choices.items() if choice is not None}
        with saving(self.path):
            return save(self.path, external_data=self.external_data, **choices)


def model_output(
    text: str, *aliases: str, stream: bool = False, folder: bool = False, annotated: bool = True
) -> Callable[[Command], Command]:
    """The options of a command that writes a model, as its argument `target: ModelTarget`; see `output_option`.

    `annotated`: the model gets inferred types.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def run(
            output: str | None,
            external_data: ExternalData | None,
            force: bool,
            annotate: Annotate | None = None,
            dim_text: NotationName | None = None,
            **arguments: Any,
        ) -> None:
            command(target=ModelTarget(output, external_data, annotate, dim_text, force), **arguments)

        options = _EXTERNAL_DATA(_ANNOTATE(_DIM_TEXT(_FORCE(run))) if annotated else _FORCE(run))
        return output_option(text, *aliases, stream=stream, folder=folder)(options)

    return decorate


def check_outputs(**outputs: str | None) -> None:
    """End the command where a report, by the name of its option, cannot be written, or would replace a model.

    Two options must not name one file.
    """
    seen: list[tuple[str, str]] = []
    for keyword, path in outputs.items():
        name = keyword.replace("_", "-")
        if path is None or path == "-":
            continue
        _check_writable(path, folder=False)
        if _has_content(path) and FORMATS.is_model_file(path):
            raise click.UsageError(f"--{name}: {path} is a model: name another file")
        for other, earlier in seen:
            if is_same_file(path, earlier):
                raise click.UsageError(f"--{other} and --{name} both write {path}: name two files")
        seen.append((name, path))


@contextmanager
def saving(*paths: str) -> Iterator[None]:
    """After the block has written files, report them, and warnings about missing data, on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MissingDataWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, MissingDataWarning):
            echo(f"note: {warning.message}", err=True)
        else:
            warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)
    for path in paths:
        echo(f"saved {path}", err=True)


def _has_content(path: str) -> bool:
    return os.path.isfile(path) and os.path.getsize(path) > 0


def _check_writable(path: str, *, folder: bool) -> None:
    """End the command where no file can be written under a path; it may be a folder with `folder`."""
    parent = os.path.dirname(os.path.realpath(path)) if is_path(path) else ""
    if not parent:
        reason = "is not a file path"
    elif os.path.isdir(path):
        reason = "" if folder else "is a folder: name a file in it"
    elif not os.path.isdir(parent):
        reason = f"cannot be written: there is no folder {parent}"
    elif not os.access(path if os.path.exists(path) and not os.path.isfile(path) else parent, os.W_OK):
        reason = f"cannot be written: no permission to write in {parent}"
    else:
        return
    if reason:
        stop(FAILURE, f"{escape_unprintable(path)}: {reason}")
