"""Order: sorted elements, ranks and extremes along axes, running extremes, positions in sorted sequences."""

from __future__ import annotations

from opdefs.pnnx.axes import read_axes, read_axis
from opdefs.pnnx.names import function_name
from opdefs.pnnx.operands import require_kind
from opdefs.rules.numbers import read_dim, read_int
from opdefs.rules.reduction import reduced_shape
from opdefs.torch.dialect import torch
from shapeinf.lattice import ChosenIndices, Shape, TensorType
from shapeinf.ops import InferenceContext

_ORDERED = "complex numbers have no order"


def _require_real(c: InferenceContext) -> None:
    require_kind(c, c.dtype(0), _ORDERED, "bool", "integer", "float")


@torch("aten.sort.default", "aten.sort.stable")
def sort(c: InferenceContext, self: Shape, *, dim: object = -1) -> tuple[TensorType, TensorType]:
    """[*S] -> the sorted elements [*S] along an axis, and their indices [*S]."""
    _require_real(c)
    return TensorType(c.dtype(0), self), _indices(c, self, self, dim)


def _indices(c: InferenceContext, shape: Shape, x: Shape, dim: object) -> TensorType:
    """Indices of elements along an axis of a tensor of the shape `x`."""
    if x.dims is None:
        return TensorType("int64", shape)
    axis = read_axis(c, dim, len(x))
    return ChosenIndices("int64", shape, x.dims[axis] if x.dims else 1)


@torch("aten.argsort.default", "aten.argsort.stable")
def argsort(c: InferenceContext, self: Shape, *, dim: object = -1) -> TensorType:
    """[*S] -> [*S]: the indices of the sorted elements along an axis."""
    return sort(c, self, dim=dim)[1]


@torch("aten.msort.default")
def sort_rows(c: InferenceContext, self: Shape) -> TensorType:
    """[*S] -> [*S]: sorted along the first axis."""
    return sort(c, self, dim=0)[0]


@torch("aten.cummax.default", "aten.cummin.default")
def running_extreme(c: InferenceContext, self: Shape, *, dim: object) -> tuple[TensorType, TensorType]:
    """[*S] -> the running extremes [*S] along an axis, and their indices [*S]."""
    return sort(c, self, dim=dim)


@torch("aten.logcumsumexp.default")
def logcumsumexp(c: InferenceContext, self: Shape, *, dim: object) -> TensorType:
    """[*S] -> [*S]: the logarithms of running totals of exponentials along an axis."""
    require_kind(c, c.dtype(0), "the input must have floats or complex numbers", "float", "complex")
    if self.dims is not None:
        read_axis(c, dim, len(self))
    return TensorType(c.dtype(0), self)


def _without_axis(c: InferenceContext, x: Shape, dim: object, keepdim: bool) -> Shape:
    """The shape with an axis removed, or with size 1 with `keepdim`; the axis must not be empty."""
    if x.dims is None:
        return x
    axis = read_axis(c, dim, len(x))
    if not x.dims:
        return x
    c.at_least(x.dims[axis], 1, "a reduced axis must not be empty")
    return reduced_shape(x, {axis}, keepdim)


@torch("aten.kthvalue.default")
def kthvalue(
    c: InferenceContext, self: Shape, *, k: object, dim: object = -1, keepdim: bool = False
) -> tuple[TensorType, TensorType]:
    """[*A, d, *B] -> the k-th smallest elements [*A, *B] along an axis, and their indices; 1 <= k <= d."""
    _require_real(c)
    shape = _without_axis(c, self, dim, keepdim)
    rank = read_dim(c, k, "k")
    if rank is not None and self.dims is not None:
        size = self.dims[read_axis(c, dim, len(self))] if self.dims else 1
        c.at_least(rank, 1, "k must be at least 1")
        c.at_most(rank, size, "k must be at most the size of the axis")
    return TensorType(c.dtype(0), shape), _indices(c, shape, self, dim)


@torch("aten.median.dim", "aten.nanmedian.dim", "aten.mode.default")
def typical_of_axis(
    c: InferenceContext, self: Shape, *, dim: object = -1, keepdim: bool = False
) -> tuple[TensorType, TensorType]:
    """[*A, d, *B] -> the median or most frequent elements [*A, *B] along an axis, and their indices."""
    _require_real(c)
    shape = _without_axis(c, self, dim, keepdim)
    return TensorType(c.dtype(0), shape), _indices(c, shape, self, dim)


@torch("aten.median.default", "aten.nanmedian.default")
def median(c: InferenceContext, self: Shape) -> TensorType:
    """[*S] -> []: the median of all elements."""
    _require_real(c)
    return TensorType(c.dtype(0), Shape(()))


@torch("aten.aminmax.default")
def extremes(
    c: InferenceContext, self: Shape, *, dim: object = None, keepdim: bool = False
) -> tuple[TensorType, TensorType]:
    """The smallest and the largest elements of an axis, or of all elements."""
    _require_real(c)
    if dim is not None:
        shape = _without_axis(c, self, dim, keepdim)
    else:
        shape = Shape(()) if not keepdim or self.dims is None else Shape((1,) * len(self.dims))
        if self.dims is not None:
            c.at_least(c.numel(self), 1, "the input must not be empty: it has no smallest or largest element")
    return TensorType(c.dtype(0), shape), TensorType(c.dtype(0), shape)


