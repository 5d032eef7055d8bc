"""Element types by their codes in TensorFlow's files."""

from __future__ import annotations

from shapeinf.formats.tf.messages import REFERENCE
from shapeinf.lattice.dtypes import DTYPES

_NAMES = {dtype.tf[1]: dtype.name for dtype in DTYPES if dtype.tf is not None}


def dtype_name(code: int) -> str | None:
    """The name of an element type by its code, also by the code of a reference; None for an unknown code.

    >>> dtype_name(1), dtype_name(101), dtype_name(0)
    ('float32', 'float32', None)
    """
    return _NAMES.get(code - REFERENCE if code > REFERENCE else code)
