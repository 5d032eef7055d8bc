"""Contents that the rules of TensorFlow's operators infer, against those that its kernels return."""

import json

import pytest

from tests.differential.tf.contents import COMPLETE, MODES, RECORDED, problems, unknown_elements
from tests.differential.tf.families import FAMILIES

RECORDS = {path.stem: json.loads(path.read_text(encoding="utf8")) for path in sorted(RECORDED.glob("*.json"))}
CASES = [
    pytest.param(case, RECORDS[family][str(case)], id=f"{family}-{case}")
    for family, cases in FAMILIES.items()
    for case in cases
    if str(case) in RECORDS.get(family, {})
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("case", "recorded"), CASES)
def test_contents(case, recorded, mode):
    assert not list(problems(case, recorded, mode))


@pytest.mark.parametrize(("case", "recorded"), [case for case in CASES if case.id.startswith(COMPLETE)])
def test_contents_are_complete(case, recorded):
    assert not list(unknown_elements(case, recorded))


def test_every_record_has_a_case():
    assert {f: set(r) - set(map(str, FAMILIES[f])) for f, r in RECORDS.items()} == {f: set() for f in RECORDS}
