"""Generated programs of torch.export: runs of torch must not contradict inference or the contract.

`SHAPEINF_TORCH_PROGRAMS` is how many programs are drawn.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import pytest

from tests.differential.torch_export.case import Case, Counts, problems
from tests.differential.torch_export.record import read

SEEDS = range(int(os.environ.get("SHAPEINF_TORCH_PROGRAMS", "1000")))


def check(cases: Iterable[Case]) -> Counts:
    counts = Counts()
    found = [text for case in cases for text in problems(case, counts)]
    assert not found, "\n".join(found)
    return counts


def test_recorded_programs() -> None:
    counts = check(read())
    assert counts.exact > counts.tensors // 2 and counts.yes and counts.no, counts


@pytest.mark.slow
def test_drawn_programs() -> None:
    pytest.importorskip("torch", reason="torch is the oracle of this test")
    from tests.differential.torch_export.running import draw_cases

    counts = check(draw_cases(SEEDS))
    assert counts.runs > 5 * len(SEEDS), counts
