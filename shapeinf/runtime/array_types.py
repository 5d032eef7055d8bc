"""Arrays of the element types of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from shapeinf.lattice import numpy_dtype
from shapeinf.lattice.dtypes import DTYPES, WITHOUT_NUMPY_TYPE
from shapeinf.runtime.protocol import Refusal

_KINDS = {dtype.name: dtype.kind for dtype in DTYPES}


def numpy_type(dtype: str) -> np.dtype[Any]:
    """The numpy type of an element type; strings are objects. Raises Refusal for a type that has no arrays."""
    if not has_arrays(dtype):
        raise Refusal(f"numpy has no arrays of element type {dtype}")
    return np.dtype(numpy_dtype(dtype))


def has_arrays(dtype: str) -> bool:
    """Whether numpy with `ml_dtypes` has arrays of an element type; it has none of handles and quantized types."""
    return _KINDS[dtype] not in ("handle", "quantized") and dtype not in WITHOUT_NUMPY_TYPE
