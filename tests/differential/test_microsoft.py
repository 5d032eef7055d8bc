"""ONNX Runtime's own operators: their shapes are those of its CPU kernels."""

import pytest
from onnx import GraphProto

from opdefs.microsoft.conv import BLOCKS
from opdefs.onnx import onnx
from opdefs.onnx.schemas import MICROSOFT
from shapeinf import infer_shapes
from shapeinf.testing import check_properties
from tests.differential.microsoft_attention_cases import ATTENTION_CASES
from tests.differential.microsoft_cases import CASES
from tests.differential.microsoft_definition_cases import DEFINITION_CASES
from tests.differential.microsoft_operand_cases import OPERAND_CASES
from tests.differential.microsoft_search_cases import SEARCH_CASES
from tests.differential.processor import block_of_channels, skip_if_refused_by_processor
from tests.differential.single_node import NCHWC, Case, differences, model_of, objections, rule_case, run


@pytest.mark.parametrize("case", [*CASES, *ATTENTION_CASES, *OPERAND_CASES, *SEARCH_CASES], ids=str)
def test_shapes_and_types_are_those_of_a_run(case):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is the oracle of these tests")
    real = results_of(runtime, case)
    assert not differences(case, real), "static inputs"
    assert not differences(case, real, named=True), "named inputs, perhaps empty"
    if all(array is None or array.size for array in case.arrays()):
        assert not differences(case, real, named=True, min_dim=1), "named inputs"


def results_of(runtime, case):
    """The arrays that the runtime computes; skips the test if the processor lacks what the operator needs."""
    try:
        return run(runtime, case)
    except Exception as error:  # onnxruntime raises classes of its own and plain RuntimeErrors
        skip_if_refused_by_processor(error, case.domain)
        raise


@pytest.mark.parametrize("missing", (0, 4, 8))
def test_padded_channels_are_those_of_the_blocks_of_this_processor(missing):
    """The rule knows the widths of all processors, and the exact padding where all agree."""
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is the oracle of these tests")
    block = block_of_channels()
    assert block in BLOCKS
    channels = 3 * block - missing
    reordered = Case("ReorderInput", (f"f[1,{channels},8,9]",), domain=NCHWC, data=True)
    assert not differences(reordered, run(runtime, reordered))
    restored = Case(
        "ReorderOutput", (f"f[1,{-(-channels // block) * block},8,9]",), {"channels": channels}, domain=NCHWC
    )
    assert not differences(restored, run(runtime, restored))


PLAIN = [
    case
    for case in [*CASES, *ATTENTION_CASES, *OPERAND_CASES]
    if not any(isinstance(value, GraphProto) for value in case.attributes.values())
]


@pytest.mark.parametrize("case", PLAIN, ids=str)
def test_rules_have_the_properties_of_every_rule(case):
    """Less known inputs never contradict those of the case; other tests compare with runs."""
    check_properties(rule_case(case))


@pytest.mark.parametrize("case", DEFINITION_CASES, ids=str)
def test_the_runtimes_own_inference_does_not_object(case):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is the oracle of these tests")
    assert not objections(runtime, case)


BROKEN = [
    Case("FusedMatMul", ("f[2,3,4]", "f[3,5]")),
    Case("SkipLayerNormalization", ("f[2,3,4]", "f[2,5,4]", "f[4]")),
    Case(
        "GroupQueryAttention",
        ("f[2,3,33]", None, None, None, None, "i[2]", "i[1]"),
        {"num_heads": 4, "kv_num_heads": 2},
    ),
    Case("MultiHeadAttention", ("f[2,3,8]", "f[3,5,8]", "f[2,5,8]"), {"num_heads": 2}),
    Case("Attention", ("f[2,3,6]", "f[7,24]", "f[24]"), {"num_heads": 2}),
    Case("MatMulNBits", ("f[2,31]", "B[8,2,8]", "f[8,2]"), {"K": 32, "N": 8, "block_size": 16}),
    Case("NhwcMaxPool", ("B[8,9,3]",), {"kernel_shape": [3, 3]}),
    Case("UnfoldTensor", ("f[2,3]",), {"size": 4}),
]


@pytest.mark.parametrize("case", BROKEN, ids=str)
def test_a_violation_is_an_error_here_and_in_the_runtime(case):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is the oracle of these tests")
    model, _ = model_of(case, case.arrays())
    assert [d.severity for d in infer_shapes(model).diagnostics] == ["error"]
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        run(runtime, case)


@pytest.mark.parametrize(("domain", "name", "since"), list(MICROSOFT))
def test_every_operator_has_a_rule_that_takes_its_inputs(domain, name, since):
    op_def = onnx.lookup(domain, name, since)
    assert op_def is not None
    assert op_def.rule is not None
    for i, arg in enumerate(op_def.inputs):
        param = op_def.rule.param(i)
        assert param is not None, f"input {arg.name}"
        assert param.variadic or param.optional >= arg.optional, f"input {arg.name} is optional"
    assert set(op_def.rule.attributes) <= set(op_def.attributes)
    for name, default in op_def.rule.attributes.items():
        attribute = op_def.attributes[name]
        if attribute.has_default:
            assert default == attribute.default, name
