"""Plans for a model: for one binding of its dims, or for all that its facts allow."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import inf

import attrs

from shapeinf.expr import Dim, Dimension
from shapeinf.lattice import ShapeStore
from shapeinf.memory.peak.query import Asked
from shapeinf.memory.planning.planners import planner_named
from shapeinf.memory.planning.problem import Plan, Problem, Request, Unplaced
from shapeinf.memory.sizes import too_long
from shapeinf.memory.timeline import Buffer, Role, Timeline
from shapeinf.solver.budget import WORK, Budget
from shapeinf.solver.elimination import Elimination
from shapeinf.solver.long_sums import canonical_form
from shapeinf.solver.upper_bounds import upper_bound

PLANNED: tuple[Role, ...] = ("activation", "output")
"""What nodes make; inputs and weights are the caller's."""


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

    Each slot is as large as its tensor can be: with `sizes` of all dims that is its size, else the largest size in the
    range that the facts leave, and the plan is valid at every binding inside. It is no bound on what the same planner
    gives at smaller sizes: planners are not monotone. What depends on data is as large as its upper bound.

    Args:
        timeline: the buffers and their lifetimes.
        store: what is known about the dims.
        sizes: sizes of named dims; of those that are not named, all sizes that the facts allow.
        alignment: what every offset is a multiple of.
        planner: a name of `PLANNERS`, or `omnimalloc`.
        roles: which buffers.
        labels: the symbols that users choose with their names, as for a `Peak`.
        work: the budget, in steps that are the same on every machine; past it sizes have rougher upper bounds.

    Raises:
        UnknownNameError: a dim or planner that there is not.
        Contradiction: sizes that the facts contradict.
        LimitError: more bytes than an offset can say.
    """
    place, budget = planner_named(planner), Budget(work)
    requests, unplaced = [], []
    for buffer, need in needs(timeline, store, sizes, roles, labels, budget):
        if isinstance(need, int):
            requests.append(Request(buffer.name, buffer.birth, end_of(buffer), need))
        else:
            unplaced.append(Unplaced(buffer.name, need))
    made = place(Problem(tuple(requests), alignment))
    return attrs.evolve(made, unplaced=tuple(unplaced), cut=budget.cut)


def end_of(buffer: Buffer) -> int:
    """When it dies; what is made but never read is in use while it is made."""
    return max(buffer.death, buffer.birth + 1)


def needs(
    timeline: Timeline,
    store: ShapeStore,
    sizes: Mapping[str, int] | None,
    roles: Collection[Role],
    labels: Mapping[Dimension, str] | None = None,
    budget: Budget | None = None,
) -> list[tuple[Buffer, int | str]]:
    """The buffers with the most bytes that each can need, or the reason why there is no such number."""
    inside = Asked(store, labels).bound(sizes or {})
    without = Elimination(inside, Asked(inside, labels).kept, budget)
    found: dict[Dim, int | str] = {}
    answer: list[tuple[Buffer, int | str]] = []
    for buffer in timeline.buffers:
        if buffer.role not in roles:
            continue
        if buffer.size is None:
            answer.append((buffer, buffer.cause or "its size is not known"))
            continue
        if buffer.size not in found:
            found[buffer.size] = _most(without, buffer.size)
        answer.append((buffer, found[buffer.size]))
    return answer


def _most(without: Elimination, size: Dim) -> int | str:
    store = without.store
    exact = canonical_form(store, size)
    exact_or_most = dict.fromkeys((exact, without.upper(exact)))
    bounds = [upper_bound(store, d, budget=without.budget).value for d in exact_or_most if d is not None]
    known = [bound for bound in bounds if bound is not None]
    if not known:
        symbols = exact.symbols() if isinstance(exact, Dimension) else ()
        return too_long(s for s in symbols if store.bounds(s)[1] == inf) or f"its size {exact} has no upper bound"
    return min(known) if min(known) >= 0 else f"its size {size} is negative"
