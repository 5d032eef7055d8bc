"""The largest elements, the n-th element, and monotone approximations."""

from __future__ import annotations

from opdefs.rules.unknowns import top_k_shape
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import Dim
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext, Value


@tf("TopK")
def top_k(c: InferenceContext, input_: Shape, *, k: int) -> tuple[Shape, Shape]:
    """[*S, n] -> [*S, k], [*S, k]: the k largest elements of the last axis, and their indices."""
    if k < 0:
        raise ShapeError(f"Need k >= 0, got {k}")
    return _top_k(c, input_, k)


@tf("TopKUnique", "TopKWithUnique")
def top_k_of_rows(c: InferenceContext, input_: Shape, *, k: int) -> tuple[Shape, Shape]:
    """[N, n] -> [N, k], [N, k], as TopK."""
    return top_k(c, c.with_rank(input_, 2), k=k)


@tf("TopKV2")
def top_k_of_tensor(c: InferenceContext, input_: Shape, k: Value) -> tuple[Shape, Shape]:
    """[*S, n], k [] -> [*S, k], [*S, k], as TopK; an unknown `k` is at most n."""
    x = c.with_rank_at_least(input_, 1)
    c.with_rank(k.shape, 0)
    if k.elements is None and x.dims is not None:
        shape = Shape((*x[:-1], c.fresh_at_most(x[-1], "k")))
        return shape, shape
    return _top_k(c, x, c.make_dim_for_scalar_input(1))


def _top_k(c: InferenceContext, x: Shape, k: Dim) -> tuple[Shape, Shape]:
    """[*S, n] -> [*S, k], [*S, k]."""
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
    """[*P, n, *Q] -> [*P, k, *Q] twice; without aggregation, as many elements as the device computes, at least k."""
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
    """[*S, n], [] -> [*S]."""
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
    """[*S, n] -> [*S]."""
    x = c.with_rank_at_least(input_, 1)
    return c.unknown_shape() if x.dims is None else Shape(x[:-1])


@tf("IsotonicRegression")
def isotonic_regression(c: InferenceContext, input_: Shape) -> tuple[Shape, Shape]:
    """[*S] -> [*S], [*S]: values and segments."""
    return input_, input_
