"""Clean-up passes over ONNX models, each with a proof that the model stays the same; they need onnx-ir."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapeinf.errors import MissingPackageError

if TYPE_CHECKING:
    from shapeinf.passes.cleaning import Cleaned, clean
    from shapeinf.passes.pipeline import DEFAULT_ORDER, PASSES
    from shapeinf.passes.report import Change, CleanReport, Left, PassReport

__all__ = [
    "DEFAULT_ORDER",
    "PASSES",
    "Change",
    "CleanReport",
    "Cleaned",
    "Left",
    "PassReport",
    "clean",
]

_MODULES = {
    "Change": "report",
    "CleanReport": "report",
    "Cleaned": "cleaning",
    "DEFAULT_ORDER": "pipeline",
    "Left": "report",
    "PASSES": "pipeline",
    "PassReport": "report",
    "clean": "cleaning",
}


def __getattr__(name: str) -> Any:
    """Import on first use: onnx-ir is an extra. Raises MissingPackageError."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    try:
        return getattr(importlib.import_module(f"shapeinf.passes.{_MODULES[name]}"), name)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] == "onnx_ir":
            raise MissingPackageError("clean", "onnx-ir", "clean") from error
        raise
