"""Documents that tract writes for the published ONNX models: shapeinf reads all that tract reads, with the same shapes.

tract (github.com/sonos/tract, the package `tract`) reads ONNX, writes NNEF in its own dialect, and returns the types of
the outputs of a document. Each model is also converted with named sizes, and with constants for inputs of integers.
"""

import os
import random

import numpy as np
import onnx
import pytest

from shapeinf import NnefOptions, infer_shapes
from shapeinf.expr import evaluate
from shapeinf.formats.nnef.files.datum_types import dtype_of
from tests.conformance.tract_types import as_ours, pieces
from tests.differential.test_onnx_data import cases, constant, name_inputs, without_output_types
from tests.differential.tract_process import Tract

FEW, PARTS = 40, 8
FUNCTIONS = {"min": min, "max": max, "broadcast": max, "floordiv": lambda a, b: a // b, "__builtins__": {}}


def static(model, arrays):
    return model, {}


def with_names(model, arrays):
    """The model with a name for each extent of its inputs, and the sizes by name."""
    sizes = name_inputs(model, arrays)
    return None if sizes is None else (model, sizes)


def with_batch(model, arrays):
    """The model with one name for the first extents of all inputs of rank 2 or more; None if they differ."""
    firsts = [
        (value.type.tensor_type.shape.dim[0], array.shape[0])
        for value, array in zip(model.graph.input, arrays, strict=False)
        if isinstance(array, np.ndarray) and array.ndim > 1
    ]
    if len({size for _, size in firsts}) != 1:
        return None
    for dim, _ in firsts:
        dim.Clear()
        dim.dim_param = "N"
    return model, {"N": firsts[0][1]}


def with_integers(model, arrays):
    """The model with constants for its inputs of integers, which decide shapes; None without such inputs, or others."""
    known = [isinstance(array, np.ndarray) and array.dtype.kind in "iu" for array in arrays]
    if len(set(known)) < 2:
        return None
    return constant(model, [array if is_known else None for array, is_known in zip(arrays, known, strict=True)]), {}


VARIANTS = [static, with_names, with_batch, with_integers]


def problems(result, facts, sizes):
    """Differences from tract's types, at the sizes of the data."""
    for name, dump in zip(result.graph.outputs, facts, strict=True):
        *dims, dtype = pieces(dump)
        info = result.tensors[name]
        if info.dtype != dtype_of(dtype):
            yield f"{name}: {info} is not {dump}"
        if info.shape.dims is None or len(info.shape) != len(dims):
            yield f"{name}: {info.shape} is not {dump}"
            continue
        for axis, (ours, theirs) in enumerate(zip(info.shape.dims, dims, strict=True)):
            size = value_of(theirs, sizes)
            if size is not None and not may_be(result, ours, size, sizes):
                yield f"{name}: axis {axis} of {info.shape} is not {theirs}, which is {size}"


def value_of(dim, sizes):
    """The value of tract's text of a dim at these sizes; None if it contains a symbol that tract introduced."""
    try:
        return eval(as_ours(dim), FUNCTIONS, dict(sizes))
    except (NameError, SyntaxError):
        return None


def may_be(result, dim, size, sizes):
    if isinstance(dim, int) or all(symbol.name in sizes for symbol in dim.symbols()):
        return evaluate(dim, sizes) == size
    return size in result.interval(dim)


def same_as_onnx(model, result, same_shapes):
    """Differences between the extents inferred from the model and from the document, for outputs that tract kept."""
    of_model = infer_shapes(model)
    for ours, theirs, same in zip(of_model.graph.outputs, result.graph.outputs, same_shapes, strict=True):
        if not same:
            continue
        a, b = of_model.tensors[ours].shape.dims, result.tensors[theirs].shape.dims
        known = [] if a is None or b is None else zip(a, b, strict=True)
        if any(isinstance(x, int) and isinstance(y, int) and x != y for x, y in known):
            yield f"{ours}: {a} in the model, {b} in the document"


def differences(case, variant, tract, folder):
    """All differences of a case; None if tract does not write a document, or does not read it again."""
    arrays = case.data_sets[0][0] if case.data_sets else []
    changed = variant(without_output_types(case.model), arrays)
    if changed is None:
        return None
    model, sizes = changed
    source, target = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.nnef.tar")
    onnx.save(model, source)
    facts = tract.convert(source, target)
    if facts is None:
        return None
    result = infer_shapes(target, format_options=NnefOptions("tract"))
    errors = [d.message for d in result.diagnostics if d.severity == "error"]
    same_shapes = [before == after for before, after in zip(facts.before, facts.after, strict=True)]
    return [*errors, *problems(result, facts.after, sizes), *same_as_onnx(model, result, same_shapes)]


def check(chosen, folder):
    """The number of documents. Raises AssertionError with all differences."""
    pytest.importorskip("tract", reason="tract writes the documents of this test: pip install tract")
    failures, count = [], 0
    with Tract() as tract:
        for case, variant in chosen:
            wrong = differences(case, variant, tract, folder)
            count += wrong is not None
            failures += [f"{case.name} {variant.__name__}: {problem}" for problem in wrong or ()]
    assert not failures, "\n".join(failures)
    return count


def test_some_documents(tmp_path):
    everything = [(case, variant) for case in cases() for variant in VARIANTS]
    assert check(random.Random(0).sample(everything, FEW), tmp_path) > FEW // 4


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_all_documents(tmp_path, variant, part):
    assert check([(case, variant) for case in cases()[part::PARTS]], tmp_path) > 0
