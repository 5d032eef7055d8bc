"""`shapeinf scan PATH... -o OUT` and `shapeinf scan report OUT`."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from types import FrameType
from typing import Any

import attrs
import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.options import check_bindings, json_option
from shapeinf.cli.output import (
    INTERRUPTED,
    VIOLATION,
    echo,
    echo_json,
    echo_json_line,
    echo_lines,
    echo_status,
    output_width,
    stop,
)
from shapeinf.cli.sections import SectionedCommand
from shapeinf.cli.targets import check_outputs, output_option, saving
from shapeinf.errors import BytesError
from shapeinf.formats.files import write_text
from shapeinf.memory.sizes import parse_bytes
from shapeinf.report.scan_report import scan_report_html, scan_report_lines
from shapeinf.scan.candidates import find_candidates
from shapeinf.scan.copies import is_url
from shapeinf.scan.dataset import Dataset
from shapeinf.scan.records import ModelRow, ScanOptions, config_as_table, format_options_as_table
from shapeinf.scan.run import ScanProgress, count_in_background, make_executor, run_scan
from shapeinf.scan.statistics import read_report
from shapeinf.texts import format_count

MIN_MEMORY = 512 << 20
"""A process needs most of this before it reads a model."""
_TERMINAL_SECONDS, _LOG_SECONDS = 0.5, 30.0
"""How often the progress is printed: on a terminal, and elsewhere."""


class _ScanCommand(SectionedCommand):
    """A command whose first argument `report` selects the command of that name."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args[:1] == ["report"]:
            return report.make_context(f"{info_name} report", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


def _read_memory(_: click.Context, parameter: click.Parameter, text: str) -> int | None:
    if text == "none":
        return None
    try:
        memory = parse_bytes(text)
    except BytesError as error:
        raise click.BadParameter(str(error), param=parameter) from None
    if memory < MIN_MEMORY:
        raise click.BadParameter("a process needs 512MiB before it reads a model", param=parameter)
    return memory


@attrs.frozen
class _Execution:
    """The options that decide where and how models are scanned."""

    jobs: int | None
    dask: str | None
    exclude: tuple[str, ...]
    follow_links: bool
    json_lines: bool


@click.command(name="scan", cls=_ScanCommand)
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="PATH...")
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(file_okay=False),
    metavar="OUT",
    help="The folder of the results; it may hold an earlier scan.",
)
@model_options(without=("declared", "strict"))
@click.option(
    "--timeout",
    type=click.FloatRange(0.1),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="The time limit for each model.",
)
@click.option(
    "--memory",
    default="4GiB",
    show_default=True,
    callback=_read_memory,
    metavar="SIZE",
    help="The limit on the address space of each process, such as 2GiB; `none` for no limit.",
)
@click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="The number of processes; by default one per processor core."
)
@click.option("--dask", metavar="ADDRESS", help="Scan on the Dask cluster with this scheduler; `local` starts one.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Paths that are not scanned. Repeatable.")
@click.option("--follow-links", is_flag=True, help="Follow links out of the folders, and links to folders.")
@click.option("--checksum", is_flag=True, help="Add the SHA-256 of each file.")
@click.option("--tensors", is_flag=True, help="Add a table of all tensors.")
@click.option(
    "--retry", is_flag=True, help="Repeat the models that have no result: timeout, memory, crash, unreadable."
)
@click.option("--repair", is_flag=True, help="Set damaged files of OUT aside, and scan their models again.")
@click.option("--json-lines", is_flag=True, help="Print each row as one line of JSON.")
def scan(
    paths: tuple[str, ...],
    output: str,
    options: ModelOptions,
    timeout: float,
    memory: int | None,
    checksum: bool,
    tensors: bool,
    retry: bool,
    repair: bool,
    **execution: Any,
) -> None:
    """Scan the models that each PATH names, and write a row for each to a Parquet dataset in the folder OUT.

    A PATH is a file, a folder (searched for models of all formats), a quoted glob pattern or a URL of fsspec. Each
    model has a process with limits of time and memory: a crash, a hang or a lack of memory is a row. The same command
    again skips unchanged models that have a row. `shapeinf scan report OUT` shows the results.

    Exit codes: 0 every path has a result, 1 some paths have no result, 2 usage, 3 the scan cannot go on, 130 ended by
    Ctrl-C.
    """
    how = _Execution(**execution)
    check_bindings(options.dims, options.inference.bind)
    with readable_errors():
        scan_options = ScanOptions(
            config=config_as_table(options.as_config(_typed_keys(options))),
            format_options=format_options_as_table(options.inference.format_options),
            checksum=checksum,
            tensors=tensors,
            timeout=timeout,
            memory=memory,
        )
        with closing(Dataset(output, retry=retry, checksum=checksum, repair=repair)) as dataset:
            for file in dataset.damaged:
                echo(f"note: {file} is damaged: it is set aside, and its models are scanned again", err=True)
            progress = _scan(paths, dataset, scan_options, how)
    echo(f"{_progress_text(progress)}; results are in {output}", err=True)
    if progress.failed:
        raise click.exceptions.Exit(VIOLATION)


