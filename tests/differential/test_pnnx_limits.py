"""Rules of PNNX's operators, against torch, for sizes that are too small, do not fit, or are 0."""

import json

import pytest

from shapeinf import infer_shapes
from shapeinf.expr import Dimension, evaluate
from shapeinf.lattice.dtypes import SHORT_NAMES
from tests.differential.pnnx.limits import FILE, outcome
from tests.differential.pnnx.limits_windows import LIMITS

RECORDS = json.loads(FILE.read_text(encoding="utf8"))


def inferred(result, binding=None):
    """The outputs in the form of the records; None after an error."""
    if any(d.severity == "error" for d in result.diagnostics):
        return None
    short = {name: key for key, name in SHORT_NAMES.items()}
    tensors = [result.tensor(name) for name in result.graph.outputs]
    return [[short[t.dtype], [d if binding is None else value(d, binding) for d in t.shape]] for t in tensors]


def value(size, binding):
    """A size at a binding; None if it contains an unknown."""
    if not isinstance(size, Dimension):
        return size
    return evaluate(size, binding) if {str(s) for s in size.symbols()} <= binding.keys() else None


@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_known_sizes(limit):
    differences = []
    for inputs, expected in zip(limit.runs(), RECORDS[limit.operator], strict=True):
        actual = inferred(infer_shapes(limit.param(inputs), declared="ignore", inputs=known(inputs)))
        if actual != expected:
            differences.append((inputs, actual, expected))
    assert not differences


def known(inputs):
    return {str(i): sizes for i, (_, sizes) in enumerate(inputs)}


@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_open_sizes(limit):
    """The contract of a graph with symbolic sizes rejects what torch rejects, and its shapes are those of torch."""
    differences = []
    results = {}
    for inputs, expected in zip(limit.runs(), RECORDS[limit.operator], strict=True):
        names = {str(i): [f"d{i}_{axis}" for axis in range(len(sizes))] for i, (_, sizes) in enumerate(inputs)}
        key = tuple(map(len, names.values()))
        if key not in results:
            results[key] = infer_shapes(limit.param(inputs), declared="ignore", inputs=names)
        binding = {name: d for i, (_, sizes) in enumerate(inputs) for name, d in zip(names[str(i)], sizes, strict=True)}
        if 0 in binding.values():
            continue  # a named size is at least 1
        if inferred(results[key]) is None:
            actual = None
        else:
            answer = results[key].contract.check(binding)
            actual = inferred(results[key], binding) if answer.verdict is not False else None
        if limit.rounded and None not in (actual, expected):
            continue
        if actual != expected:
            differences.append((inputs, actual, expected))
    assert not differences


@pytest.mark.slow
@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_the_records_are_those_of_torch(limit):
    pytest.importorskip("torch")
    assert [outcome(limit, inputs) for inputs in limit.runs()] == RECORDS[limit.operator]
