"""Element types by their texts in torch, such as `torch.float`."""

from __future__ import annotations

from shapeinf.lattice.dtypes import TORCH_NAMES
from shapeinf.ops import InferenceContext


def read_dtype(c: InferenceContext, text: str | None, default: str | None) -> str | None:
    """The element type of an argument `dtype`; the default where it is None."""
    if text is None:
        return default
    name = TORCH_NAMES.get(text.removeprefix("torch."))
    if name is None:
        c.fail("dtype must be an element type of torch", text)
    return name
