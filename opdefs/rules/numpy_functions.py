"""Functions of numpy, which is imported when one is called: that takes long, and most models need no arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=64)
def numpy_function(name: str) -> Callable[..., Any]:
    """A function of numpy by its name.

    >>> numpy_function("maximum")([1, 5], [2, 3]).tolist()
    [2, 5]
    """

    def function(*arguments: Any) -> Any:
        import numpy as np

        return getattr(np, name)(*arguments)

    return function


def positive_part(array: Any) -> Any:
    """The elements of an array, 0 for the negative ones."""
    import numpy as np

    return np.maximum(array, 0)
