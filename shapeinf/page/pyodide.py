"""The files of Pyodide, Python for browsers: one version, of which every file has its known checksum."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from types import MappingProxyType

from shapeinf.errors import PageError
from shapeinf.formats.files import read_regular

VERSION = "314.0.7"
"""The version whose files are accepted; its Python is 3.14."""

DIGESTS: Mapping[str, str] = MappingProxyType(
    {
        "pyodide.mjs": "6f1d60f7bf529beb300f0f47983c921d3982363640ba20af0e38efdddbc66109",
        "pyodide.asm.mjs": "f7cdc8ece80678ceb712f8e65ebe6d3a83203a180c399865f49612a051693635",
        "pyodide.asm.wasm": "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6",
        "python_stdlib.zip": "fa1957e5777068fc4f7437f96d860ae2fbe9c19732ba06c84e004ec16dd7dd7a",
    }
)
"""SHA-256 of the files that the page needs, by name: those of the npm package `pyodide` of this version."""

LOCK = {
    "info": {"abi_version": "2026_0", "arch": "wasm32", "platform": "emscripten_5_0_3", "python": "3.14.2"},
    "packages": {},
}
"""The lock file of this version, without packages: none is installed by name."""

FOLDER = os.path.join("node_modules", "pyodide")
"""Where `npm install` puts them."""

HELP = f"install it with npm install pyodide@{VERSION}, and name the folder: --pyodide {FOLDER}"


def read_pyodide(folder: str) -> dict[str, bytes]:
    """The files that the page needs, by name.

    Raises PageError for a missing file, and for one that is not of this version or was changed.
    """
    return {name: _read(os.path.join(folder, name), digest) for name, digest in DIGESTS.items()}


def _read(path: str, digest: str) -> bytes:
    try:
        content = read_regular(path)
    except OSError as error:
        raise PageError(f"{path}: {error.strerror or error}: {HELP}") from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise PageError(f"{path} is not the file of Pyodide {VERSION}: {HELP}")
    return content
