"""The `.bin` file of a network: a zip archive with a file for each weight, `operator.weight`, little endian.

Shapes and element types are in the network. Only contents of small constants are read, and only when a rule needs them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from math import prod

from shapeinf.errors import ModelError
from shapeinf.formats.contents import wants_contents
from shapeinf.formats.files import open_regular
from shapeinf.formats.raw_data import raw_elements
from shapeinf.formats.read_files import ReadFiles
from shapeinf.graph import Graph
from shapeinf.lattice import PartialTensor, has_numpy_type, numpy_dtype
from shapeinf.lattice.dtypes import WITHOUT_NUMPY_TYPE, element_bits

MAX_MEMBERS = 1 << 20
"""Files of an archive."""


class Weights:
    """The contents of the small constants of a network; all are read on the first access.

    Args:
        path: the archive.
        constants: the constants by the names of their files in the archive.
    """

    def __init__(self, path: str, constants: Mapping[str, PartialTensor]) -> None:
        """Read nothing yet."""
        self.path = path
        self.constants = constants
        self.files = ReadFiles()
        self._contents: dict[str, PartialTensor] | None = None

    def read(self, member: str) -> PartialTensor:
        """A constant with its contents. Raises ModelError for an archive that is damaged or of another network."""
        if self._contents is None:
            self._contents = self._read_all()
        if member not in self._contents:
            raise ModelError(f"has no file {member!r}: it belongs to another network", node=self.path)
        return self._contents[member]

    def _read_all(self) -> dict[str, PartialTensor]:
        from shapeinf.formats.zipped import zip_members

        contents: dict[str, PartialTensor] = {}
        try:
            with open_regular(self.path) as file:
                self.files.add(os.path.abspath(self.path), file)
                for name, size, data in zip_members(file, self.path, MAX_MEMBERS, self._length):
                    contents[name] = self._constant(name, size, data)
        except OSError as error:
            raise ModelError(f"cannot be read: {error.strerror or error}", node=self.path) from error
        return contents

    def _length(self, name: str, size: int) -> int | None:
        """The bytes to read of a file, None to skip it."""
        return byte_count(self.constants[name]) if name in self.constants else None

    def _constant(self, name: str, size: int, data: bytes) -> PartialTensor:
        declared = self.constants[name]
        expected = byte_count(declared)
        if size != expected:
            message = f"{name!r} has {size} bytes, but {declared.dtype}{declared.shape} in the network has {expected}"
            raise ModelError(message, node=self.path)
        plain = raw_elements(declared.dtype, data)
        if plain is not None:
            return PartialTensor(declared.dtype, declared.shape, plain)
        if declared.dtype is not None and not has_numpy_type(declared.dtype):
            return declared
        import numpy as np

        dtype = numpy_dtype(declared.dtype)
        assert dtype is not None  # `wants_contents` is false without an element type
        array = np.frombuffer(data, dtype.newbyteorder("<") if dtype.isbuiltin == 1 else dtype)
        return PartialTensor(declared.dtype, declared.shape, array.tolist())


def sizes_of(constant: PartialTensor) -> tuple[int, ...]:
    """The sizes of a weight, all of which are numbers."""
    return tuple(size for size in constant.shape.require() if isinstance(size, int))


def byte_count(constant: PartialTensor) -> int:
    """The bytes of a weight in its file; 0 where the element type is not known."""
    return prod(sizes_of(constant)) * (element_bits(constant.dtype) or 0) // 8


def defer_contents(graph: Graph, members: Mapping[str, str], path: str) -> Weights:
    """Defer the reading of the small constants of a graph; `members` are the names of their files in the archive."""
    small = {}
    for name, member in members.items():
        constant = graph.constants[name]
        if wants_contents(constant.dtype, sizes_of(constant)) and constant.dtype not in WITHOUT_NUMPY_TYPE:
            small[name] = member
    weights = Weights(path, {member: graph.constants[name] for name, member in small.items()})
    for name, member in small.items():
        graph.unread[name] = partial(weights.read, member)
    return weights
