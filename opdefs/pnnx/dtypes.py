"""Element types by their texts in torch, such as `torch.float`."""

from __future__ import annotations

from opdefs.pnnx.operands import read_type
from shapeinf.ops import InferenceContext


def read_dtype(c: InferenceContext, text: str | None, default: str | None) -> str | None:
    """The element type of an argument `dtype`; the default where it is None."""
    return read_type(c, text) or default
