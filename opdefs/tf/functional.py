"""Operators that run functions of the library: calls, branches, loops and maps."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from opdefs.rules.branching import index_conditions, run_branch
from opdefs.rules.contents.elements import logical_not, to_dim
from opdefs.rules.iteration import Trip, iterate
from opdefs.tf.common import require_scalars
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.loops import ConditionalTrip, truth_of
from shapeinf.errors import ShapeError
from shapeinf.expr import Dimension, DimSize, maximum
from shapeinf.graph import DeclaredType, FunctionReference
from shapeinf.lattice import Element, PartialTensor, Shape, TensorType, Type
from shapeinf.lattice.truths import Truth
from shapeinf.ops import Body, Value

Shapes = tuple[DeclaredType, ...]
Functions = tuple[FunctionReference, ...]


# -- calls -------------------------------------------------------------------------------------------------------------


@tf("PartitionedCall", "StatefulPartitionedCall", calls="f")
def call(c: TensorFlowContext, *args: TensorType, f: FunctionReference) -> tuple[Type, ...]:
    """The outputs of the function for these arguments."""
    return _call(c, "f", args)


@tf("TPUPartitionedCall")
def call_on_device(c: TensorFlowContext, *args: TensorType, f: FunctionReference) -> tuple[Type, ...]:
    """As PartitionedCall; the last input is the number of a device."""
    return _call(c, "f", args[:-1])


@tf("RemoteCall")
def call_on_target(c: TensorFlowContext, target: Shape, *args: TensorType, f: FunctionReference) -> tuple[Type, ...]:
    """As PartitionedCall; the first input is the name of a device."""
    return _call(c, "f", args)


@tf("XlaLaunch", "XlaLaunchV2")
def launch(c: TensorFlowContext, *args: TensorType, function: FunctionReference) -> tuple[Type, ...]:
    """As PartitionedCall; the arguments are constants, tensors and resources in the order of the function."""
    return _call(c, "function", args)


def _call(c: TensorFlowContext, name: str, args: Sequence[TensorType]) -> tuple[Type, ...]:
    """The outputs of the function in attribute `name`."""
    body = _body(c, name, len(args), c.num_outputs)
    return tuple(body.run(args, certain=True))


def _body(c: TensorFlowContext, name: str, inputs: int, outputs: int) -> Body:
    """The function in an attribute. Raises ShapeError if it has another number of inputs, or fewer outputs."""
    if name not in c.bodies:
        c.fail(f"the attribute {name!r} must be a function")
    body = c.bodies[name]
    if body.num_inputs != inputs or body.num_outputs < outputs:
        signature = f"{body.num_inputs} inputs and {body.num_outputs} outputs"
        c.fail(f"the function of {name!r} must take {inputs} inputs and return {outputs} outputs", signature)
    return body


@tf("SymbolicGradient")
def symbolic_gradient(c: TensorFlowContext, *values: Shape) -> tuple[Shape, ...]:
    """[*S]..., others -> [*S]...: gradients with respect to the inputs of the function, which come first."""
    if len(values) < c.num_outputs:
        c.fail("len(inputs) < len(outputs)", len(values), c.num_outputs)
    return tuple(values[: c.num_outputs])


# -- branches ----------------------------------------------------------------------------------------------------------

THEN_ELSE = {"then_branch": "then", "else_branch": "else"}


@tf("If", "StatelessIf", "_If", labels=THEN_ELSE)
def if_(
    c: TensorFlowContext,
    cond: Value,
    *values: TensorType,
    then_branch: FunctionReference,
    else_branch: FunctionReference,
    output_shapes: Shapes = (),
) -> tuple[Type, ...]:
    """The outputs of the branch that runs; the join of both if the condition is undecided."""
    return _declare(c, _choose(c, cond, values, "then_branch", "else_branch"), output_shapes)


@tf("XlaIf", labels=THEN_ELSE)
def xla_if(
    c: TensorFlowContext,
    cond: Value,
    *values: TensorType,
    then_branch: FunctionReference,
    else_branch: FunctionReference,
) -> tuple[Type, ...]:
    """As If."""
    return _choose(c, cond, values, "then_branch", "else_branch")


def _choose(
    c: TensorFlowContext, cond: TensorType, values: Sequence[TensorType], then_branch: str, else_branch: str
) -> tuple[Type, ...]:
    """The outputs of the branch that runs; the join of both if the condition is undecided."""
    branches = [_body(c, name, len(values), c.num_outputs) for name in (then_branch, else_branch)]
    holds = truth_of(c, cond)
    return run_branch(c, branches, values, (holds, logical_not(holds)))


@tf("Case", "StatelessCase", labels={"branches": "branch"})
def case(
    c: TensorFlowContext,
    branch_index: Value,
    *values: TensorType,
    branches: Functions,
    output_shapes: Shapes = (),
) -> tuple[Type, ...]:
    """The outputs of the branch with this index [], the last one for an index out of range; else the join of all."""
    c.with_rank(branch_index.shape, 0)
    if not branches:
        c.fail("Case requires at least one branch")
    bodies = [_body(c, f"branches[{i}]", len(values), c.num_outputs) for i in range(len(branches))]
    index = to_dim(branch_index.elements[0]) if branch_index.elements else None
    conditions: list[Truth] = [None] * len(bodies) if index is None else index_conditions(c, index, len(bodies))
    return _declare(c, run_branch(c, bodies, values, conditions), output_shapes)


# -- loops -------------------------------------------------------------------------------------------------------------

LOOP = {"cond": "cond", "body": "body"}


@tf("While", "StatelessWhile", "RiscWhile", labels=LOOP)
def while_(
    c: TensorFlowContext,
    *values: TensorType,
    cond: FunctionReference,
    body: FunctionReference,
    output_shapes: Shapes = (),
) -> tuple[Type, ...]:
    """The loop variables after the last trip. A variable that no trip changes keeps its shape and contents."""
    return _declare(c, _loop(c, values), output_shapes)


@tf("_While", "XlaWhile", labels=LOOP)
def plain_while(
    c: TensorFlowContext, *values: TensorType, cond: FunctionReference, body: FunctionReference
) -> tuple[Type, ...]:
    """As While."""
    return _loop(c, values)


def _loop(c: TensorFlowContext, values: Sequence[TensorType]) -> tuple[Type, ...]:
    """The loop variables after the last trip."""
    width = len(values)
    cond, body = _body(c, "cond", width, 1), _body(c, "body", width, width)
    trip = ConditionalTrip(body, c, cond)
    result = iterate(c, trip, None, trip.test(values, 0, certain=True), values)
    if result.trips != 0:
        trip.test(values, 0, certain=True, accumulate=True)  # the condition before the first trip counts too
    return tuple(result.carried)


@attrs.frozen
class _CountedTrip(Trip):
    """A trip of a loop over numbers: the body takes `start + number * delta` and the loop variables."""

    start: DimSize | None
    delta: DimSize | None

    def inputs(self, number: Element, condition: Element, carried: Sequence[Type | None]) -> list[Type | None]:
        """See `Trip`."""
        if self.start is None or self.delta is None or not isinstance(number, (int, Dimension)):
            return [PartialTensor("int32", Shape(()), None), *carried]
        return [PartialTensor("int32", Shape(()), (self.start + number * self.delta,)), *carried]

    def outputs(self, results: list[Type], trip: int | None, *, certain: bool, accumulate: bool) -> list[Type]:
        """See `Trip`; only the number of trips ends the loop."""
        return [PartialTensor("bool", Shape(()), (True,)), *results]


@tf("For", labels={"body": "body"})
def for_(
    c: TensorFlowContext, start: Value, limit: Value, delta: Value, *values: TensorType, body: FunctionReference
) -> tuple[Type, ...]:
    """The loop variables after the body has run for `start`, `start + delta`... up to but without `limit`."""
    run = _body(c, "body", len(values) + 1, len(values))
    require_scalars(c, start.shape, limit.shape, delta.shape)
    first, end, step = (_scalar(number) for number in (start, limit, delta))
    trips: DimSize | None = None
    if first is not None and end is not None and isinstance(step, int) and step != 0:
        distance = end - first if step > 0 else first - end
        trips = maximum((distance + abs(step) - 1) // abs(step), 0)
    trips = c.fresh("trips") if trips is None else trips
    return tuple(iterate(c, _CountedTrip(run, first, step), trips, True, values).carried)


def _scalar(value: PartialTensor) -> DimSize | None:
    """The value of a scalar as a dim, None if unknown."""
    return to_dim(value.elements[0]) if value.elements else None


# -- maps --------------------------------------------------------------------------------------------------------------


@tf("MapDefun", labels={"f": ""})
def map_defun(
    c: TensorFlowContext,
    *values: TensorType,
    Targuments: tuple[str, ...],  # noqa: N803 (TensorFlow's name)
    f: FunctionReference,
    output_shapes: Shapes,
) -> tuple[Type, ...]:
    """[n, *S]..., others -> [n, *T]...: the function for each slice of the first inputs, with all of the others."""
    run = _body(c, "f", len(values), c.num_outputs)
    mapped, captured = values[: len(Targuments)], values[len(Targuments) :]
    count: DimSize | None = None
    slices: list[TensorType] = []
    for tensor in mapped:
        shape = c.with_rank_at_least(tensor.shape, 1)
        if shape.dims is None:
            slices.append(PartialTensor(tensor.dtype, c.unknown_shape(), None))
            continue
        count = shape.dims[0] if count is None else c.merge(count, shape.dims[0])
        slices.append(PartialTensor(tensor.dtype, Shape(shape.dims[1:]), None))
    size = c.fresh("count") if count is None else count
    outputs = run.run([*slices, *captured], certain=c.prove_le(1, size) is True)
    run.repeat(size)
    return _declare(c, tuple(_stack(c, size, output) for output in outputs), ())


def _stack(c: TensorFlowContext, count: DimSize, element: Type) -> Type:
    """The results of `count` runs as one tensor: sizes of a single run are the same in all of them."""
    if not isinstance(element, TensorType) or element.shape.dims is None:
        return PartialTensor(element.dtype if isinstance(element, TensorType) else None, c.unknown_shape(), None)
    return PartialTensor(element.dtype, Shape((count, *element.shape.dims)), None)


# -- declared shapes ---------------------------------------------------------------------------------------------------


def _declare(c: TensorFlowContext, outputs: Sequence[Type], declared: Shapes) -> tuple[Type, ...]:
    """The outputs with unknown ranks and sizes replaced by the declared ones; a contradiction is a warning."""
    if not declared:
        return tuple(outputs)
    if len(declared) != len(outputs):
        message = f"`output_shapes` must be the same length as the outputs ({len(declared)} vs. {len(outputs)})"
        c.warnings = (*c.warnings, ShapeError(message, code="S120"))
        return tuple(outputs)
    return tuple(_refine(c, index, *pair) for index, pair in enumerate(zip(outputs, declared, strict=True)))


def _refine(c: TensorFlowContext, index: int, output: Type, declared: DeclaredType) -> Type:
    """One output with its unknown rank or sizes replaced by the declared ones."""
    dims = declared.dims
    if not isinstance(output, TensorType) or dims is None or any(isinstance(d, str) for d in dims):
        return output
    sizes = [d if isinstance(d, int) and d >= 0 else None for d in dims]
    if output.shape.dims is None:
        shape = Shape(c.fresh(f"declared.{index}.{axis}") if d is None else d for axis, d in enumerate(sizes))
        return output.with_type(output.dtype, shape)
    if len(sizes) != len(output.shape.dims) or any(
        d is not None and c.prove_eq(d, size) is False for d, size in zip(sizes, output.shape.dims, strict=True)
    ):
        text = f"output {index} has not the shape of `output_shapes`, {list(sizes)}"
        c.warnings = (*c.warnings, ShapeError(text, code="S120", operands=(str(output.shape),)))
        return output
    pairs = zip(sizes, output.shape.dims, strict=True)
    refined = [size if d is None or not _is_open(size) else d for d, size in pairs]
    return output if refined == list(output.shape.dims) else output.with_type(output.dtype, Shape(refined))


def _is_open(size: DimSize) -> bool:
    """Whether a size is an anonymous unknown."""
    return not isinstance(size, int) and size.is_symbol and size.is_anonymous