def _typed_keys(options: ModelOptions) -> list[str]:
    """The options that are typed, or come from the file of --config."""
    inference = options.inference
    return [
        *(key for key in ("bind", "assume", "values") if getattr(inference, key)),
        *(["min_dim"] if inference.min_dim != 1 else []),
    ]


def _scan(paths: tuple[str, ...], dataset: Dataset, options: ScanOptions, how: _Execution) -> ScanProgress:
    progress = ScanProgress()
    printer = _ProgressPrinter(progress)

    def on_row(row: ModelRow) -> None:
        if how.json_lines:
            echo_json_line(row)
        printer.update()

    candidates = find_candidates(paths, how.exclude, follow_links=how.follow_links)
    executor = make_executor(options, how.jobs, how.dask)
    if printer.terminal and not any(map(is_url, paths)):
        count_in_background(paths, how.exclude, how.follow_links, progress)
    try:
        with _stopping_on_termination():
            return run_scan(candidates, dataset, executor, on_row, progress)
    except KeyboardInterrupt:
        printer.end()
        stop(INTERRUPTED, f"stopped: {_progress_text(progress)}; the same command continues from here")
    finally:
        printer.end()


@contextmanager
def _stopping_on_termination() -> Iterator[None]:
    """SIGTERM stops a scan as Ctrl-C does."""

    def interrupt(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        previous = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def _progress_text(progress: ScanProgress) -> str:
    text = f"{format_count(progress.rows, 'path')} scanned, {progress.failed} without a result"
    if progress.skipped:
        text += f", {progress.skipped} already done"
    return text


class _ProgressPrinter:
    """The progress on stderr: one line that changes on a terminal, else a line now and then."""

    def __init__(self, progress: ScanProgress) -> None:
        self.terminal = sys.stderr.isatty()
        self._progress = progress
        self._interval = _TERMINAL_SECONDS if self.terminal else _LOG_SECONDS
        self._next = time.monotonic() + self._interval
        self._open = False

    def update(self) -> None:
        """Print where the interval has passed."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._interval
        text = f"{_progress_text(self._progress)}, {self._progress.rate:.1f} a second"
        remaining = self._progress.remaining
        if remaining is not None:
            minutes, seconds = divmod(int(remaining / max(self._progress.rate, 1e-9)), 60)
            text += f", {remaining} remaining ({minutes} min {seconds} s)"
        if self.terminal:
            echo_status(text)
            self._open = True
        else:
            echo(text, err=True)

    def end(self) -> None:
        """End the line."""
        if self._open:
            echo_status("")
            self._open = False


@click.command(name="report")
@click.argument("folder", metavar="OUT", type=click.Path())
@output_option("Write the report to the file OUT as one HTML page.")
@json_option
def report(folder: str, output: str | None, json_wanted: bool) -> None:
    """Show the results of a scan: outcomes, findings, operators without rules, the slowest and largest models.

    Exit codes: 0 shown, 2 usage, 3 OUT cannot be read or the report cannot be written.
    """
    check_outputs(output=output)
    with readable_errors():
        scan_report = read_report(os.path.normpath(folder))
        if output is not None:
            with saving(output):
                write_text(output, scan_report_html(scan_report))
        if json_wanted:
            echo_json(scan_report)
        elif output is None:
            for line in scan_report_lines(scan_report, output_width()):
                echo_lines(line)
