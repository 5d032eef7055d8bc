"""Windows of inputs whose size is known only at run time, and may be smaller than the window.

Kernels divide `size - span + stride` by the stride, rounding towards zero, and reject a negative result.
"""

import itertools

import pytest

from opdefs.tf import TensorFlowContext, tf
from opdefs.tf.windows import windowed_output_size
from shapeinf.errors import Contradiction, Source
from shapeinf.lattice import ShapeStore

MOST = 14
WINDOWS = list(itertools.product((1, 2, 3, 5), (1, 2, 3), (1, 2)))


def windows(size, window, stride, dilation):
    """The number of windows by the definition above; None where kernels reject the size."""
    dividend = size - ((window - 1) * dilation + 1) + stride
    count = int(dividend / stride)
    return None if count < 0 else count


def inferred(size, window, stride, dilation):
    """The number that the rule infers for a size that depends on data, after it is bound; None for a contradiction."""
    store = ShapeStore()
    context = TensorFlowContext(tf.lookup("", "MaxPool", 0), [], {}, store, "node")
    length = store.scope.fresh("length", 0, MOST)
    count = windowed_output_size(context, length, window, dilation, stride, "VALID")
    try:
        store.add_equal(length, size, Source("test", "the size"))
    except Contradiction:
        return None
    return store.canon(count)


@pytest.mark.parametrize(("window", "stride", "dilation"), WINDOWS)
def test_every_size(window, stride, dilation):
    for size in range(MOST + 1):
        assert inferred(size, window, stride, dilation) == windows(size, window, stride, dilation), size


@pytest.mark.slow
def test_the_definition_is_that_of_the_kernel():
    tensorflow = pytest.importorskip("tensorflow")
    for (window, stride, _), size in itertools.product(WINDOWS, range(MOST + 1)):
        attributes = {"ksize": [1, window, 1, 1], "strides": [1, stride, 1, 1], "padding": "VALID"}
        try:
            count = tensorflow.raw_ops.AvgPool(value=tensorflow.zeros((1, size, 1, 1)), **attributes).shape[1]
        except tensorflow.errors.InvalidArgumentError:
            count = None
        assert count == windows(size, window, stride, 1)
