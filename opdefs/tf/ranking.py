"""The largest elements, the n-th one, and monotone approximations."""

from __future__ import annotations

from opdefs.rules.unknowns import top_k_shape
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import Dim
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext, Value


@tf("TopK")
def top_k(c: InferenceContext, input_: Shape, *, k: int) -> tuple[Shape, Shape]:
    """The k largest elements of the last axis, and their indices."""
    if k < 0:
        raise ShapeError(f"Need k >= 0, got {k}")
    return _top_k(c, input_, k)


@tf("TopKUnique", "TopKWithUnique")
def top_k_of_rows(c: InferenceContext, input_: Shape, *, k: int) -> tuple[Shape, Shape]:
    """As TopK, of a matrix."""
    return top_k(c, c.with_rank(input_, 2), k=k)


@tf("TopKV2")
def top_k_of_tensor(c: InferenceContext, input_: Shape, k: Value) -> tuple[Shape, Shape]:
    """As TopK; a `k` that is not known is at most the size of the last axis."""
    x = c.with_rank_at_least(input_, 1)
    c.with_rank(k.shape, 0)
    if k.elements is None and x.dims is not None:
        shape = Shape((*x[:-1], c.fresh_at_most(x[-1], "k")))
        return shape, shape
    return _top_k(c, x, c.make_dim_for_scalar_input(1))


def _top_k(c: InferenceContext, x: Shape, k: Dim) -> tuple[Shape, Shape]:
    x = c.with_rank_at_least(x, 1)
    if x.dims is None:
        shape = c.unknown_shape()
        return shape, shape
    if isinstance(k, int) and isinstance(x[-1], int) and x[-1] < k:
        raise ShapeError(f"input must have last dimension >= k = {k} but is {x[-1]}")
    shape = top_k_shape(c, x, len(x) - 1, k)
    return shape, shape


@tf("ApproxTopK")
def approx_top_k(
    c: InferenceContext,
    input_: Shape,
    *,
    k: int,
    reduction_dimension: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Shape, Shape]:
    """The k largest elements of an axis; without aggregation as many as the device computes, but at least k."""
    x = c.with_rank_at_least(input_, 1)
    if k < 0:
        raise ShapeError(f"Need k >= 0, got {k}")
    if x.dims is None:
        shape = c.unknown_shape()
        return shape, shape
    axis = c.axis(reduction_dimension, len(x))
    shape = top_k_shape(c, x, axis, k)
    if not aggregate_to_topk:
        shape = c.replace_dim(x, axis, c.fresh_at_most(x[axis], "candidates", k))
    return shape, shape


@tf("NthElement")
def nth_element(c: InferenceContext, input_: Shape, n: Value) -> Shape:
    """The n-th smallest element of the last axis."""
    x = c.with_rank_at_least(input_, 1)
    c.with_rank(n.shape, 0)
    index = c.make_dim_for_scalar_input(1)
    if x.dims is None:
        return c.unknown_shape()
    message = f"Input must have last dimension > n = {index} but is {x[-1]}"
    if isinstance(index, int) and isinstance(x[-1], int):
        if x[-1] <= index:
            raise ShapeError(message)
    elif n.elements is not None:
        c.at_least(x[-1], c.add(index, 1), message)
    return Shape(x[:-1])


@tf("KthOrderStatistic")
def kth_order_statistic(c: InferenceContext, input_: Shape) -> Shape:
    """An element of each row of the last axis."""
    x = c.with_rank_at_least(input_, 1)
    return c.unknown_shape() if x.dims is None else Shape(x[:-1])


@tf("IsotonicRegression")
def isotonic_regression(c: InferenceContext, input_: Shape) -> tuple[Shape, Shape]:
    """Values and segments of the shape of the input."""
    return input_, input_
