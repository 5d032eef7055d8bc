"""Splits of an axis into parts. The number of outputs is that of the traced run, and constrains the axis."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.pnnx.axes import read_axis
from opdefs.pnnx.dialect import pnnx
from opdefs.rules.numbers import read_dims, read_int
from opdefs.rules.parts import HUGE, complete_sizes, select_index, slice_axes, split_axis
from opdefs.rules.sequences import create_sequence
from shapeinf.expr import DimSize, ceildiv
from shapeinf.lattice import PartialTensor, TensorType, Type
from shapeinf.ops import InferenceContext, Value

MAX_PARTS = 1 << 16
"""The most parts of a split; a larger number in a file is an error or an attack."""


@pnnx("torch.split")
def split(c: InferenceContext, tensor: Value, *, split_size_or_sections: object, dim: object = 0) -> tuple[Type, ...]:
    """[*A, d, *B] -> parts [*A, p, *B] of one size, the last one smaller, or of listed sizes that add up to d."""
    axis = read_axis(c, dim, len(_require_axes(c, tensor).shape))
    size = tensor.shape[axis]
    if isinstance(split_size_or_sections, tuple):
        sizes = read_dims(c, split_size_or_sections, "split_size_or_sections")
        _check_parts(c, len(sizes))
        return _outputs(c, split_axis(tensor, axis, complete_sizes(c, size, sizes)))
    step = read_int(c, split_size_or_sections, "split_size_or_sections")
    if step < 0 or (step == 0 and c.prove_eq(size, 0) is False):
        c.fail("split_size_or_sections must be at least 1", step)
    return _split_evenly(c, tensor, axis, step, None)


@pnnx("torch.chunk")
def chunk(c: InferenceContext, input: Value, *, chunks: object, dim: object = 0) -> tuple[Type, ...]:
    """[*A, d, *B] -> at most `chunks` parts [*A, ceil(d / chunks), *B], the last one smaller."""
    axis = read_axis(c, dim, len(_require_axes(c, input).shape))
    count = read_int(c, chunks, "chunks")
    if count < 1:
        c.fail("chunks must be at least 1", count)
    return _split_evenly(c, input, axis, ceildiv(input.shape[axis], count), count)


def _split_evenly(
    c: InferenceContext, x: PartialTensor, axis: int, step: DimSize, most: int | None
) -> tuple[Type, ...]:
    """Parts of one size, the last one smaller; an empty axis has `most` parts, one if that is None."""
    size = x.shape[axis]
    count = _part_count(c, size, step, most)
    if c.num_outputs > 1 or most == 1:
        _check_parts(c, count if isinstance(count, int) else c.num_outputs)
        count = c.num_outputs
    if not isinstance(count, int):
        raise c.unknowable("the number of parts is not known")
    if count > MAX_PARTS:
        c.fail(f"there must be at most {MAX_PARTS} parts", count)
    last = size - step * (count - 1)
    if not isinstance(last, int):
        least = 1 if count > 1 and c.prove_le(1, size) is True else 0
        message = f"the axis must split into {count} parts, one per output"
        c.at_least(last, least, message)
        c.at_most(last, step, message)
    return _outputs(c, split_axis(x, axis, [step] * (count - 1) + [last]))


def _part_count(c: InferenceContext, size: DimSize, step: DimSize, most: int | None) -> DimSize | None:
    """The number of parts of one size; None if it is unknown."""
    if most == 1:
        return 1
    if size == 0:
        return most or 1
    return ceildiv(size, step) if isinstance(size, int) and isinstance(step, int) else None


@pnnx("torch.tensor_split")
def tensor_split(
    c: InferenceContext, input: Value, *, sections: object = None, indices: object = None, dim: object = 0
) -> tuple[Type, ...]:
    """[*A, d, *B] -> parts [*A, p, *B] whose sizes differ by at most 1, or the slices between the indices."""
    axis = read_axis(c, dim, len(_require_axes(c, input).shape))
    if indices is not None:
        return _split_at(c, input, axis, read_dims(c, indices, "indices"))
    count = read_int(c, sections, "sections")
    if not 1 <= count <= MAX_PARTS:
        c.fail(f"sections must lie in 1..{MAX_PARTS}", count)
    _check_parts(c, count)
    size = input.shape[axis]
    return _outputs(c, split_axis(input, axis, [(size + (count - 1 - i)) // count for i in range(count)]))


def _split_at(c: InferenceContext, x: PartialTensor, axis: int, indices: Sequence[DimSize | None]) -> tuple[Type, ...]:
    _check_parts(c, len(indices) + 1)
    ends = zip((0, *indices), (*indices, HUGE), strict=True)
    return _outputs(c, [slice_axes(c, x, [axis], [start], [end], [1], as_python=True) for start, end in ends])


@pnnx("torch.unbind")
def unbind(c: InferenceContext, input: Value, *, dim: object = 0) -> tuple[Type, ...]:
    """[*A, n, *B] -> n slices [*A, *B]."""
    axis = read_axis(c, dim, len(_require_axes(c, input).shape))
    count = c.concrete(input.shape[axis])
    if c.num_outputs > 1:
        c.merge(input.shape[axis], c.num_outputs, "the axis must have one element for each output")
        count = c.num_outputs
    if count is None:
        raise c.unknowable("the number of slices is not known")
    if count > MAX_PARTS:
        c.fail(f"there must be at most {MAX_PARTS} slices", count)
    return _outputs(c, [select_index(c, input, axis, i) for i in range(count)])


def _require_axes(c: InferenceContext, x: PartialTensor) -> PartialTensor:
    """The tensor, which must have an axis."""
    if x.shape.dims == ():
        c.fail("the input must have rank 1 or more")
    return x


def _check_parts(c: InferenceContext, count: int) -> None:
    """Require one output for each part, or one for all."""
    if c.num_outputs not in (1, count):
        c.fail(f"the node has {c.num_outputs} outputs, so there must be as many parts", count)


def _outputs(c: InferenceContext, parts: Sequence[TensorType]) -> tuple[Type, ...]:
    """One output for each part, or a list of them."""
    _check_parts(c, len(parts))
    return tuple(parts) if len(parts) == c.num_outputs else (create_sequence(c, parts),)
