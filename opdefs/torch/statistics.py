"""Statistics and samples: covariances, histograms, integrals, differences, combinations, powers."""

from __future__ import annotations

from opdefs.pnnx.axes import read_axes, read_axis
from opdefs.pnnx.creation import read_shape
from opdefs.pnnx.operands import require_kind
from opdefs.pnnx.promotion import promote, to_float
from opdefs.rules.contents.elements import clamp_at_zero
from opdefs.rules.numbers import read_dim, read_int
from opdefs.rules.operands import prove_unit, require_broadcast_to
from opdefs.torch.dialect import torch
from opdefs.torch.views import list_outputs
from shapeinf.expr import DimSize, maximum
from shapeinf.lattice import Shape, TensorType, Type
from shapeinf.ops import InferenceContext

# -- samples -----------------------------------------------------------------------------------------------------------


@torch("aten.cov.default", "aten.corrcoef.default")
def covariances(
    c: InferenceContext, self: Shape, fweights: Shape | None = None, aweights: Shape | None = None
) -> TensorType:
    """[variables, n] -> [variables, variables]; of a single variable []."""
    require_kind(c, c.dtype(0), "the input must have numbers", "integer", "float", "complex")
    dims = self.require()
    if len(dims) > 2:
        c.fail("the input must have rank 2 or less", self)
    for weights, name in ((fweights, "fweights"), (aweights, "aweights")):
        if weights is not None:
            count = dims[-1] if dims else 1
            c.merge(weights, Shape((count,)), f"{name} must have one element for each observation")
    dtype = to_float(c.dtype(0))
    is_scalar = len(dims) < 2 or prove_unit(c, dims[0])
    if is_scalar is None:
        raise c.unknowable("the covariance of a single variable has rank 0", dtype)
    return TensorType(dtype, Shape(() if is_scalar else (dims[0], dims[0])))


@torch("aten.histogram.bin_ct")
def histogram(
    c: InferenceContext, self: Shape, weight: Shape | None = None, *, bins: object = 100
) -> tuple[TensorType, TensorType]:
    """[*S] -> the counts of the bins [bins], and their edges [bins + 1]."""
    _require_floats(c)
    count = read_dim(c, bins, "bins")
    if count is None:
        count = c.fresh("bins", 1)
    c.at_least(count, 1, "bins must be at least 1")
    return _bins(c, self, weight, count)


@torch("aten.histogram.bins_tensor")
def histogram_of_edges(
    c: InferenceContext, self: Shape, bins: Shape, weight: Shape | None = None
) -> tuple[TensorType, TensorType]:
    """[*S], the edges of bins [n + 1] -> their counts [n], and the edges."""
    _require_floats(c)
    (edges,) = c.require_rank(bins, 1, "bins").require()
    c.at_least(edges, 2, "bins must have two edges or more")
    return _bins(c, self, weight, edges - 1)


def _require_floats(c: InferenceContext) -> None:
    require_kind(c, c.dtype(0), "the input must have floats", "float")


def _bins(c: InferenceContext, x: Shape, weight: Shape | None, count: DimSize) -> tuple[TensorType, TensorType]:
    if weight is not None:
        c.merge(weight, x, "weight must have the shape of the input")
    return TensorType(c.dtype(0), Shape((count,))), TensorType(c.dtype(0), Shape((count + 1,)))


@torch("aten.sum_to_size.default")
def sum_to_size(c: InferenceContext, self: Shape, *, size: object) -> TensorType:
    """[*S] -> the sizes in `size`, which broadcast to S."""
    shape = read_shape(c, size)
    require_broadcast_to(c, shape, self, "size must broadcast to the shape of the input")
    return TensorType(c.dtype(0), shape)


# -- along an axis -----------------------------------------------------------------------------------------------------


@torch(*(f"aten.{name}.{form}" for name in ("trapezoid", "trapz", "cumulative_trapezoid") for form in ("dx", "x")))
def integral(c: InferenceContext, y: TensorType, x: TensorType | None = None, *, dim: object = -1) -> TensorType:
    """[*A, n, *B] -> the integrals [*A, *B] along an axis, or the running ones [*A, n - 1, *B]."""
    dims = y.shape.require()
    axis = c.axis(read_int(c, dim, "dim"), len(dims))
    dtype, cumulative = to_float(y.dtype), "cumulative" in c.op_def.name
    if x is not None:
        points = x.shape.require()
        if len(points) != 1:
            raise c.unknowable("points of more than one axis are not analyzed", to_float(promote(y, x)))
        if cumulative or dims[axis] != 0:
            c.merge(points[0], dims[axis], "x must have one element for each element of the axis")
        dtype = to_float(promote(y, x, tensors_only=True))
    before, after = dims[:axis], dims[axis + 1 :]
    if not cumulative:
        return TensorType(dtype, Shape((*before, *after)))
    return TensorType(dtype, Shape((*before, clamp_at_zero(c, dims[axis] - 1), *after)))


