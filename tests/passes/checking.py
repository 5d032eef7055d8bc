"""The check of a case; the tests of guards repeat it with passes that lack a guard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import onnx

from tests.passes.judge import check_same, operators, opset, signature
from tests.passes.models import Case, feeds

Clean = Callable[..., Any]


def check(case: Case, clean: Clean) -> None:
    """Fail unless the result has the operators that the case expects, and the interface and numbers of the original."""
    before = case.model()
    cleaned = clean(before, case.passes)
    after = cleaned.to_proto()
    undone = [(run.name, run.reason) for run in cleaned.report.passes if run.outcome == "undone"]
    assert not undone
    if case.after is None:
        assert signature(after) == signature(before)
    else:
        assert operators(after) == Counter(case.after.split())
        assert cleaned.report.changes
    assert opset(after) == (case.opset_after or opset(before))
    assert signature(clean(after, case.passes).to_proto()) == signature(after)
    if case.valid:
        onnx.checker.check_model(before, full_check=True)
    check_same(before, after, feeds(before) if case.runs else [], case.rtol, case.atol, case.valid)
