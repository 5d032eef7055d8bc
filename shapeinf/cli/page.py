"""`shapeinf page -o site`."""

from __future__ import annotations

import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.output import echo
from shapeinf.cli.sections import SectionedCommand
from shapeinf.cli.targets import output_option
from shapeinf.page.files import write_page
from shapeinf.page.pyodide import FOLDER, VERSION
from shapeinf.texts import format_bytes, shell_word


@click.command(name="page", cls=SectionedCommand)
@click.option(
    "--pyodide",
    type=click.Path(),
    default=FOLDER,
    show_default=True,
    metavar="DIR",
    help=f"The folder of the npm package pyodide, version {VERSION}: npm install pyodide@{VERSION} makes it.",
)
@output_option("The folder to write; required.", folder=True)
def page_command(pyodide: str, output: str | None) -> None:
    """Write a page on which a browser infers the shapes of a model that a visitor drops there.

    The page is a folder of static files for any web server. It contains this version of shapeinf, and Pyodide, Python
    for browsers. Models are read in the browser, and nothing is sent anywhere. The files of Pyodide are compared with
    their known checksums; nothing is downloaded.

    Exit codes: 0 written, 2 usage, 3 Pyodide is missing or has another version, the folder has other files, or a file
    cannot be written.
    """
    if output is None:
        raise click.UsageError("name the folder to write: -o site")
    with readable_errors():
        size = write_page(output, pyodide)
        echo(f"saved {output}: {format_bytes(size)}; try it: python -m http.server -d {shell_word(output)}", err=True)
