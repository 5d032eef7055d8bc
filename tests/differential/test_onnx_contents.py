"""Contents that the rules of ONNX operators compute, against those that onnxruntime computes."""

import numpy as np
import pytest
from onnx import helper, numpy_helper

from shapeinf.ops import default_registry
from tests.differential.contents.onnx_cases import CASES
from tests.differential.contents.rules import problems, unknown_elements
from tests.differential.ort import session_of
from tests.differential.tf.contents import MODES

OPSETS = {"": 26, "ai.onnx.ml": 5, "com.microsoft": 1}


def definition(case):
    op_def = default_registry().dialect("onnx").lookup(case.domain, case.op, case.opset or OPSETS[case.domain])
    assert op_def is not None
    return op_def


def run(case):
    """The arrays that onnxruntime computes."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(case.inputs)]
    constants = [numpy_helper.from_array(x, n) for n, x in zip(names, case.inputs, strict=True) if n]
    outputs = [f"y{i}" for i in range(case.outputs)]
    node = helper.make_node(case.op, names, outputs, domain=case.domain, **case.attributes)
    graph = helper.make_graph([node], "g", [], [helper.make_empty_tensor_value_info(n) for n in outputs], constants)
    versions = OPSETS | ({case.domain: case.opset} if case.opset else {})
    opsets = [helper.make_opsetid(domain, version) for domain, version in versions.items()]
    return session_of(helper.make_model(graph, opset_imports=opsets, ir_version=10)).run(None, {})


@pytest.mark.parametrize("case", CASES, ids=str)
def test_contents(case):
    real = run(case)
    found = [f"{mode}: {problem}" for mode in MODES for problem in problems(definition(case), case, real, mode)]
    assert not found
    assert not list(unknown_elements(definition(case), case))


def test_arrays_of_cases_are_small():
    assert all(np.size(x) <= 64 for case in CASES for x in case.inputs if x is not None)
