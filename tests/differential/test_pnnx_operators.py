"""Rules of PNNX's operators, against torch, which ran the networks that pnnx converted."""

import json

import pytest

from tests.differential.pnnx.case import problems
from tests.differential.pnnx.families import FAMILIES
from tests.differential.pnnx.record import RECORDED, record

CASES = [pytest.param(family, case, id=f"{family}-{case}") for family, cases in FAMILIES.items() for case in cases]


@pytest.fixture(scope="module")
def records():
    return {family: json.loads((RECORDED / f"{family}.json").read_text(encoding="utf8")) for family in FAMILIES}


@pytest.mark.parametrize(("family", "case"), CASES)
def test_all_blobs(records, family, case):
    networks = {kind: network for kind, network in records[family][case.name].items() if kind != "source"}
    assert networks
    assert not [p for network in networks.values() for p in problems(network["param"], network["runs"], case.open)]


def test_every_record_has_a_case(records):
    assert {f: set(r) for f, r in records.items()} == {f: {c.name for c in cases} for f, cases in FAMILIES.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("family", "case"), CASES)
def test_the_records_are_those_of_torch(records, family, case):
    pytest.importorskip("torch")
    pytest.importorskip("pnnx")
    network = record(case)
    assert all(network[kind] == records[family][case.name][kind] for kind in network)
