"""The static files of the page: written into a folder, which any web server serves."""

from __future__ import annotations

import base64
import hashlib
import os
from importlib.resources import files
from string import Template
from typing import Any

from shapeinf import __version__
from shapeinf.errors import PageError
from shapeinf.formats.files import is_path, replace_file
from shapeinf.html import escape_html, script_json
from shapeinf.page.bundle import bundle_packages
from shapeinf.page.pyodide import LOCK, VERSION, read_pyodide
from shapeinf.report.live.page import read_asset

SCRIPTS = ("loader.js", "dropped.js", "view.js", "page.js")
"""The scripts of the page itself, in their order."""

PACKAGES = "packages.zip"
"""The Python packages; `worker.mjs` names the file too."""

INDEX = "index.html"

FRAME_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
"""What is in the frame has no network. Each report in it has a policy of its own, which allows its own script only."""

NOTICE = f"""This folder contains:

- shapeinf {__version__} (Apache License 2.0) and attrs (MIT License), with their licences, in {PACKAGES}
- Pyodide {VERSION} (Mozilla Public License 2.0), unchanged, as published in the npm package "pyodide": pyodide.mjs,
  pyodide.asm.mjs, pyodide.asm.wasm, python_stdlib.zip. It contains CPython (Python Software Foundation License).
"""


def write_page(folder: str, pyodide: str) -> int:
    """Write the page into a folder, which is made; `index.html` last. Returns the number of bytes.

    Args:
        folder: a new or empty folder, or one with an older page.
        pyodide: the folder with the files of Pyodide.

    Raises PageError where a file of Pyodide is missing or another version, and for a folder with other files; OSError.
    """
    content = page_files(read_pyodide(pyodide))
    _check_folder(folder, content)
    os.makedirs(folder, exist_ok=True)
    for name in sorted(content, key=lambda name: name == INDEX):
        with replace_file(os.path.join(folder, name)) as file:
            file.write(content[name])
    return sum(map(len, content.values()))


def _check_folder(folder: str, content: dict[str, bytes]) -> None:
    if not is_path(folder) or (os.path.exists(folder) and not os.path.isdir(folder)):
        raise PageError(f"{folder!r} is not a folder: name one for the page")
    foreign = sorted(set(os.listdir(folder)) - content.keys()) if os.path.isdir(folder) else []
    if foreign:
        raise PageError(f"{folder} has other files, such as {foreign[0]!r}: name a new folder for the page")


def page_files(pyodide: dict[str, bytes]) -> dict[str, bytes]:
    """All files of the page by name."""
    loaded = {PACKAGES: bundle_packages(), "worker.mjs": _asset("worker.mjs"), **pyodide}
    style = read_asset("colors.css").encode() + _asset("page.css")
    script = b"\n".join(map(_asset, SCRIPTS))
    needed = [{"name": name, "bytes": len(data), "integrity": _integrity(data)} for name, data in loaded.items()]
    version = hashlib.sha256(b"".join([style, script, _asset("frame.html"), *loaded.values()])).hexdigest()[:16]
    index = _index({"files": needed, "lock": LOCK, "version": version}, version)
    return {
        **loaded,
        "page.css": style,
        "page.js": script,
        "frame.html": Template(_asset("frame.html").decode()).substitute(policy=escape_html(FRAME_POLICY)).encode(),
        "NOTICE.txt": NOTICE.encode(),
        INDEX: index.encode(),
    }


def _index(manifest: dict[str, Any], version: str) -> str:
    return Template(_asset(INDEX).decode()).substitute(
        policy=escape_html(content_policy()),
        generator=escape_html(f"shapeinf {__version__}"),
        manifest=script_json(manifest),
        version=version,
    )


def content_policy() -> str:
    """What the page may load and run: its own files, and WebAssembly."""
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self' blob: 'wasm-unsafe-eval'",
            "style-src 'self'",
            "worker-src blob:",
            "connect-src 'self'",
            "frame-src 'self'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _asset(name: str) -> bytes:
    return (files(__package__) / "assets" / name).read_bytes()


def _integrity(data: bytes) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(data).digest()).decode()
