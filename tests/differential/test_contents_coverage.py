"""Every operator of every dialect: its contents are evaluated, which a case shows, or a table says why not."""

import json
import re

import numpy as np
import pytest

from opdefs.rules.contents.coverage import REASONS, has_contents, qualified_name, unevaluated
from shapeinf.lattice import HandleType, PartialTensor, Shape, ShapeStore
from shapeinf.ops import Call, default_registry
from tests.differential.contents import nnef_cases, onnx_cases, onnx_expressions, torch_cases
from tests.differential.tf.contents import RECORDED, infer
from tests.differential.tf.families import FAMILIES

PACKAGES = {
    "onnx": ("opdefs.onnx", "opdefs.microsoft"),
    "tf": ("opdefs.tf",),
    "pnnx": ("opdefs.pnnx",),
    "nnef": ("opdefs.nnef",),
}
NEWEST = 99
KEPT = ("flow", "identity", "input")
"""Reasons of operators that have known contents without an evaluation of their own."""

SAME_KERNEL = {
    **{f"BatchMatrix{name}": f"Matrix{name}" for name in ("BandPart", "Diag", "DiagPart", "SetDiag")},
    "TopK": "TopKV2",
}
"""Deprecated operators of TensorFlow that it does not run, by the operator of the same function."""

OTHER_TESTS = {"tf": {"VariableShape"}, "onnx": {"OptionalGetElement", "OptionalHasElement", "SequenceLength"}}
"""Operators that need a graph: variables, optional values and sequences have tests of their own."""


def operators(dialect):
    """The newest definition of each operator with a rule that may have contents, by its name with the domain."""
    known = default_registry().dialect(dialect)
    found = {}
    for domain, name, version in known:
        op_def = known.lookup(domain, name, NEWEST) or known.lookup(domain, name, version)
        ours = op_def is not None and op_def.rule and op_def.rule.function.__module__.startswith("opdefs.")
        if ours and (has_contents(op_def) or (not op_def.outputs and dialect == "nnef")):
            found[qualified_name(op_def)] = op_def
    return found


def reasons(dialect):
    """The reason of each operator in the tables of a dialect."""
    return {name: why for package in PACKAGES[dialect] for name, why in unevaluated(package).items()}


def tensorflow_evaluated():
    """The operators with a recorded case whose contents the rules know in full."""
    found = set()
    for path in RECORDED.glob("*.json"):
        records = json.loads(path.read_text(encoding="utf8"))
        for case in FAMILIES[path.stem]:
            recorded = records.get(str(case))
            if recorded and case.op not in found and any(r and r[1] for r in recorded):
                types = infer(case, len(recorded), symbolic=False)[0]
                full = [_is_full(t) for t, r in zip(types, recorded, strict=True) if r and r[1]]
                found |= {case.op} if all(full) else set()
    return found | {old for old, new in SAME_KERNEL.items() if new in found}


def _is_full(tensor):
    """Whether all elements of a tensor are known, listed or by a formula."""
    contents = None if isinstance(tensor, HandleType) else getattr(tensor, "contents", None)
    return contents is not None and (tensor.elements is None or None not in tensor.elements)


def evaluated(dialect):
    """The operators with a case that compares all contents with those of a runtime."""
    if dialect == "tf":
        return tensorflow_evaluated()
    if dialect == "nnef":
        return {case.op for case in nnef_cases.CASES}
    if dialect == "pnnx":
        rules = {name: op_def.rule.function for name, op_def in operators(dialect).items()}
        tested = {case.op for case in torch_cases.CASES}
        shared = {rules[op] for op in tested}
        without_reason = set(rules) - set(reasons(dialect))
        return tested | {name for name in without_reason if rules[name] in shared}
    called = {f"{case.domain}.{case.op}" if case.domain else case.op for case in onnx_cases.CASES}
    return called | {op for text in onnx_expressions.EXPRESSIONS.values() for op in re.findall(r"([A-Z]\w+)\(", text)}


@pytest.mark.parametrize("dialect", PACKAGES)
def test_every_operator_is_evaluated_or_has_a_reason(dialect):
    """An operator with the reason `identity` may have a case too; no other one has both."""
    known, listed = set(operators(dialect)), reasons(dialect)
    proved = (evaluated(dialect) | OTHER_TESTS.get(dialect, set())) & known
    assert known - proved - set(listed) == set()
    assert {name: listed[name] for name in proved & set(listed) if listed[name] not in KEPT} == {}
    assert set(listed) - known == set()


def test_the_reasons_are_all_used():
    assert {why for dialect in PACKAGES for why in reasons(dialect).values()} == set(REASONS)


SAMPLES = {
    "int64": (2, 1),
    "int32": (2, 1),
    "float32": (2.0, 0.5),
    "bool": (True, False),
    "string": ("a", "b"),
    "uint8": (2, 1),
}


@pytest.mark.parametrize("dialect", ["onnx", "tf"])
def test_operators_with_a_reason_are_not_evaluated(dialect):
    """Calls with known vectors, scalars and matrices: no output of more than 0 elements is known in full.

    All operands are alike, or all but the first are an axis, a position or a length.
    """
    wrong = {}
    others = [PartialTensor(dtype, Shape(()), (0,)) for dtype in ("int64", "int32")]
    for name, op_def in operators(dialect).items():
        if reasons(dialect).get(name, "flow") in KEPT:
            continue
        for dims in ((2,), (), (1, 2), (2, 2)):
            for dtype, sample in SAMPLES.items():
                count = int(np.prod(dims))
                tensor = PartialTensor(dtype, Shape(dims), (sample * count)[:count])
                more = max(len(op_def.inputs), 1) - 1
                if any(_evaluates(op_def, [tensor, *[other] * more]) for other in (tensor, *others)):
                    wrong[name] = f"{dtype}{list(dims)}"
    assert wrong == {}


def _evaluates(op_def, types):
    """Whether a call runs and all of its outputs are known in full."""
    try:
        outcome = Call(op_def, {}, NEWEST, (True,) * max(len(op_def.outputs), 1)).run(types, ShapeStore(), "node")
    except Exception:  # a call with operands or attributes that the operator does not have
        return False
    tensors = [t for t in outcome.types if t is not None]
    return bool(tensors) and all(_is_full(t) and t.shape.dims != (0,) for t in tensors)
