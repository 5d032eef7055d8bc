"""Random networks keep their interface, their shapes and their numbers, and a second run finds nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings

from shapeinf import infer_shapes
from shapeinf.passes import DEFAULT_ORDER, clean
from tests.passes.judge import differ, interface, run, signature
from tests.passes.models import feeds
from tests.passes.random_models import models

pytest.importorskip("onnxruntime")

ORDERS = (DEFAULT_ORDER, (*DEFAULT_ORDER, "deduplicate"), (*DEFAULT_ORDER[::-1], "split_parameters"))
TOLERANCE = 1e-4
"""Relative to the largest number of an output: fused weights are rounded once more."""


@given(models())
@settings(max_examples=25)
def test_random_models(model):
    check_all_orders(model)


@pytest.mark.slow
@given(models())
@settings(max_examples=2000, derandomize=False, suppress_health_check=list(HealthCheck))
def test_many_random_models(model):
    check_all_orders(model)


def check_all_orders(model: onnx.ModelProto) -> None:
    onnx.checker.check_model(model, full_check=True)
    inputs = feeds(model)
    expected = run(model, inputs)
    for order in ORDERS:
        cleaned = clean(model, order)
        assert [entry.reason for entry in cleaned.report.passes if entry.outcome == "undone"] == []
        after = cleaned.to_proto()
        onnx.checker.check_model(after, full_check=True)
        assert interface(after) == interface(model)
        check_shapes(model, after)
        for want, got in zip(expected, run(after, inputs), strict=True):
            for name, array in want.items():
                largest = float(np.abs(array[np.isfinite(array)]).max(initial=1.0))
                assert not differ(array, got[name], 0, TOLERANCE * largest), name
        if order is not ORDERS[2]:  # a copy for each reader is taken back by no other pass
            assert signature(clean(after, order).to_proto()) == signature(after)


def check_shapes(before: onnx.ModelProto, after: onnx.ModelProto) -> None:
    """Tensors that both models have, have the same shapes in both."""
    old, new = shapes(before), shapes(after)
    assert {name: new[name] for name in old if name in new} == {name: old[name] for name in old if name in new}


def shapes(model: onnx.ModelProto) -> dict[str, Any]:
    result = infer_shapes(model)
    return {name: (info.dtype, str(info.shape)) for name, info in result.tensors.items() if info.shape.dims is not None}
