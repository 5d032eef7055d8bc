"""The rules of torch's overloads against torch: at the sizes of each case, and at neighboring sizes, legal or not."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from opdefs.torch.functions import function_table
from opdefs.torch.schemas import find_schema
from shapeinf import Result, infer_shapes
from shapeinf.ops.package_data import read_package_text
from tests.formats.torch_export.programs import argument, graph, node, program, tensor
from tests.opdefs.overload_cases import Case, Tensor, read_cases, read_recorded, tensors_in
from tests.opdefs.torch_cases.case import CODES

SECTIONS = (
    *("Layers", "Images and padding", "Losses", "Quantization", "Special functions", "Other names", "Reductions"),
    *("Statistics and samples", "Primitives"),
)
"""The sections of `functions.txt` of which each overload has a case."""

OPEN = (
    *("aten.embedding_bag.default", "aten.embedding_bag.padding_idx", "aten._embedding_bag.default"),
    *("aten._embedding_bag_forward_only.default", "aten._ctc_loss.default", "aten._ctc_loss.Tensor"),
    *("aten.log_sigmoid_forward.default", "aten._scaled_dot_product_flash_attention.default"),
)
"""Overloads with outputs whose sizes differ between devices or are decided by data."""

ITEMS = ("aten.ctc_loss", "aten._ctc_loss", "prims")
"""Overloads that fail at some sizes by the items of their tensors: a length of the input.

Primitives fail at sizes that the functions whose parts they are never pass: operands are broadcast before, for example.
"""

UNCHECKED = (
    *("aten._native_batch_norm", "aten.native_batch_norm", "aten._batch_norm", "aten.batch_norm"),
    *("aten.instance_norm", "aten._fused_rms_norm", "aten._weight_norm", "aten.binary_cross_entropy.default"),
    *("aten._scaled_dot_product", "aten._native_multi_head", "aten.gru", "aten.lstm", "aten.rnn"),
)
"""Kernels that run, or end the process, at sizes that do not fit: what they accept is wider than what is meaningful.

The functions that call them compare the sizes before.
"""
STRICTER = ("aten._scaled_dot_product_flash_attention_for_cpu", "aten._scaled_dot_product_attention_math")
"""Those of them whose rules refuse all sizes at which torch's kernels fail or end the process."""

CASES = read_cases()
RECORDED = read_recorded()


def encode(value: Any, kind: str, names: Any) -> dict[str, Any]:
    """An argument as programs have it; a tensor takes the next of the names."""
    if isinstance(value, Tensor):
        return argument(next(names))
    if isinstance(value, list) and any(isinstance(item, Tensor) for item in value):
        return {"as_tensors": [{"name": next(names)} for _ in value]}
    if isinstance(value, list) and any(isinstance(item, float) for item in value):
        return {"as_floats": value}
    if isinstance(value, str):
        return {"as_scalar_type": CODES[value]} if kind.startswith("ScalarType") else {"as_string": value}
    return argument(value)


def infer(case: Case, outputs: list[str]) -> Result:
    """The types that the program of the single call has; its outputs are y0, y1, ..."""
    schema = find_schema(case.overload)
    assert schema is not None
    listed = tensors_in([case.positional, case.named])
    inputs = [f"t{i}" for i in range(len(listed))]
    names, kinds = iter(inputs), {each.name: each.kind for each in schema.arguments}
    given = {**dict(zip(schema.names, case.positional, strict=False)), **case.named}
    arguments = {name: encode(value, kinds[name], names) for name, value in given.items()}
    types = {name: tensor(*each.dims, dtype=CODES[each.dtype]) for name, each in zip(inputs, listed, strict=True)}
    call = node(f"torch.ops.{case.overload}", arguments, *outputs)
    return infer_shapes(json.dumps(program(graph(inputs, [call], outputs, tensors=types))).encode())


def dims_of(text: str) -> list[int]:
    """The sizes of a recorded type."""
    return [int(size) for size in re.findall(r"\d+", text.partition("[")[2])]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text[:60])
def test_the_types_of_an_overload_are_those_of_torch(case: Case) -> None:
    recorded = RECORDED[case.text][0]
    assert recorded is not None
    result = infer(case, [f"y{i}" for i in range(len(recorded))])
    assert result.contract.check().verdict is True
    for i, text in enumerate(recorded):
        found = result.tensors[f"y{i}"]
        if text and case.overload not in OPEN:
            assert str(found).replace(" ", "") == text
        elif text and found.shape.dims is not None:
            known = zip(found.shape.dims, dims_of(text), strict=True)
            assert all(size == real for size, real in known if isinstance(size, int))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text[:60])
def test_neighboring_sizes_run_where_they_run_in_torch(case: Case) -> None:
    base = RECORDED[case.text][0] or []
    wrong: list[object] = []
    for neighbor, recorded in zip(case.neighbors(), RECORDED[case.text][1:], strict=True):
        result = infer(neighbor, [f"y{i}" for i in range(len(base))])
        verdict = result.contract.check().verdict
        sizes = [each.numbers for each in tensors_in([neighbor.positional, neighbor.named])]
        may_fail = case.overload.startswith((*ITEMS, *UNCHECKED)) and not case.overload.startswith(STRICTER)
        if recorded is None and verdict is True and not may_fail:
            wrong.append((sizes, "fails in torch"))
        if recorded is not None and verdict is False and not case.overload.startswith(UNCHECKED):
            wrong.append((sizes, "runs in torch"))
        if verdict is True and not case.overload.startswith(UNCHECKED):
            wrong += [(sizes, text) for i, text in enumerate(recorded or ()) if _differs(result, f"y{i}", text)]
    assert not wrong


def _differs(result: Result, name: str, text: str) -> bool:
    """Whether an inferred size differs from that of a recorded type."""
    dims = result.tensors[name].shape.dims
    if not text or dims is None:
        return False
    real = dims_of(text)
    return len(real) != len(dims) or any(isinstance(d, int) and d != r for d, r in zip(dims, real, strict=True))


def test_each_overload_has_a_case() -> None:
    tested = {case.overload for case in CASES}
    section, missing = "", []
    for line in read_package_text("opdefs.torch", "functions.txt").splitlines():
        section = line.removeprefix("# ") if line.startswith("# ") else section
        names = line.partition(" = ")[0].split() if " = " in line else []
        missing += [name for name in names if section in SECTIONS and name not in tested]
    assert not missing
    assert all(case.overload in function_table().entries or find_schema(case.overload) for case in CASES)
    assert {case.text for case in CASES} == set(RECORDED)
