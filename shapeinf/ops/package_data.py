"""Data files of packages of operators."""

from __future__ import annotations

from pkgutil import get_data


def read_package_text(package: str, file: str) -> str:
    """A text in UTF-8 next to the modules of a package, which may lie in an archive. Raises OSError without it.

    `importlib.resources` does the same, but its import takes as long as all that a small model needs.
    """
    data = get_data(package, file)
    if data is None:
        raise OSError(f"{package} has no data files")
    return data.decode("utf-8")
