"""Hyper-connections: parallel streams of features, and gates that mix them."""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from opdefs.rules.operands import merge_optional, part_size, require_broadcast_size, require_choice, require_vector
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


def _lead_and_width(c: InferenceContext, streams: Shape, branches: int) -> tuple[tuple[DimSize, ...], DimSize]:
    """The axes [*S] and the size H of [*S, C, H], or of [*S, C*H] if `branches` is not 0."""
    if branches:
        return streams[:-1], part_size(c, streams[-1], branches, "the last axis must be divisible by num_branches")
    if len(streams) < 2:
        c.fail("the input must be [..., branches, features]", streams)
    return streams[:-2], streams[-1]


@onnx("HyperConnectionPreMix", domain=MS)
def pre_mix(c: InferenceContext, streams: Shape, gates: Shape, *, num_branches: int = 0) -> Shape:
    """[*S, C, H], or [*S, C*H] with `num_branches`, and gates [*S, C] -> [*S, H]."""
    lead, width = _lead_and_width(c, streams, num_branches)
    _constrain_gates(c, gates, (*lead, num_branches or streams[-2]), width, bool(num_branches))
    return Shape((*lead, width))


def _constrain_gates(
    c: InferenceContext, gates: Shape, branches: tuple[DimSize, ...], width: DimSize, packed: bool
) -> None:
    """Require [*S, C], [*S, C, 1] or [*S, C, H], of packed streams also [*S, C*H]; `branches` is (*S, C)."""
    message = "the gates must be [..., branches], [..., branches, 1] or [..., branches, features]"
    if gates.dims is None:
        return
    lead, count = Shape(branches[:-1]), branches[-1]
    if len(gates.dims) == len(branches) + 1:
        c.merge(Shape(gates.dims[:-1]), Shape(branches), message)
        require_broadcast_size(c, gates.dims[-1], width, message)
        return
    if len(gates.dims) != len(branches):
        c.fail(message, gates)
    c.merge(Shape(gates.dims[:-1]), lead, message)
    require_choice(c, gates.dims[-1], (count, count * width if packed else count), message)


@onnx("HyperConnectionPostMix", domain=MS)
def post_mix(
    c: InferenceContext, streams: Shape, block: Shape, gates: Shape, mix: Shape | None = None, *, num_branches: int = 0
) -> Shape:
    """[*S, C, H], or [*S, C*H] with `num_branches`, a block [*S, H], gates [*S, C] -> the shape of the streams."""
    if streams.dims is not None:
        lead, width = _lead_and_width(c, streams, num_branches)
        c.merge(Shape((*lead, width)), block, "block_output must have the shape of one stream")
        count = num_branches or streams[-2]
        _constrain_gates(c, gates, (*lead, count), width, bool(num_branches))
        merge_optional(c, Shape((*lead, count, count)), mix, "stream_mix must be [..., branches, branches]")
    return streams


@onnx("HyperConnectionLowRankMix", domain=MS)
def low_rank_mix(
    c: InferenceContext,
    streams: Shape,
    scale: Shape,
    down: Shape,
    up: Shape,
    inject: Shape,
    block: Shape | None = None,
    gates: Shape | None = None,
    *,
    num_branches: int,
) -> tuple[Shape, Shape, Shape]:
    """[*S, C*H], projections [C*H, R], [R, C*H], [C*H, C], a block [*S, H], gates [*S, C] -> [*S, H], [*S, C], streams.

    C is `num_branches`.
    """
    if num_branches < 1:
        c.fail("num_branches must be at least 1", num_branches)
    if not len(streams):
        c.fail("streams must have rank 1 or more", streams)
    lead, features = _lead_and_width(c, streams, num_branches)
    width = streams[-1]
    require_vector(c, scale, width, "norm_scale must have one value per feature of the streams")
    rank = c.require_rank(down, 2, "down_weight")[1]
    c.merge(down, Shape((width, rank)), "down_weight must have a row for each feature of the streams")
    c.merge(up, Shape((rank, width)), "up_weight must have the axes of down_weight, swapped")
    c.merge(inject, Shape((width, num_branches)), "inject_weight must be [branches * features, branches]")
    merge_optional(c, Shape((*lead, features)), block, "prev_block_output must have the shape of one stream")
    merge_optional(c, Shape((*lead, num_branches)), gates, "prev_post_gate must be [..., branches]")
    return Shape((*lead, features)), Shape((*lead, num_branches)), streams


@onnx("EngramGate", domain=MS)
def engram_gate(
    c: InferenceContext,
    key: Shape,
    query: Shape,
    value: Shape,
    key_scale: Shape,
    query_scale: Shape,
    conv_scale: Shape | None = None,
) -> tuple[Shape, Shape]:
    """[B, S, C, H], [B, S, C, H], [B, S, H], scales [C, H] -> [B, S, C, H] twice."""
    key = merge_optional(c, c.require_rank(key, 4, "key"), query, "key and query must have the same shape")
    c.merge(
        Shape((key[0], key[1], key[3])), value, "value must be [batch, sequence, hidden], like key without branches"
    )
    scales = (key_scale, "key_norm_scale"), (query_scale, "query_norm_scale"), (conv_scale, "conv_norm_scale")
    for scale, name in scales:
        merge_optional(c, Shape(key[2:]), scale, f"{name} must be [branches, hidden]")
    return key, key


@onnx("BranchwiseRMSNorm", domain=MS)
def branchwise_rms_norm(c: InferenceContext, x: Shape, scale: Shape | None = None, *, num_branches: int = 0) -> Shape:
    """[*S, C, H], or [*S, C*H] with `num_branches` -> the shape of the input."""
    if x.dims:
        _, width = _lead_and_width(c, x, num_branches)
        _constrain_branch_scale(c, scale, num_branches or x[-2], width)
    return x


def _constrain_branch_scale(c: InferenceContext, scale: Shape | None, branches: DimSize, width: DimSize) -> None:
    """Require [H], [C*H] or [C, H]."""
    message = "the scale must be [features], [branches * features] or [branches, features]"
    if scale is None or scale.dims is None:
        return
    if len(scale.dims) == 1:
        require_choice(c, scale.dims[0], (width, branches * width), message)
    else:
        c.merge(scale, Shape((branches, width)), message)
