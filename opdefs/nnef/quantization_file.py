"""What a quantization file demands of shapes: its reader adds a node without outputs for each parameter tensor."""

from __future__ import annotations

from opdefs.nnef.dialect import nnef
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@nnef("quantized_by")
def quantized_by(c: InferenceContext, tensor: Shape, *, parameter: str, shape: tuple[int, ...]) -> tuple[()]:
    """A parameter tensor broadcasts to the quantized one, from the first axis on (5.3)."""
    if tensor.dims is None:
        return ()
    rank = len(tensor.dims)
    message = f"the quantization parameter {parameter!r} of shape {list(shape)} broadcasts to the tensor"
    if len(shape) > rank:
        c.fail(f"{message}: its rank is at most {rank}")
    for axis, extent in enumerate(shape):
        if extent != 1:
            c.merge(tensor[axis], extent, message)
    return ()
