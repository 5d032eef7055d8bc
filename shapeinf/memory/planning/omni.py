"""Plans by omnimalloc, an optional package: a search in C++ that is given some seconds."""

from __future__ import annotations

from shapeinf.errors import MissingPackageError, PlanError
from shapeinf.memory.planning.planners import thorough
from shapeinf.memory.planning.problem import Plan, Problem

SECONDS = 3.0


def omnimalloc(problem: Problem, seconds: float = SECONDS) -> Plan:
    """The plan of omnimalloc's SuperMalloc after a search of some seconds, or that of `thorough` where it is smaller.

    The search is bounded by time: two runs may give different plans. `Plan.planner` says whose plan it is.
    Raises MissingPackageError without the package.
    """
    try:
        from omnimalloc import Allocation
        from omnimalloc.allocators.supermalloc import SupermallocAllocator
    except ImportError:
        raise MissingPackageError("this planner", "omnimalloc", "omnimalloc") from None
    if not seconds > 0:
        raise PlanError(f"a search takes more than {seconds} seconds")
    ours = thorough(problem)
    if ours.arena == problem.least_arena:
        return ours
    step = problem.alignment
    wanted = [
        Allocation(id=i, size=-(-r.size // step), start=r.lower, end=r.upper)
        for i, r in enumerate(problem.requests)
        if r.size
    ]
    try:
        placed = SupermallocAllocator(timeout=seconds).allocate(tuple(wanted))
    except (ValueError, TypeError, OverflowError, RuntimeError) as error:
        raise PlanError(f"omnimalloc has no plan: {error}") from None
    offsets = [0] * len(problem.requests)
    for one in placed:
        offsets[one.id] = one.offset * step
    theirs = problem.placed(offsets, "omnimalloc")
    return theirs if theirs.arena < ours.arena else ours
