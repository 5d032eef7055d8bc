"""The page on a server of this machine, which counts its requests; Pyodide is the npm package."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from shapeinf.page.files import write_page
from shapeinf.page.pyodide import DIGESTS, FOLDER, VERSION

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def pyodide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of Pyodide: in `node_modules` of the repository, or else as npm downloads it."""
    installed = ROOT / FOLDER
    if installed.is_dir():
        return installed
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"Pyodide is not in {FOLDER}, and npm is not installed: no page with it is opened")
    folder = tmp_path_factory.mktemp("npm")
    done = subprocess.run([npm, "pack", f"pyodide@{VERSION}"], cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode:
        pytest.skip(f"npm cannot download Pyodide {VERSION}: no page with it is opened")
    with tarfile.open(folder / f"pyodide-{VERSION}.tgz") as package:
        for name in DIGESTS:
            member = package.extractfile(f"package/{name}")
            assert member is not None
            (folder / name).write_bytes(member.read())
    return folder


class Server(http.server.ThreadingHTTPServer):
    """Serves a folder on the loopback address."""

    requests: list[str]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, text: str, *arguments: object) -> None:
        self.server.requests.append(self.path)  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def server(pyodide: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("page") / "site"
    write_page(os.fspath(folder), os.fspath(pyodide))
    with Server(("127.0.0.1", 0), functools.partial(_Handler, directory=os.fspath(folder))) as server:
        server.requests = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
