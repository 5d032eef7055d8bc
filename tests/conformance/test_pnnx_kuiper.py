"""KuiperInfer's models: each annotated value has the inferred type, at the traced batch size and at another one."""

from __future__ import annotations

import pytest

from shapeinf import infer_shapes
from tests.vectors import ROOT

FOLDER = ROOT / "pnnx" / "kuiper"
MODELS = sorted(path.name for path in FOLDER.glob("*.param"))
OWN = ("nn.", "F.", "torch.", "Tensor.", "pnnx.", "prim::", "aten::")
"""The operator types of PNNX; all others are modules of a project, without rules."""
SIZED = {"Tensor.reshape", "Tensor.view", "Tensor.expand", "Tensor.repeat"}
"""Operators in which a trace fixes the batch size."""


def fixes_batch(name):
    """Whether a model has an operator in which the trace fixes the batch size."""
    lines = (FOLDER / name).read_text(encoding="utf8").splitlines()
    return not SIZED.isdisjoint(line.split(" ", 1)[0] for line in lines)


BATCHED = [name for name in MODELS if not fixes_batch(name)]


def test_the_models_are_there():
    if not MODELS:
        pytest.skip(f"{FOLDER.name} is not there: set SHAPEINF_CONFORMANCE to the folder that holds it")
    assert all(infer_shapes(FOLDER / name).graph.nodes for name in MODELS)


def outputs_of_custom_operators(graph):
    return {name: node.op for node in graph.nodes if not node.op.startswith(OWN) for name in node.outputs}


def differences(result, batch=None):
    """The annotated values with another inferred type; `batch` replaces the annotated size of axis 0."""
    unknown = outputs_of_custom_operators(result.graph)
    for name, declared in result.graph.declared.items():
        dims = declared.dims if batch is None else (batch, *declared.dims[1:])
        inferred = result.tensors[name]
        if name not in unknown and (inferred.dtype, inferred.shape.dims) != (declared.dtype, dims):
            yield f"{name}: {inferred} instead of {declared.dtype}{list(dims)}"


@pytest.mark.parametrize("name", MODELS)
def test_annotated_values(name):
    result = infer_shapes(FOLDER / name)
    assert list(differences(result)) == []
    custom = outputs_of_custom_operators(result.graph)
    assert {d.op for d in result.diagnostics} == set(custom.values())
    causes = {str(unknown): group.cause.op for group in result.unknowns() for unknown in group.unknowns}
    assert causes == {f"the rank of {value}": op for value, op in custom.items()}


@pytest.mark.parametrize("name", BATCHED)
def test_another_batch_size(name):
    graph = infer_shapes(FOLDER / name).graph
    inputs = {value: [7, *graph.declared[value].dims[1:]] for value in graph.inputs}
    assert list(differences(infer_shapes(FOLDER / name, inputs=inputs), 7)) == []


@pytest.mark.parametrize("name", BATCHED)
def test_a_symbolic_batch_size(name):
    graph = infer_shapes(FOLDER / name).graph
    inputs = {value: ["batch", *graph.declared[value].dims[1:]] for value in graph.inputs}
    result = infer_shapes(FOLDER / name, inputs=inputs)
    custom = outputs_of_custom_operators(graph)
    for value, declared in graph.declared.items():
        if value not in custom:
            assert [str(d) for d in result.tensors[value].shape] == ["batch", *map(str, declared.dims[1:])]


@pytest.mark.parametrize("name", MODELS)
def test_trusted_annotations_complete_custom_operators(name):
    result = infer_shapes(FOLDER / name, declared="trust")
    for value in outputs_of_custom_operators(result.graph):
        declared = result.graph.declared[value]
        assert (result.tensors[value].dtype, result.tensors[value].shape.dims) == (declared.dtype, declared.dims)
    assert not [d for d in result.diagnostics if d.code in ("S120", "S121")]
