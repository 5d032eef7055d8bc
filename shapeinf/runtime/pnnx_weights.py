"""The constants of a PNNX network as tensors of torch: those of its `.bin` file, else random ones of their types."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from shapeinf.formats.pnnx.document import Document
from shapeinf.formats.pnnx.weights import MAX_MEMBERS
from shapeinf.formats.zipped import zip_members
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

    The `.bin` file is used where it lies beside the network and has a member of exactly the declared bytes; constants
    without one are random, as integers 0 or 1.
    """

    def __init__(self, torch: Any, graph: Graph) -> None:
        self.torch = torch
        self.constants = graph.constants
        self.members = {_member_name(name): name for name in graph.constants} | _attribute_members(graph)
        self.path = _bin_path(graph.source)
        self._contents: dict[str, bytes] | None = None
        self._tensors: dict[str, Any] = {}

    def refuse_huge(self) -> None:
        """Raise Refusal where the constants would take too much memory."""
        total = sum(_bytes(constant) for constant in self.constants.values())
        if total > MAX_BYTES:
            raise Refusal(f"its weights would take {exact_bytes(total)}")

    def tensor(self, name: str) -> Any:
        """A constant. Raises Refusal for an element type without arrays, ModelError for a damaged archive."""
        if name not in self._tensors:
            self._tensors[name] = self.torch.from_numpy(self._array(name, self.constants[name]))
        return self._tensors[name]

    def _array(self, name: str, constant: PartialTensor) -> np.ndarray[Any, Any]:
        kind, shape = numpy_type(constant.dtype or "float32"), _sizes(constant)
        data = self._read().get(name)
        if data is not None:
            return np.frombuffer(data, kind.newbyteorder("<")).astype(kind).reshape(shape)
        rng = np.random.default_rng(len(self._tensors))
        if kind.kind in "biu":
            return np.asarray(rng.integers(0, 1, shape, endpoint=True)).astype(kind)
        return np.asarray(rng.standard_normal(shape) * 0.1).astype(kind)

    def _read(self) -> dict[str, bytes]:
        """The contents of the constants that the archive has."""
        if self._contents is None:
            self._contents = {}
            if self.path is not None:
                with open(self.path, "rb") as file:
                    for member, _, data in zip_members(file, self.path, MAX_MEMBERS, self._length):
                        self._contents[self.members[member]] = data
        return self._contents

    def _length(self, member: str, size: int) -> int | None:
        """The bytes to read of a file of the archive; None to skip one that is no constant of these bytes."""
        name = self.members.get(member)
        return size if name is not None and size == _bytes(self.constants[name]) else None


def _member_name(name: str) -> str:
    """The name of the file with a weight: `operator.weight`, which the name of the constant may mark."""
    return name.lstrip("@")


def _attribute_members(graph: Graph) -> dict[str, str]:
    """The constants that are operators of their own by the names of their files."""
    operators = graph.model.operators if isinstance(graph.model, Document) else ()
    return {
        f"{operator.name}.{weight}": operator.outputs[0]
        for operator in operators
        if operator.type == "pnnx.Attribute"
        for weight in operator.weights
    }


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
