"""Contracts of real models: sizes that run in onnxruntime are legal, and legal sizes run."""

import json
import random
import zlib

import numpy as np
import pytest

from shapeinf import infer_shapes
from tests.vectors import ROOT

MODELS = sorted((ROOT / "models" / "dev").glob("*.truth.json"))
SIZES = (1, 2, 3, 4, 5, 7, 8, 16, 20, 32, 33)
FEW, MANY = 1, 8

ALLOWED = ("Pad reflect",)
"""Errors of onnxruntime for runs that the specification allows: reflections longer than the axis."""

missing = pytest.mark.skipif(not MODELS, reason="the models do not exist: set SHAPEINF_CONFORMANCE")


def model_of(truth):
    return truth.with_name(truth.name.replace(".truth.json", ".onnx"))


@missing
@pytest.mark.parametrize("truth", MODELS, ids=lambda path: path.name.removesuffix(".truth.json"))
def test_sizes_with_which_a_model_ran_are_legal(truth):
    contract = infer_shapes(model_of(truth)).contract
    for sizes in json.loads(truth.read_text(encoding="utf8"))["bindings"]:
        answer = contract.check(sizes)
        assert answer.verdict is True, (sizes, str(answer))


def error_of_run(session, sizes):
    """The error of onnxruntime at these sizes; None if the model runs."""
    types = {
        "tensor(int64)": "int64",
        "tensor(float)": "float32",
        "tensor(int32)": "int32",
        "tensor(bool)": "bool",
        "tensor(string)": "object",
    }
    feeds = {
        i.name: np.zeros([sizes.get(d, d) for d in i.shape], types.get(i.type, "float32")) for i in session.get_inputs()
    }
    try:
        session.run(None, feeds)
    except Exception as failed:  # onnxruntime raises classes of its own and plain RuntimeErrors
        return str(failed)
    return None


@missing
@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("truth", MODELS, ids=lambda path: path.name.removesuffix(".truth.json"))
def test_any_sizes(truth, count):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is the oracle of this test")
    chance = random.Random(zlib.crc32(truth.name.encode()))
    if count == FEW and chance.random() > 0.25:
        return  # a quarter of the models in every run, all of them in the slow ones
    options = runtime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = runtime.InferenceSession(model_of(truth), options, providers=["CPUExecutionProvider"])
    contract = infer_shapes(model_of(truth)).contract
    names = sorted({d for i in session.get_inputs() for d in i.shape if isinstance(d, str)})
    for _ in range(count):
        sizes = {name: chance.choice(SIZES) for name in names}
        answer, failure = contract.check(sizes), error_of_run(session, sizes)
        if answer.verdict is False:
            assert failure is not None, (sizes, str(answer))
        elif answer.verdict is True:
            assert failure is None or any(text in failure for text in ALLOWED), (sizes, failure)
