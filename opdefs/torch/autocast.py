"""The conversion of a tensor to the type of an autocast; see `autocast_bodies`."""

from __future__ import annotations

from opdefs.pnnx.operands import read_type
from opdefs.rules.contents.conversion import convert
from opdefs.torch.dialect import torch
from shapeinf.lattice import PartialTensor
from shapeinf.ops import InferenceContext, Value


@torch("torch.autocast")
def autocast(c: InferenceContext, self: Value, *, dtype: str) -> PartialTensor:
    """A tensor in the type of an autocast; others than floats of at most 32 bits are unchanged."""
    lowered = self.dtype in ("float16", "bfloat16", "float32")
    return convert(c, self, read_type(c, dtype)) if lowered else self