@torch(*(f"aten.{name}.{kind}" for name in ("any", "all") for kind in ("default", "dim", "dims")))
def any_or_all(c: InferenceContext, self: Shape, *, dim: object = None, keepdim: bool = False) -> TensorType:
    """Whether any or all elements of axes are not 0: booleans, of uint8 uint8."""
    dtype = "uint8" if c.dtype(0) == "uint8" else None if c.dtype(0) is None else "bool"
    return TensorType(dtype, _reduced(c, self, dim, keepdim, empty_is_all=False))


@torch("aten.count_nonzero.default", "aten.count_nonzero.dim_IntList")
def count_nonzero(c: InferenceContext, self: Shape, *, dim: object = None) -> TensorType:
    """The number of elements of axes that are not 0."""
    return TensorType("int64", _reduced(c, self, dim, keepdim=False, empty_is_all=True))


def _reduced(c: InferenceContext, x: Shape, dim: object, keepdim: bool, *, empty_is_all: bool) -> Shape:
    """The shape without axes; `empty_is_all`: an empty list stands for all axes, as None does."""
    everything = dim is None or (dim == () and empty_is_all)
    if x.dims is None:
        return Shape(()) if everything and not keepdim else x
    axes = range(len(x)) if everything else read_axes(c, dim, len(x))
    return reduced_shape(x, set(axes), keepdim) if x.dims else x


@torch(*(f"aten.{name}.{kind}" for name in ("quantile", "nanquantile") for kind in ("default", "scalar")))
def quantile(
    c: InferenceContext, self: Shape, q: Shape | None = None, *, dim: object = None, keepdim: bool = False
) -> TensorType:
    """[*A, d, *B], quantiles [] or [n] -> [*A, *B] or [n, *A, *B]; without `dim`, of all elements."""
    require_kind(c, c.dtype(0), "the input must have floats", "float")
    if q is not None and q.dims is not None and len(q.dims) > 1:
        c.fail("q must be a scalar or a vector", q)
    if self.dims is not None:
        c.at_least(c.numel(self), 1, "the input must not be empty")
    shape = _reduced(c, self, dim, keepdim, empty_is_all=True)
    if q is None:
        return TensorType(c.dtype(0), shape)
    if q.dims is None or shape.dims is None:
        return TensorType(c.dtype(0), c.unknown_shape())
    return TensorType(c.dtype(0), Shape((*q.dims, *shape.dims)))


@torch("aten.searchsorted.Tensor", "aten.searchsorted.Scalar")
def searchsorted(
    c: InferenceContext,
    sorted_sequence: Shape,
    self: Shape | None = None,
    sorter: Shape | None = None,
    *,
    self_: object = None,
    out_int32: bool = False,
) -> TensorType:
    """[*A, n] sorted, values [*A, m], or a sorted vector and values [*S] -> the positions of the values."""
    dtype = "int32" if out_int32 else "int64"
    if sorter is not None:
        c.merge(sorter, sorted_sequence, "sorter must have the shape of sorted_sequence")
    if self is None:
        c.require_rank(sorted_sequence, 1, "sorted_sequence")
        return TensorType(dtype, Shape(()))
    if sorted_sequence.dims is None or self.dims is None:
        return TensorType(dtype, self)
    if not sorted_sequence.dims:
        c.fail("sorted_sequence must have rank 1 or more")

    if len(sorted_sequence) > 1:
        c.same_rank(sorted_sequence, self)
        for at in range(len(self) - 1):
            c.merge(sorted_sequence[at], self[at], f"axis {at} of the values must have the size of sorted_sequence")
    return ChosenIndices(dtype, self, sorted_sequence[-1] + 1)


@torch("aten.bucketize.Tensor", "aten.bucketize.Scalar")
def bucketize(
    c: InferenceContext,
    self: Shape | None = None,
    boundaries: Shape | None = None,
    *,
    self_: object = None,
    out_int32: bool = False,
) -> TensorType:
    """[*S], a vector of boundaries -> [*S]: the number of the bucket of each element."""
    dtype, shape = "int32" if out_int32 else "int64", Shape(()) if self is None else self
    if boundaries is None:
        return TensorType(dtype, shape)
    return ChosenIndices(dtype, shape, c.require_rank(boundaries, 1, "boundaries")[0] + 1)


@torch("aten.histc.default")
def histogram(c: InferenceContext, self: Shape, *, bins: object = 100) -> TensorType:
    """[*S] -> [bins]: the number of elements in each of equal intervals."""
    count = read_int(c, bins, "bins")
    if count < 1:
        c.fail("bins must be at least 1", count)
    return TensorType(c.dtype(0), Shape((count,)))


@torch(*(f"aten.{name}.default" for name in ("isnan", "isinf", "isfinite", "isposinf", "isneginf", "signbit")))
def test_elements(c: InferenceContext, self: Shape) -> TensorType:
    """[*S] -> [*S] of booleans."""
    if function_name(c.op_def.name) in ("isposinf", "isneginf", "signbit"):
        _require_real(c)
    return TensorType("bool", self)


@torch("aten.isclose.default")
def isclose(c: InferenceContext, self: Shape, other: Shape) -> TensorType:
    """Numpy broadcasting: whether elements are close to each other."""
    return TensorType("bool", c.broadcast(self, other))


@torch("aten.equal.default", "aten.allclose.default")
def all_equal(c: InferenceContext, self: Shape, other: Shape) -> TensorType:
    """A boolean: whether two tensors are equal or close to each other."""
    if function_name(c.op_def.name) == "allclose":
        c.broadcast(self, other)
    return TensorType("bool", Shape(()))
