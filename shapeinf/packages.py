"""Optional packages: which extra installs each, and the error of a missing package."""

from __future__ import annotations

from importlib.util import find_spec

from shapeinf.errors import MissingPackageError

EXTRAS = {"islpy": "proofs", "ml_dtypes": "onnx", "onnx": "onnx", "onnx_ir": "clean"}
"""The extra that installs a package, by the name that is imported; the runtimes' modules name their own."""

_PROJECTS = {"onnx_ir": "onnx-ir"}
"""The names of packages in a registry, where these are not the names that are imported."""


def is_installed(package: str) -> bool:
    """Whether a package can be imported; it is not imported.

    >>> is_installed("attrs"), is_installed("no_such_package")
    (True, False)
    """
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):  # what import hooks raise for a package that they refuse
        return False


def require_package(package: str, feature: str) -> None:
    """Raise MissingPackageError where a package of `EXTRAS`, which the feature needs, is not installed.

    Call it before the package is imported.
    """
    if not is_installed(package):
        raise _missing(package, feature)


def missing_package(error: ImportError, feature: str) -> MissingPackageError | None:
    """The error of a feature whose import failed, where a package of `EXTRAS` is not installed; else None."""
    package = (error.name or "").partition(".")[0]
    return _missing(package, feature) if package in EXTRAS and not is_installed(package) else None


def _missing(package: str, feature: str) -> MissingPackageError:
    return MissingPackageError(feature, _PROJECTS.get(package, package), EXTRAS[package])
