"""Programs of operators that handles connect, inferred with concrete and symbolic sizes, against TensorFlow's runs."""

import json

import pytest

from tests.differential.tf.program import problems
from tests.differential.tf.programs import PROGRAMS
from tests.differential.tf.record import RECORDED


@pytest.fixture(scope="module")
def records():
    return json.loads((RECORDED / "programs.json").read_text(encoding="utf8"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
@pytest.mark.parametrize("symbolic", [False, True], ids=["concrete", "symbolic"])
def test_shapes(records, program, symbolic):
    assert not list(problems(program, records[program.name], symbolic=symbolic))


def test_every_record_has_a_program(records):
    assert set(records) == {program.name for program in PROGRAMS}


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_the_records_are_those_of_tensorflow(records, program):
    pytest.importorskip("tensorflow")
    from tests.differential.tf.record_programs import run

    assert run(program) == records[program.name]
