"""Networks that pnnx converted: each operand has the element type and the sizes as in torch, at both traced sizes."""

from __future__ import annotations

import json

import pytest

from tests.differential.pnnx.case import problems
from tests.vectors import ROOT

FOLDER = ROOT / "pnnx" / "nets"
NETWORKS = sorted(path.name.removesuffix(".truth.json") for path in FOLDER.glob("*.truth.json"))


def test_the_networks_are_there():
    if not NETWORKS:
        pytest.skip(f"{FOLDER.name} is not there: set SHAPEINF_CONFORMANCE to the folder that holds it")
    assert all((FOLDER / f"{name}.pnnx.param").exists() for name in NETWORKS)


@pytest.mark.parametrize("name", NETWORKS)
def test_all_blobs_are_those_of_torch(name):
    truth = json.loads((FOLDER / f"{name}.truth.json").read_text(encoding="utf8"))
    param = (FOLDER / f"{name}.pnnx.param").read_text(encoding="utf8")
    assert not list(problems(param, truth["runs"]))
