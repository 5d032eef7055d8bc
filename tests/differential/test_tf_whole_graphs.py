"""Whole graphs of TensorFlow's public API, inferred with symbolic sizes, against the shapes of TensorFlow's runs."""

from functools import cache

import pytest

from tests.differential.tf.graphs import store
from tests.differential.tf.graphs.compare import compare
from tests.differential.tf.graphs.families import CASES
from tests.differential.tf.record_graphs import shapes_of  # sets TensorFlow's options before TensorFlow is imported

LEAST_EXACT = 0.97
"""The share of exact dims among those that the sizes of the inputs determine, over all graphs together."""

NAMES = store.names()


@cache
def compared(name, min_dim):
    """The comparison of a graph, which two tests need."""
    return compare(store.read(name), CASES[name].inputs, min_dim=min_dim)


def test_every_record_has_a_case():
    assert sorted(CASES) == NAMES


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("min_dim", [1, 0], ids=["positive", "empty"])
def test_no_dim_is_wrong(name, min_dim):
    assert not compared(name, min_dim).wrong


def test_dims_are_exact():
    totals = [compared(name, 1) for name in NAMES]
    exact, unknown = sum(total.exact for total in totals), sum(total.unknown for total in totals)
    assert exact >= LEAST_EXACT * (exact + unknown)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_records_are_those_of_tensorflow(name):
    pytest.importorskip("tensorflow")
    record = store.read(name)
    _, tensors = shapes_of(CASES[name], record.model)
    assert {key: _determined(entry) for key, entry in tensors.items()} == {
        key: _determined(entry) for key, entry in record.tensors.items()
    }


def _determined(entry):
    """The element type and the dims, None for those that vary with the data."""
    dtype, dims = entry
    varies = [isinstance(dim, list) and any(isinstance(item, list) for item in dim) for dim in dims or ()]
    return dtype, dims and [None if v else dim for dim, v in zip(dims, varies, strict=True)]
