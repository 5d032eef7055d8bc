"""Tensor files: against the files that the nnef package writes, and headers of 2017 written by hand."""

from __future__ import annotations

import struct
from io import BytesIO

import nnef
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from shapeinf.errors import LimitError, ModelError
from shapeinf.formats.nnef.files.dat import MAX_HEADER, has_small_contents, read_contents, read_header

DTYPES = ("float16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def header(data, size=None):
    return read_header(data[:MAX_HEADER], len(data) if size is None else size, "w.dat")


class Unseekable(BytesIO):
    """The nnef package writes to files, or to streams that cannot seek."""

    def seekable(self):
        return False


def written(array, **options):
    stream = Unseekable()
    nnef.write_tensor(stream, array, **options)
    return stream.getvalue()


def tensors():
    shapes = arrays.array_shapes(min_dims=0, max_dims=8, min_side=1, max_side=4)
    return st.sampled_from((*DTYPES, "bool")).flatmap(lambda dtype: arrays.arrays(dtype, shapes))


@given(tensors())
def test_tensors_written_by_the_nnef_package(array):
    data = written(array)
    head = header(data)
    assert (head.layout, head.dims, head.dtype) == ("final", array.shape, array.dtype.name)
    assert (head.start, head.length) == (128, len(data) - 128)
    if has_small_contents(head):
        np.testing.assert_array_equal(read_contents(head, data).array(), array)


@given(arrays.arrays("int8", (2, 3)))
def test_quantized_items_stand_for_other_numbers(array):
    head = header(written(array, quantized=True))
    assert (head.kind, head.dtype) == ("quantized", "int8")
    assert read_contents(head, written(array, quantized=True), "float32").elements is None


def old(dims, code=0, bits=32, text="", payload=None, length=None):
    """A file in the layout of 2017."""
    encoded = text.encode()
    length = 16 + 4 * len(dims) + len(encoded) if length is None else length
    items = (int(np.prod(dims)) * bits + 7) // 8 if payload is None else payload
    head = b"\x4e\xef\x01\x00" + struct.pack(f"<II{len(dims)}I", length, len(dims), *dims)
    return head + struct.pack("<BBH", code, bits, len(encoded)) + encoded + bytes(items)


@pytest.mark.parametrize(
    ("dims", "code", "bits", "text", "dtype"),
    [
        ((4, 3, 1, 1), 0, 32, "", "float32"),
        ((8, 4), 0, 32, "", "float32"),  # 128 bytes of items: its length is that of the final layout, too
        ((), 0, 16, "", "float16"),
        ((7,), 1, 8, "linear_quantize(min = 0.0, max = 1.0, bits = 8)", "uint8"),
        ((7,), 2, 16, "", "int16"),
        ((7,), 3, 64, "", "uint64"),
        ((3, 3), 1, 3, "log_quantize(max = 1.0, bits = 3)", None),
    ],
)
def test_the_layout_of_2017(dims, code, bits, text, dtype):
    head = header(old(dims, code, bits, text))
    assert (head.layout, head.dims, head.dtype, head.quantization) == ("provisional", dims, dtype, text)
    assert head.start == 16 + 4 * len(dims) + len(text)


@given(arrays.arrays("float32", arrays.array_shapes(max_dims=4, max_side=6)))
@example(np.ones((2, 4, 4), "float32"))  # in the final layout these would be items of a vendor's type
def test_the_layout_of_2017_as_the_nnef_package_writes_it(tmp_path_factory, array):
    path = tmp_path_factory.getbasetemp() / "old.dat"
    with open(path, "wb") as file:
        nnef.binary._write_tensor_provisional(file, array)
    data = path.read_bytes()
    head = header(data)
    assert (head.layout, head.dims, head.dtype) == ("provisional", array.shape, "float32")
    if has_small_contents(head):
        np.testing.assert_array_equal(read_contents(head, data).array(), array)


GOOD = written(np.arange(6, dtype=np.int32).reshape(2, 3))


def patched(offset, form, *values):
    data = bytearray(GOOD)
    struct.pack_into(form, data, offset, *values)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "only 0 bytes"),
        (b"\x4e\xef", "only 2 bytes"),
        (b"PK" + GOOD[2:], "starts with"),
        (patched(2, "<BB", 2, 0), "version 2.0"),
        (patched(2, "<BB", 1, 1), "version 1.1"),
        (patched(8, "<I", 9), "rank 9"),
        (patched(8, "<I", 2**32 - 1), "rank 4294967295"),
        (patched(4, "<I", 25), "25 bytes of items, the file has 24"),
        (patched(12, "<II", 2, 4), r"\[2, 4\] with 32 bits each need 32 bytes, the file has 24"),
        (patched(12, "<II", 2**32 - 1, 2**32 - 1), "the file has 24"),
        (patched(44, "<I", 0), "items of 0 bits"),
        (patched(44, "<IH", 8, 0), "float items of 8 bits"),
        (patched(48, "<H", 6), "item type 6"),
        (GOOD[:-1], "the file has 23"),
        (GOOD + b"\0", "the file has 25"),
        (GOOD[:100], "cut off"),
        (old((2, 3), code=4), "item type 4"),
        (old((2, 3), payload=23), "need 24 bytes, the file has 23"),
        (old((2, 3))[:18], "cut off"),
    ],
)
def test_errors_of_tensor_files_name_the_file(data, message):
    with pytest.raises(ModelError, match=message) as caught:
        header(data)
    assert caught.value.node == "w.dat"


def test_the_rank_is_a_limit():
    with pytest.raises(LimitError):
        header(patched(8, "<I", 9))


@given(st.binary(max_size=200), st.integers(0, 3))
def test_any_bytes_are_a_tensor_or_an_error(junk, size):
    data = GOOD[: 4 * size] + junk
    try:
        head = header(data)
    except ModelError:
        return
    assert head.start + head.length == len(data)
    read_contents(head, data)


def test_items_of_vendors_have_a_shape():
    head = header(patched(48, "<HH", 7, 99))
    assert (head.kind, head.vendor, head.dims, head.dtype) == ("other", 99, (2, 3), None)


def test_signed_integers_of_before_1_0_3():
    assert header(patched(48, "<HHI", 1, 0, 1)).dtype == "int32"
    assert header(patched(48, "<HHI", 1, 0, 0)).dtype == "uint32"


def test_headers_are_read_without_items():
    head = patched(4, "<I", 3 << 30)
    head = head[:12] + struct.pack("<II", 3 << 20, 256) + head[20:128]
    parsed = header(head, 128 + (3 << 30))
    assert parsed.dims == (3 << 20, 256)
    assert not has_small_contents(parsed)


def test_files_larger_than_their_field():
    items = 5 << 30
    head = GOOD[:4] + struct.pack("<III", items % (1 << 32), 1, items // 4) + GOOD[16:128]
    assert header(head, 128 + items).dims == (items // 4,)