@torch(*(f"aten.gradient.{kind}" for kind in ("scalarint", "scalararray", "array")))
def gradient(c: InferenceContext, self: Shape, *, dim: object = None, edge_order: object = 1) -> tuple[Type, ...]:
    """[*S] -> differences [*S] along each axis of `dim`, or along all."""
    dims = self.require()
    order = read_int(c, edge_order, "edge_order")
    if order not in (1, 2):
        c.fail("edge_order must be 1 or 2", order)
    if dim is None:
        axes: tuple[int, ...] = tuple(range(len(dims)))
    else:
        axes = (read_axis(c, dim, len(dims)),) if isinstance(dim, int) else read_axes(c, dim, len(dims))
    for axis in axes:
        c.at_least(dims[axis], order + 1, "each axis must have more elements than edge_order")
    return list_outputs(c, [TensorType(to_float(c.dtype(0)), self) for _ in axes])


MAX_AXES = 64
"""The most axes that a tensor of torch has."""

# -- vectors -----------------------------------------------------------------------------------------------------------


@torch("aten.combinations.default")
def combinations(c: InferenceContext, self: Shape, *, r: object = 2, with_replacement: bool = False) -> TensorType:
    """[n] -> [count, r]: all choices of r elements; [0] without any."""
    (size,) = c.require_rank(self, 1, "the input").require()
    length = read_int(c, r, "r")
    if length < 0:
        c.fail("r must be at least 0", length)
    if length == 0:
        return TensorType(c.dtype(0), Shape((0,)))
    if length > MAX_AXES:  # torch makes a grid with an axis for each of them
        raise c.unknowable(f"r is larger than {MAX_AXES}", c.dtype(0))
    count: DimSize = 1
    for k in range(length):  # each of these quotients is exact
        count = count * (size + k if with_replacement else clamp_at_zero(c, size - k)) // (k + 1)
    return TensorType(c.dtype(0), Shape((count, length)))


@torch("aten.vander.default", "aten.linalg_vander.default")
def powers(c: InferenceContext, x: Shape, *, N: object = None) -> TensorType:  # noqa: N803 the name of the argument
    """[*B, n] -> [*B, n, N]: the powers of each element, by default n; `vander` takes a vector."""
    dims = x.require()
    of_matrices = "linalg" in c.op_def.name
    if not of_matrices:
        c.require_rank(x, 1, "the input")
    if not dims:
        c.fail("the input must have rank 1 or more", x)
    dtype = c.dtype(0)
    if of_matrices:
        require_kind(c, dtype, "the input must have numbers", "integer", "float", "complex")
    count = dims[-1] if N is None else read_dim(c, N, "N")
    if count is None:
        count = c.fresh("N")
    elif N is not None or of_matrices:
        least = 2 if of_matrices else 0
        c.at_least(count, least, f"N must be at least {least}")
    return TensorType("int64" if dtype in ("bool", "int8", "uint8", "int16", "int32") else dtype, Shape((*dims, count)))


@torch("aten.pad_sequence.default")
def pad_sequence(c: InferenceContext, *sequences: TensorType, batch_first: bool = False) -> TensorType:
    """Tensors [n, *S] -> [longest, count, *S], or [count, longest, *S] with `batch_first`."""
    if not sequences:
        c.fail("there must be a sequence")
    first = sequences[0]
    shapes = [sequence.shape.require() for sequence in sequences]
    if not all(shapes):
        c.fail("a sequence must have rank 1 or more", *(sequence.shape for sequence in sequences))
    dims = shapes[0]
    longest: DimSize = dims[0]
    for sizes in shapes[1:]:
        longest = maximum(longest, sizes[0])
        rest = Shape(dims[1:])
        require_broadcast_to(c, Shape(sizes[1:]), rest, "each sequence must broadcast to the axes of the first one")
    order = (len(sequences), longest) if batch_first else (longest, len(sequences))
    return TensorType(first.dtype, Shape((*order, *dims[1:])))
