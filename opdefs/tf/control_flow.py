"""Control flow out of single nodes, as in graphs of TensorFlow 1: switches, joins, and frames of loops.

A value behind a switch exists only where the condition holds. A loop is a cycle through a Merge and a NextIteration.
"""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.branching import join_values
from opdefs.rules.iteration import iterate
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.loops import ConditionalTrip
from shapeinf.lattice import SCALAR, PartialTensor, Shape, TensorType, Type
from shapeinf.ops import Body, InferenceContext


@tf("Switch", "RefSwitch", views={0: 0, 1: 0}, conditions=1, selector=1)
def switch(c: TensorFlowContext, data: TensorType, pred: Shape) -> tuple[TensorType, TensorType]:
    """[*S], [] -> [*S], [*S]: the data at both outputs, of which one has a value when the graph runs."""
    c.with_rank(pred, 0)
    return data, data


@tf("_SwitchN", conditions=1)
def switch_n(c: TensorFlowContext, data: TensorType, output_index: Shape) -> tuple[TensorType, ...]:
    """[*S], [] -> [*S]...: the data at all outputs, of which one has a value when the graph runs."""
    c.with_rank(output_index, 0)
    return (data,) * c.num_outputs


def leave_frame(c: InferenceContext, cond: Body, body: Body, values: Sequence[Type]) -> Sequence[Type]:
    """The values behind a loop of single nodes: those of a While with this condition and this body."""
    trip = ConditionalTrip(body, c, cond)
    return iterate(c, trip, None, trip.test(values, 0, certain=True), values).carried


@tf("Merge", "RefMerge", conditions=-1, loop=leave_frame)
def merge(c: TensorFlowContext, *inputs: TensorType | None) -> tuple[Type, PartialTensor]:
    """[*S]... -> the join of the inputs, and the index [] of the one that has a value.

    An input of None is a value of a later iteration.
    """
    values = [value for value in inputs if value is not None]
    if not values:
        c.fail("takes at least 1 input, got 0")
    if c.conditions and len(values) == len(inputs):
        return join_values(c, values, c.conditions, "value"), PartialTensor("int32", SCALAR, None)
    joined: Type = values[0]
    for other in values[1:]:
        joined = c.relax_type(joined, other, "value")
    return joined, PartialTensor("int32", SCALAR, None)


@tf("Enter", "RefEnter", views={0: 0}, conditions=1)
def enter(c: TensorFlowContext, data: TensorType) -> TensorType:
    """[*S] -> [*S]: the value in the first iteration of a frame; in all iterations if it is constant."""
    return data


@tf("Exit", "RefExit", views={0: 0}, conditions=-2)  # it ends the conditions of its frame's Enter and of a Switch
def leave(c: TensorFlowContext, data: TensorType) -> Type:
    """[*S] -> [*S]: the value after the last iteration."""
    return c.leave_cycle(data)


@tf("NextIteration", "RefNextIteration", views={0: 0}, back_edge=True)
def next_iteration(c: TensorFlowContext, data: TensorType) -> TensorType:
    """[*S] -> [*S]: the value in the next iteration."""
    return data


@tf("LoopCond", views={0: 0})
def loop_condition(c: TensorFlowContext, value: TensorType) -> TensorType:
    """[] -> []: the condition of a loop."""
    return value.with_type(value.dtype, c.with_rank(value.shape, 0))
