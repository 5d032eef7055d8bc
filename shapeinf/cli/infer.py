"""`shapeinf infer MODEL`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import attrs
import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.options import json_option
from shapeinf.cli.output import (
    echo,
    echo_diagnostic,
    echo_document,
    echo_json,
    echo_rows,
    echo_wrapped,
    fail_on,
)
from shapeinf.cli.sections import Command, SectionedCommand
from shapeinf.cli.targets import ModelTarget, model_output
from shapeinf.report.model import build_report
from shapeinf.report.module_tree import module_rows
from shapeinf.report.tensor_rows import TensorQuery, TensorRows
from shapeinf.report.text import MARGIN, summary_lines, tensor_cells, tensor_columns
from shapeinf.result import Result

_QUERY = (
    click.option("--inputs", is_flag=True, help="List only the inputs of the graph; with --outputs, both."),
    click.option("--outputs", is_flag=True, help="List only the outputs of the graph."),
    click.option(
        "--filter",
        "names",
        multiple=True,
        metavar="NAME|GLOB",
        help="List only tensors with this name, or whose name matches a glob: 'encoder/*'. Repeatable.",
    ),
    click.option(
        "--op",
        "operators",
        multiple=True,
        callback=lambda _, __, texts: _split(texts),
        metavar="OP,...",
        help="List only outputs of these operators, in any case, or of operators that match a glob: 'conv*'. "
        "Repeatable.",
    ),
    click.option("--unknown", is_flag=True, help="List only tensors with an unknown dim or rank."),
    click.option("--constants", is_flag=True, help="List constants too; JSON always has them."),
    click.option("--bodies", is_flag=True, help="List tensors of functions, loops and branches too."),
    click.option(
        "--values",
        "contents",
        is_flag=True,
        help="List the contents of small tensors too, as far as they are known: [batch, -1].",
    ),
    click.option(
        "--limit", type=click.IntRange(min=0), metavar="N", help="List at most N tensors, and how many more there are."
    ),
)


def _split(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.strip() for text in texts for part in text.split(",") if part.strip())


def _query_options(command: Command) -> Command:
    for option in reversed(_QUERY):
        command = option(command)
    return command


@click.command(cls=SectionedCommand)
@click.argument("model", type=click.Path())
@model_options()
@_query_options
@click.option(
    "--minimize-memory",
    "runtime",
    type=click.Choice(["onnxruntime"]),
    help="Choose the types in OUT, and the order of its nodes, for little memory in this runtime, by prediction at the "
    "sizes of --bind and others; never more than the bare file needs there. OUT keeps the names of the dims of --bind.",
)
@click.option(
    "--contract",
    is_flag=True,
    help="Store the contract with OUT, in the metadata of an ONNX model, else in OUT.contract.json: `shapeinf contract "
    "--stored` and Contract.load read it without an inference.",
)
@click.option("--tree", is_flag=True, help="Group the tensors by the modules in the names of their nodes.")
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    metavar="N",
    help="With --tree, the number of levels of modules; deeper ones are collapsed.",
)
@json_option
@model_output(
    "Write the model annotated with the inferred shapes to OUT; `-` prints a document in text form, not the table.",
    "--save",
    stream=True,
    folder=True,
)
def infer(
    model: str,
    options: ModelOptions,
    runtime: str | None,
    contract: bool,
    tree: bool,
    depth: int,
    json_wanted: bool,
    target: ModelTarget,
    **wanted: object,
) -> None:
    """Infer the shape of every tensor of MODEL.

    MODEL is an ONNX file, a GraphDef, SavedModel, TensorFlow.js or TensorFlow Lite model, a program of torch.export, an
    NNEF document, folder or archive, or a network of PNNX.

    Exit codes: 0 no errors, 1 the model has errors or cannot run at the sizes of --bind, 2 usage (such as an unknown
    dim, input, tensor or operator; a glob that matches nothing is a note), 3 a file cannot be read or written.
    """
    if target.is_stdout and json_wanted:
        raise click.UsageError("-o - and --json both print to stdout: choose one")
    if tree and json_wanted:
        raise click.UsageError("--tree and --json cannot be combined: choose one")
    if runtime is not None and (target.path is None or target.is_stdout):
        raise click.UsageError("--minimize-memory has no effect without a file to write: add -o OUT")
    if contract and (target.path is None or target.is_stdout or runtime is not None):
        raise click.UsageError("--contract needs a file to write, without --minimize-memory: add -o OUT")
    if runtime is not None and (target.annotate is not None or target.dim_text is not None):
        option = "--dim-text" if target.annotate is None else "--annotate"
        raise click.UsageError(f"--minimize-memory chooses the types that {option} would write: specify one of them")
    query = TensorQuery(**wanted)  # type: ignore[arg-type]  # the options have the names and types of its fields
    with readable_errors():
        target.check(model)
        result = options.infer(model)
        memory = None  # files are written before anything is printed: the reader of a pipe may leave
        if runtime is None:
            target.save(partial(result.save, contract=contract))
        else:
            unbound, sizes = options.infer_unbound(model)
            memory = target.save(partial(unbound.save, minimize_memory=runtime, sizes=sizes))
            echo(*str(memory).splitlines(), err=True)
        if target.is_stdout:
            echo_document(result.save)
        elif json_wanted:
            report = build_report(result, attrs.evolve(query, constants=True, contents=True))
            _print_note(report.note)
            echo_json(attrs.evolve(report, model=model, memory=memory))
        else:
            _print_table(result, query, depth if tree else None)
            _print_summary(result)
    fail_on(any(diagnostic.severity == "error" for diagnostic in result.diagnostics))


def _print_table(result: Result, query: TensorQuery, depth: int | None) -> None:
    """The tensors of the query, as a tree of this depth, or as a list for None."""
    tensors = TensorRows(result, query)
    values = query.contents
    rows = tensor_cells(tensors, values) if depth is None else module_rows(tensors, depth, values)
    echo_rows(tensor_columns(values), rows)
    if tensors.omitted:
        echo(f" and {tensors.omitted:,} more: --limit is {query.limit}")
    _print_note(tensors.note)
    if not tensors.note:
        echo("")


def _print_note(note: str) -> None:
    if note:
        echo(f"note: {note}", err=True)


def _print_summary(result: Result) -> None:
    report = build_report(result, None)
    echo_wrapped(summary_lines(report), MARGIN + 2)
    for diagnostic in report.diagnostics:
        echo("")
        echo_diagnostic(diagnostic)
