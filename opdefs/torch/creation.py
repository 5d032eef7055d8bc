"""New tensors: identity and triangle matrices, ranges by their count, random numbers, windows."""

from __future__ import annotations

from opdefs.pnnx.creation import read_shape
from opdefs.pnnx.names import function_name
from opdefs.pnnx.operands import is_kind, read_type
from opdefs.pnnx.promotion import DEFAULT_FLOAT, complex_of
from opdefs.rules.contents.constants import constant_tensor
from opdefs.rules.contents.conversion import convert
from opdefs.rules.contents.elements import clamp_at_zero
from opdefs.rules.numbers import read_dim, read_int
from opdefs.torch.dialect import torch
from opdefs.torch.operands import read_operand
from shapeinf.expr import DimSize
from shapeinf.lattice import ChosenIndices, PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Value

_INT64_CODE = 4
"""torch's code of int64 in the schemas, the default of random integers and indices."""


def _integer_type(c: InferenceContext, dtype: object) -> str | None:
    return "int64" if dtype in (None, _INT64_CODE) else read_type(c, dtype)


def _size(c: InferenceContext, value: object, name: str) -> DimSize:
    """A size of the argument `name`, which must be at least 0."""
    size = read_dim(c, value, name)
    if size is None:
        return c.fresh(name)
    c.at_least(size, 0, f"{name} must be at least 0")
    return size


@torch("aten.eye.default", "aten.eye.m")
def eye(c: InferenceContext, *, n: object, m: object = None, dtype: str | None = None) -> TensorType:
    """[n, m]: ones on the diagonal; m is n by default."""
    rows = _size(c, n, "n")
    columns = rows if m is None and "m" not in c.written else _size(c, m, "m")
    return TensorType(read_type(c, dtype) or DEFAULT_FLOAT, Shape((rows, columns)))


@torch("aten.tril_indices.default", "aten.triu_indices.default")
def triangle_indices(
    c: InferenceContext, *, row: object, col: object, offset: object = 0, dtype: object = None
) -> TensorType:
    """[2, count]: the rows and columns of the elements below or above a diagonal of a matrix."""
    rows, columns, shift = read_int(c, row, "row"), read_int(c, col, "col"), read_int(c, offset, "offset")
    if rows < 0 or columns < 0:
        c.fail("row and col must be at least 0", rows, columns)
    lower = function_name(c.op_def.name) == "tril_indices"
    below = _count_below(rows, columns, shift if lower else shift - 1)
    return TensorType(_integer_type(c, dtype), Shape((2, below if lower else rows * columns - below)))


def _count_below(rows: int, columns: int, offset: int) -> int:
    """The number of elements of a matrix on or below a diagonal: of row i those of the columns up to i + offset."""
    first = max(0, -offset)  # the first row with an element
    full = max(first, min(rows, columns - offset - 1))  # the first row with all elements
    growing = max(0, min(rows, full) - first)
    partial = growing * (first + offset + 1) + growing * (growing - 1) // 2
    return partial + max(0, rows - full) * columns


@torch(
    *(f"aten.{name}.{kind}" for name in ("linspace", "logspace") for kind in ("default", "Tensor_Tensor")),
    *(f"aten.{name}.{kind}" for name in ("linspace", "logspace") for kind in ("Tensor_Scalar", "Scalar_Tensor")),
)
def linspace(
    c: InferenceContext,
    start: Value | None = None,
    end: Value | None = None,
    *,
    start_: object = None,
    end_: object = None,
    steps: object,
    dtype: str | None = None,
) -> TensorType:
    """[steps] numbers from start to end, at equal distances or quotients."""
    operands = [read_operand(c, *argument, ()).value for argument in ((start, start_, "start"), (end, end_, "end"))]
    for operand in operands:
        c.require_rank(operand.shape, 0, "start and end")
    complex_numbers = any(is_kind(operand.dtype, "complex") for operand in operands)
    default = complex_of(DEFAULT_FLOAT) if complex_numbers else DEFAULT_FLOAT
    return TensorType(read_type(c, dtype) or default, Shape((_size(c, steps, "steps"),)))


