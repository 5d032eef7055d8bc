"""Operations with sliding windows over all axes (chapter 4.3): box, pool and sample, and their inverses."""

from __future__ import annotations

from opdefs.nnef.attributes import Listed
from opdefs.nnef.broadcasting import extend_rank, merge_shapes
from opdefs.nnef.dialect import nnef
from opdefs.nnef.sliding import Sliding, slide, unslide
from opdefs.rules.numbers import read_ints
from shapeinf.formats.nnef.versions import PROVISIONAL
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@nnef("box", "avg_pool", "max_pool", "rms_pool", "argmax_pool")
def pool(c: InferenceContext, input: Shape, *, size: Listed, sliding: Sliding) -> Shape:
    """[*S] -> [*slide(S)]: the number of positions of the window on every axis."""
    x, kernel = _window(c, input, size)
    return Shape(slide(c, x.require(), kernel, sliding))


def _window(c: InferenceContext, x: Shape, size: Listed) -> tuple[Shape, tuple[int, ...]]:
    """The input and the extents of the window, one per axis; in the provisional dialect with implicit trailing ones."""
    kernel = read_ints(c, size, "size", 1)
    x = extend_rank(c, x, len(kernel))
    if c.version == PROVISIONAL and x.dims is not None:
        kernel += (1,) * (len(x) - len(kernel))
    if x.dims is not None and len(x) != len(kernel):
        c.fail(f"size must have {len(x)} items, one for each axis of the input", kernel, x)
    return c.require_rank(x, len(kernel)), kernel


@nnef("max_pool_with_index")
def pool_with_index(c: InferenceContext, input: Shape, *, size: Listed, sliding: Sliding) -> tuple[Shape, Shape]:
    """[*S] -> maxima and their indices, both [*slide(S)]."""
    shape = pool(c, input, size=size, sliding=sliding)
    return shape, shape


@nnef("sample")
def sample(c: InferenceContext, input: Shape, index: Shape, *, size: Listed, sliding: Sliding) -> Shape:
    """[*S], an index [*slide(S)] -> [*slide(S)]."""
    shape = pool(c, input, size=size, sliding=sliding)
    return merge_shapes(c, shape, index, "index must have the shape of the output")


@nnef("debox")
def debox(c: InferenceContext, input: Shape, *, size: Listed, sliding: Sliding, output_shape: Listed = ()) -> Shape:
    """[*S] -> [*unslide(S)] or `output_shape`: the inverse of box."""
    x, kernel = _window(c, input, size)
    requested = read_ints(c, output_shape, "output_shape", 1, len(kernel)) if output_shape else ()
    return Shape(unslide(c, x.require(), kernel, sliding, requested))


@nnef("desample")
def desample(
    c: InferenceContext, input: Shape, index: Shape, *, size: Listed, sliding: Sliding, output_shape: Listed = ()
) -> Shape:
    """[*S], an index [*S] -> [*unslide(S)] or `output_shape`: the inverse of sample."""
    x = merge_shapes(c, input, index, "index must have the shape of the input")
    return debox(c, x, size=size, sliding=sliding, output_shape=output_shape)


@nnef(
    *("local_response_normalization", "local_mean_normalization"),
    *("local_variance_normalization", "local_contrast_normalization"),
)
def local_normalization(c: InferenceContext, input: Shape, *, size: Listed) -> Shape:
    """[*S] -> [*S]; `size` has an item for each axis."""
    return _window(c, input, size)[0]


@nnef("divisive_normalization")
def divisive_normalization(c: InferenceContext, input: Shape, *, size: Listed) -> Shape:
    """Provisional: [N, C, *S] -> [N, C, *S]; `size` has an item for each spatial axis."""
    return _window(c, input, (1, 1, *read_ints(c, size, "size", 1)))[0]
