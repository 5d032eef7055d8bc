"""What breaks the definition of an operator is an error exactly where onnx and ONNX Runtime refuse it.

The rule: what both refuse is an error; what both accept is none. What only one refuses may be either: most are kernels
that ONNX Runtime lacks, and types that it does not know. For the operators of ONNX Runtime it is the only judge.
"""

import random
from collections import Counter

import onnx
import onnxruntime
import pytest
from onnx import checker, shape_inference
from onnxruntime.capi import onnxruntime_pybind11_state

from shapeinf import infer_shapes
from tests.differential.definition_cases import Definition, cases

SCHEMA_VIOLATIONS = {"S103", "S106", "S107", "S108", "S109", "S113", "S114", "S115"}
NO_KERNEL = "no kernel"
STANDARD = ("", "ai.onnx.ml")
MICROSOFT = ("com.microsoft", "com.microsoft.nchwc")
SLICE = 12

CRASHING = {"QLinearLeakyRelu", "QLinearSigmoid"}
"""Operators whose inference in ONNX Runtime ends the process where inputs are missing."""

REFUSED_BODIES = ("MeanVarianceNormalization", "RMSNormalization")
"""Their function bodies in onnx have constants of float, which allow fewer types than their definitions."""

UNCHECKED = {
    *(
        "activation",
        "activation_type",
        "attention_mode",
        "k_quant_type",
        "kv_cache_layout",
        "metric",
        "selected_kv_source",
    ),
    *("update_rule", "v_quant_type"),
}
"""Attributes of ONNX Runtime's operators whose values are not in our table; the kernels check them."""

UNSUPPORTED = "not currently registered or supported"
"""ONNX Runtime's message for element types that it does not have, such as complex64."""


def definitions(domains):
    if domains is STANDARD:
        schemas = onnx.defs.get_all_schemas_with_history()
    else:
        schemas = onnxruntime_pybind11_state.get_all_operator_schema()
    chosen = [Definition(schema) for schema in schemas if schema.domain in domains and schema.name not in CRASHING]
    return sorted(chosen, key=str)


def refused_by_runtime(model):
    """Why ONNX Runtime does not load a model; empty where it does."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        return NO_KERNEL if "NOT_IMPLEMENTED" in str(error) else str(error)
    return ""


def refused_by_onnx(model):
    """Why onnx refuses the node, or the types of the model; empty where it does not. (Inputs have no shapes.)"""
    context = checker.C.CheckerContext()
    context.ir_version = model.ir_version
    context.opset_imports = {entry.domain: entry.version for entry in model.opset_import}
    try:
        checker.check_node(model.graph.node[0], context)
        shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    except Exception as error:
        return str(error) or type(error).__name__
    return ""


def judge(case):
    """Whether onnx (None for its unknown operators) and ONNX Runtime refuse a case, and our codes of errors."""
    model = case.model()
    result = infer_shapes(model.SerializeToString())
    codes = {note.code for note in result.diagnostics if note.severity == "error"}
    standard = case.domain in STANDARD
    runtime = refused_by_runtime(model)
    if runtime == NO_KERNEL:  # the model conforms; kernels check the values of attributes
        runtime = NO_KERNEL if "value" in case.broken else ""
    return (refused_by_onnx(model) if standard else None), runtime, codes


def is_exempt(case, runtime):
    """Whether we report nothing on purpose, though the model is refused."""
    if case.op in REFUSED_BODIES:
        return " type" in case.broken
    return case.domain not in STANDARD and (
        UNSUPPORTED in runtime or case.broken.partition(" ")[0] in UNCHECKED or runtime == NO_KERNEL
    )


def compare(chosen):
    """The wrong cases, as texts, and counts."""
    wrong, counts = [], Counter()
    for definition in chosen:
        is_right = True
        for case in cases(definition):
            onnx_refuses, runtime, codes = judge(case)
            both_refuse = runtime and onnx_refuses != ""
            if not case.broken:
                is_right = not both_refuse
            if not is_right:  # the node needs more than the cases have: what is refused says nothing
                counts["node that is refused anyway"] += 1
            elif both_refuse and not codes and not is_exempt(case, runtime):
                wrong.append(f"{case}: refused, no error: {runtime}")
            elif not runtime and not onnx_refuses and codes & SCHEMA_VIOLATIONS:
                wrong.append(f"{case}: accepted, {codes}")
            kind = "both refuse" if both_refuse else "one refuses" if runtime or onnx_refuses else "both accept"
            counts[kind] += is_right
    return wrong, counts


@pytest.mark.parametrize("domains", [STANDARD, MICROSOFT], ids=["onnx", "microsoft"])
def test_what_runtimes_refuse_is_an_error_and_nothing_else(domains):
    chosen = random.Random(30).sample(definitions(domains), SLICE)
    wrong, counts = compare(chosen)
    assert not wrong, "\n".join(wrong)
    assert counts["both refuse"] > 100 and counts["both accept"] > 10


@pytest.mark.slow
@pytest.mark.parametrize("part", range(40))
@pytest.mark.parametrize("domains", [STANDARD, MICROSOFT], ids=["onnx", "microsoft"])
def test_all_definitions(domains, part):
    wrong, counts = compare(definitions(domains)[part::40])
    print(dict(counts))
    assert not wrong, "\n".join(wrong)
