"""Contents that the rules of NNEF's operations compute, against the formulas of the specification in numpy."""

import pytest

from shapeinf.formats.nnef.versions import TRACT
from shapeinf.ops import default_registry
from tests.differential.contents.nnef_cases import CASES
from tests.differential.contents.rules import problems, unknown_elements
from tests.differential.tf.contents import MODES


@pytest.mark.parametrize("case", CASES, ids=str)
def test_contents(case):
    op_def = default_registry().dialect("nnef").lookup("", case.op, TRACT)
    called = case.rule_case()
    found = [f"{mode}: {problem}" for mode in MODES for problem in problems(op_def, called, case.arrays(), mode)]
    assert not found
    assert not list(unknown_elements(op_def, called))
