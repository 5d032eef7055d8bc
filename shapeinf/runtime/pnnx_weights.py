"""The constants of a PNNX network as tensors of torch: those of its `.bin` file, else random ones of their types."""

from __future__ import annotations

import os
import zipfile
from contextlib import suppress
from typing import Any

import numpy as np

from shapeinf.graph import Graph
from shapeinf.lattice import PartialTensor
from shapeinf.lattice.dtypes import element_bits
from shapeinf.runtime.model_file import numpy_type
from shapeinf.runtime.protocol import Refusal
from shapeinf.texts import exact_bytes

MAX_BYTES = 1 << 33
"""The most bytes of all constants together."""

_PARAM, _BIN = ".param", ".bin"


class Weights:
    """The constants of one graph, each a tensor on first use.

    The `.bin` file is used where it lies beside the network and has a member of exactly the declared bytes for every
    constant that it has at all; other constants are random, as integers 0 or 1.
    """

    def __init__(self, torch: Any, graph: Graph) -> None:
        self.torch = torch
        self.constants = graph.constants
        self.path = _bin_path(graph.source)
        self._tensors: dict[str, Any] = {}

    def refuse_huge(self) -> None:
        """Raise Refusal where the constants would take too much memory."""
        total = sum(_bytes(constant) for constant in self.constants.values())
        if total > MAX_BYTES:
            raise Refusal(f"its weights would take {exact_bytes(total)}")

    def tensor(self, name: str) -> Any:
        """A constant. Raises Refusal for an element type that torch does not have here."""
        if name not in self._tensors:
            self._tensors[name] = self.torch.from_numpy(self._array(name, self.constants[name]))
        return self._tensors[name]

    def _array(self, name: str, constant: PartialTensor) -> np.ndarray[Any, Any]:
        kind, shape = numpy_type(constant.dtype or "float32"), _sizes(constant)
        data = self._member(name, _bytes(constant))
        if data is not None:
            return np.frombuffer(data, kind.newbyteorder("<")).astype(kind).reshape(shape)
        rng = np.random.default_rng(len(self._tensors))
        if kind.kind in "biu":
            return np.asarray(rng.integers(0, 1, shape, endpoint=True)).astype(kind)
        return np.asarray(rng.standard_normal(shape) * 0.1).astype(kind)

    def _member(self, name: str, size: int) -> bytes | None:
        """The bytes of a constant in the `.bin` file; None where it has none of this size."""
        if self.path is None:
            return None
        with (
            suppress(OSError, zipfile.BadZipFile, KeyError, NotImplementedError),
            zipfile.ZipFile(self.path) as archive,
        ):
            for member in (name, f"{name}.data"):
                with suppress(KeyError):
                    info = archive.getinfo(member)
                    stored = info.compress_type == zipfile.ZIP_STORED
                    return archive.read(info) if stored and info.file_size == size else None
        return None


def _bin_path(source: str | None) -> str | None:
    """The path of the weights beside a network; None where there is no such file."""
    if source is None or not source.endswith(_PARAM):
        return None
    path = source.removesuffix(_PARAM) + _BIN
    return path if os.path.isfile(path) else None


def _sizes(constant: PartialTensor) -> tuple[int, ...]:
    return tuple(dim if isinstance(dim, int) else 0 for dim in constant.shape)


def _bytes(constant: PartialTensor) -> int:
    bits = element_bits(constant.dtype) or 8
    return int(np.prod(_sizes(constant), dtype=object)) * max(bits // 8, 1)
