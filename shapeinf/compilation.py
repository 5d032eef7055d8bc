"""Whether this build is compiled, and the options of classes for mypyc. This module is never compiled."""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:  # for mypyc; nothing needs the package at run time
    from mypy_extensions import mypyc_attr
else:
    Class = TypeVar("Class", bound=type)

    def mypyc_attr(*_names: str, **_options: object) -> Callable[[Class], Class]:
        """Set options of a class for mypyc; without effect at run time."""
        return lambda cls: cls


def is_compiled() -> bool:
    """Whether mypyc compiled the modules that every inference runs; looks for a file, and imports nothing."""
    module = Path(__file__).parent / "expr" / "dimension"
    return any(module.with_suffix(suffix).is_file() for suffix in EXTENSION_SUFFIXES)


def build_name() -> str:
    """`compiled with mypyc` or `pure Python`."""
    return "compiled with mypyc" if is_compiled() else "pure Python"


def attribute_names(value: object) -> list[str]:
    """The names of the attributes of an object, compiled or not; those that only its class has are not among them."""
    return [*getattr(type(value), "__mypyc_attrs__", ()), *getattr(value, "__dict__", ())]


__all__ = ["attribute_names", "build_name", "is_compiled", "mypyc_attr"]
