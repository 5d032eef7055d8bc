"""Optional packages: which extra installs each, and the error of a missing package."""

from __future__ import annotations

from importlib.util import find_spec

from shapeinf.errors import MissingPackageError

EXTRAS = {"islpy": "proofs", "ml_dtypes": "onnx", "onnx": "onnx"}
"""The extra that installs a package which several parts of shapeinf use; other parts name their own extra."""


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
        raise MissingPackageError(feature, package, EXTRAS[package])
