"""Plans for a model: for one binding of its dims, or for all that the constraints allow."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import inf

import attrs

from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice import ShapeStore
from shapeinf.memory.peak.query import SizeQuery
from shapeinf.memory.planning.problem import Plan, Problem, Request, Unplaced
from shapeinf.memory.sizes import too_long
from shapeinf.memory.timeline import Buffer, Role, Timeline
from shapeinf.solver.budget import WORK, Budget
from shapeinf.solver.elimination import Elimination
from shapeinf.solver.long_dims import canonical_form
from shapeinf.solver.upper_bounds import upper_bound

PLANNED: tuple[Role, ...] = ("activation", "output", "scratch")
"""The computed values; the caller owns inputs, the file weights."""


def plan(
    timeline: Timeline,
    store: ShapeStore,
    sizes: Mapping[str, int] | None = None,
    *,
    alignment: int = 64,
    planner: str = "best",
    roles: Collection[Role] = PLANNED,
    labels: Mapping[Dimension, str] | None = None,
    work: int = WORK,
) -> Plan:
    """Place the buffers of a model in one arena.

    Each slot is as large as its tensor can be: with `sizes` of all dims that is its size, else its largest size under
    the constraints, and the plan is valid at every legal binding. Its arena is no bound for plans at smaller sizes, as
    planners are not monotone. A tensor whose size depends on data has the size of its upper bound.

    Args:
        timeline: the buffers and their live ranges.
        store: the constraints on the dims.
        sizes: sizes of named dims; the others have all sizes that the constraints allow.
        alignment: every offset is a multiple of it.
        planner: a name of `PLANNERS` or `OPTIONAL_PLANNERS`.
        roles: the roles of the buffers to place.
        labels: the symbols that users bind with their names, as for a `Peak`.
        work: the budget, in steps that are the same on every machine; past it sizes have rougher upper bounds.

    Raises:
        UnknownNameError: an unknown dim or planner.
        Contradiction: sizes that violate a constraint.
        LimitError: more bytes than fit an offset.
    """
    from shapeinf.memory.planning.planners import find_planner  # with numpy, which takes long to import

    solve, budget = find_planner(planner), Budget(work)
    requests, unplaced = [], []
    for buffer, need in required_bytes(timeline, store, sizes, roles, labels, budget):
        if isinstance(need, int):
            requests.append(Request(buffer.name, buffer.birth, end_of(buffer), need))
        else:
            unplaced.append(Unplaced(buffer.name, need))
    solution = solve(Problem(tuple(requests), alignment))
    return attrs.evolve(solution, unplaced=tuple(unplaced), cut=budget.cut)


def end_of(buffer: Buffer) -> int:
    """The end of its live range; an unused value is live at the point of its producer."""
    return max(buffer.death, buffer.birth + 1)


def required_bytes(
    timeline: Timeline,
    store: ShapeStore,
    sizes: Mapping[str, int] | None,
    roles: Collection[Role],
    labels: Mapping[Dimension, str] | None = None,
    budget: Budget | None = None,
) -> list[tuple[Buffer, int | str]]:
    """The buffers with the most bytes that each can need, or the cause why no bound is known."""
    bound = SizeQuery(store, labels).bind(sizes or {})
    elimination = Elimination(bound, SizeQuery(bound, labels).is_bindable, budget)
    largest: dict[DimSize, int | str] = {}
    needs: list[tuple[Buffer, int | str]] = []
    for buffer in timeline.buffers:
        if buffer.role not in roles:
            continue
        if buffer.size is None:
            needs.append((buffer, buffer.cause or "its size is not known"))
            continue
        if buffer.size not in largest:
            largest[buffer.size] = _largest(elimination, buffer.size)
        needs.append((buffer, largest[buffer.size]))
    return needs


def _largest(elimination: Elimination, size: DimSize) -> int | str:
    store = elimination.store
    exact = canonical_form(store, size)
    candidates = dict.fromkeys((exact, elimination.upper(exact)))
    bounds = [upper_bound(store, d, budget=elimination.budget).value for d in candidates if d is not None]
    known = [bound for bound in bounds if bound is not None]
    if not known:
        symbols = exact.symbols() if isinstance(exact, Dimension) else ()
        return too_long(s for s in symbols if store.bounds(s)[1] == inf) or f"its size {exact} has no upper bound"
    return min(known) if min(known) >= 0 else f"its size {size} is negative"
