"""External tensors, variables and constants (chapter 4.1), updates, and extents as values."""

from __future__ import annotations

from opdefs.nnef.attributes import Listed, read_flat_dims
from opdefs.nnef.broadcasting import extend_rank, merge_shapes
from opdefs.nnef.dialect import nnef
from shapeinf.expr import DimSize
from shapeinf.formats.nnef.builder import LABEL
from shapeinf.formats.nnef.versions import PROVISIONAL
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext


@nnef("external")
def external(c: InferenceContext, *, shape: Listed) -> Shape:
    """The attribute `shape`; in the provisional dialect, 0 is an unknown extent."""
    return Shape(_extent(c, i, d) for i, d in enumerate(read_flat_dims(c, shape, "shape")))


def _extent(c: InferenceContext, index: int, d: DimSize | None) -> DimSize:
    if d is None or (d == 0 and c.version == PROVISIONAL):
        return c.fresh(f"external.{index}", 1)
    if isinstance(d, int) and d < 1:
        c.fail("the items of shape must be at least 1", d)
    return d


@nnef("variable")
def variable(c: InferenceContext, *, shape: Listed, label: str) -> Shape:
    """The attribute `shape`; the label names a file."""
    if not label or (c.version != PROVISIONAL and not LABEL.fullmatch(label)):
        c.fail("label must be made of letters, digits and the characters _ - . / \\", label)
    return _declared_shape(c, shape)


@nnef("constant")
def constant(c: InferenceContext, *, shape: Listed, value: tuple[object, ...]) -> Shape:
    """The attribute `shape`; one value per element, or one for all."""
    result = _declared_shape(c, shape)
    total = c.numel(result)
    if len(value) not in (1, total):
        c.fail("value must have one item for each element, or one for all", f"{len(value)} items", result)
    return result


def _declared_shape(c: InferenceContext, shape: Listed) -> Shape:
    dims = read_flat_dims(c, shape, "shape")
    if any(isinstance(d, int) and d < 1 for d in dims):
        c.fail("the items of shape must be at least 1", dims)
    return Shape(c.fresh(f"shape.{i}", 1) if d is None else d for i, d in enumerate(dims))


@nnef("update")
def update(c: InferenceContext, variable: Shape, value: Shape) -> Shape:
    """[*S], a value [*S] -> [*S]."""
    return merge_shapes(c, variable, value, "value must have the shape of the variable")


@nnef("shape_of_axis")
def shape_of_axis(c: InferenceContext, x: Shape, *, axis: int, known: int | None = None) -> PartialTensor:
    """An extent as a value: `shape_of(x)[axis]`.

    Where the document determines the extent, the graph was built for this `known` extent and is valid for no other.
    """
    x = extend_rank(c, x, axis + 1)
    if not 0 <= axis < len(x):
        c.fail(f"axis {axis} is out of range for rank {len(x)}", x)
    extent = x[axis]
    if known is not None:
        extent = c.merge(extent, known, f"the document reads the extent of axis {axis}, so it must stay as declared")
    return PartialTensor("int64", Shape(()), [extent])
