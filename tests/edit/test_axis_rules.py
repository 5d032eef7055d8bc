"""Axis rules against onnxruntime: where `rebatch` accepts a node, rows of a batch are the results of their parts.

The nodes are those of the published cases of `onnx` and of the tables of cases, at each version of their operator. Each
axis of each input in turn becomes a batch, alone and together with that axis of all inputs that have the same size.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator

import onnx
import pytest
from onnx import numpy_helper

from shapeinf import RebatchError, ShapeInferenceError, rebatch
from shapeinf.edit.rebatch import Rebatched
from shapeinf.ops import default_registry
from shapeinf.runtime.protocol import Refusal
from shapeinf.runtime.rebatched import verify_rebatched

pytest.importorskip("onnxruntime", reason="the oracle is onnxruntime")
pytest.importorskip("onnx.backend.test.loader", reason="the published cases are part of the package onnx")

from tests.differential.operands.nodes import Node, every_node

SLICE = 13
"""By default every so many-th node runs."""


def choices(node: Node) -> Iterator[dict[str, int]]:
    """The axes that become a batch, by the input's name."""
    arrays = {name: a for name, a in node.feeds().items() if a.dtype.kind != "O"}
    seen = set()
    for name, array in arrays.items():
        for axis, size in enumerate(array.shape):
            same = {other: axis for other, a in arrays.items() if axis < a.ndim and a.shape[axis] == size}
            mirrored = {other: a.shape.index(size) for other, a in arrays.items() if size in a.shape}
            for chosen in ({name: axis}, same, mirrored):
                if size and tuple(chosen.items()) not in seen:
                    seen.add(tuple(chosen.items()))
                    yield chosen


def model_of(node: Node, chosen: dict[str, int]) -> onnx.ModelProto:
    """The model with constants for the inputs that are no batch."""
    model = node.model()
    kept = [value for value in model.graph.input if value.name in chosen]
    arrays = {name: array for name, array in node.feeds().items() if name not in chosen}
    del model.graph.input[:]
    model.graph.input.extend(kept)
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in arrays.items())
    return model


def accepted(node: Node) -> Iterator[tuple[dict[str, int], onnx.ModelProto, Rebatched]]:
    for chosen in choices(node):
        model = model_of(node, chosen)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield chosen, model, rebatch(model, axes=chosen, inputs=list(chosen), spatial=False)
        except RebatchError:
            continue


def failures(nodes: tuple[Node, ...]) -> tuple[list[str], Counter[str], Counter[str]]:
    """What differs; the accepted choices that ran, and all accepted ones, by operator."""
    wrong, ran, taken = list[str](), Counter[str](), Counter[str]()
    for node in nodes:
        try:
            for chosen, model, rebatched in accepted(node):
                taken[node.op] += 1
                comparison = verify_rebatched(model, rebatched)
                if comparison.differences:
                    wrong.append(f"{node.op} {node.version} {node.name} {chosen}: {comparison.differences}")
                ran[node.op] += comparison.equal
        except (ShapeInferenceError, Refusal):  # no case of this test
            continue
    return wrong, +ran, taken


def test_rows_of_a_batch_are_the_results_of_its_parts() -> None:
    wrong, ran, _ = failures(every_node()[::SLICE])
    assert wrong == []
    assert len(ran) > 40


@pytest.mark.slow
def test_every_node() -> None:
    wrong, ran, taken = failures(every_node())
    print(f"{ran.total()} of {taken.total()} accepted choices ran, {len(ran)} operators")
    assert wrong == []
    assert len(ran) > 120


@pytest.mark.parametrize("name", ["onnx", "nnef", "pnnx", "tf"])
def test_no_axis_rule_stands_for_an_unknown_operator(name: str) -> None:
    """A misspelt name in a table would never be used."""
    dialect = default_registry().dialect(name)
    assert dialect is not None
    known = {(domain, op) for domain, op, _ in dialect}
    dialect.axis_rule("", "", 1)  # imports the rules
    assert dialect.axis_problems == []
    found = {key: dialect.lookup(*key, 1) for key in dialect.axis_operators() - known}
    assert {key for key, op_def in found.items() if op_def is None or op_def.rule is None} == set()
