"""Element types by their codes in TensorFlow's files."""

from __future__ import annotations

from shapeinf.formats.tf.messages import REFERENCE
from shapeinf.lattice.dtypes import DTYPES

_NAMES = {dtype.tf[1]: dtype.name for dtype in DTYPES if dtype.tf is not None}


def is_invalid(code: int) -> bool:
    """Whether no attribute may have this code: that of a reference, or DT_INVALID.

    >>> is_invalid(0), is_invalid(101), is_invalid(1)
    (True, True, False)
    """
    return code == 0 or code > REFERENCE


def dtype_name(code: int) -> str | None:
    """The name of an element type by its code, also by the code of a reference; None for an unknown code.

    >>> dtype_name(1), dtype_name(101), dtype_name(0)
    ('float32', 'float32', None)
    """
    return _NAMES.get(code - REFERENCE if code > REFERENCE else code)
