"""The constants of a PNNX network as tensors of torch, from its `.bin` file or random."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from shapeinf.formats.files import open_regular
from shapeinf.formats.pnnx.document import Document
from shapeinf.formats.pnnx.reader import weight_files
from shapeinf.formats.pnnx.sniffing import weights_path
from shapeinf.formats.pnnx.weights import MAX_MEMBERS, byte_count, sizes_of
from shapeinf.formats.zipped import zip_members
from shapeinf.graph import Graph
from shapeinf.lattice import PartialTensor
from shapeinf.runtime.array_types import numpy_type
from shapeinf.runtime.protocol import Refusal
from shapeinf.texts import exact_bytes

MAX_BYTES = 1 << 33
"""The most bytes of all constants together."""


class Weights:
    """The constants of one graph, each a tensor on first use.

    A constant is read from the `.bin` file in the folder of the network if that has a member of exactly the declared
    bytes. Others are random, integers 0 or 1; they are float32 where the file declares no element type.
    """

    def __init__(self, torch: Any, graph: Graph) -> None:
        self.torch = torch
        self.constants = {n: PartialTensor(c.dtype or "float32", c.shape, None) for n, c in graph.constants.items()}
        files = weight_files(graph.model) if isinstance(graph.model, Document) else {}
        self.names = {file: name for name, file in files.items()}
        """The names of the constants by the files in the archive."""
        self.path = None if graph.source is None else weights_path(graph.source)
        self._contents: dict[str, bytes] | None = None
        self._tensors: dict[str, Any] = {}

    def refuse_huge(self) -> None:
        """Raise Refusal where the constants would take more than `MAX_BYTES`."""
        total = sum(byte_count(constant) for constant in self.constants.values())
        if total > MAX_BYTES:
            raise Refusal(f"its weights would take {exact_bytes(total)}")

    def tensor(self, name: str) -> Any:
        """A constant as a tensor. Raises Refusal for a type without arrays, ModelError for a damaged archive."""
        if name not in self._tensors:
            self._tensors[name] = self.torch.from_numpy(self._array(name, self.constants[name]))
        return self._tensors[name]

    def _array(self, name: str, constant: PartialTensor) -> np.ndarray[Any, Any]:
        kind, shape = numpy_type(str(constant.dtype)), sizes_of(constant)
        data = self._read().get(name)
        if data is not None:
            return np.frombuffer(data, kind.newbyteorder("<")).astype(kind).reshape(shape)
        rng = np.random.default_rng(len(self._tensors))
        if kind.kind in "biu":
            return np.asarray(rng.integers(0, 1, shape, endpoint=True)).astype(kind)
        return np.asarray(rng.standard_normal(shape) * 0.1).astype(kind)

    def _read(self) -> dict[str, bytes]:
        """The bytes of the constants in the archive, by name."""
        if self._contents is None:
            self._contents = {}
            if self.path is not None and os.path.isfile(self.path):
                with open_regular(self.path) as file:
                    for member, _, data in zip_members(file, self.path, MAX_MEMBERS, self._length):
                        self._contents[self.names[member]] = data
        return self._contents

    def _length(self, member: str, size: int) -> int | None:
        """The bytes to read of a file in the archive; None for one that is not a constant of this size."""
        name = self.names.get(member)
        constant = None if name is None else self.constants.get(name)
        return size if constant is not None and size == byte_count(constant) else None
