"""Damaged files of every kind, in processes with little memory and time: a result or a typed error, soon.

The families: bytes of protobuf ("wire"), invalid models ("structure"), NNEF texts ("text"), archives with
tensor files ("archive"), graphs of TensorFlow ("tensorflow"), networks of PNNX ("pnnx"), and
ONNX models that clean-up passes edit ("passes").
`python -m tests.formats.damage.run FAMILY START STOP` runs others by their numbers.
"""

import pytest

from shapeinf import infer_shapes
from tests.formats.damage.cases import FAMILIES, case, documents, models
from tests.formats.damage.child import failure, shrunk
from tests.formats.damage.documents import FLAT, archive, tensor_file, tokens
from tests.formats.damage.pnnx import networks
from tests.formats.damage.run import failures

SLICE = {"wire": 300, "structure": 150, "text": 300, "archive": 150, "tensorflow": 300, "pnnx": 300, "passes": 300}
NIGHTLY = {
    "wire": 120_000,
    "structure": 80_000,
    "text": 50_000,
    "archive": 10_000,
    "tensorflow": 60_000,
    "pnnx": 20_000,
    "passes": 20_000,
}


def verdict(family, start, stop):
    wrong, results = failures(family, start, stop)
    assert not wrong, "\n\n".join(f"{family} {line['number']}: {line['wrong']}\n{line['file']}" for line in wrong)
    return results


@pytest.mark.parametrize("family", FAMILIES)
def test_a_slice(family):
    """Some files still have a result: else the damage would be too coarse to test anything."""
    assert verdict(family, 0, SLICE[family]) > SLICE[family] / 40


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_all(family):
    verdict(family, 0, NIGHTLY[family])


def test_the_undamaged_files_are_sound():
    for document in documents():
        assert not [note for note in infer_shapes(document).diagnostics if note.severity == "error"]
    for model in (*models(), *networks()):
        assert infer_shapes(model).tensors
    files = {"graph.nnef": FLAT.encode(), "k.dat": tensor_file([8, 3, 3, 3], bytes(864))}
    assert infer_shapes(archive(files)).diagnostics == []


@pytest.mark.parametrize("family", FAMILIES)
def test_a_number_is_a_file(family):
    assert case(family, 7) == case(family, 7) != case(family, 8)


def test_tokens_cover_the_text():
    assert all("".join(tokens(document)) == document for document in documents())


# -- the harness detects failures


def test_an_unexpected_error_is_reported_and_shrunk(monkeypatch):
    def failing(data):
        if b"bad" in data:
            raise ZeroDivisionError("there")
        return infer_shapes(data)

    monkeypatch.setattr("tests.formats.damage.child.infer_shapes", failing)
    wrong = failure(b"x" * 300 + b"bad" + b"y" * 500)
    assert wrong.startswith("ZeroDivisionError: there")
    assert shrunk(b"x" * 300 + b"bad" + b"y" * 500, wrong) == b"bad"


def test_a_slow_answer_is_reported(monkeypatch):
    def endless(_):
        while True:
            pass

    monkeypatch.setattr("tests.formats.damage.child.infer_shapes", endless)
    monkeypatch.setattr("tests.formats.damage.child.SECONDS", 0.2)
    import signal

    from tests.formats.damage.child import over_time

    before = signal.signal(signal.SIGVTALRM, over_time)
    try:
        assert failure(b"").startswith("OverTime")
    finally:
        signal.signal(signal.SIGVTALRM, before)
