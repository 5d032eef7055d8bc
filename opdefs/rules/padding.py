"""Contents of padded tensors."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.elements import Elements
from shapeinf.lattice import Element


def pad_elements(array: Elements, axes: Sequence[int], amounts: Sequence[int], filling: Element) -> Elements:
    """The array, padded by the positive amounts (all begins, then all ends), then cropped by the negative ones."""
    import numpy as np

    grow = [(0, 0)] * array.ndim
    keep = [slice(None)] * array.ndim
    for i, axis in enumerate(axes):
        begin, end = amounts[i], amounts[i + len(axes)]
        grow[axis] = (max(begin, 0), max(end, 0))
        keep[axis] = slice(max(-begin, 0), min(end, 0) or None)
    shape = [size + before + after for size, (before, after) in zip(array.shape, grow, strict=True)]
    result = np.full(shape, filling, dtype=object)
    result[tuple(slice(b, b + size) for size, (b, _) in zip(array.shape, grow, strict=True))] = array
    return result[tuple(keep)]
