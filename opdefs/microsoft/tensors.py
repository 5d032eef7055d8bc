"""Gathering, ranges, padding, cropping and sampling; Fourier transforms."""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from opdefs.onnx.pad import pad
from opdefs.rules.contents.distinct import distinct_slices
from opdefs.rules.contents.elements import known_dims
from opdefs.rules.contents.progressions import arithmetic_range
from opdefs.rules.contents.rearrangement import choose_slices
from opdefs.rules.gathering import constrain_indices, gather_nd
from opdefs.rules.operands import require_vector
from shapeinf.expr import DimSize, ceildiv
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Value


@onnx("GatherND", domain=MS)
def gather_nd_without_batches(c: InferenceContext, x: Value, indices: Value) -> PartialTensor:
    """[*I, k] indices into [*D] data -> [*I, *D[k:]]."""
    return gather_nd(c, x, indices)


@onnx("GatherBlockQuantized", domain=MS)
def gather_block_quantized(
    c: InferenceContext,
    x: Shape,
    indices: Value,
    scales: Shape,
    zeros: Shape | None = None,
    *,
    bits: int = 4,
    gather_axis: int = 0,
    quantize_axis: int = 1,
    block_size: int = 128,
) -> TensorType:
    """[*A, d, *B], indices [*I] -> [*A, *I, *B]; a byte of packed data holds several elements of its last axis."""
    if scales.dims is not None:
        c.same_rank(x, scales)
    at = c.axis(gather_axis, len(x))
    if bits < 1 or 8 % bits:
        c.fail("bits must divide 8", bits)
    dims = list(x)
    if c.dtype(0) == "uint8" and bits < 8:
        dims[-1] *= 8 // bits
    elif c.dtype(0) is None:
        raise c.unknowable("the element type of the data is unknown, and with it whether elements are packed")
    _constrain_block_scales(c, dims, scales, zeros, quantize_axis, block_size, 8 // bits)
    constrain_indices(c, indices, dims[at])
    return TensorType(c.dtype(2), Shape((*dims[:at], *indices.shape, *dims[at + 1 :])))


def _constrain_block_scales(
    c: InferenceContext, dims: list[DimSize], scales: Shape, zeros: Shape | None, axis: int, size: int, packed: int
) -> None:
    """Require scales of the shape of the data with one per block along an axis, and zero points like the scales."""
    at = c.axis(axis, len(dims))
    if size < 1:
        c.fail("block_size must be at least 1", size)
    blocks = Shape((*dims[:at], ceildiv(dims[at], size), *dims[at + 1 :]))
    c.merge(scales, blocks, "scales must have the shape of the data, with one value per block along quantize_axis")
    if zeros is not None:
        last = ceildiv(blocks[-1], packed) if c.dtype(0) == "uint8" else blocks[-1]
        c.merge(zeros, Shape((*blocks[:-1], last)), "zero_points must have the shape of scales, packed like the data")


@onnx("TorchEmbedding", domain=MS)
def torch_embedding(
    c: InferenceContext, weight: Shape, indices: Shape, padding: Shape | None = None, scale: Shape | None = None
) -> Shape:
    """[N, M], [*I] -> [*I, M]."""
    return Shape((*indices, c.require_rank(weight, 2, "weight")[1]))


@onnx("Pad", domain=MS)
def pad_with_matrix(
    c: InferenceContext, x: Value, pads: Value, fill: Value | None = None, *, mode: str = "constant"
) -> PartialTensor:
    """[d, ...] -> [begin + d + end, ...]; `pads` is a vector or a matrix with one row."""
    if pads.shape.dims is not None and len(pads.shape) == 2:
        c.merge(pads.shape[0], 1, "pads must be a vector or a matrix with one row")
        pads = PartialTensor(pads.dtype, Shape(pads.shape[1:]), pads.elements)
    return pad(c, x, pads, fill, mode=mode)


@onnx("Range", domain=MS)
def range_with_default(c: InferenceContext, start: Value, limit: Value, delta: Value | None = None) -> PartialTensor:
    """`ceil((limit - start) / delta)` elements, at least 0; the default step is 1."""
    unit = PartialTensor(start.dtype, Shape(()), (1,))
    return arithmetic_range(c, start, limit, unit if delta is None else delta)


@onnx("Unique", domain=MS)
def unique(c: InferenceContext, x: Value) -> tuple[PartialTensor, PartialTensor, PartialTensor]:
    """[N] -> [U] distinct elements, [N] inverse indices, [U] counts; U is at most N."""
    shape = c.require_rank(x.shape, 1, "x")
    known = distinct_slices(c, x, None, ordered=False)
    if known is None:
        bounds = c.interval(shape[0])
        each = Shape((c.fresh("unique", min(bounds.lo or 0, 1), bounds.hi),))
        return (
            PartialTensor(x.dtype, each, None),
            PartialTensor("int64", shape, None),
            PartialTensor("int64", each, None),
        )
    each = Shape((len(known.first),))
    values = choose_slices(x, known.first, 0, each)
    return values, PartialTensor("int64", shape, known.inverse), PartialTensor("int64", each, known.counts)


@onnx("UnfoldTensor", domain=MS)
def unfold(c: InferenceContext, x: Shape, *, size: int, dim: int = -1, step: int = 1) -> Shape:
    """[*A, d, *B] -> [*A, (d - size)//step + 1, *B, size]: slices of one axis."""
    at = c.axis(dim, len(x))
    if size < 1 or step < 1:
        c.fail("size and step must be at least 1", size, step)
    c.at_least(x[at], size, f"axis {at} must be at least as long as `size`")
    return Shape((*x[:at], (x[at] - size) // step + 1, *x[at + 1 :], size))


@onnx("GridSample", domain=MS)
def grid_sample(c: InferenceContext, x: Shape, grid: Shape) -> TensorType:
    """[N, C, H, W], [N, P, Q, 2] -> [N, C, P, Q]."""
    x, grid = c.require_rank(x, 4, "X"), c.require_rank(grid, 4, "Grid")
    n = c.merge(x[0], grid[0], "X and Grid must have the same batch size")
    c.merge(grid[3], 2, "the last axis of Grid must have size 2")
    return TensorType(c.dtype(0), Shape((n, x[1], grid[1], grid[2])))


@onnx("CropAndResize", domain=MS)
def crop_and_resize(c: InferenceContext, x: Shape, boxes: Shape, batch: Value, size: Value) -> Shape:
    """[N, C, H, W], [R, 4], [R] -> [R, C, *size], the contents of `crop_size`."""
    x, boxes = c.require_rank(x, 4, "X"), c.require_rank(boxes, 2, "rois")
    c.merge(boxes[1], 4, "rois must have 4 coordinates per box")
    count = boxes[0]
    require_vector(c, batch.shape, count, "batch_indices must have one value per box")
    constrain_indices(c, batch, x[0])
    c.merge(c.require_rank(size.shape, 1, "crop_size")[0], 2, "crop_size must have 2 elements")
    height, width = known_dims(size) or (None, None)
    return Shape((count, x[1], _crop_size(c, height, "height"), _crop_size(c, width, "width")))


def _crop_size(c: InferenceContext, size: DimSize | None, name: str) -> DimSize:
    """A size in `crop_size`, a new unknown of at least 1 if it is unknown."""
    if size is None:
        return c.fresh(name, 1)
    c.at_least(size, 1, f"the {name} in crop_size must be at least 1")
    return size


@onnx("Rfft", domain=MS)
def rfft(c: InferenceContext, x: Shape, *, signal_ndim: int = 1) -> Shape:
    """[*S, n] -> [*S, n//2 + 1, 2]."""
    if not 1 <= signal_ndim <= len(x):
        c.fail("signal_ndim must lie between 1 and the rank of the input", signal_ndim)
    return Shape((*x[:-1], x[-1] // 2 + 1, 2))


@onnx("Irfft", domain=MS)
def irfft(c: InferenceContext, x: Shape, *, signal_ndim: int) -> Shape:
    """[*S, m, 2] -> [*S, 2*(m - 1)]."""
    if not 1 <= signal_ndim <= len(x) - 1:
        c.fail(
            "signal_ndim must lie between 1 and the rank of the signal, which is the rank of the input minus 1",
            signal_ndim,
        )
    c.merge(x[-1], 2, "the last axis of a complex tensor must have size 2")
    return Shape((*x[:-2], (x[-2] - 1) * 2))


@onnx("DynamicTimeWarping", domain=MS)
def dynamic_time_warping(c: InferenceContext, x: Shape) -> Shape:
    """[M, N] or [1, M, N] costs -> [2, P]: a path of at least max(M, N) and less than M + N points."""
    if len(x) not in (2, 3):
        c.fail("the input must be [M, N] or [1, M, N]", x)
    if len(x) == 3:
        c.merge(x[0], 1, "axis 0 of an input of rank 3 must have size 1")
    rows, columns = c.interval(x[-2]), c.interval(x[-1])
    high = None if rows.hi is None or columns.hi is None else rows.hi + columns.hi - 1
    return Shape((2, c.fresh("path", max(rows.lo or 0, columns.lo or 0), high)))
