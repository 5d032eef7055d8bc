"""Speculative decoding: the states of accepted tokens are replayed, committed or verified."""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from opdefs.rules.operands import merge_optional, part_size, require_count, require_vector
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


def _replay(c: InferenceContext, backings: dict[str, Shape], metadata: Shape, fields: int) -> Shape:
    """The shape of the last buffer; all are vectors."""
    require_vector(c, metadata, fields, f"metadata must have {fields} elements")
    return [c.require_rank(v, 1, name) for name, v in backings.items()][-1]


@onnx("ConvStateReplay", domain=MS, in_place=(2,))
def replay_convolution(
    c: InferenceContext, source: Shape, capture: Shape, destination: Shape, metadata: Shape
) -> Shape:
    """Buffers [N], [M], [L], metadata [8] -> the last buffer [L], written in place."""
    backings = {"source_backing": source, "capture_backing": capture, "destination_backing": destination}
    return _replay(c, backings, metadata, 8)


@onnx("GatedDeltaNetStateReplay", domain=MS, in_place=(2,))
def replay_delta_net(c: InferenceContext, source: Shape, capsule: Shape, destination: Shape, metadata: Shape) -> Shape:
    """Buffers [N], [M], [L], metadata [11] -> the last buffer [L], written in place."""
    backings = {"source_backing": source, "capsule_backing": capsule, "destination_backing": destination}
    return _replay(c, backings, metadata, 11)


CONTROL_WORDS = 16
"""The words of the control state of a request."""


@onnx("SpeculativePrefixCommit", domain=MS)
def commit_prefix(
    c: InferenceContext,
    tokens: Shape,
    input_ids: Shape,
    status: Shape,
    control: Shape,
    context: Shape,
    prefixes: Shape,
    ring: Shape,
    *,
    head_rows: int = 8,
) -> tuple[Shape, Shape, Shape]:
    """Predictions [B, rows], or [rows] of one request; a control state of B*16 words -> [B], both states unchanged."""
    if not 3 <= head_rows <= 8:
        c.fail("head_rows must be 3 to 8", head_rows)
    batch = _requests(c, tokens, control)
    require_count(c, control, batch * CONTROL_WORDS, "ctl must have 16 words per request")
    require_count(c, context, batch * 2, "ctx_commit must have two words per request")
    if prefixes.dims is not None:
        c.at_least(c.numel(prefixes), batch * 2 * head_rows, "prefixes must have 2 * head_rows words per request")
    return Shape((batch,)), control, context


def _requests(c: InferenceContext, tokens: Shape, control: Shape) -> DimSize:
    """The batch size: of the predictions, else of the control state."""
    if tokens.dims is not None:
        if len(tokens.dims) not in (1, 2):
            c.fail("next_tokens must be [batch, rows], or [rows] of one request", tokens)
        return tokens.dims[0] if len(tokens.dims) == 2 else 1
    if control.dims is None:
        return c.fresh("batch")
    return part_size(c, c.numel(control), CONTROL_WORDS, "ctl must have 16 words per request")


TAPS = 4
"""The taps of the convolution of Mamba2Verify."""


@onnx("Mamba2Verify", domain=MS)
def verify_mamba(
    c: InferenceContext,
    projection: Shape,
    conv_state: Shape,
    states: Shape,
    weight: Shape,
    conv_bias: Shape,
    dt_bias: Shape,
    decay: Shape,
    skip: Shape,
    norm: Shape,
    state_row: Shape,
    *,
    heads: int,
    n_groups: int,
    head_dim: int = 64,
    d_state: int = 128,
) -> tuple[Shape, Shape, Shape, Shape, Shape]:
    """[R, 2*D + 2*G*N + heads], [slots, C, 3], [slots, heads, N, D/heads] -> [R, D], both states, [R, C], [R, D].

    D is `heads * head_dim`, G `n_groups`, N `d_state`; the C = D + 2*G*N channels are those of the convolution.
    """
    width = heads * head_dim
    channels = width + 2 * n_groups * d_state
    rows, packed = c.require_rank(projection, 2, "projection")
    c.merge(packed, width + channels + heads, "projection must hold gate, convolved channels and time steps")
    slots = c.require_rank(conv_state, 3, "conv_state")[0]
    message = "conv_state must be [slots, channels, 3]"
    conv_state = c.merge(conv_state, Shape((slots, channels, TAPS - 1)), message)
    states = c.merge(states, Shape((slots, heads, d_state, head_dim)), "ssm_state must be [slots, heads, N, head size]")
    _constrain_taps(c, weight, channels)
    require_vector(c, conv_bias, channels, "conv_bias must have one value per channel")
    for v, name in ((dt_bias, "dt_bias"), (decay, "A_negative"), (skip, "D")):
        require_vector(c, v, heads, f"{name} must have one value per head")
    require_vector(c, norm, width, "norm_weight must have one value per feature")
    require_vector(c, state_row, 1, "state_row must have exactly one element")
    result = Shape((rows, width))
    return result, conv_state, states, Shape((rows, channels)), result


def _constrain_taps(c: InferenceContext, weight: Shape, channels: int) -> None:
    """Require [C, 4] or [C, 1, 4]."""
    if weight.dims is not None:
        full = (channels, 1, TAPS) if len(weight.dims) == 3 else (channels, TAPS)
        merge_optional(c, Shape(full), weight, "conv_weight must be [channels, 4] or [channels, 1, 4]")
