"""Operations that slide over all axes (chapter 4.3): boxes, pools and samples, and what undoes them."""

from __future__ import annotations

from opdefs.nnef.dialect import nnef
from opdefs.nnef.laws import Listed, equal_shapes, extended, ints_of
from opdefs.nnef.sliding import Sliding, slid, unslid
from shapeinf.formats.nnef.versions import PROVISIONAL
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@nnef("box", "avg_pool", "max_pool", "rms_pool", "argmax_pool")
def pool(c: InferenceContext, input: Shape, *, size: Listed, sliding: Sliding) -> Shape:
    """The number of places of the window on every axis."""
    x, kernel = _window(c, input, size)
    return Shape(slid(c, x.require(), kernel, sliding))


def _window(c: InferenceContext, x: Shape, size: Listed) -> tuple[Shape, tuple[int, ...]]:
    """The input and the extents of a window, which has one for each axis (provisional: goes on with ones)."""
    kernel = ints_of(c, size, "size", 1)
    x = extended(c, x, len(kernel))
    if c.version == PROVISIONAL and x.dims is not None:
        kernel += (1,) * (len(x) - len(kernel))
    if x.dims is not None and len(x) != len(kernel):
        c.fail(f"size must have {len(x)} items, one for each axis of the input", kernel, x)
    return c.require_rank(x, len(kernel)), kernel


@nnef("max_pool_with_index")
def pool_with_index(c: InferenceContext, input: Shape, *, size: Listed, sliding: Sliding) -> tuple[Shape, Shape]:
    """Maxima, and where they are."""
    shape = pool(c, input, size=size, sliding=sliding)
    return shape, shape


@nnef("sample")
def sample(c: InferenceContext, input: Shape, index: Shape, *, size: Listed, sliding: Sliding) -> Shape:
    """What a pool would give; an index for each element of the result."""
    shape = pool(c, input, size=size, sliding=sliding)
    return equal_shapes(c, shape, index, "index must have the shape of the output")


@nnef("debox")
def debox(c: InferenceContext, input: Shape, *, size: Listed, sliding: Sliding, output_shape: Listed = ()) -> Shape:
    """What a box slides over to give the input."""
    x, kernel = _window(c, input, size)
    wanted = ints_of(c, output_shape, "output_shape", 1, len(kernel)) if output_shape else ()
    return Shape(unslid(c, x.require(), kernel, sliding, wanted))


@nnef("desample")
def desample(
    c: InferenceContext, input: Shape, index: Shape, *, size: Listed, sliding: Sliding, output_shape: Listed = ()
) -> Shape:
    """What a sample slides over; an index for each element of the input."""
    x = equal_shapes(c, input, index, "index must have the shape of the input")
    return debox(c, x, size=size, sliding=sliding, output_shape=output_shape)


@nnef(
    *("local_response_normalization", "local_mean_normalization"),
    *("local_variance_normalization", "local_contrast_normalization"),
)
def local_normalization(c: InferenceContext, input: Shape, *, size: Listed) -> Shape:
    """The shape of the input, over which a window slides."""
    return _window(c, input, size)[0]


@nnef("divisive_normalization")
def divisive_normalization(c: InferenceContext, input: Shape, *, size: Listed) -> Shape:
    """Provisional: the shape of the input; the window has an item for each spatial axis."""
    return _window(c, input, (1, 1, *ints_of(c, size, "size", 1)))[0]
