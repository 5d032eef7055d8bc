"""Padding: of spatial axes by modules, of the last axes by `F.pad`, last axis first."""

from __future__ import annotations

from opdefs.pnnx.dialect import pnnx
from opdefs.pnnx.spatial import spatial_rank
from opdefs.rules.numbers import read_dims
from opdefs.rules.operands import require_elements
from shapeinf.expr import DimSize, maximum, minimum
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext

MODES = ("constant", "reflect", "replicate", "circular")
CROP = "negative padding must not exceed the size of the axis"


@pnnx("nn.ConstantPad1d", "nn.ConstantPad2d", "nn.ConstantPad3d", "nn.ZeroPad1d", "nn.ZeroPad2d", "nn.ZeroPad3d")
def constant_pad(c: InferenceContext, input: Shape, *, padding: object) -> Shape:
    """[*A, *S] -> [*A, *T]; A may be any axes."""
    return pad(c, input, pad=_all_amounts(padding, spatial_rank(c)))


@pnnx("nn.ReflectionPad1d", "nn.ReflectionPad2d", "nn.ReflectionPad3d")
def reflection_pad(c: InferenceContext, input: Shape, *, padding: object) -> Shape:
    """[N, C, *S] -> [N, C, *T] or [C, *S] -> [C, *T]."""
    return pad(c, input, pad=_all_amounts(padding, spatial_rank(c)), mode="reflect")


@pnnx("nn.ReplicationPad1d", "nn.ReplicationPad2d", "nn.ReplicationPad3d")
def replication_pad(c: InferenceContext, input: Shape, *, padding: object) -> Shape:
    """[N, C, *S] -> [N, C, *T] or [C, *S] -> [C, *T]."""
    return pad(c, input, pad=_all_amounts(padding, spatial_rank(c)), mode="replicate")


@pnnx("nn.CircularPad1d", "nn.CircularPad2d", "nn.CircularPad3d")
def circular_pad(c: InferenceContext, input: Shape, *, padding: object) -> Shape:
    """[N, C, *S] -> [N, C, *T] or [C, *S] -> [C, *T]."""
    return pad(c, input, pad=_all_amounts(padding, spatial_rank(c)), mode="circular")


def _all_amounts(padding: object, rank: int) -> object:
    """Both amounts of each spatial axis; a single one stands for all."""
    return padding if isinstance(padding, tuple) else (padding,) * (2 * rank)


@pnnx("F.pad")
def pad(c: InferenceContext, input: Shape, *, pad: object, mode: str = "constant") -> Shape:
    """The last axes grow by `pad`: begin and end of the last axis, of the one before it, and so on."""
    if mode not in MODES:
        c.fail(f"mode must be one of {', '.join(MODES)}", mode)
    if input.dims is None:
        raise c.unknowable("the rank of the input is not known")
    if pad is None:
        return Shape(c.fresh(f"pad.{axis}") for axis in range(len(input)))
    amounts = read_dims(c, pad, "pad")
    if len(amounts) % 2:
        c.fail("pad must have an even number of items: a begin and an end for each padded axis", amounts)
    count = len(amounts) // 2
    dims = list(input.dims)
    _check_rank(c, input, count, mode)
    if mode in ("reflect", "replicate"):
        require_elements(c, dims[len(dims) - count - 1 :])
    for i in range(count):
        axis = len(dims) - 1 - i
        dims[axis] = pad_axis(c, dims[axis], amounts[2 * i], amounts[2 * i + 1], mode)
    if count == 1 and mode in ("reflect", "replicate"):
        c.at_least(dims[-1], 1, "the output must not be empty")
    return Shape(dims)


def _check_rank(c: InferenceContext, input: Shape, count: int, mode: str) -> None:
    """Require axes to pad: with a constant any of the last ones, otherwise all but the channels and a batch axis."""
    rank = len(input)
    if mode == "constant":
        if count > rank:
            c.fail(f"pad must have at most two items for each of the {rank} axes of the input", input)
    elif rank not in (count + 1, count + 2) or count not in (1, 2, 3):
        c.fail(f"with mode={mode}, pad must have two items for each axis but the batch and the channels", input)


def pad_axis(c: InferenceContext, size: DimSize, before: DimSize | None, after: DimSize | None, mode: str) -> DimSize:
    """The size of a padded axis; negative amounts crop."""
    if before is None or after is None:
        return c.fresh("pad")
    grown = size + before + after
    if mode == "constant":
        _require_crop(c, size, before, after)
        return grown
    if mode == "reflect":
        c.at_most(
            _largest(before, after), size - 1, "with mode=reflect, padding must be less than the size of the axis"
        )
    elif mode == "circular":
        c.at_most(_largest(before, after), size, "with mode=circular, padding must be at most the size of the axis")
    if c.prove_le(0, grown) is not True:
        c.at_least(grown, 0, CROP)
    return grown


def _largest(before: DimSize, after: DimSize) -> DimSize:
    return before if before == after else maximum(before, after)


def _require_crop(c: InferenceContext, size: DimSize, *amounts: DimSize) -> None:
    """Require that the axis has the elements that negative padding crops, without those that are added."""
    cropped: list[DimSize] = [minimum(a, 0) for a in amounts if c.prove_le(0, a) is not True]
    if cropped:
        c.at_least(sum(cropped, size), 0, CROP)
