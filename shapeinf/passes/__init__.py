"""Clean-up passes over ONNX models, each with a proof that the model stays the same; they need onnx-ir."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapeinf.errors import MissingPackageError
from shapeinf.lazy_names import import_on_first_use
from shapeinf.packages import is_installed

if TYPE_CHECKING:
    from shapeinf.passes.cleaning import Cleaned as Cleaned
    from shapeinf.passes.cleaning import clean as clean
    from shapeinf.passes.pipeline import DEFAULT_ORDER as DEFAULT_ORDER
    from shapeinf.passes.pipeline import PASSES as PASSES
    from shapeinf.passes.report import Change as Change
    from shapeinf.passes.report import CleanReport as CleanReport
    from shapeinf.passes.report import PassReport as PassReport
    from shapeinf.passes.report import SkippedChange as SkippedChange

_MODULES = {
    "Change": "shapeinf.passes.report",
    "CleanReport": "shapeinf.passes.report",
    "Cleaned": "shapeinf.passes.cleaning",
    "DEFAULT_ORDER": "shapeinf.passes.pipeline",
    "SkippedChange": "shapeinf.passes.report",
    "PASSES": "shapeinf.passes.pipeline",
    "PassReport": "shapeinf.passes.report",
    "clean": "shapeinf.passes.cleaning",
}
"""The module of each public name."""

if not TYPE_CHECKING:
    __all__ = list(_MODULES)
    _import_name = import_on_first_use(__name__, _MODULES)

    def __getattr__(name: str) -> object:
        """Import a name on its first use. Raises MissingPackageError where onnx-ir or onnx is not installed."""
        try:
            return _import_name(name)
        except ImportError as error:
            if (error.name or "").partition(".")[0] in ("onnx", "onnx_ir"):
                raise MissingPackageError("clean", "onnx-ir" if is_installed("onnx") else "onnx", "clean") from error
            raise

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
