"""Contents that the rules of PNNX operators compute, against torch's results."""

import json

import numpy as np
import pytest

from shapeinf.ops import default_registry
from tests.differential.contents.rules import problems, unknown_elements
from tests.differential.contents.torch_cases import CASES, RECORDED, run
from tests.differential.tf.contents import MODES

RECORDS = json.loads(RECORDED.read_text(encoding="utf8"))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_contents(case):
    op_def = default_registry().dialect("pnnx").lookup("", case.op, 0)
    arrays = [np.array(elements, dtype).reshape(sizes) for dtype, sizes, elements in RECORDS[str(case)]]
    called = case.rule_case()
    found = [f"{mode}: {problem}" for mode in MODES for problem in problems(op_def, called, arrays, mode)]
    assert not found
    assert not list(unknown_elements(op_def, called))


def test_every_record_has_a_case():
    assert list(RECORDS) == [str(case) for case in CASES]


@pytest.mark.slow
def test_the_records_are_those_of_torch():
    pytest.importorskip("torch", reason="torch is the oracle of this test")
    for case in CASES:
        for (dtype, sizes, elements), (_, real_sizes, real) in zip(RECORDS[str(case)], run(case), strict=True):
            assert sizes == real_sizes
            np.testing.assert_allclose(np.array(elements, dtype), np.array(real, dtype), rtol=1e-6)
