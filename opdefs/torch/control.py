"""Operators with bodies: branches, loops, maps and scans over rows, and calls."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from opdefs.rules.branching import run_branch, truth_of_number
from opdefs.rules.contents.elements import logical_not
from opdefs.rules.iteration import Trip, iterate
from opdefs.torch.dialect import torch
from shapeinf.expr import DimSize
from shapeinf.graph import Graph
from shapeinf.lattice import Element, PartialTensor, SequenceType, Shape, TensorType, Type
from shapeinf.lattice.truths import Truth
from shapeinf.ops import Body, InferenceContext, Ints, Value

Operands = TensorType | SequenceType


@torch("higher_order.cond")
def cond(
    c: InferenceContext,
    pred: Value | None = None,
    *operands: Operands,
    true_graph: Graph,
    false_graph: Graph,
    pred_: object = None,
) -> tuple[Type, ...]:
    """The outputs of the branch that runs, the join of both where the condition is unknown."""
    element = (pred.elements[0] if pred.elements else None) if pred is not None else bool(pred_)
    holds = truth_of_number(c, element)
    branches = c.bodies["true_graph"], c.bodies["false_graph"]
    return run_branch(c, branches, operands, (holds, logical_not(holds)))


@torch("higher_order.while_loop")
def while_loop(
    c: InferenceContext, *values: Operands, cond_graph: Graph, body_graph: Graph, lengths: Ints
) -> tuple[Type, ...]:
    """The carried values after the last trip; bodies take them and the additional values."""
    carried, additional = values[: lengths[0]], values[lengths[0] :]
    condition = c.bodies["cond_graph"].run([*carried, *additional], certain=True)
    trip = _Trip(c.bodies["body_graph"], c.bodies["cond_graph"], additional)
    return tuple(iterate(c, trip, None, _truth(c, condition[0]), carried).carried)


@attrs.frozen
class _Trip(Trip):
    """A trip of a loop whose condition is a body of its own; both take the `additional` values last."""

    condition: Body
    additional: Sequence[Type]

    def inputs(self, number: Element, condition: Element, carried: Sequence[Type | None]) -> list[Type | None]:
        """See `Trip`."""
        return [*carried, *self.additional]

    def outputs(self, results: list[Type], trip: int | None, *, certain: bool, accumulate: bool) -> list[Type]:
        """The condition for the carried values that the body returns, then these."""
        again = self.condition.run([*results, *self.additional], certain=certain, accumulate=accumulate, trip=trip)
        return [*again, *results]


def _truth(c: InferenceContext, value: Type) -> Truth:
    elements = value.elements if isinstance(value, PartialTensor) else None
    return truth_of_number(c, elements[0] if elements else None)


@torch("higher_order.map_impl")
def map_rows(c: InferenceContext, *values: Operands, body_graph: Graph, lengths: Ints) -> tuple[Type, ...]:
    """The outputs of the body for each row of the mapped tensors, stacked: [n, *S] -> [n, *T]."""
    mapped, additional = values[: lengths[0]], values[lengths[0] :]
    count, rows = _rows(c, mapped)
    body = c.bodies["body_graph"]
    outputs = body.run([*rows, *additional], certain=c.prove_le(1, count) is True)
    return tuple(_stack(c, count, value) for value in outputs)


@torch("higher_order.scan")
def scan(c: InferenceContext, *values: Operands, combine_graph: Graph, lengths: Ints) -> tuple[Type, ...]:
    """The carried values after the last row, then the outputs for each row, stacked.

    Torch requires carried values of constant types.
    """
    first, last = lengths[0], lengths[0] + lengths[1]
    count, rows = _rows(c, values[first:last])
    c.at_least(count, 1, "a scan must have at least one row")
    body = c.bodies["combine_graph"]
    outputs = body.run([*values[:first], *rows, *values[last:]], certain=True)
    carried = [_without_contents(value) for value in outputs[:first]]
    return (*carried, *(_stack(c, count, value) for value in outputs[first:]))


def _rows(c: InferenceContext, tensors: Sequence[Type]) -> tuple[DimSize, list[TensorType]]:
    """The common number of rows, and a row of each tensor."""
    counts: list[DimSize] = []
    rows = []
    for tensor in tensors:
        if not isinstance(tensor, TensorType):
            c.fail("a value that is split into rows must be a tensor", tensor)
        dims = tensor.shape.require()
        if not dims:
            c.fail("a tensor that is split into rows must have rank 1 or more")
        counts.append(dims[0])
        rows.append(TensorType(tensor.dtype, Shape(dims[1:])))
    if not counts:
        c.fail("there must be a tensor that is split into rows")
    count = counts[0]
    for other in counts[1:]:
        count = c.merge(count, other, "all tensors must have the same number of rows")
    return count, rows


def _stack(c: InferenceContext, count: DimSize, value: Type) -> TensorType:
    if not isinstance(value, TensorType):
        c.fail("the output for a row must be a tensor", value)
    dims = value.shape.dims
    return TensorType(value.dtype, Shape.unknown() if dims is None else Shape((count, *dims)))


def _without_contents(value: Type) -> Type:
    return TensorType(value.dtype, value.shape) if isinstance(value, TensorType) else value


@torch("higher_order.associative_scan")
def associative_scan(c: InferenceContext, *values: Operands, combine_fn: Graph, lengths: Ints) -> tuple[Type, ...]:
    """The results of combining the rows up to each row, in any order: the types of the tensors themselves."""
    tensors = values[: lengths[0]]
    _, rows = _rows(c, tensors)
    c.bodies["combine_fn"].run([*rows, *rows, *values[lengths[0] :]], certain=False)
    return tuple(_without_contents(tensor) for tensor in tensors)


@torch("higher_order.auto_functionalized_v2")
def call_of_copies(c: InferenceContext, *bases: Operands, lengths: Ints) -> tuple[Type | None, ...]:
    """The results of an operator that writes into its arguments, then the tensors that these are views of.

    The results of an operator without a rule are unknown.
    """
    written = bases[len(bases) - lengths[-1] :] if lengths else ()
    results = c.num_outputs - len(written)
    if results < 0:
        c.fail("the node must have an output for each tensor that is written", c.num_outputs, len(written))
    return (*(None,) * results, *(_without_contents(tensor) for tensor in written))


@torch(
    *("higher_order.invoke_subgraph", "higher_order.wrap_with_set_grad_enabled", "higher_order.hints_wrapper"),
    *("higher_order.strict_mode", "higher_order.run_const_graph", "higher_order.wrap_with_autocast"),
)
def call(c: InferenceContext, *operands: Operands, body_graph: Graph) -> tuple[Type, ...]:
    """The outputs of the body."""
    return tuple(c.bodies["body_graph"].run(operands, certain=True))
