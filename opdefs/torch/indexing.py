"""Elements at indices."""

from __future__ import annotations

from opdefs.pnnx.indexing import index_by
from opdefs.torch.dialect import torch
from shapeinf.lattice import PartialTensor
from shapeinf.ops import InferenceContext, Value


@torch("aten.index.Tensor", "aten._unsafe_index.Tensor")
def index(c: InferenceContext, self: Value, *indices: Value | None) -> PartialTensor:
    """As `Tensor.index`, with the indices of the leading axes, which may be absent."""
    return index_by(c, self, indices)
