"""The table of element types against the packages that define them."""

import ml_dtypes
import pytest
from onnx import TensorProto

from shapeinf.lattice import element_bits, numpy_dtype
from shapeinf.lattice.dtypes import DTYPES, FROM_TF_NAMES, INTEGER_RANGES, ONNX_NAMES


def test_codes_of_onnx():
    codes = {dtype.onnx_name: dtype.onnx for dtype in DTYPES if dtype.onnx is not None}
    newer = {name for name, code in codes.items() if code > max(TensorProto.DataType.values())}
    assert {name: code for name, code in codes.items() if name not in newer} == {
        name: code for name, code in TensorProto.DataType.items() if code
    }


@pytest.mark.parametrize("column", ["name", "onnx", "tf", "short", "hlo", "ml_dtypes", "torch"])
def test_no_name_or_code_occurs_twice(column):
    values = [value for dtype in DTYPES if (value := getattr(dtype, column)) is not None]
    assert len(values) == len(set(values))


def test_codes_of_tensorflow_are_complete():
    assert sorted(dtype.tf[1] for dtype in DTYPES if dtype.tf is not None) == list(range(1, 34))
    assert FROM_TF_NAMES["half"] == "float16"


@pytest.mark.parametrize(
    "dtype",
    [d for d in DTYPES if d.kind in ("bool", "integer", "float", "complex") and d.name != "complex32"],
    ids=lambda d: d.name,
)
def test_numpy_has_the_width(dtype):
    assert numpy_dtype(dtype.name).itemsize == -(-dtype.bits // 8)


def test_numpy_has_no_half_complex():
    """Its numbers are those of the next larger type."""
    assert element_bits("complex32") == 32
    assert numpy_dtype("complex32") == numpy_dtype("complex64")


def test_bits_under_both_names():
    assert element_bits("float8e4m3fn") == element_bits("float8_e4m3fn") == 8
    assert element_bits("no such type") is None
    assert ONNX_NAMES[1] == "float32"


@pytest.mark.parametrize("name", sorted(INTEGER_RANGES))
def test_ranges_of_integers(name):
    if name in ("int1", "uint1") and not hasattr(ml_dtypes, name):
        pytest.skip("types of one bit are in ml_dtypes 0.6")
    limits = ml_dtypes.iinfo(numpy_dtype(name))
    assert INTEGER_RANGES[name] == (limits.min, limits.max)
    assert name in {dtype.name for dtype in DTYPES if dtype.kind in ("integer", "quantized")}
