"""Operators that keep the elements and their order."""

from __future__ import annotations

from opdefs.rules.contents.elements import requested_dims
from opdefs.rules.contents.progressions import reshape_elements
from opdefs.rules.reshaping import reshape_dims
from opdefs.tflite.dialect import tflite
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor
from shapeinf.ops import InferenceContext, Ints, Value


@tflite("RESHAPE", views={0: 0})
def reshape(c: InferenceContext, x: Value, shape: Value | None = None, *, new_shape: Ints = ()) -> PartialTensor:
    """[*S], [R] -> the sizes in `shape`, of which one may be -1, else those of the option; [0] there is a scalar."""
    wanted: tuple[DimSize | None, ...] = () if new_shape == (0,) else new_shape
    if shape is not None and len(shape.shape.require()) == 1:
        wanted = tuple(requested_dims(c, shape))
    if wanted.count(-1) > 1:
        c.fail("only one size may be -1", list(wanted))
    return reshape_elements(x, reshape_dims(c, x.shape, wanted, False))
