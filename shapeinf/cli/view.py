"""`shapeinf view MODEL`."""

from __future__ import annotations

import os
import signal
import sys
import time
from tempfile import TemporaryDirectory
from typing import cast

import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.output import FAILURE, echo, hide_library_logs, stop
from shapeinf.cli.sections import SectionedCommand
from shapeinf.cli.targets import check_outputs, output_option, saving
from shapeinf.errors import MissingPackageError
from shapeinf.formats.files import copy_name, write_text
from shapeinf.report.model_explorer import QUANTITIES, Quantity, node_data
from shapeinf.result import Result
from shapeinf.schemas import json_text

HOST = "localhost"


@click.command(cls=SectionedCommand)
@click.argument("model", type=click.Path())
@model_options()
@click.option(
    "--port", type=click.IntRange(1, 65535), metavar="N", help="The port of netron's server; a free one by default."
)
@click.option(
    "--browser/--no-browser", default=True, show_default=True, help="Open a browser, or print the address only."
)
@click.option(
    "--export",
    type=click.Choice(["model-explorer"]),
    help="Write node data for Model Explorer to the file of -o, instead of showing the model in netron.",
)
@click.option(
    "--quantity",
    type=click.Choice(QUANTITIES),
    help="What --export writes for each node: the shapes or bytes of its outputs, or its multiply-accumulates "
    "(the default).",
)
@output_option("Write the node data of --export to OUT.")
def view(
    model: str,
    options: ModelOptions,
    port: int | None,
    browser: bool,
    export: str | None,
    quantity: str | None,
    output: str | None,
) -> None:
    """Show MODEL, annotated with the inferred shapes, in netron, until Ctrl-C; or export values of its nodes.

    netron is a separate package: pip install netron. Its server runs on this machine and shows a temporary copy of
    the model and its weights, which is removed at the end.

    Exit codes: 0 exported, 1 with --strict, the model has errors, 2 usage, 3 netron is not installed, a port is in use,
    or a file cannot be read or written, 130 ended by Ctrl-C.
    """
    if (export is None) != (output is None) or (quantity is not None and export is None):
        raise click.UsageError("-o OUT and --quantity belong to --export: add --export model-explorer -o OUT")
    with readable_errors():
        check_outputs(output=output)
        if export is None:
            _require_netron()
        result = options.infer(model)
        if output is None:
            _show(result, model, port, browser)
        else:
            _export(result, cast(Quantity, quantity or "macs"), output)


def _export(result: Result, quantity: Quantity, output: str) -> None:
    text = json_text(node_data(result, quantity))
    with saving(output):
        write_text(output, f"{text}\n")


def _require_netron() -> None:
    try:
        import netron  # noqa: F401
    except ImportError:
        raise MissingPackageError("view", "netron", "view") from None


def _show(result: Result, model: str, port: int | None, browser: bool) -> None:
    """Serve an annotated copy of the model until Ctrl-C."""
    import netron

    hide_library_logs()
    signal.signal(signal.SIGTERM, _terminate)
    with TemporaryDirectory(prefix="shapeinf-") as folder:
        path = os.path.join(folder, copy_name(result.graph.source or model))
        result.save(path, external_data="copy" if result.graph.external else None)
        try:
            address = netron.start(path, address=(HOST, port), browse=browser)
        except OSError as error:
            stop(FAILURE, f"netron cannot use port {port} of {HOST}: {error.strerror}")
        echo(f"showing {model} at http://{address[0]}:{address[1]}; Ctrl-C ends", err=True)
        try:
            while netron.status(address):
                time.sleep(0.1)
        finally:
            netron.stop(address)


def _terminate(number: int, _: object) -> None:
    """End as after an error, which removes the temporary copy."""
    sys.exit(128 + number)
