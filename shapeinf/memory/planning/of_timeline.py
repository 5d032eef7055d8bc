"""Plans for a model: for one binding of its dims, or for all that its facts allow."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import attrs

from shapeinf.algebra import Dim, Dimension
from shapeinf.algebra.upper_bounds import upper_bound
from shapeinf.errors import ShapeInferenceError, Source, UnknownNameError
from shapeinf.lattice import ShapeFacts
from shapeinf.memory.planning.planners import planner_named
from shapeinf.memory.planning.problem import Plan, Problem, Request, Unplaced
from shapeinf.memory.timeline import Buffer, Role, Timeline

PLANNED: tuple[Role, ...] = ("activation", "output")
"""What nodes make; inputs and weights are the caller's."""


def plan(
    timeline: Timeline,
    facts: ShapeFacts,
    sizes: Mapping[str, int] | None = None,
    *,
    alignment: int = 64,
    planner: str = "best",
    roles: Collection[Role] = PLANNED,
) -> Plan:
    """Place the buffers of a model in one arena.

    Each slot is as large as its tensor can be: with `sizes` of all dims that is its size, else the largest size in the
    range that the facts leave, and the plan is valid at every binding inside. It is no bound on what the same planner
    gives at smaller sizes: planners are not monotone.

    Args:
        timeline: the buffers and their lifetimes.
        facts: what is known about the dims.
        sizes: sizes of named dims; of those that are not named, all sizes that the facts allow.
        alignment: what every offset is a multiple of.
        planner: a name of `PLANNERS`, or `omnimalloc`.
        roles: which buffers.

    Raises:
        UnknownNameError: a dim or planner that there is not.
        ShapeError: sizes that the facts contradict.
        LimitError: more bytes than an offset can say.
    """
    place = planner_named(planner)
    requests, unplaced = [], []
    for buffer, need in needs(timeline, facts, sizes, roles):
        if isinstance(need, int):
            requests.append(Request(buffer.name, buffer.birth, end_of(buffer), need))
        else:
            unplaced.append(Unplaced(buffer.name, need))
    return attrs.evolve(place(Problem(tuple(requests), alignment)), unplaced=tuple(unplaced))


def end_of(buffer: Buffer) -> int:
    """When it dies; what is made but never read is in use while it is made."""
    return max(buffer.death, buffer.birth + 1)


def needs(
    timeline: Timeline, facts: ShapeFacts, sizes: Mapping[str, int] | None, roles: Collection[Role]
) -> list[tuple[Buffer, int | str]]:
    """The buffers with the most bytes that each can need, or the reason why there is no such number."""
    inside = narrowed(facts, sizes or {}, timeline)
    found: dict[Dim, int | str] = {}
    answer: list[tuple[Buffer, int | str]] = []
    for buffer in timeline.buffers:
        if buffer.role not in roles:
            continue
        if buffer.size is None:
            answer.append((buffer, buffer.cause or "its size is not known"))
            continue
        if buffer.size not in found:
            found[buffer.size] = _most(inside, buffer.size)
        answer.append((buffer, found[buffer.size]))
    return answer


def narrowed(facts: ShapeFacts, sizes: Mapping[str, int], timeline: Timeline) -> ShapeFacts:
    """The facts, and that the dims have these sizes. Raises UnknownNameError, ShapeError."""
    if not sizes:
        return facts
    symbols = _symbols(facts, timeline)
    inside = facts.copy()
    for name, value in sizes.items():
        if name not in symbols:
            raise UnknownNameError("dim", name, symbols)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ShapeInferenceError(f"the size of dim {name} must be an int, not {value!r}")
        inside.tell_equal(symbols[name], value, Source("", f"{name}={value} was given"))
    return inside


def _symbols(facts: ShapeFacts, timeline: Timeline) -> dict[str, Dimension]:
    """The named dims that sizes can be given for: of all buffers, and those that facts speak about."""
    found: set[Dimension] = set(facts.equalities)
    for value in (*facts.equalities.values(), *(b.size for b in timeline.buffers if b.size is not None)):
        found.update(() if isinstance(value, int) else value.symbols())
    for buffer in timeline.buffers:
        found.update(buffer.shape.symbols())
    return {str(s): s for s in found if s.is_symbol and not s.is_anonymous}


def _most(facts: ShapeFacts, size: Dim) -> int | str:
    exact = facts.canon(size)
    if not isinstance(exact, int):
        bound = upper_bound(facts, exact).value
        if bound is None:
            return f"its size {exact} has no upper bound"
        exact = bound
    return exact if exact >= 0 else f"its size {size} is negative"
