"""The types of all values of a graph and of the graphs inside it, for writers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

import attrs

from shapeinf.graph import FunctionKey
from shapeinf.lattice import PartialTensor, Shape

GENERATED = re.compile(r"unk__\d+")
"""Names of dims that onnx's own inference generates in each run: they carry no information."""


class Info(Protocol):
    """The type of a value."""

    @property
    def dtype(self) -> str | None:
        """Element type, None when unknown."""

    @property
    def shape(self) -> Shape:
        """Inferred shape."""

    @property
    def kind(self) -> str:
        """tensor, sequence, optional or map."""


@attrs.frozen
class Annotation:
    """Types of values by name: of a graph, of subgraphs by (outputs of the node, attribute), of functions by key.

    `constants` have new contents for constants, `inputs` new declared types for inputs of the graph. `assumptions` are
    the relations of dims to write, None to leave those of the file.
    """

    tensors: Mapping[str, Info]
    bodies: Mapping[tuple[str, ...], Mapping[str, Annotation]] = attrs.Factory(dict)
    functions: Mapping[FunctionKey, Mapping[str, Info]] = attrs.Factory(dict)
    constants: Mapping[str, PartialTensor] = attrs.Factory(dict)
    inputs: Mapping[str, Info] = attrs.Factory(dict)
    assumptions: Sequence[str] | None = None
