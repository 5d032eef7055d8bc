"""The pytest plugin: fixtures, and explanations of failed comparisons of shapes.

Every run of pytest imports this module, so that the rest of the package is imported when a test uses a fixture.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from shapeinf.diagnostics import Diagnostics
    from shapeinf.result import Result


@pytest.fixture(scope="session")
def assert_shapes() -> Callable[..., Result]:
    """`shapeinf.testing.assert_shapes`: assert that tensors of a model have these shapes."""
    from shapeinf.testing import assert_shapes

    return assert_shapes


@pytest.fixture(scope="session")
def shapeinf_check() -> Callable[..., Diagnostics]:
    """`shapeinf.testing.shapeinf_check`: assert that a model passes all checks."""
    from shapeinf.testing import shapeinf_check

    return shapeinf_check


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """The lines on a failed comparison of a shape with another shape or a tuple: the axes that differ."""
    if op != "==" or not (_is_shape(left) or _is_shape(right)):
        return None
    ours, theirs = _dims(left), _dims(right)
    if ours is None or theirs is None:
        return [f"{left} == {right}", "a shape of unknown rank equals only itself"]
    if len(ours) != len(theirs):
        return [f"{left} == {right}", f"the ranks are {len(ours)} and {len(theirs)}"]
    axes = [f"axis {axis}: {a} == {b}" for axis, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b]
    return [f"{left} == {right}", *(axes or ["a shape equals a tuple of its dims, not a list"])]


def _is_shape(value: object) -> bool:
    lattice = sys.modules.get("shapeinf.lattice")  # if not imported, there are no shapes
    return lattice is not None and isinstance(value, lattice.Shape)


def _dims(value: Any) -> tuple[object, ...] | None:
    return value.dims if _is_shape(value) else tuple(value) if isinstance(value, (tuple, list)) else None
