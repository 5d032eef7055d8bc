"""Reflections longer than the axis, which onnx's reference accepts and onnxruntime rejects, are advised against."""

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from shapeinf import infer_shapes

TEXT = """<ir_version: 8, opset_import: ["" : {opset}]> g (float[n] x) => (float[m] y)
<int64[2] amounts = {{ {before}, {after} }}> {{ [pad] y = Pad<mode = "{mode}">(x, amounts) }}"""
OLD = """<ir_version: 8, opset_import: ["" : 2]> g (float[n] x) => (float[m] y)
{{ [pad] y = Pad<mode = "{mode}", pads = [{before}, {after}]>(x) }}"""


def advised(contract):
    return [(c.kind, c.text, c.node) for c in contract]


CASES = [
    ("reflect", 3, 0, ["n >= 4"]),
    ("reflect", 1, 5, ["n >= 6"]),
    ("reflect", 0, 0, []),
    ("edge", 3, 0, []),
    ("wrap", 3, 0, []),
    ("constant", 3, 0, []),
]


@pytest.mark.parametrize(("mode", "before", "after", "expected"), CASES)
def test_reflections(mode, before, after, expected):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is the oracle of this test")
    model = onnx.parser.parse_model(TEXT.format(opset=19, mode=mode, before=before, after=after))
    result = infer_shapes(model)
    assert advised(result.contract) == [("assumption", text, "pad") for text in expected]
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    for n in range(1, 9):
        x = np.zeros(n, np.float32)
        (y,) = ReferenceEvaluator(model).run(None, {"x": x})
        assert len(y) == infer_shapes(model, bind={"n": n}).tensors["y"].shape[0]
        answer = result.contract.check(n=n)
        assert answer.verdict is True  # by the specification
        try:
            session.run(None, {"x": x})
            ran = True
        except Exception:  # onnxruntime has no class of its own for what fails at run time
            ran = False
        assert ran is all(eval(text, {}, {"n": n}) for text in expected)
        assert ran is not any("onnxruntime rejects reflections" in reason for reason in answer.reasons)


def test_advice_is_not_a_precondition():
    result = infer_shapes(onnx.parser.parse_model(TEXT.format(opset=19, mode="reflect", before=3, after=0)))
    assert list(result.contract.solve("n", range(1, 6))) == [1, 2, 3, 4, 5]
    assert result.interval(result.engine.scope.symbol("n")).lo == 1


@pytest.mark.parametrize(("mode", "expected"), [("reflect", [("assumption", "n >= 4", "pad")]), ("edge", [])])
def test_amounts_as_an_attribute(mode, expected):
    model = onnx.parser.parse_model(OLD.format(mode=mode, before=3, after=0))
    assert advised(infer_shapes(model).contract) == expected
