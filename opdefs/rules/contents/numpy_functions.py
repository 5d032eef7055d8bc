"""Functions of numpy that import it when they are called: the import is slow, and most models need no arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=64)
def numpy_function(name: str) -> Callable[..., Any]:
    """The function of numpy with this name.

    >>> numpy_function("maximum")([1, 5], [2, 3]).tolist()
    [2, 5]
    """

    def function(*arguments: Any) -> Any:
        import numpy as np

        return getattr(np, name)(*arguments)

    return function


def positive_part(array: Any) -> Any:
    """The elements of an array, with 0 for negative ones."""
    import numpy as np

    return np.maximum(array, 0)
