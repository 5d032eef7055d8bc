"""What breaks an If, a Loop, a Scan or a SequenceMap, or a body of one, is an error exactly where runtimes refuse it.

The rule of `test_definitions`: what onnx and ONNX Runtime both refuse is an error, and so is no model that both accept;
what only one refuses may be either. Sizes are not in question: "no" is the answer of the contract at any size.
"""

import random
from collections import Counter

import pytest
from onnx import checker

from shapeinf import infer_shapes
from shapeinf.errors import ModelError
from tests.differential.body_definition_cases import body_cases, versions
from tests.differential.test_definitions import NO_KERNEL, SCHEMA_VIOLATIONS, refused_by_runtime

SLICE = 250
"""The cases of the seeded slice, of some 9,000."""

UNKNOWN_OPERATOR = "no operator"
"""An operator that no definition has may be one of a plugin: a warning, S201, as in the graph itself."""


def refused_by_onnx(model):
    """Why onnx refuses the model; empty where it does not."""
    try:
        checker.check_model(model, full_check=True)
    except Exception as error:
        return str(error) or type(error).__name__
    return ""


def errors_and_verdict(model):
    """The codes of our errors, and the verdict of the contract."""
    try:
        result = infer_shapes(model.SerializeToString())
    except ModelError:
        return ["ModelError"], False
    codes = [note.code for note in result.diagnostics if note.severity == "error"]
    return codes, result.contract.check({}).verdict


def is_exempt(case):
    """Whether we report nothing on purpose: the definition of SequenceMap lists no sequences of bfloat16 as outputs."""
    return UNKNOWN_OPERATOR in case.broken or (case.op == "SequenceMap" and "becomes tensor(bfloat16)" in case.broken)


def compare(cases):
    """The wrong cases, as texts, and counts."""
    wrong, counts = [], Counter()
    for case in cases:
        onnx_refuses, runtime = refused_by_onnx(case.proto), refused_by_runtime(case.proto)
        codes, verdict = errors_and_verdict(case.proto)
        both_refuse = bool(onnx_refuses) and runtime not in ("", NO_KERNEL)
        if both_refuse and not is_exempt(case) and (not codes or verdict is not False):
            wrong.append(f"{case}: refused, {codes}, {verdict}: {runtime}")
        elif not runtime and not onnx_refuses and SCHEMA_VIOLATIONS.intersection(codes):
            wrong.append(f"{case}: accepted, {codes}")
        elif not case.broken and (codes or runtime or onnx_refuses):
            wrong.append(f"{case}: {codes}, {runtime}, {onnx_refuses}")
        counts["both refuse" if both_refuse else "one refuses" if runtime or onnx_refuses else "both accept"] += 1
    return wrong, counts


def test_what_runtimes_refuse_of_bodies_is_an_error_and_nothing_else():
    cases = [case for version in versions() for case in body_cases(*version)]
    wrong, counts = compare(random.Random(31).sample(cases, SLICE))
    assert not wrong, "\n".join(wrong)
    assert counts["both refuse"] > 120 and counts["both accept"] > 40


@pytest.mark.slow
@pytest.mark.parametrize(("op", "opset"), versions(), ids=str)
def test_all_definitions_of_bodies(op, opset):
    wrong, counts = compare(body_cases(op, opset))
    print(dict(counts))
    assert not wrong, "\n".join(wrong)
