"""Random problems, and the definition of a valid plan, written without looking at the planners."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

from shapeinf.memory.planning import Plan, Problem, Request


@st.composite
def problems(draw: st.DrawFn, most: int = 14, alignments: tuple[int, ...] = (1, 1, 8, 64, 48)) -> Problem:
    """Few program points and few sizes, so that buffers overlap; sometimes sizes of 0 and distant points."""
    times = draw(st.sampled_from([st.integers(0, 6), st.integers(0, 30), st.integers(-(2**62), 2**62)]))
    sizes = draw(st.sampled_from([st.integers(0, 5), st.integers(0, 300), st.integers(0, 2**40)]))
    entries = draw(st.lists(st.tuples(times, times, sizes), max_size=most))
    requests = [Request(f"b{i}", min(a, b), max(a, b) + (a == b), size) for i, (a, b, size) in enumerate(entries)]
    return Problem(requests, draw(st.sampled_from(alignments)))


def most_alive(problem: Problem) -> int:
    """The largest sum of live sizes, over the program points at which a live range starts."""
    points = {r.lower for r in problem.requests}
    return max((sum(r.size for r in problem.requests if r.lower <= t < r.upper) for t in points), default=0)


def least_arena(problem: Problem) -> int:
    """The live buffers of a program point stacked at aligned offsets, the one with the most waste on top."""
    actual = [0]
    for t in {r.lower for r in problem.requests}:
        alive = [r.size for r in problem.requests if r.lower <= t < r.upper]
        ends = [size + (-size) % problem.alignment for size in alive]
        actual.append(min(sum(ends) - end + size for size, end in zip(alive, ends, strict=True)))
    return max(actual)


def faults(problem: Problem, plan: Plan) -> list[str]:
    """All that is wrong with a plan for a problem, by trying all pairs."""
    actual = []
    wanted = [(r.name, r.lower, r.upper, r.size) for r in problem.requests]
    if [(s.name, s.lower, s.upper, s.size) for s in plan.slots] != wanted:
        actual.append("other buffers")
    for s in plan.slots:
        if s.offset < 0 or s.offset + s.size > plan.arena:
            actual.append(f"{s} is outside of the arena")
        if s.offset % problem.alignment:
            actual.append(f"{s} is not aligned")
    for a, b in itertools.combinations(plan.slots, 2):
        in_time = max(a.lower, b.lower) < min(a.upper, b.upper)
        in_space = max(a.offset, b.offset) < min(a.offset + a.size, b.offset + b.size)
        if in_time and in_space:
            actual.append(f"{a} and {b} overlap")
    if plan.arena < most_alive(problem):
        actual.append("the arena is smaller than what lives at one moment")
    return actual
