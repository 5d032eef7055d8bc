"""The provenance of an axis: steps from its node back to an input, for `Result.explain`.

It is computed on demand; an inference records nothing for it. `probe` runs the rule of a node again, with a marker for
every axis of its inputs: the markers in the output are the axes that it is computed from. The way also goes through
contents, where sizes are computed as elements of tensors, and through the bodies of nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.errors import ShapeInferenceError
from shapeinf.explain.causes import Root, inner_point, outer_point
from shapeinf.explain.points import GraphFrame, Point, find_value, size_in, tensor_of, unknowns_in
from shapeinf.explain.probe import blockers, sources
from shapeinf.explain.unknowns import cause_of
from shapeinf.expr import Dimension, DimSize
from shapeinf.ops.context import Terms
from shapeinf.solver.budget import WORK, cut_text

_NO_TERMS: Terms = {}
_USUAL_TERMS = {("pads", "0"), ("dilation", "1")}
MOST_NAMES = 6
"""More sources than these are counted, not listed."""


@attrs.frozen
class Step:
    """One step of an explanation.

    Args:
        text: the line.
        subject: the axis, element or rank that it explains: `x.shape[0]`.
        op: the operator of the node that computes it; empty for inputs and constants.
        node: the name of that node.
        keeps: whether the next step explains the same: an axis of the same size, or an unknown rank.
        terms: the parameters in the formula of the size, such as the kernel, stride and pads of a window.
    """

    text: str
    subject: str
    op: str = ""
    node: str = ""
    keeps: bool = False
    terms: Terms = attrs.Factory(dict)


def explain(inference: Inference, name: str, axis: int, work: int = WORK) -> list[Step]:
    """The steps from an axis back to an input, a constant, a constraint, or the origin of an unknown.

    If the budget is exhausted, the last step reports that. Raises UnknownNameError for an unknown tensor,
    ShapeInferenceError for an axis out of range.
    """
    frame, slot = find_value(GraphFrame(inference, work=work), name)
    tensor = tensor_of(frame.inference.type_of(slot))
    point = Point(frame, slot, "axis", axis)
    if tensor is None or tensor.shape.dims is None:
        point = Point(frame, slot, "rank", 0)
    elif not -len(tensor.shape.dims) <= axis < len(tensor.shape.dims):
        raise ShapeInferenceError(f"{name} has no axis {axis}: its shape is {tensor.shape}")
    elif axis < 0:
        point = Point(frame, slot, "axis", axis + len(tensor.shape.dims))
    return trace(point)[0]


def trace(point: Point) -> tuple[list[Step], Point]:
    """The steps from a point back to its first cause, and the point of the last step."""
    steps: list[Step] = []
    seen: set[Point] = set()
    last = point
    following: Point | None = point
    while following is not None and following not in seen:
        last = following
        seen.add(last)
        node = last.frame.producer(last.slot)
        if node is None:
            text, following = _explain_input(last)
            step = Step(text, str(last))
        elif last.frame.inner(node):
            text, following = _explain_body(last, node)
            step = _node_step(text, last, node)
        else:
            step, following = _explain_node(last, node)
        if last.frame.budget.cut:  # the sources of the node may be incomplete
            steps.append(Step(f"{_here(last)}: {cut_text('explain(work=...)')}", str(last)))
            break
        if step.text:
            steps.append(step)
    return steps, last


def _node_step(text: str, point: Point, node: NodeStep, keeps: bool = False, terms: Terms = _NO_TERMS) -> Step:
    return Step(text, str(point), node.operation.kind.op, point.frame.inference.path + node.node_name, keeps, terms)


def _here(point: Point) -> str:
    if point.facet == "rank":
        return f"{point.frame.name(point.slot)} has an unknown rank"
    return f"{point} = {'?' if point.size is None else point.size}"


def _explain_input(point: Point) -> tuple[str, Point | None]:
    """The text of a value that no node of its graph computes, and the point of the outer graph that it is, if any."""
    frame, around = point.frame, outer_point(point)
    if around is not None:
        same = frame.inference.compiled.names[point.slot] == around.frame.inference.compiled.names[around.slot]
        moved = _align(point, around)
        if moved is not None:
            return ("" if same else f"{_here(point)} is {moved}"), moved
    constant = frame.inference.compiled.names[point.slot] in frame.inference.compiled.graph.constants
    if frame.outer is not None and frame.step is not None and not constant:
        node = f"{frame.step.operation} {frame.outer.locate(frame.step)}"
        return f"{_here(point)}, which {node} passes to its body: it may differ from run to run", None
    return f"{_here(point)}, {_origin(point)}", None


def _explain_body(point: Point, step: NodeStep) -> tuple[str, Point | None]:
    """The text of an output of a node with bodies, and the point of the same size inside them, if any."""
    frame = point.frame
    here = f"{_here(point)} by {step.operation} {frame.locate(step)}"
    outputs = [(name, inner_point(point, inner, step)) for name, inner in frame.inner(step).items()]
    aligned = [(name, _align(point, p)) for name, p in outputs if p is not None]
    matched = [(name, p) for name, p in aligned if p is not None]
    if matched and len(matched) == len(outputs):
        names = "" if not step.operation.bodies else " in " + " and ".join(name for name, _ in matched)
        return f"{here} from {matched[0][1]}{names}", matched[0][1]
    if point.known:
        return here, None
    nested = next(((name, p) for name, p in matched), None)
    if nested is not None:
        return f"{here} from {nested[1]} in {nested[0]}", nested[1]
    return f"{here}: {cause_of(Root(frame, step, point)).reason}", None


def _align(point: Point, other: Point) -> Point | None:
    """The point of the same size in a value outside or inside a body, perhaps another axis; None where it has none."""
    if point.facet == "rank":
        return None if other.known else other
    if other.size is not None and other.size == point.size:
        return other
    tensor = tensor_of(other.type)
    if point.facet != "axis" or tensor is None or isinstance(point.size, int):
        return None
    axes = [axis for axis, dim in enumerate(tensor.shape.dims or ()) if dim == point.size]
    return other._replace(at=axes[0]) if len(axes) == 1 else None


def _explain_node(point: Point, step: NodeStep) -> tuple[Step, Point | None]:
    """The step of an output of a node, and the point of its inputs to follow, if any."""
    frame, size = point.frame, point.size
    here = f"{_here(point)} by {step.operation} {frame.locate(step)}"
    begins = size is None or any(frame.first.get(symbol) == point for symbol in unknowns_in(size))
    if not begins:
        points, terms = sources(point, step)
        if points and size is not None:
            following = _closest(points, size)
            text = f"{here} from {_list_points(points)}{_format_terms(terms)}"
            keeps = following.size == size and point.facet == following.facet == "axis"
            return _node_step(text, point, step, keeps, terms), following
        return _node_step(here + _constraint_source(point), point, step), None
    missing = blockers(point, step)
    if missing:
        keeps = point.facet == missing[0].facet == "rank"
        text = f"{here}, since {_label(missing[0])} is unknown"
        return _node_step(text, point, step, keeps), missing[0]
    return _node_step(f"{here}: {cause_of(Root(frame, step, point)).reason}", point, step), None


def _format_terms(terms: Terms) -> str:
    """The parameters of a size as text: `with kernel 3, stride 2, pads 1`; without a dilation of 1 and pads of 0."""
    words = []
    for name, term in terms.items():
        if isinstance(term, tuple):
            before, after = term
            text = str(before) if before == after else f"{before} and {after}"
        else:
            text = str(term)
        if (name, text) not in _USUAL_TERMS:
            words.append(f"{name} {text}")
    return f", with {', '.join(words)}" if words else ""


def _label(point: Point) -> str:
    return f"the content {point}" if point.facet == "element" else str(point)


def _list_points(points: Sequence[Point]) -> str:
    names = [str(p) for p in points[:MOST_NAMES]]
    return ", ".join(names) + (f" and {len(points) - MOST_NAMES} more" if len(points) > MOST_NAMES else "")


def _closest(points: Sequence[Point], size: DimSize) -> Point:
    """The point to follow: one of the same size, else with a common unknown, else with a common symbol, else any.

    Of several the one that is computed first, whose path to the inputs is the shortest.
    """

    def distance(point: Point) -> int:
        other = point.size
        if other is size or other == size:
            return 0
        if not isinstance(other, Dimension) or not isinstance(size, Dimension):
            return 3
        shared = other.symbols() & size.symbols()
        return 1 if any(s.symbol.anonymous for s in shared) else 2 if shared else 3

    def age(point: Point) -> int:
        producer = point.frame.inference.compiled.producers[point.slot]
        return -1 if producer is None else producer

    return min(points, key=lambda point: (distance(point), age(point)))


def _origin(point: Point) -> str:
    """The origin of a size or element of an input or constant, in words, with the constraint that determined it."""
    graph, name = point.frame.inference.compiled.graph, point.frame.inference.compiled.names[point.slot]
    if name in graph.constants:
        return ("the shape of a constant" if point.facet == "axis" else "in a constant") + _constraint_source(point)
    if point.known:
        return "declared by an input" + _constraint_source(point)
    if point.facet == "element":
        return "the contents of an input, known only at run time"
    return f"an input: {cause_of(Root(point.frame, None, point)).reason}"


def _constraint_source(point: Point) -> str:
    """The source of the equality that changed a size after it was computed, with its location; empty for none."""
    inference = point.frame.inference
    computed = inference.table.types[inference.numbers[point.slot]]
    initial = inference.input_types.get(inference.compiled.names[point.slot], computed)
    first = size_in(initial, point.facet, point.at)
    symbols = first.symbols() if isinstance(first, Dimension) else ()
    causes = [inference.store.sources[s] for s in inference.store.solved if s in symbols]
    return f"; {point.frame.append_location(str(causes[0]), causes[0].node)}" if causes else ""
