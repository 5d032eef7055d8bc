"""The largest elements, the n-th element, and monotone approximations."""

from __future__ import annotations

from opdefs.rules.contents.elements import known_ints
from opdefs.rules.contents.ordering import map_rows, sorted_positions, top_elements
from opdefs.rules.unknowns import top_k_shape
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.lattice import Element, PartialTensor, Shape
from shapeinf.ops import Value


@tf("TopK")
def top_k(c: TensorFlowContext, input_: Value, *, k: int, sorted_: bool = True) -> tuple[PartialTensor, PartialTensor]:
    """[*S, n] -> [*S, k], [*S, k]: the k largest elements of the last axis, and their indices."""
    return _largest(c, input_, _top_k_shape(c, input_.shape, k), sorted_)


def _top_k_shape(c: TensorFlowContext, x: Shape, k: int) -> Shape:
    """[*S, n] -> [*S, k] for an attribute."""
    if k < 0:
        raise ShapeError(f"Need k >= 0, got {k}")
    return _top_k(c, x, k)


def _largest(
    c: TensorFlowContext, x: PartialTensor, shape: Shape, ordered: bool
) -> tuple[PartialTensor, PartialTensor]:
    """The largest elements of `shape` and their positions; unknown if they need not be in order."""
    values, positions = (None, None)
    if ordered and x.elements is not None and x.shape.dims:
        values, positions = top_elements(c, x, len(x.shape) - 1, shape)
    return PartialTensor(x.dtype, shape, values), PartialTensor(None, shape, positions)


@tf("TopKUnique", "TopKWithUnique")
def top_k_of_rows(c: TensorFlowContext, input_: Shape, *, k: int) -> tuple[Shape, Shape]:
    """[N, n] -> [N, k], [N, k], as TopK."""
    shape = _top_k_shape(c, c.with_rank(input_, 2), k)
    return shape, shape


@tf("TopKV2")
def top_k_of_tensor(
    c: TensorFlowContext, input_: Value, k: Value, *, sorted_: bool = True
) -> tuple[PartialTensor, PartialTensor]:
    """[*S, n], k [] -> [*S, k], [*S, k], as TopK; an unknown `k` is at most n."""
    x = c.with_rank_at_least(input_.shape, 1)
    c.with_rank(k.shape, 0)
    if k.elements is None and x.dims is not None:
        shape = Shape((*x[:-1], c.fresh_at_most(x[-1], "k")))
    else:
        shape = _top_k(c, x, c.make_dim_for_scalar_input(1))
    return _largest(c, input_, shape, sorted_)


def _top_k(c: TensorFlowContext, x: Shape, k: DimSize) -> Shape:
    """[*S, n] -> [*S, k]."""
    x = c.with_rank_at_least(x, 1)
    if x.dims is None:
        return c.unknown_shape()
    if isinstance(k, int) and isinstance(x[-1], int) and x[-1] < k:
        raise ShapeError(f"input must have last dimension >= k = {k} but is {x[-1]}")
    return top_k_shape(c, x, len(x) - 1, k)


@tf("ApproxTopK")
def approx_top_k(
    c: TensorFlowContext,
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
def nth_element(c: TensorFlowContext, input_: Value, n: Value, *, reverse: bool = False) -> PartialTensor:
    """[*S, n], [] -> [*S]: the element at position `n` of each sorted row, from the largest one with `reverse`."""
    shape = _nth_shape(c, input_.shape, n)
    known = known_ints(n)
    if input_.elements is None or not known or known[0] < 0:
        return PartialTensor(input_.dtype, shape, None)

    def pick(row: list[Element]) -> list[Element] | None:
        order = sorted_positions(c, row, largest=reverse)
        return None if order is None else [row[order[known[0]]]]

    return PartialTensor(input_.dtype, shape, map_rows(input_, len(input_.shape) - 1, pick, shape))


def _nth_shape(c: TensorFlowContext, x: Shape, n: PartialTensor) -> Shape:
    """[*S, n] -> [*S]."""
    x = c.with_rank_at_least(x, 1)
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
def kth_order_statistic(c: TensorFlowContext, input_: Shape) -> Shape:
    """[*S, n] -> [*S]."""
    x = c.with_rank_at_least(input_, 1)
    return c.unknown_shape() if x.dims is None else Shape(x[:-1])


@tf("IsotonicRegression")
def isotonic_regression(c: TensorFlowContext, input_: Shape) -> tuple[Shape, Shape]:
    """[*S] -> [*S], [*S]: values and segments."""
    return input_, input_
