"""Rules of TensorFlow's operators against the recorded outputs of its kernels, and against new runs if installed.

Each case is inferred with concrete sizes, with symbolic sizes, and without the contents of its inputs.
"""

import json

import pytest

from tests.differential.tf.case import problems
from tests.differential.tf.families import FAMILIES
from tests.differential.tf.record import RECORDED, run

CASES = [pytest.param(family, case, id=f"{family}-{case}") for family, cases in FAMILIES.items() for case in cases]


@pytest.fixture(scope="module")
def records():
    return {family: json.loads((RECORDED / f"{family}.json").read_text(encoding="utf8")) for family in FAMILIES}


@pytest.mark.parametrize(("family", "case"), CASES)
@pytest.mark.parametrize("symbolic", [False, True], ids=["concrete", "symbolic"])
def test_with_contents(records, family, case, symbolic):
    assert not list(problems(case, records[family][str(case)], symbolic=symbolic))


@pytest.mark.parametrize(("family", "case"), CASES)
def test_without_contents(records, family, case):
    assert not list(problems(case, records[family][str(case)], symbolic=False, contents=False))


def test_every_record_has_a_case(records):
    assert {f: set(r) for f, r in records.items()} == {f: set(map(str, cases)) for f, cases in FAMILIES.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("family", "case"), CASES)
def test_the_records_are_those_of_the_kernel(records, family, case):
    pytest.importorskip("tensorflow")
    assert run(case) == records[family][str(case)]
