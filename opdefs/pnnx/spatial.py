"""The axes of images: a batch axis, which may be missing, channels, and spatial axes."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.pnnx.names import function_name
from opdefs.rules.numbers import check_count, read_dims, read_ints
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


def spatial_rank(c: InferenceContext) -> int:
    """The number of spatial axes in the name of an operator, such as 2 of `nn.Conv2d`."""
    digits = [letter for letter in function_name(c.op_def.name) if letter.isdigit()]
    return int(digits[-1])


def spatial_values(c: InferenceContext, values: object, name: str, rank: int, least: int = 0) -> tuple[int, ...]:
    """One integer of at least `least` for each spatial axis; a single one stands for all."""
    listed = read_ints(c, values, name)
    if any(value < least for value in listed):
        c.fail(f"{name} must be at least {least}", listed)
    if len(listed) == 1:
        return listed * rank
    check_count(c, listed, name, rank, "spatial axis")
    return listed


def requested_sizes(c: InferenceContext, values: object, name: str, rank: int) -> list[DimSize | None]:
    """A size for each spatial axis, None if it is unknown; a single one stands for all.

    `values` is None for a computed list of unknown length.
    """
    requested = (None,) if values is None else read_dims(c, values, name)
    if len(requested) == 1:
        requested *= rank
    check_count(c, requested, name, rank, "spatial axis")
    return list(requested)


def bounded_sizes(
    c: InferenceContext, output_size: object, bounds: Sequence[tuple[DimSize, DimSize]], outer: int, message: str
) -> list[DimSize]:
    """The spatial sizes that `output_size` requests, each within bounds; items of the `outer` axes may precede them.

    `output_size` is None for a computed list of unknown length.
    """
    rank = len(bounds)
    requested = (None,) * rank if output_size is None else read_dims(c, output_size, "output_size")
    if len(requested) not in (rank, rank + outer):
        c.fail(f"output_size must have {rank} or {rank + outer} items", requested)
    sizes = [c.fresh("size") if size is None else size for size in requested[-rank:]]
    for size, (least, most) in zip(sizes, bounds, strict=True):
        c.at_least(size, least, message)
        c.at_most(size, most, message)
    return sizes


def split_axes(
    c: InferenceContext, input: Shape, rank: int
) -> tuple[tuple[DimSize, ...], DimSize, tuple[DimSize, ...]]:
    """The batch axis, () if it is missing, the channels and the spatial sizes of an input."""
    if input.dims is None:
        raise c.unknowable("the rank of the input is unknown, and with it whether there is a batch axis")
    if len(input.dims) not in (rank + 1, rank + 2):
        c.fail(f"the input must have rank {rank + 1} or {rank + 2}", input)
    lead = len(input.dims) - rank - 1
    return input.dims[:lead], input.dims[lead], input.dims[lead + 1 :]
