"""Constant weights that kernels repack when a session is created, and the bytes of what they hold then.

A packed buffer replaces the initializer, which is freed if no other node reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opdefs.onnxruntime.attention import head_count
from opdefs.onnxruntime.convolution import Convolution, read_convolution
from opdefs.onnxruntime.kernels import MS, onnxruntime
from opdefs.onnxruntime.products import INT8, has_packed_blocks, require_measured_blocks
from opdefs.onnxruntime.quantized_convolution import WEIGHT, is_depthwise, is_symmetric
from shapeinf.expr import DimSize, ceildiv
from shapeinf.memory.runtimes.kernels import KernelContext

Packed = Mapping[int, Sequence[DimSize]]

COLUMNS = 16
"""The multiple of columns that a packed matrix has."""
INNER = {"int8": 4, "uint8": 2}
"""The multiple of rows that a packed matrix of 8-bit integers has on AVX2, by its type."""
MATRIX = 2
"""The rank of the weights that are repacked."""


def packed_floats(c: KernelContext, rows: DimSize, columns: DimSize) -> DimSize:
    """The bytes of a packed float32 matrix."""
    return c.product(4, rows, c.round_up(columns, COLUMNS))


def packed_bytes(c: KernelContext, dtype: str, rows: DimSize, columns: DimSize) -> DimSize:
    """The bytes of a packed matrix of 8-bit integers, with the sum of each column; one of several is aligned, too."""
    wide = c.round_up(columns, COLUMNS)
    return c.round_up(c.sum(c.product(wide, c.round_up(rows, INNER[dtype])), c.product(4, wide)), c.alignment)


def _float_matrix(c: KernelContext, weight: int, transposed: bool) -> Packed:
    """A packed float32 matrix, if the weight is one."""
    if weight not in c.constants or c.dtype(weight) != "float32" or len(c.input(weight)) != MATRIX:
        return {}
    rows, columns = reversed(c.input(weight).require()) if transposed else c.input(weight).require()
    return {weight: [packed_floats(c, rows, columns)]}


@onnxruntime.prepacked("MatMul")
def pack_matmul(c: KernelContext) -> Packed:
    """The second operand, if it is a matrix."""
    return _float_matrix(c, 1, transposed=False)


@onnxruntime.prepacked("Gemm")
@onnxruntime.prepacked("FusedGemm", "FusedMatMul", "TransposeMatMul", domain=MS)
def pack_gemm(c: KernelContext) -> Packed:
    """The second operand, which may be transposed."""
    return _float_matrix(c, 1, transposed=bool(c.integer("transB")))


@onnxruntime.prepacked("LSTM")
def pack_lstm(c: KernelContext) -> Packed:
    """Weights [directions, 4*H, I] and [directions, 4*H, H] as matrices with 4*H columns."""
    return {index: [_packed_gates(c, index)] for index in (1, 2) if index in c.constants}


@onnxruntime.prepacked("GRU")
def pack_gru(c: KernelContext) -> Packed:
    """The weights of the input as one matrix, those of the state as one for two gates and one for the third."""
    packed = {1: [_packed_gates(c, 1)]} if 1 in c.constants else {}
    if 2 in c.constants:
        directions, _, hidden = c.input(2)
        parts = [packed_floats(c, hidden, gates * hidden) for gates in (2, 1)]
        packed[2] = [c.product(directions, part) for part in parts]
    return packed


def _packed_gates(c: KernelContext, index: int) -> DimSize:
    directions, columns, rows = c.input(index)
    return c.product(directions, packed_floats(c, rows, columns))


@onnxruntime.prepacked("DynamicQuantizeLSTM", domain=MS)
def pack_quantized_lstm(c: KernelContext) -> Packed:
    """Weights [directions, I, 4*H] and [directions, H, 4*H] of 8-bit integers."""
    packed: dict[int, list[DimSize]] = {}
    for index in {1, 2} & c.constants:
        directions, rows, columns = c.input(index)
        packed[index] = [c.product(directions, packed_bytes(c, c.dtype(index), rows, columns))]
    return packed


@onnxruntime.prepacked("Attention", domain=MS)
def pack_attention(c: KernelContext) -> Packed:
    """A matrix for each head of queries, keys and values."""
    if 1 not in c.constants:
        return {}
    rows, heads = c.input(1)[0], head_count(c)
    parts = [packed_floats(c, rows, width // heads) for width in _projection_widths(c)]
    return {1: [c.product(heads, c.sum(*parts))]}


@onnxruntime.prepacked("QAttention", domain=MS)
def pack_quantized_attention(c: KernelContext) -> Packed:
    """As of Attention, of 8-bit integers."""
    if 1 not in c.constants or c.dtype(0) != "uint8":
        return {}
    rows, heads = c.input(1)[0], head_count(c)
    parts = [packed_bytes(c, c.dtype(1), rows, width // heads) for width in _projection_widths(c)]
    return {1: [c.product(heads, c.sum(*parts))]}


def _projection_widths(c: KernelContext) -> Sequence[DimSize]:
    """The columns of queries, keys and values in the weight."""
    return c.integers("qkv_hidden_sizes") or [c.input(1)[1] // 3] * 3


@onnxruntime.prepacked("ConvTranspose")
@onnxruntime.prepacked("ConvTransposeWithDynamicPads", domain=MS)
def pack_transposed_convolution(c: KernelContext) -> Packed:
    """The transposed weight of each group."""
    return {1: [c.input_bytes(1)]} if 1 in c.constants else {}


def _byte_matrix(c: KernelContext, weight: int, *, dtype: str, transposed: bool = False) -> Packed:
    """A packed matrix of 8-bit integers, if the first operand (of this type) is unsigned."""
    if weight not in c.constants or len(c.input(weight)) != MATRIX or dtype != "uint8":
        return {}
    rows, columns = reversed(c.input(weight).require()) if transposed else c.input(weight).require()
    return {weight: [packed_bytes(c, c.dtype(weight), rows, columns)]}


@onnxruntime.prepacked("MatMulInteger")
@onnxruntime.prepacked("MatMulIntegerToFloat", domain=MS)
def pack_integer_matmul(c: KernelContext) -> Packed:
    """The second operand."""
    return _byte_matrix(c, 1, dtype=c.dtype(0))


@onnxruntime.prepacked("DynamicQuantizeMatMul", domain=MS)
def pack_dynamic_matmul(c: KernelContext) -> Packed:
    """The second operand; the first one is quantized to unsigned integers."""
    return _byte_matrix(c, 1, dtype="uint8")


@onnxruntime.prepacked("QLinearMatMul")
def pack_quantized_matmul(c: KernelContext) -> Packed:
    """The second operand, input 3."""
    return _byte_matrix(c, 3, dtype=c.dtype(0))


@onnxruntime.prepacked("QGemm", domain=MS)
def pack_quantized_gemm(c: KernelContext) -> Packed:
    """The second operand, input 3, which may be transposed."""
    return _byte_matrix(c, 3, dtype=c.dtype(0), transposed=bool(c.integer("transB")))


@onnxruntime.prepacked("QLinearConv")
@onnxruntime.prepacked("QLinearConv", domain=MS)
def pack_quantized_convolution(c: KernelContext) -> Packed:
    """The weights, in another order where the kernels have no packed form."""
    if WEIGHT not in c.constants:
        return {}
    conv = read_convolution(c, WEIGHT, channels_last=bool(c.integer("channels_last")))
    return {WEIGHT: [_packed_filters(c, conv)]}


def _packed_filters(c: KernelContext, conv: Convolution) -> DimSize:
    if not is_depthwise(conv):
        if is_symmetric(c, conv):
            return c.product(c.round_up(conv.filters, COLUMNS), conv.depth)
        if c.dtype(0) == "uint8":
            return c.product(conv.group, packed_bytes(c, c.dtype(WEIGHT), conv.depth, conv.group_filters))
    return c.product(*c.input(WEIGHT))


@onnxruntime.prepacked("LayerNormalization")
def pack_layer_normalization(c: KernelContext) -> Packed:
    """Scale and bias of float16 as float32."""
    return _converted(c, (1, 2))


@onnxruntime.prepacked("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MS)
def pack_skip_normalization(c: KernelContext) -> Packed:
    """Scale, shift and bias of float16 as float32."""
    return _converted(c, (2, 3, 4))


def _converted(c: KernelContext, positions: Sequence[int]) -> Packed:
    if c.dtype(0) != "float16":
        return {}
    return {index: [c.product(4, *c.input(index))] for index in positions if index in c.constants}


@onnxruntime.prepacked("MatMulNBits", domain=MS)
def pack_blocks(c: KernelContext) -> Packed:
    """The blocks of all columns; at the accuracy level of int8 also scales and sums of blocks; float16 scales."""
    require_measured_blocks(c)
    if not has_packed_blocks(c):
        return {}
    bits, depth, columns = (c.integer(name) for name in ("bits", "K", "N"))
    blocks = ceildiv(depth, c.integer("block_size"))
    has_sums = c.integer("accuracy_level") == INT8
    sums = 4 * (columns + c.round_up(columns, COLUMNS)) * blocks + 128 if has_sums else 0
    scales = [4 * columns * blocks] if c.dtype(0) == "float16" else []
    return {1: [bits * columns * depth // 8 + sums, *scales]}
