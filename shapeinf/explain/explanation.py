"""Why an axis has its size, found on demand: nothing is recorded while inferring.

To explain an axis, the rule of the node that made it runs again with a distinct symbol for every axis of its inputs;
the symbols in the answer are the axes that it comes from. Sizes that went through contents (`Shape`, `Concat`,
`Reshape`) are followed through these, and into the bodies of nodes that have some.
"""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.errors import ShapeInferenceError
from shapeinf.explain.causes import Root, inside, outside
from shapeinf.explain.points import GraphFrame, Point, size_in, tensor_of, unknowns_in
from shapeinf.explain.probe import blockers, sources
from shapeinf.explain.unknowns import cause_of
from shapeinf.expr import Dim, Dimension
from shapeinf.solver.budget import WORK, cut_text

MOST_NAMES = 6
"""More sources than these are counted, not listed."""


def explain(inference: Inference, name: str, axis: int, work: int = WORK) -> list[str]:
    """One line a step, from the axis back to an input, a constant, a law, or what first did not know.

    Where the budget of work is reached on the way, the last line says so.
    """
    frame = GraphFrame(inference, work=work)
    slot = inference.compiled.slots[name]
    tensor = tensor_of(inference.current(slot))
    point = Point(frame, slot, "axis", axis)
    if tensor is None or tensor.shape.dims is None:
        point = Point(frame, slot, "rank", 0)
    elif not -len(tensor.shape.dims) <= axis < len(tensor.shape.dims):
        raise ShapeInferenceError(f"{name} has no axis {axis}: its shape is {tensor.shape}")
    elif axis < 0:
        point = Point(frame, slot, "axis", axis + len(tensor.shape.dims))
    return trace(point)[0]


def trace(point: Point) -> tuple[list[str], Point]:
    """One line a step, from a point back to its first cause, and the last point of the way."""
    lines: list[str] = []
    seen: set[Point] = set()
    last = point
    found: Point | None = point
    while found is not None and found not in seen:
        last = found
        seen.add(last)
        step = last.frame.step_of(last.slot)
        if step is None:
            line, found = _given(last)
        elif last.frame.inner(step):
            line, found = _through(last, step)
        else:
            line, found = _made(last, step)
        if last.frame.budget.cut:  # what the node was asked may not be the whole answer
            lines.append(f"{_here(last)}: {cut_text('explain(work=...)')}")
            break
        if line:
            lines.append(line)
    return lines, last


def _here(point: Point) -> str:
    if point.facet == "rank":
        return f"{point.frame.name(point.slot)} has an unknown rank"
    return f"{point} = {'?' if point.size is None else point.size}"


def _given(point: Point) -> tuple[str, Point | None]:
    """A value that no node of its graph makes: captured or handed in from the graph around it, or an input."""
    frame, around = point.frame, outside(point)
    if around is not None:
        same = frame.inference.compiled.names[point.slot] == around.frame.inference.compiled.names[around.slot]
        moved = _aligned(point, around)
        if moved is not None:
            return ("" if same else f"{_here(point)} is {moved}"), moved
    if frame.outer is not None and frame.step is not None:
        maker = f"{frame.step.operation} {frame.outer.place(frame.step)}"
        return f"{_here(point)}, which {maker} hands to its body: it may differ from run to run", None
    return f"{_here(point)}, {_origin(point)}", None


def _through(point: Point, step: NodeStep) -> tuple[str, Point | None]:
    """Into the bodies of a node, where the same size is found there."""
    frame = point.frame
    here = f"{_here(point)} by {step.operation} {frame.place(step)}"
    found = [(name, inside(point, inner, step)) for name, inner in frame.inner(step).items()]
    aligned = [(name, _aligned(point, p)) for name, p in found if p is not None]
    matched = [(name, p) for name, p in aligned if p is not None]
    if matched and len(matched) == len(found):
        names = "" if not step.operation.bodies else " in " + " and ".join(name for name, _ in matched)
        return f"{here} from {matched[0][1]}{names}", matched[0][1]
    if point.known:
        return here, None
    nested = next(((name, p) for name, p in matched), None)
    if nested is not None:
        return f"{here} from {nested[1]} in {nested[0]}", nested[1]
    return f"{here}: {cause_of(Root(frame, step, point)).reason}", None


def _aligned(point: Point, other: Point) -> Point | None:
    """The point of a value on the other side of a body's border that has the same size; scans add or take an axis."""
    if point.facet == "rank":
        return None if other.known else other
    if other.size is not None and other.size == point.size:
        return other
    tensor = tensor_of(other.type)
    if point.facet != "axis" or tensor is None or isinstance(point.size, int):
        return None
    axes = [axis for axis, dim in enumerate(tensor.shape.dims or ()) if dim == point.size]
    return other._replace(at=axes[0]) if len(axes) == 1 else None


def _made(point: Point, step: NodeStep) -> tuple[str, Point | None]:
    """What a node computes from its inputs."""
    frame, size = point.frame, point.size
    here = f"{_here(point)} by {step.operation} {frame.place(step)}"
    begins = size is None or any(frame.first.get(symbol) == point for symbol in unknowns_in(size))
    if not begins:
        found = sources(point, step)
        if found and size is not None:
            return f"{here} from {_listed(found)}", _closest(found, size)
        return here + _told(point), None
    missing = blockers(point, step)
    if missing:
        return f"{here}, since {_unknown(missing[0])} is not known", missing[0]
    return f"{here}: {cause_of(Root(frame, step, point)).reason}", None


def _unknown(point: Point) -> str:
    return f"the content {point}" if point.facet == "element" else str(point)


def _listed(found: Sequence[Point]) -> str:
    names = [str(p) for p in found[:MOST_NAMES]]
    return ", ".join(names) + (f" and {len(found) - MOST_NAMES} more" if len(found) > MOST_NAMES else "")


def _closest(found: Sequence[Point], size: Dim) -> Point:
    """The source to go on with: the same size, else one that shares an unknown, then a symbol, else any.

    Of several the one that was made first: its way to the inputs is the shortest.
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
        place = point.frame.inference.compiled.producers[point.slot]
        return -1 if place is None else place

    return min(found, key=lambda point: (distance(point), age(point)))


def _origin(point: Point) -> str:
    """Who says the size of an input or a constant: its declaration, or the law that a declared dim was solved by."""
    graph, name = point.frame.inference.compiled.graph, point.frame.inference.compiled.names[point.slot]
    if name in graph.constants:
        return ("the shape of a constant" if point.facet == "axis" else "in a constant") + _told(point)
    if point.known:
        return "declared by an input" + _told(point)
    if point.facet == "element":
        return "what an input holds, known only when the graph runs"
    return f"an input: {cause_of(Root(point.frame, None, point)).reason}"


def _told(point: Point) -> str:
    """The law by which a size became what it is, where it was something else when it was made."""
    inference = point.frame.inference
    made = inference.table.types[inference.numbers[point.slot]]
    found = inference.input_types.get(inference.compiled.names[point.slot], made)
    first = size_in(found, point.facet, point.at)
    symbols = first.symbols() if isinstance(first, Dimension) else ()
    told = [inference.store.sources[s] for s in inference.store.solved if s in symbols]
    return f"; {point.frame.located(str(told[0]), told[0].node)}" if told else ""
