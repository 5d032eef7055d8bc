"""Operators that run subgraphs: branches, loops, initializers, and composites. Parameters are positional."""

from __future__ import annotations

from opdefs.rules.branching import index_conditions, run_branch, truth_of_number
from opdefs.rules.contents.elements import logical_not, to_dim
from opdefs.rules.iteration import iterate
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.loops import ConditionalTrip
from opdefs.tflite.dialect import tflite
from opdefs.tflite.operands import scalar_value
from shapeinf.graph import DeclaredType, FunctionReference
from shapeinf.lattice import Shape, TensorType, Type
from shapeinf.ops import Body, Value

BRANCHES = {"then_subgraph_index": "then", "else_subgraph_index": "else"}
LOOP = {"cond_subgraph_index": "cond", "body_subgraph_index": "body"}


def subgraph(c: TensorFlowContext, name: str, inputs: int, outputs: int) -> Body:
    """The subgraph in an option. Raises ShapeError where it is missing, or has other numbers of inputs or outputs."""
    if name not in c.bodies:
        c.fail(f"{name} must be a subgraph")
    body = c.bodies[name]
    if body.num_inputs != inputs or body.num_outputs != outputs:
        has = f"{body.num_inputs} inputs and {body.num_outputs} outputs"
        c.fail(f"the subgraph of {name} must have {inputs} inputs and {outputs} outputs", has)
    return body


@tflite("IF", labels=BRANCHES)
def if_(
    c: TensorFlowContext,
    condition: Value,
    *values: TensorType,
    then_subgraph_index: FunctionReference,
    else_subgraph_index: FunctionReference,
) -> tuple[Type, ...]:
    """The outputs of the subgraph that runs; the join of both if the condition is undecided."""
    scalar_value(c, condition, "the condition")
    branches = [subgraph(c, name, len(values), c.num_outputs) for name in BRANCHES]
    holds = truth_of_number(c, condition.elements[0] if condition.elements else None)
    return run_branch(c, branches, values, (holds, logical_not(holds)))


@tflite("WHILE", labels=LOOP)
def while_(
    c: TensorFlowContext,
    *values: TensorType,
    cond_subgraph_index: FunctionReference,
    body_subgraph_index: FunctionReference,
    output_shapes: tuple[DeclaredType | None, ...] = (),
) -> tuple[Type, ...]:
    """The carried values after the last trip; those with declared sizes in `output_shapes` are not written."""
    width = len(values)
    condition = subgraph(c, "cond_subgraph_index", width, 1)
    body = subgraph(c, "body_subgraph_index", width, width)
    trip = ConditionalTrip(body, c, condition)
    result = iterate(c, trip, None, trip.test(values, 0, certain=True), values)
    if result.trips != 0:
        trip.test(values, 0, certain=True, accumulate=True)
    unwritten = {index: declared for index, declared in enumerate(output_shapes) if declared is not None}
    return tuple(
        [
            _stated(value, unwritten[index]) if index in unwritten else value
            for index, value in enumerate(result.carried)
        ]
    )


def _stated(value: Type, declared: DeclaredType) -> Type:
    """The type of a tensor with the sizes that the file states; one that it does not state is unknown."""
    if not isinstance(value, TensorType) or declared.dims is None:
        return TensorType(getattr(value, "dtype", None), Shape.unknown())
    if any(not isinstance(dim, int) for dim in declared.dims):
        return TensorType(value.dtype, Shape.unknown())
    return TensorType(value.dtype, Shape([dim for dim in declared.dims if isinstance(dim, int)]))


@tflite("CALL_ONCE", labels={"init_subgraph_index": "init"})
def call_once(c: TensorFlowContext, *, init_subgraph_index: FunctionReference) -> tuple[Type, ...]:
    """Nothing -> no outputs: the subgraph runs at the first invocation."""
    subgraph(c, "init_subgraph_index", 0, 0).run((), certain=True)
    return ()


@tflite("STABLEHLO_COMPOSITE", calls="decomposition_subgraph_index")
def composite(
    c: TensorFlowContext, *values: TensorType, decomposition_subgraph_index: FunctionReference
) -> tuple[Type, ...]:
    """The outputs of the decomposition."""
    body = subgraph(c, "decomposition_subgraph_index", len(values), c.num_outputs)
    return tuple(body.run(values, certain=True))


@tflite("STABLEHLO_CASE", labels={"branch_subgraph_indices": "branch"})
def case(
    c: TensorFlowContext, index: Value, *values: TensorType, branch_subgraph_indices: tuple[FunctionReference, ...]
) -> tuple[Type, ...]:
    """The outputs of the subgraph with this index, the last one for an index out of range."""
    if not branch_subgraph_indices:
        c.fail("requires at least one branch")
    count = len(branch_subgraph_indices)
    bodies = [subgraph(c, f"branch_subgraph_indices[{i}]", len(values), c.num_outputs) for i in range(count)]
    known = to_dim(index.elements[0]) if index.elements else None
    return run_branch(c, bodies, values, [None] * count if known is None else index_conditions(c, known, count))