@torch("aten.new_full.default")
def new_full(
    c: InferenceContext,
    self: Shape,
    fill_value: Value | None = None,
    *,
    size: object,
    fill_value_: object = None,
    dtype: str | None = None,
) -> PartialTensor:
    """The sizes in `size`, in the type `dtype`, by default that of the input, with one value."""
    kind, shape = read_type(c, dtype) or c.dtype(0), read_shape(c, size)
    value = convert(c, read_operand(c, fill_value, fill_value_, "fill_value", ("fill_value",)).value, kind)
    return constant_tensor(kind, shape, value.elements[0] if value.elements else None)


@torch("aten.zero_.default", in_place=(0,))
def zero(c: InferenceContext, self: Value) -> PartialTensor:
    """[*S] -> [*S] of zeros."""
    number = 0 if is_kind(self.dtype, "integer") else False if self.dtype == "bool" else None
    return constant_tensor(self.dtype, self.shape, number)


@torch(*(f"aten.randint.{kind}" for kind in ("default", "generator", "low", "low_generator")))
def random_integers(c: InferenceContext, *, size: object, dtype: object = None) -> TensorType:
    """Random integers, by default of int64, of the sizes in `size`."""
    return TensorType(_integer_type(c, dtype), read_shape(c, size))


@torch("aten.randperm.default", "aten.randperm.generator")
def permutation(c: InferenceContext, *, n: object, dtype: object = None) -> TensorType:
    """[n]: the numbers below n in random order."""
    size = _size(c, n, "n")
    return ChosenIndices(_integer_type(c, dtype), Shape((size,)), size)


_RANDOM = (
    *("bernoulli.default", "bernoulli.p", "bernoulli_.float", "uniform_.default", "normal_.default"),
    *("normal_functional.default", "exponential_.default", "random_.default", "random_.from", "random_.to"),
    *("normal.Tensor_float", "normal.float_Tensor"),
)


@torch(*(f"aten.{name}" for name in _RANDOM), in_place=(0,))
def random_like(c: InferenceContext, self: Shape) -> TensorType:
    """[*S] -> [*S]: random numbers of the type of the input."""
    return TensorType(c.dtype(0), self)


@torch("aten.bernoulli.Tensor", "aten.bernoulli_.Tensor", in_place=(0,))
def random_booleans(c: InferenceContext, self: Shape, p: Shape) -> TensorType:
    """[*S], probabilities that broadcast with it -> [*S]."""
    c.broadcast(self, p)
    return TensorType(c.dtype(0), self)


@torch("aten.normal.Tensor_Tensor")
def random_of_means(c: InferenceContext, mean: Shape, std: Shape) -> TensorType:
    """Numpy broadcasting: random numbers with these means and deviations."""
    return TensorType(c.dtype(0), c.broadcast(mean, std))


_WINDOWS = (
    *("hann_window.default", "hann_window.periodic", "hamming_window.default", "hamming_window.periodic"),
    *("blackman_window.default", "blackman_window.periodic", "bartlett_window.default", "bartlett_window.periodic"),
)


@torch(*(f"aten.{name}" for name in _WINDOWS))
def window(
    c: InferenceContext, *, window_length: object, periodic: object = True, dtype: str | None = None
) -> TensorType:
    """[window_length] factors."""
    return TensorType(read_type(c, dtype) or DEFAULT_FLOAT, Shape((_size(c, window_length, "window_length"),)))


@torch("aten.fft_fftfreq.default", "aten.fft_rfftfreq.default")
def frequencies(c: InferenceContext, *, n: object, d: object = 1.0, dtype: str | None = None) -> TensorType:
    """[n] frequencies of a transform, of a one-sided one [n // 2 + 1]."""
    size = _size(c, n, "n")
    count = size // 2 + 1 if function_name(c.op_def.name) == "fft_rfftfreq" else size
    return TensorType(read_type(c, dtype) or DEFAULT_FLOAT, Shape((clamp_at_zero(c, count),)))
