"""The axes of convolutions in any order, read from serialized messages in attributes of XLA's operators."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from opdefs.rules.contents.elements import clamp_at_zero
from opdefs.rules.window import same_size, window_span
from opdefs.tf.context import TensorFlowContext
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape

XLA_FIELDS = (7, 8, 11, 3, 4, 6, 9, 10, 12)
"""The numbers of the fields of ConvolutionDimensionNumbers, in the order of `ConvolutionAxes`."""

UNIFORM_FIELDS = (1, 2, 3, 4, 5, 6, 7, 8, 9)
"""Those of UniformQuantizedConvolutionDimensionNumbersAttr."""

_VARINT, _PACKED = 0, 2


@attrs.frozen
class ConvolutionAxes:
    """The batch, feature and spatial axes of the input, the kernel (input and output features) and the output."""

    input_batch: int
    input_feature: int
    input_spatial: tuple[int, ...]
    kernel_input: int
    kernel_output: int
    kernel_spatial: tuple[int, ...]
    output_batch: int
    output_feature: int
    output_spatial: tuple[int, ...]

    @classmethod
    def first(cls, rank: int) -> ConvolutionAxes:
        """The axes of [N, C, *S], [D, C, *K] and [N, D, *S]."""
        spatial = tuple(range(2, rank))
        return cls(0, 1, spatial, 1, 0, spatial, 0, 1, spatial)

    def is_valid(self, rank: int) -> bool:
        """Whether each operand, of this rank, has all of its axes, each once."""
        operands = (
            (self.input_batch, self.input_feature, *self.input_spatial),
            (self.kernel_input, self.kernel_output, *self.kernel_spatial),
            (self.output_batch, self.output_feature, *self.output_spatial),
        )
        return all(sorted(axes) == list(range(rank)) for axes in operands)

    def spatial_sizes(self, x: Shape, kernel: Shape) -> tuple[list[DimSize], list[DimSize]]:
        """The spatial sizes of an input and of a kernel."""
        return [x[axis] for axis in self.input_spatial], [kernel[axis] for axis in self.kernel_spatial]


def convolution_axes(c: TensorFlowContext, text: str, fields: tuple[int, ...], rank: int) -> ConvolutionAxes | None:
    """The axes in a message, decoded as UTF-8 text; None where bytes of it were lost. Raises ShapeError for others."""
    numbers = parse_numbers(c, text)
    if numbers is None:
        return None
    batches, inputs, outputs = fields[:3], fields[3:6], fields[6:]
    axes = ConvolutionAxes(*_group(numbers, batches), *_group(numbers, inputs), *_group(numbers, outputs))
    if not axes.is_valid(rank):
        c.fail(f"dimension_numbers must name each axis of a tensor of rank {rank} once", axes)
    return axes


def _group(numbers: dict[int, list[int]], fields: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
    """Two axes, 0 by default, and the spatial axes: the contents of three fields."""
    first, second, spatial = (numbers.get(field, []) for field in fields)
    return (first or [0])[-1], (second or [0])[-1], tuple(spatial)


def parse_numbers(c: TensorFlowContext, text: str) -> dict[int, list[int]] | None:
    """The integers of each field of a message; None where bytes of it were lost. Raises ShapeError for others."""
    try:
        return read_numbers(text)
    except ValueError as error:
        c.fail(str(error))


def read_numbers(text: str) -> dict[int, list[int]] | None:
    """As `parse_numbers`, but raises ValueError."""
    if "\ufffd" in text:
        return None
    data = text.encode("utf-8", "replace")
    numbers: dict[int, list[int]] = {}
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        value, position = _varint(data, position)
        values = numbers.setdefault(key >> 3, [])
        end = position + value
        if key < 0 or value < 0 or key & 7 not in (_VARINT, _PACKED) or (key & 7 == _PACKED and end > len(data)):
            raise ValueError("dimension_numbers must be a serialized message of integers")
        if key & 7 == _VARINT:
            values.append(value)
            continue
        while position < end:
            number, position = _varint(data, position)
            values.append(number)
    return numbers


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """A number and the position after it; -1 for a number that does not end."""
    value = 0
    for index, byte in enumerate(data[position : position + 10]):
        value |= (byte & 127) << 7 * index
        if byte < 128:
            return value, position + index + 1
    return -1, len(data)


def dilated_window_count(
    c: TensorFlowContext, size: DimSize, kernel: DimSize, stride: int, pads: int, base_dilation: int, dilation: int
) -> DimSize:
    """The number of windows along an axis with holes between its elements; 0 where none fits."""
    full = clamp_at_zero(c, window_span(size, base_dilation)) if base_dilation > 1 else size
    return clamp_at_zero(c, (full + pads - window_span(kernel, dilation)) // stride + 1)


def same_window_count(c: TensorFlowContext, size: DimSize, stride: int, base_dilation: int) -> DimSize:
    """The number of windows with SAME padding along an axis with holes between its elements."""
    full = clamp_at_zero(c, window_span(size, base_dilation)) if base_dilation > 1 else size
    return same_size(full, stride)


def convolved_shape(
    c: TensorFlowContext, lhs: Shape, rhs: Shape, axes: ConvolutionAxes, spatial: Sequence[DimSize], batch_groups: int
) -> Shape:
    """The shape of the output of a convolution, for the sizes of its spatial axes."""
    dims: list[DimSize] = [0] * len(lhs)
    dims[axes.output_batch] = c.divide(lhs[axes.input_batch], batch_groups, evenly_divisible=True)
    dims[axes.output_feature] = rhs[axes.kernel_output]
    for axis, size in zip(axes.output_spatial, spatial, strict=True):
        dims[axis] = size
    return Shape(dims)
