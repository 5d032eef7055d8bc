"""Branches: the types of the outputs of a node that runs one of several bodies."""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.lattice import Type
from shapeinf.ops import Body, InferenceContext


def run_branch(
    c: InferenceContext, branches: Sequence[Body], inputs: Sequence[Type | None], taken: int | None
) -> tuple[Type, ...]:
    """The outputs of branch `taken`; where that is None, the join of all branches that do not fail.

    Raises ShapeError if all of them fail, or if they have different numbers of outputs.
    """
    if taken is not None:
        return tuple(branches[taken].run(inputs, certain=True))
    outputs = [branch.run(inputs, certain=False) for branch in branches]
    failures = [branch.failure for branch in branches]
    if all(failures):
        c.fail("neither branch can run" if len(branches) == 2 else "no branch can run", *failures)
    possible = [i for i, failure in enumerate(failures) if not failure]
    if len(possible) == 1:
        return tuple(branches[possible[0]].run(inputs, certain=True))
    if len(branches) == 2:
        branches[0].require_common(branches[1])
    first, *others = (outputs[i] for i in possible)
    if len({len(first), *map(len, others)}) > 1:
        message = "both branches" if len(branches) == 2 else "all branches"
        c.fail(f"{message} must have the same number of outputs", *(len(outputs[i]) for i in possible))
    joined = list(first)
    for other in others:
        pairs = enumerate(zip(joined, other, strict=True))
        joined = [c.relax_type(a, b, str(i), same_iteration=True) for i, (a, b) in pairs]
    return tuple(joined)
