"""Each pass rewrites the small models of its cases, or leaves them alone."""

from __future__ import annotations

import pytest

from shapeinf.passes import clean
from tests.passes.cases import CASES
from tests.passes.checking import check

pytest.importorskip("onnxruntime")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.passes[0]}-{case.name}")
def test_cases(case):
    check(case, clean)
