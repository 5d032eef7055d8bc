"""The least and the greatest element of large integer constants, read when a rule needs their contents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import prod

from shapeinf.formats.files import open_regular
from shapeinf.formats.read_files import ReadFiles
from shapeinf.lattice import MAX_ELEMENTS, BoundedTensor, PartialTensor, Shape, element_bits

MAX_RANGED = 1 << 22
"""Elements of the largest constant whose range is read, which takes some milliseconds."""

MAX_EAGER_BYTES = 1 << 20
"""Bytes of the largest constant in a node whose range is read with the file, in a tenth of a millisecond."""

_KINDS = {"int32": "<i4", "int64": "<i8"}
"""The element types of indices, with their numpy types."""


def wants_range(dtype: str | None, dims: Sequence[int]) -> bool:
    """Whether a constant may have indices, too many for contents, but few enough to read their range."""
    return dtype in _KINDS and MAX_ELEMENTS < prod(dims) <= MAX_RANGED


class DeferredRange:
    """Reads the range of a constant once, from bytes or from a file."""

    def __init__(
        self,
        dtype: str,
        dims: Sequence[int],
        source: bytes | str,
        start: int,
        length: int,
        files: ReadFiles | None = None,
    ) -> None:
        """The raw payload is `length` bytes from `start` on, in `source`: bytes, or the path of a file in `files`."""
        self.tensor = PartialTensor(dtype, Shape(dims), None)
        self.source = source
        self.start = start
        self.length = length
        self.files = files
        self._result: PartialTensor | None = None

    def __call__(self) -> PartialTensor:
        """The tensor with its range; without a range if the payload does not fit the shape or cannot be read."""
        if self._result is None:
            self._result = self._read()
        return self._result

    def _read(self) -> PartialTensor:
        import numpy as np

        kind = np.dtype(_KINDS[self.tensor.dtype or ""])
        dims = [d for d in self.tensor.shape if isinstance(d, int)]
        if self.length != prod(dims) * kind.itemsize:
            return self.tensor
        data = self._payload()
        if len(data) != self.length:
            return self.tensor
        array = np.frombuffer(data, kind)
        return BoundedTensor(self.tensor.dtype, self.tensor.shape, int(array.min()), int(array.max()))

    def _payload(self) -> memoryview | bytes:
        if isinstance(self.source, bytes):
            return memoryview(self.source)[self.start : self.start + self.length]
        try:
            with open_regular(self.source) as file:
                if self.files is not None:
                    self.files.add(self.source, file)
                file.seek(self.start)
                return file.read(self.length)
        except OSError:
            return b""


def range_in_file(
    dtype: str, dims: Sequence[int], path: str, offset: str | None, length: str | None, files: ReadFiles | None = None
) -> PartialTensor:
    """A large constant in another file with its range; `offset` and `length` in bytes, as the model has them."""
    size = prod(dims) * (element_bits(dtype) or 0) // 8
    try:
        start, count = int(offset or 0), int(length or size)
    except ValueError:
        start = count = -1
    inside = min(start, count) >= 0 and start + count <= os.path.getsize(path)
    later = DeferredRange(dtype, dims, path, start, count, files)
    return later() if inside else PartialTensor(dtype, Shape(dims), None)


def read_eagerly(tensor: PartialTensor, deferred: object) -> PartialTensor:
    """A tensor that cannot be read later, such as an attribute: with its range if that is cheap to read."""
    return deferred() if isinstance(deferred, DeferredRange) and deferred.length <= MAX_EAGER_BYTES else tensor
