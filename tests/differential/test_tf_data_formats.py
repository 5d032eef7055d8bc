"""Axes and vectors in the order of another data format, against the outputs of kernels."""

import pytest

from opdefs.tf import tf
from shapeinf.errors import ShapeError
from shapeinf.lattice import PartialTensor, Shape, ShapeStore
from shapeinf.ops import Call

FORMATS = [("NHWC", "NCHW"), ("NCHW", "NHWC"), ("NHWC", "HWNC")]
AXES = [[0, 2, 3, 1, 1, 3], [0, 3, 1, 2, 2, 1], [2, 0, 1, 3, 3, 1]]  # of [0, 1, 2, 3, -1, -2]
VECTORS = [[10, 13, 11, 12], [10, 12, 13, 11], [11, 12, 10, 13]]  # of [10, 11, 12, 13]
OTHERS = [
    ("NDHWC", "NCDHW", [10, 11, 12, 13, 14], [10, 14, 11, 12, 13]),
    ("NDHWC", "NCDHW", [10, 11, 12], [10, 11, 12]),
    ("NHWC", "NCWH", [10, 11], [11, 10]),
    ("NHWC", "NCHW", [10, 11], [10, 11]),
]


def infer(op, formats, tensor, store=None):
    attributes = {"T": "int32", "src_format": formats[0], "dst_format": formats[1]}
    (output,) = Call(tf.lookup("", op, 0), attributes, 0, (True,)).run([tensor], store or ShapeStore(), "node").types
    return output


def integers(*values, shape=None):
    return PartialTensor("int32", Shape(shape or (len(values),)), values)


@pytest.mark.parametrize(("formats", "axes"), list(zip(FORMATS, AXES, strict=True)))
def test_axes(formats, axes):
    assert list(infer("DataFormatDimMap", formats, integers(0, 1, 2, 3, -1, -2)).elements) == axes


@pytest.mark.parametrize(("formats", "vector"), list(zip(FORMATS, VECTORS, strict=True)))
def test_vectors_and_rows(formats, vector):
    assert list(infer("DataFormatVecPermute", formats, integers(10, 11, 12, 13)).elements) == vector
    rows = integers(10, 20, 11, 21, 12, 22, 13, 23, shape=(4, 2))
    assert list(infer("DataFormatVecPermute", formats, rows).elements) == [x for v in vector for x in (v, v + 10)]


@pytest.mark.parametrize(("source", "target", "vector", "permuted"), OTHERS)
def test_spatial_axes_and_volumes(source, target, vector, permuted):
    assert list(infer("DataFormatVecPermute", (source, target), integers(*vector)).elements) == permuted


def test_symbolic_sizes():
    store = ShapeStore()
    n, height = store.scope.symbol("n", 1), store.scope.symbol("h", 1)
    permuted = infer("DataFormatVecPermute", FORMATS[0], integers(n, height, None, 3), store)
    assert list(permuted.elements) == [n, 3, height, None]


@pytest.mark.parametrize("formats", [("NHWC", "NCHX"), ("NHWC", "NCH"), ("NNNN", "NNNN")])
def test_damaged_formats(formats):
    with pytest.raises(ShapeError, match="the same letters"):
        infer("DataFormatVecPermute", formats, integers(10, 11, 12, 13))
