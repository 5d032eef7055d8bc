"""Reads the data files of packages of operators."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import ResourceLoader


def read_package_text(package: str, file: str) -> str:
    """The text of a file of a package; without `importlib.resources`, whose import takes longer than to read a file."""
    module = import_module(package)
    loader = cast("ResourceLoader", module.__loader__)
    return loader.get_data(os.path.join(os.path.dirname(module.__file__ or ""), file)).decode()
