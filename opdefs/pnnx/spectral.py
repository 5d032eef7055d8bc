"""The Fourier transforms of `torch.fft`.

A transform of real numbers returns only the first half of the frequencies of the last transformed axis, since the
others follow from these; its inverse takes this half, and returns `2 * (n - 1)` elements unless a number is specified.
"""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.pnnx.arguments import require_known
from opdefs.pnnx.complex_numbers import complex_type, real_type
from opdefs.pnnx.dialect import own_types
from opdefs.pnnx.names import function_name
from opdefs.pnnx.operands import require_kind
from opdefs.pnnx.promotion import to_float
from opdefs.rules.numbers import check_count, read_dims, read_ints
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext

_FAMILIES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")


def _names(suffix: str) -> list[str]:
    return [f"torch.fft.{family}{suffix}" for family in _FAMILIES]


@own_types(*_names(""))
def transform_axis(
    c: InferenceContext, input: Shape, *, n: object = None, dim: object = -1, norm: str | None = None
) -> TensorType:
    """[*A, d, *B] -> [*A, n, *B]: the axis `dim`, cropped or padded to `n` elements."""
    require_known(c, "n", n)
    return _transform(c, input, None if n is None else (n,), dim)


@own_types(*_names("2"))
def transform_two_axes(
    c: InferenceContext, input: Shape, *, s: object = None, dim: object = (-2, -1), norm: str | None = None
) -> TensorType:
    """The transform of two axes, by default the last two, cropped or padded to the sizes `s`."""
    return _transform(c, input, s, dim)


@own_types(*_names("n"))
def transform_axes(
    c: InferenceContext, input: Shape, *, s: object = None, dim: object = None, norm: str | None = None
) -> TensorType:
    """The transform of several axes, by default the last `len(s)`, without `s` all."""
    return _transform(c, input, s, dim)


def _transform(c: InferenceContext, x: Shape, s: object, dim: object) -> TensorType:
    require_known(c, "s", s)
    require_known(c, "dim", dim)
    dtype = _result_type(c)
    if x.dims is None:
        return TensorType(dtype, Shape.unknown())
    sizes = None if s is None else read_dims(c, s, "the sizes of the transform")
    axes = _transformed_axes(c, len(x), sizes, dim)
    if sizes is None:
        sizes = (-1,) * len(axes)
    check_count(c, sizes, "the sizes of the transform", len(axes), "axis")
    if not axes:
        if _halves(c) or _doubles(c):
            c.fail("dim must name at least one axis")
        return TensorType(dtype, x)
    dims = list(x.dims)
    for position, (axis, size) in enumerate(zip(axes, sizes, strict=True)):
        dims[axis] = _length(c, dims[axis], size, last=position == len(axes) - 1)
    leave_empty_undecided(c, [d for i, d in enumerate(x.dims) if i not in axes])
    return TensorType(dtype, Shape(dims))


def leave_empty_undecided(c: InferenceContext, others: Sequence[DimSize]) -> None:
    """Leave open whether torch transforms a tensor without elements, by its other axes: with MKL, it does not."""
    if 0 in others:
        reason = "some builds of torch transform no tensor without elements"
        c.store.add_disjunction("the library of torch transforms empty tensors", c.source(reason))


def _transformed_axes(
    c: InferenceContext, rank: int, sizes: Sequence[DimSize | None] | None, dim: object
) -> tuple[int, ...]:
    if dim is not None:
        return c.axes(read_ints(c, dim, "dim"), rank)
    if sizes is None:
        return tuple(range(rank))
    if len(sizes) > rank:
        c.fail("s must have at most one item for each axis of the input", len(sizes), rank)
    return tuple(range(rank - len(sizes), rank))


def _length(c: InferenceContext, size: DimSize, requested: DimSize | None, *, last: bool) -> DimSize:
    """The size of a transformed axis; a requested -1 is the size of the input, None is unknown."""
    if requested is None or c.prove_le(0, requested) is None:
        return c.fresh("transform", 1)
    points = size if requested == -1 else requested
    if last and _doubles(c) and requested == -1:
        points = 2 * (size - 1)
    c.at_least(points, 1, "a transform requires at least one element along each of its axes")
    return points // 2 + 1 if last and _halves(c) else points


def _family(c: InferenceContext) -> str:
    """The name of the transform without the number of its axes, such as `irfft`."""
    return function_name(c.op_def.name).removeprefix("fft_").rstrip("2n")


def _halves(c: InferenceContext) -> bool:
    """Whether the transform returns half of the frequencies."""
    return _family(c) in ("rfft", "ihfft")


def _doubles(c: InferenceContext) -> bool:
    """Whether the transform takes half of the frequencies."""
    return _family(c) in ("irfft", "hfft")


def _result_type(c: InferenceContext) -> str | None:
    """Complex numbers, for `irfft` and `hfft` real ones; integers are transformed as float32."""
    dtype = to_float(c.dtype(0))
    if _halves(c):
        require_kind(c, dtype, "the input must have real numbers", "float")
    return real_type(dtype) if _doubles(c) else complex_type(dtype)
