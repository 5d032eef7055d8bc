"""Operators that carry graphs: branches, loops, scans and maps over sequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from opdefs.onnx.dialect import onnx
from opdefs.rules.branching import run_branch, truth_of_number
from opdefs.rules.contents.elements import logical_not, to_dim
from opdefs.rules.iteration import NumberedTrip, iterate
from opdefs.rules.operands import require_count
from opdefs.rules.sequences import create_sequence
from opdefs.rules.unknowns import element_shape
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.graph import Graph
from shapeinf.lattice import Condition, PartialTensor, SequenceType, Shape, TensorType, Type, drop_shape
from shapeinf.ops import Body, InferenceContext, Ints, Value
from shapeinf.texts import format_count

SINGLE_CONDITION = "the condition must have exactly one element"
COUNT, TYPES_DIFFER, TYPE_NOT_ALLOWED, BAD_ATTRIBUTE = "S103", "S106", "S107", "S109"
"""The codes of violations for which runtimes do not load a model."""
SEQUENCES_CARRIED = 13
"""The opset from which on loops carry sequences."""
VIOLATION = "S101"
"""The code of a violation at run time."""


@contextmanager
def _types_of_body(
    c: InferenceContext, body: Body, inputs: Sequence[Type | None], *, skipped: int = 0
) -> Iterator[None]:
    """Where the node fails inside of this, its outputs have the types of those of the body, without the first ones."""
    try:
        yield
    except ShapeError:
        c.state_types(*body.preview(inputs)[skipped:])
        raise


@onnx("If")
def if_(c: InferenceContext, condition: Value, *, then_branch: Graph, else_branch: Graph) -> tuple[Type, ...]:
    """The outputs of the branch that runs; the join of both branches if the condition is unknown.

    With an unknown condition, a branch that is certain to fail at run time is ignored.
    """
    for branch in c.bodies.values():
        _require_inputs(c, branch, 0, "a branch")
    with _types_of_body(c, c.bodies["then_branch"], ()):
        require_count(c, condition.shape, 1, SINGLE_CONDITION)
    holds = truth_of_number(c, condition.elements[0] if condition.elements else None)
    branches = c.bodies["then_branch"], c.bodies["else_branch"]
    return _require_outputs(c, run_branch(c, branches, (), (holds, logical_not(holds))), "branches have")


def _require_inputs(c: InferenceContext, body: Body, count: int, subject: str) -> None:
    """Report a body that declares another number of inputs than it is called with."""
    if body.num_inputs != count:
        message = f"{subject} gets {format_count(count, 'input')}, and it declares {body.num_inputs}"
        c.report(ShapeError(message, code=COUNT))


def _require_outputs(c: InferenceContext, types: tuple[Type, ...], subject: str) -> tuple[Type, ...]:
    """The outputs; a node that lists another number of outputs than its bodies have is reported."""
    if len(types) != c.num_outputs:
        message = f"its {subject} {format_count(len(types), 'output')}, and the node lists {c.num_outputs}"
        c.report(ShapeError(message, code=COUNT))
    return types


def _require_tensors(c: InferenceContext, values: Sequence[Type], subject: str, code: str = TYPE_NOT_ALLOWED) -> None:
    """Report the first of some values of a body that is no tensor."""
    for value in values:
        if not isinstance(value, TensorType):
            c.report(ShapeError(f"{subject} must be tensors", code=code, operands=(str(value),)))
            return


def _require_same_types(c: InferenceContext, before: Sequence[Type], after: Sequence[Type]) -> None:
    """Report the first tensor that the body returns with another element type than it has before the first run."""
    for index, (first, last) in enumerate(zip(before, after, strict=False)):
        if not (isinstance(first, TensorType) and isinstance(last, TensorType)):
            continue
        if first.dtype and last.dtype and first.dtype != last.dtype:
            message, operands = f"the body must return the type of value {index}", (first.dtype, last.dtype)
            help = f"a Cast to {first.dtype} is missing in the body"
            c.report(ShapeError(message, code=TYPES_DIFFER, operands=operands, help=help))
            return


@onnx("Loop")
def loop(
    c: InferenceContext, limit: Value | None = None, condition: Value | None = None, *carried: Type, body: Graph
) -> tuple[Type, ...]:
    """The carried values after the last trip, then each scan output: [trips, *element]."""
    run = c.bodies["body"]
    width = run.num_inputs - 2
    if not 0 <= width <= len(carried) or run.num_outputs < 1 + width:
        signature = f"{run.num_inputs} inputs and {run.num_outputs} outputs for {format_count(len(carried), 'value')}"
        message = "the body must have an input and an output for each carried value"
        raise ShapeError(message, code=COUNT, operands=(signature,))
    _require_inputs(c, run, 2 + len(carried), "the body")
    with _types_of_body(c, run, (None, None, *carried[:width]), skipped=1):
        require_count(c, None if limit is None else limit.shape, 1, "the trip count must have exactly one element")
        require_count(c, None if condition is None else condition.shape, 1, SINGLE_CONDITION)
    most = None if limit is None else to_dim(limit.elements[0]) if limit.elements else c.fresh("limit")
    start = True if condition is None else condition.elements[0] if condition.elements else None
    go_on = start if isinstance(start, Condition) else bool(start) if isinstance(start, (bool, int)) else None
    trip = NumberedTrip.create(run, None if condition is None else condition.shape)
    result = iterate(c, trip, most, go_on, carried[:width])
    returned = run.returned or run.preview(trip.inputs(None, None, carried[:width]))
    _require_tensors(c, returned[:1], "conditions", VIOLATION)
    types = (*result.carried, *(stack(c, element, result.trips, 0) for element in result.scanned))
    _require_outputs(c, types, "body has, besides the condition,")
    if not c.violations:
        _require_same_types(c, carried, returned[1 : 1 + width])
        _require_tensors(c, returned[1:] if c.version < SEQUENCES_CARRIED else (), "outputs of the body")
    return types


def stack(c: InferenceContext, element: Type, count: DimSize, axis: int) -> TensorType:
    """`count` elements [*S] stacked along a new axis."""
    if not isinstance(element, TensorType):
        raise ShapeError("scan outputs must be tensors", code=TYPE_NOT_ALLOWED, operands=(str(element),))
    if element.shape.dims is None:
        return TensorType(element.dtype, c.unknown_shape())
    dims = element.shape.dims
    at = c.axis(axis, len(dims) + 1)
    return TensorType(element.dtype, Shape((*dims[:at], count, *dims[at:])))


@onnx("Scan", since=9)
def scan(
    c: InferenceContext,
    *values: Type,
    body: Graph,
    num_scan_inputs: int,
    scan_input_axes: Ints = (),
    scan_output_axes: Ints = (),
    scan_input_directions: Ints = (),
    scan_output_directions: Ints = (),
) -> tuple[Type, ...]:
    """States keep their shape; a scan input loses its scan axis in the body, a scan output gains one."""
    run = c.bodies["body"]
    with _types_of_body(c, run, tuple(map(drop_shape, values))):
        states, inputs = _split_inputs(c, values, num_scan_inputs)
        _require_signature(c, run, states, inputs)
        _require_lists(c, num_scan_inputs, scan_input_axes=scan_input_axes, scan_input_directions=scan_input_directions)
        scanned = run.num_outputs - len(states)
        _require_lists(c, scanned, scan_output_axes=scan_output_axes, scan_output_directions=scan_output_directions)
        slices, count = _slices(c, inputs, scan_input_axes)
    if c.store.bounds(count)[0] < 1:
        c.advise_at_most(1, count, "some runtimes reject scans over an empty axis")
    after, outputs = _run_scan(c, run, states, slices, count, certain=c.prove_le(1, count) is True)
    axes = scan_output_axes or (0,) * len(outputs)
    types = (*after, *(stack(c, element, count, axis) for element, axis in zip(outputs, axes, strict=False)))
    return _require_outputs(c, types, "body has")


@onnx("Scan")
def batched_scan(
    c: InferenceContext, lengths: Shape | None = None, *values: Type, body: Graph, num_scan_inputs: int
) -> tuple[Type, ...]:
    """Opset 8: all tensors have a leading batch axis, which the body does not see; scans run along axis 1."""
    run = c.bodies["body"]
    states, inputs = _split_inputs(c, values, num_scan_inputs)
    _require_signature(c, run, states, inputs)
    batch, each_state = _drop_batch(c, states)
    slices, count = _slices(c, _drop_batch(c, inputs)[1], ())
    certain = lengths is None and c.prove_le(1, batch * count) is True
    after, outputs = _run_scan(c, run, each_state, slices, batch * count, certain=certain)
    stacks = (stack(c, stack(c, element, count, 0), batch, 0) for element in outputs)
    return _require_outputs(c, (*(stack(c, element, batch, 0) for element in after), *stacks), "body has")


def _require_signature(c: InferenceContext, run: Body, states: Sequence[Type], inputs: Sequence[Type]) -> None:
    """Report a body that does not take the states and one slice of each input, or does not return the states."""
    if run.num_outputs < len(states):
        operands = str(run.num_outputs), str(len(states))
        raise ShapeError("the body must return every state", code=COUNT, operands=operands)
    _require_inputs(c, run, len(states) + len(inputs), "the body")


def _require_lists(c: InferenceContext, count: int, **lists: Ints) -> None:
    """Report a list of axes, or of directions (0 and 1), that is not empty and has not `count` items."""
    for name, values in lists.items():
        if values and len(values) != count:
            message = f"the attribute {name!r} must have {format_count(count, 'item')}"
            c.report(ShapeError(message, code=BAD_ATTRIBUTE, operands=(str(list(values)),)))
        elif "directions" in name and not {*values} <= {0, 1}:
            message = f"the attribute {name!r} must consist of 0 and 1"
            c.report(ShapeError(message, code=BAD_ATTRIBUTE, operands=(str(list(values)),)))


def _split_inputs(c: InferenceContext, values: Sequence[Type], scanned: int) -> tuple[list[Type], list[TensorType]]:
    if scanned < 0 or len(values) < scanned:
        message = "num_scan_inputs must lie between 0 and the number of inputs"
        raise ShapeError(message, code=BAD_ATTRIBUTE, operands=(str(len(values)), str(scanned)))
    at = len(values) - scanned
    inputs = [v for v in values[at:] if isinstance(v, TensorType)]
    if len(inputs) < scanned:
        raise ShapeError("scan inputs must be tensors", code=TYPE_NOT_ALLOWED)
    return [_drop_contents(v) for v in values[:at]], inputs


def _drop_contents(value: Type) -> Type:
    return PartialTensor(value.dtype, value.shape, None) if isinstance(value, TensorType) else value


def _drop_batch(c: InferenceContext, values: Sequence[Type]) -> tuple[DimSize, list[TensorType]]:
    tensors = [v for v in values if isinstance(v, TensorType)]
    known = [t.shape.dims[0] for t in tensors if t.shape.dims]
    batch = known[0] if known else c.fresh("batch")
    for other in known[1:]:
        c.merge(batch, other, "states and scan inputs must have the same batch size")
    return batch, [t if t.shape.dims is None else TensorType(t.dtype, Shape(t.shape.dims[1:])) for t in tensors]


def _slices(c: InferenceContext, inputs: Sequence[TensorType], axes: Ints) -> tuple[list[Type], DimSize]:
    """The type of one slice of each scan input, and the number of slices."""
    count: DimSize | None = None
    slices: list[Type] = []
    for tensor, axis in zip(inputs, axes or (0,) * len(inputs), strict=False):
        if tensor.shape.dims is None:
            slices.append(TensorType(tensor.dtype, c.unknown_shape()))
            continue
        dims = tensor.shape.dims
        at = c.axis(axis, len(dims))
        count = dims[at] if count is None else c.merge(count, dims[at], "scan inputs must have the same length")
        slices.append(PartialTensor(tensor.dtype, Shape((*dims[:at], *dims[at + 1 :])), None))
    return slices, c.fresh("length") if count is None else count


def _run_scan(
    c: InferenceContext, run: Body, states: Sequence[Type], slices: Sequence[Type], trips: DimSize, *, certain: bool
) -> tuple[list[Type], list[Type]]:
    """The states after the scan and one slice of each scan output."""
    outputs = run.run([*states, *slices], certain=certain)
    run.repeat(trips)
    _require_tensors(c, outputs, "outputs of the body")
    after: list[Type] = []
    for index, (old, new) in enumerate(zip(states, outputs, strict=False)):
        if isinstance(old, TensorType) and isinstance(new, TensorType):
            shape = c.merge(old.shape, new.shape, f"the body must return state {index} in its initial shape")
            after.append(PartialTensor(new.dtype or old.dtype, shape, None))
        else:
            after.append(new)
    return after, outputs[len(states) :]


@onnx("SequenceMap")
def sequence_map(c: InferenceContext, *values: Type, body: Graph) -> tuple[Type, ...]:
    """The outputs of the body for each element; inputs that are not sequences are the same in every run."""
    first = values[0] if values else None
    length = first.length if isinstance(first, SequenceType) else None
    _require_inputs(c, c.bodies["body"], len(values), "the body")
    if isinstance(length, int) and length <= MAX_MAPPED and all(_has_items(v, length) for v in values):
        return _require_outputs(c, _map_items(c, values, length), "body has")
    elements = [_element(c, v) for v in values]
    outputs = c.bodies["body"].run(elements, certain=False)
    c.bodies["body"].repeat(c.fresh("length") if length is None else length)
    _require_tensors(c, outputs, "outputs of the body")
    return _require_outputs(c, tuple(SequenceType(_drop_contents(out), length) for out in outputs), "body has")


MAX_MAPPED = 16
"""The longest sequence whose items are inferred one by one; the body of a longer one runs on the join of its items."""


def _has_items(value: Type, length: int) -> bool:
    return type(value) is not SequenceType or (value.items is not None and len(value.items) == length)


def _map_items(c: InferenceContext, values: Sequence[Type], length: int) -> tuple[Type, ...]:
    """The sequences of outputs, with one run of the body for each item."""
    rows: list[list[TensorType]] = [[] for _ in range(c.bodies["body"].num_outputs)]
    for i in range(length):
        each = [v.items[i] if type(v) is SequenceType and v.items is not None else v for v in values]
        outputs = c.bodies["body"].run(each, certain=True, accumulate=i > 0, trip=i)
        for row, out in zip(rows, outputs, strict=False):
            if not isinstance(out, TensorType):
                raise ShapeError("outputs of the body must be tensors", code=TYPE_NOT_ALLOWED, operands=(str(out),))
            row.append(TensorType(out.dtype, out.shape))
    return tuple(create_sequence(c, row) for row in rows)


def _element(c: InferenceContext, value: Type) -> Type:
    if isinstance(value, SequenceType) and isinstance(value.element, TensorType):
        return TensorType(value.element.dtype, element_shape(c, value.element.shape))
    return value.element if isinstance(value, SequenceType) else value
