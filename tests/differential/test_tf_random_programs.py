"""Random programs of TensorFlow's operators: its eager runs must not contradict inference or the contract.

`SHAPEINF_RANDOM_PROGRAMS` is how many programs are drawn.
"""

import os

import pytest

pytestmark = pytest.mark.slow

SEEDS = range(int(os.environ.get("SHAPEINF_RANDOM_PROGRAMS", "2000")))


def test_tensorflow_does_not_contradict():
    pytest.importorskip("tensorflow", reason="TensorFlow is the oracle of this test")
    from tests.differential.tf.random_programs import report

    problems = [text for text in map(report, SEEDS) if text is not None]
    assert not problems, "\n\n".join(problems)
