"""Sums over the axes of BroadcastGradientArgs with symbolic sizes, against numpy at every binding."""

import itertools

import numpy as np
import pytest

from opdefs.tf import tf
from shapeinf.expr import Dimension, evaluate
from shapeinf.lattice import PartialTensor, Shape, ShapeStore
from shapeinf.ops import Call

SHAPES = [("B", 3), (1, 3), ("B", 1), ("B", "C"), (1, "C"), ("C",), (3,), (), ("B", "C", 3), ("B", 1, 3)]
PAIRS = [pair for pair in itertools.product(SHAPES, SHAPES)]


def summed_axes(left, right):
    """The axes of both operands, as the kernel computes them (see the recorded cases)."""
    rank = max(len(left), len(right))
    if tuple(left) == tuple(right):
        return [], []
    padded = [[1] * (rank - len(shape)) + list(shape) for shape in (left, right)]
    return tuple([axis for axis, size in enumerate(sizes) if size == 1] for sizes in padded)


def bind(dims, binding):
    return [binding.get(d, d) for d in dims]


def infer(op, types, store, outputs=1, **attributes):
    return Call(tf.lookup("", op, 0), attributes, 0, (True,) * outputs).run(types, store, op).types


def value(dim, binding):
    return dim if isinstance(dim, int) else evaluate(dim, binding)


@pytest.mark.parametrize(("left", "right"), PAIRS, ids=str)
def test_sums_undo_broadcasts_at_every_binding(left, right):
    bindings = [dict(zip("BC", sizes, strict=True)) for sizes in itertools.product((1, 2, 3), repeat=2)]
    legal = []
    for binding in bindings:
        try:
            np.broadcast_shapes(bind(left, binding), bind(right, binding))
        except ValueError:
            continue
        legal.append(binding)
    store = ShapeStore()
    dims = [[store.scope.symbol(d, 1) if isinstance(d, str) else d for d in shape] for shape in (left, right)]
    shapes = [PartialTensor("int32", Shape((len(d),)), d) for d in dims]
    axes = infer("BroadcastGradientArgs", shapes, store, 2)
    full = infer("AddV2", [PartialTensor("float32", Shape(d), None) for d in dims], store)[0]
    for index, vector in enumerate(axes):
        total = infer("Sum", [full, vector], store, keep_dims=True)[0]
        for binding in legal:
            chosen = summed_axes(bind(left, binding), bind(right, binding))[index]
            whole = np.broadcast_shapes(bind(left, binding), bind(right, binding))
            expected = [1 if axis in chosen else size for axis, size in enumerate(whole)]
            for dim, size in zip(total.shape, expected, strict=True):
                low, high = store.bounds(dim)
                assert low <= size <= high
                if not isinstance(dim, Dimension) or not dim.is_anonymous:
                    assert value(dim, binding) == size


def test_a_bias_has_its_own_gradient_shape():
    store = ShapeStore()
    batch = store.scope.symbol("B", 1)
    axes = infer(
        "BroadcastGradientArgs",
        [PartialTensor("int32", Shape((2,)), (batch, 10)), PartialTensor("int32", Shape((1,)), (10,))],
        store,
        2,
    )
    assert axes[1].elements == (0,)
    whole = PartialTensor("float32", Shape((batch, 10)), None)
    assert infer("Sum", [whole, axes[1]], store)[0].shape == Shape((10,))
    assert infer("Sum", [whole, axes[0]], store, keep_dims=True)[0].shape == Shape((batch, 10))
