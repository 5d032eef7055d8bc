"""Every published case of the installed onnx package: inferred shapes must be those of its data.

The declarations of outputs are removed from the model first. Inputs are static in one test, constants in another, and
named in the third, where inferred dims are evaluated at the sizes of the data. Dims may be unknown, but not wrong.
"""

import functools
import warnings

import numpy as np
import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from shapeinf.lattice import Shape

KINDS = ("node", "simple", "pytorch-operator")


@functools.cache
def cases():
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [case for kind in KINDS for case in load_model_tests(kind=kind) if case.model is not None]


def without_output_types(model):
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.value_info[:]
    for output in copy.graph.output:
        output.ClearField("type")
    return copy


def name_inputs(model, arrays):
    """Name every dim of the inputs. The sizes of the data by name; None if an input is not a tensor."""
    sizes = {}
    for k, (value, array) in enumerate(zip(model.graph.input, arrays, strict=False)):
        if value.type.WhichOneof("value") != "tensor_type" or not isinstance(array, np.ndarray):
            return None
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            dim.Clear()
            dim.dim_param = f"i{k}d{axis}"
            sizes[dim.dim_param] = array.shape[axis]
    return sizes


def contradictions(result, model, arrays, sizes):
    """The outputs whose rank, size or bounds contradict the data."""
    for output, array in zip(model.graph.output, arrays, strict=False):
        if not isinstance(array, np.ndarray):
            continue
        shape = result.tensors[output.name].shape
        if shape.dims is not None and not matches(result, shape, array.shape, sizes):
            yield f"{output.name}: {shape} is not {array.shape}"


def matches(result, shape: Shape, real, sizes):
    if len(shape) != len(real):
        return False
    for dim, size in zip(shape, real, strict=True):
        exact = isinstance(dim, int) or not dim.is_anonymous
        if exact and evaluate(dim, sizes) != size:
            return False
        if not exact and size not in result.interval(dim):
            return False
    return True


@pytest.mark.parametrize("part", range(8))
def test_static_inputs(part):
    failures = []
    for case in cases()[part::8]:
        model = without_output_types(case.model)
        result = infer_shapes(model)
        failures += [f"{case.name}: {w}" for w in contradictions(result, model, case.data_sets[0][1], {})]
        failures += [f"{case.name}: {d}" for d in result.diagnostics if d.severity == "error"]
    assert not failures


@pytest.mark.parametrize("part", range(8))
def test_named_inputs(part):
    failures = []
    for case in cases()[part::8]:
        model = without_output_types(case.model)
        inputs, outputs = case.data_sets[0]
        sizes = name_inputs(model, inputs)
        if sizes is None:
            continue
        result = infer_shapes(model, min_dim=0)
        failures += [f"{case.name}: {w}" for w in contradictions(result, model, outputs, sizes)]
        failures += [f"{case.name}: {d}" for d in result.diagnostics if d.severity == "error"]
    assert not failures


@pytest.mark.parametrize("part", range(8))
def test_known_inputs(part):
    """All input tensors are constants, so that rules read their contents."""
    failures = []
    for case in cases()[part::8]:
        inputs, outputs = case.data_sets[0]
        model = constant(without_output_types(case.model), inputs)
        result = infer_shapes(model)
        failures += [f"{case.name}: {w}" for w in contradictions(result, model, outputs, {})]
        failures += [f"{case.name}: {d}" for d in result.diagnostics if d.severity == "error"]
    assert not failures


def constant(model, arrays):
    """The model with constants in place of the inputs that are tensors."""
    pairs = list(zip(model.graph.input, arrays, strict=False))
    inputs = [value for value, array in pairs if not isinstance(array, np.ndarray)]
    known = [onnx.numpy_helper.from_array(array, v.name) for v, array in pairs if isinstance(array, np.ndarray)]
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    model.graph.initializer.extend(known)
    return model
