"""Random expressions between sizes and a size, in every element type, against onnxruntime and TensorFlow.

Constants are near the limits of their types. Inferred numbers and sizes are those of the run, in the inference for any
sizes and in that for the sizes of the run; where runtimes round differently, the bounds contain the result.
`SHAPEINF_RANDOM_EXPRESSIONS` is how many expressions of each type the slow profile draws.
"""

import os

import pytest

from tests.differential.expressions import record
from tests.differential.expressions.campaign import Counts, check_onnx, check_tf, programs
from tests.differential.expressions.drawing import FLOATS, TYPES

FEW, MANY = 40, int(os.environ.get("SHAPEINF_RANDOM_EXPRESSIONS", "10000"))
LEAST_KNOWN = {"float16": 0.5, "bfloat16": 0.3, "float32": 0.5, "float64": 0.5}
"""By type, the least share of sizes that are numbers at known sizes of the inputs; of integers nearly all."""
RECORDED = list(record.read())


def known_enough(dtype, counts):
    return counts.known >= LEAST_KNOWN.get(dtype, 0.9) * counts.sizes > 0


@pytest.mark.parametrize("dtype", [dtype for dtype in TYPES if dtype != "bfloat16"])  # of which onnxruntime has few
@pytest.mark.parametrize(("first", "last"), [(0, FEW), pytest.param(FEW, MANY, marks=pytest.mark.slow, id="many")])
def test_onnxruntime_computes_the_inferred_numbers(dtype, first, last):
    pytest.importorskip("onnxruntime", reason="onnxruntime is the oracle of this test")
    counts = Counts()
    wrong = [text for program in programs(dtype, first, last) for text in check_onnx(program, counts)]
    assert not wrong, "\n".join(wrong)
    assert known_enough(dtype, counts)


@pytest.mark.parametrize("dtype", TYPES)
def test_tensorflow_computed_the_inferred_numbers(dtype):
    counts = Counts()
    wrong = [text for kind, program, values in RECORDED if kind == dtype for text in check_tf(program, counts, values)]
    assert not wrong, "\n".join(wrong)
    assert known_enough(dtype, counts) or dtype in FLOATS


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
def test_tensorflow_computes_the_inferred_numbers(dtype):
    pytest.importorskip("tensorflow", reason="TensorFlow is the oracle of this test")
    wrong = [text for program in programs(dtype, 0, MANY) for text in check_tf(program, Counts())]
    assert not wrong, "\n".join(wrong)
