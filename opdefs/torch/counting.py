"""Sizes that data decides: positions of elements that are not 0, distinct elements, counts, repeated indices."""

from __future__ import annotations

from opdefs.pnnx.axes import read_axis
from opdefs.pnnx.names import function_name
from opdefs.pnnx.operands import require_kind
from opdefs.rules.contents.elements import known_dims
from opdefs.rules.numbers import read_dim, read_int
from opdefs.rules.operands import require_vector
from opdefs.rules.unknowns import fresh_count, nonzero_count
from opdefs.torch.dialect import torch
from shapeinf.expr import DimSize, maximum
from shapeinf.lattice import ChosenIndices, Shape, TensorType
from shapeinf.ops import InferenceContext, Value


@torch("aten.nonzero.default", "aten.argwhere.default")
def nonzero(c: InferenceContext, self: Value) -> TensorType:
    """[*S] -> [count, rank]: the positions of the elements that are not 0."""
    if self.shape.dims is None:
        return TensorType("int64", Shape((c.fresh("count"), c.fresh("rank"))))
    shape = Shape((nonzero_count(c, self), len(self.shape)))
    return ChosenIndices("int64", shape, maximum(*self.shape)) if self.shape.dims else TensorType("int64", shape)


@torch("aten.nonzero_static.default")
def nonzero_of_size(c: InferenceContext, self: Shape, *, size: object, fill_value: object = -1) -> TensorType:
    """[*S] -> [size, rank]: positions of elements that are not 0, cropped or filled."""
    count = read_dim(c, size, "size")
    if count is not None:
        c.at_least(count, 0, "size must be at least 0")
    rank: DimSize = c.fresh("rank") if self.dims is None else len(self.dims)
    return TensorType("int64", Shape((c.fresh("size") if count is None else count, rank)))


def _distinct_count(c: InferenceContext, most: DimSize) -> DimSize:
    """The number of distinct ones among `most` elements: at least 1 unless there are none."""
    return fresh_count(c, most, 1 if c.prove_le(1, most) is True else 0)


@torch("aten._unique.default", "aten._unique2.default", "aten.unique_consecutive.default")
def unique(
    c: InferenceContext,
    self: Shape,
    *,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: object = None,
) -> tuple[TensorType, ...]:
    """[*S] -> the distinct elements [u], the position of each element among these [*S], and their counts [u].

    What is not requested has the shape [0].
    """
    if dim is not None:
        return unique_slices(c, self, dim=dim, return_inverse=return_inverse, return_counts=return_counts)
    count = c.fresh("count") if self.dims is None else _distinct_count(c, c.numel(self))
    empty, values = Shape((0,)), Shape((count,))
    results = (
        TensorType(c.dtype(0), values),
        ChosenIndices("int64", self, count) if return_inverse else TensorType("int64", empty),
        TensorType("int64", values if return_counts else empty),
    )
    return results[:2] if function_name(c.op_def.name) == "_unique" else results


@torch("aten.unique_dim.default", "aten.unique_dim_consecutive.default")
def unique_slices(
    c: InferenceContext, self: Shape, *, dim: object, return_inverse: bool = False, return_counts: bool = False
) -> tuple[TensorType, ...]:
    """[*A, d, *B] -> the distinct slices [*A, u, *B] of an axis, the positions [d] among these, their counts [u]."""
    dims = self.require()
    axis = read_axis(c, dim, len(dims))
    if not dims:
        raise c.unknowable("the slices of a tensor of rank 0 are not analyzed", c.dtype(0))
    count = _distinct_count(c, dims[axis])
    return (
        TensorType(c.dtype(0), Shape((*dims[:axis], count, *dims[axis + 1 :]))),
        ChosenIndices("int64", Shape((dims[axis],)), count),
        TensorType("int64", Shape((count,))),
    )


@torch("aten.one_hot.default")
def one_hot(c: InferenceContext, self: Value, *, num_classes: object = -1) -> TensorType:
    """[*S] -> [*S, classes]; with -1 there is a class for each number up to the largest element."""
    classes = read_dim(c, num_classes, "num_classes")
    if classes == -1:
        if self.shape.dims is not None:
            c.at_least(c.numel(self.shape), 1, "without num_classes the input must not be empty")
        classes = c.fresh("classes", 1)
    elif classes is None:
        classes = c.fresh("classes")
    elif self.shape.dims is not None and c.store.bounds(c.numel(self.shape))[0] < 1:
        c.at_least(classes, 0, "num_classes must be at least 0, or -1")
    else:
        c.at_least(classes, 1, "num_classes must be at least 1, or -1")
    return TensorType("int64", c.unknown_shape() if self.shape.dims is None else Shape((*self.shape.dims, classes)))


@torch("aten.bincount.default")
def bincount(c: InferenceContext, self: Shape, weights: Shape | None = None, *, minlength: object = 0) -> TensorType:
    """[n] numbers, weights [n] -> [count]: at least `minlength`, one for each number up to the largest one."""
    require_kind(c, c.dtype(0), "the input must have integers", "bool", "integer")
    (size,) = c.require_rank(self, 1, "the input").require()
    require_vector(c, weights, size, "weights must have one element for each element of the input")
    least = read_int(c, minlength, "minlength")
    if least < 0:
        c.fail("minlength must be at least 0", least)
    low = max(least, 1) if c.prove_le(1, size) is True else least
    count = least if size == 0 else c.fresh("count", low)
    kind = "int64" if weights is None else "float32" if c.dtype(1) == "float32" else "float64"
    return TensorType(kind, Shape((count,)))


@torch("aten.repeat_interleave.Tensor")
def repeated_indices(c: InferenceContext, repeats: Value, *, output_size: object = None) -> TensorType:
    """[n] -> [total]: the index of each element repeated by its number."""
    c.require_rank(repeats.shape, 1, "repeats")
    counts = known_dims(repeats)
    stated = read_dim(c, output_size, "output_size")
    dtype = "int32" if repeats.dtype == "int32" else "int64"
    if counts is not None and None not in counts:
        return ChosenIndices(dtype, Shape((sum(n for n in counts if n is not None),)), repeats.shape[0])
    return ChosenIndices(dtype, Shape((c.fresh("total") if stated is None else stated,)), repeats.shape[0])


@torch("aten.multinomial.default")
def multinomial(c: InferenceContext, self: Shape, *, num_samples: object, replacement: bool = False) -> TensorType:
    """[(B,) n] weights -> [(B,) samples]: indices; without replacement at most n."""
    dims = self.require()
    if len(dims) not in (1, 2):
        c.fail("the input must be a vector or a matrix", self)
    count = read_dim(c, num_samples, "num_samples")
    if count is None:
        count = c.fresh("samples", 1)
    c.at_least(count, 1, "num_samples must be at least 1")
    if not replacement:
        c.at_most(count, dims[-1], "without replacement, num_samples must be at most the number of weights")
    return ChosenIndices("int64", Shape((*dims[:-1], count)), dims[-1])
