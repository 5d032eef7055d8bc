"""Causes of unknowns under a small budget: answers are right, and report where the budget was exhausted."""

import pytest

from shapeinf import infer_shapes
from tests.engine.runtime import parsed

DATA = "g (float[N, M] x, int64[K] r0, bool[K] c) => (float[] n5) { n0 = Relu(x) " + " ".join(
    f"n{i} = Reshape(n{i - 1}, r{i - 1}) r{i} = Compress<axis = 0>(r{i - 1}, c)" for i in range(1, 6)
)


@pytest.mark.parametrize("work", [0, 1000, 3000])
def test_unknowns_under_a_small_budget_are_right(work):
    """Every unknown is listed; its cause is the unknown that is partial with more work, or was not looked for."""
    result = infer_shapes(parsed(DATA + " }"))
    complete = {unknown: group.causes for group in result.unknowns() for unknown in group.unknowns}
    groups = result.unknowns(work=work)
    partial = {unknown: group.causes for group in groups for unknown in group.unknowns}
    assert partial.keys() == complete.keys()
    cut = [group for group in groups if group.cause.kind == "budget"]
    assert len(cut) == 1 and "unknowns(work=...) sets a larger one" in str(cut[0])
    assert all(causes == complete[unknown] or causes[0].kind == "budget" for unknown, causes in partial.items())
    for unknown in complete:
        lines = result.explain(unknown.tensor, unknown.axis or 0, work=work)
        more = result.explain(unknown.tensor, unknown.axis or 0)
        assert lines == more or (lines[:-1] == more[: len(lines) - 1] and "explain(work=...)" in lines[-1])
