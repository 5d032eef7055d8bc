"""Files behind URLs: their listing, and local copies of them."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shapeinf.errors import MissingPackageError

_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


def is_url(path: str) -> bool:
    """Whether a path is a URL.

    >>> is_url("s3://zoo/model.onnx"), is_url("zoo/model.onnx")
    (True, False)
    """
    return _URL.match(path) is not None


def open_file_system(url: str) -> tuple[Any, str]:
    """The fsspec file system of a URL and the path in it. Raises MissingPackageError and errors of fsspec."""
    try:
        import fsspec
    except ImportError:
        raise MissingPackageError("a URL", "fsspec", "scan") from None
    file_system, path = fsspec.core.url_to_fs(url)
    return file_system, path


@contextmanager
def local_copy(path: str) -> Iterator[str | None]:
    """A local copy of a file behind a URL, under its own name; None for a local path.

    Weights in other files are not copied: shapes do not depend on them.
    """
    if not is_url(path):
        yield None
        return
    file_system, remote = open_file_system(path)
    with tempfile.TemporaryDirectory(prefix="shapeinf-scan-") as folder:
        target = os.path.join(folder, base_name(remote))
        file_system.get_file(remote, target)
        yield target


def base_name(remote: str) -> str:
    """The last part of a remote path, as a valid name of a local file.

    >>> base_name("zoo/.."), base_name("zoo/a.onnx")
    ('model', 'a.onnx')
    """
    name = remote.rstrip("/").rpartition("/")[2].replace("\\", "_").replace("\0", "_")
    return name if name not in ("", ".", "..") else "model"
