"""Layers with a state: linear attention, causal convolution, LSTMs."""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from opdefs.onnx.attention import require_gate
from opdefs.onnx.recurrent import Cells, recurrent_states
from opdefs.rules.operands import merge_optional, part_size, require_count, require_multiple, require_vector
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext

STATE = "the state that is an input must have the shape of the returned state"


def add_window(state: Shape, window: int) -> Shape:
    """The shape of a state; with a window, of the last `window` states along a new first axis."""
    return Shape((window, *state)) if window else state


@onnx("LinearAttention", domain=MS)
def linear_attention(
    c: InferenceContext,
    query: Shape,
    key: Shape,
    value: Shape,
    past: Shape | None = None,
    decay: Shape | None = None,
    beta: Shape | None = None,
    *,
    q_num_heads: int,
    kv_num_heads: int,
    state_window: int = 0,
) -> tuple[Shape, TensorType]:
    """[B, S, N*D], [B, S, K*D], [B, S, K*V] -> [B, S, max(N, K)*V], a state [B, K, D, V]."""
    query, key, value = (c.require_rank(x, 3, n) for x, n in ((query, "query"), (key, "key"), (value, "value")))
    for other in (key, value):
        for i in (0, 1):
            c.merge(query[i], other[i], "query, key and value must have the same batch size and length")
    width = part_size(c, query[2], q_num_heads, "the last axis of the query must be divisible by q_num_heads")
    require_multiple(c, key[2], width, "the last axis of the key must be divisible by the head size of the query")
    # the heads of the key are key[2] / width: kv_num_heads is a multiple of that
    require_multiple(c, kv_num_heads * width, key[2], "kv_num_heads must be a multiple of the heads of the key")
    value_width = part_size(c, value[2], kv_num_heads, "the last axis of the value must be divisible by kv_num_heads")
    for gate, widest, name in ((decay, kv_num_heads * width, "decay"), (beta, 1, "beta")):
        require_gate(c, query, gate, (kv_num_heads, widest), name)
    state = add_window(Shape((query[0], kv_num_heads, width, value_width)), state_window)
    output = Shape((query[0], query[1], value_width * max(q_num_heads, kv_num_heads)))
    return output, TensorType(c.dtype(3) or c.dtype(0), merge_optional(c, state, past, STATE))


@onnx("LinearAttentionGate", domain=MS)
def linear_attention_gate(
    c: InferenceContext, a: Shape, bias: Shape, scale: Shape, b: Shape | None = None
) -> tuple[Shape, Shape]:
    """[B, S, N], [N], [N] -> [B, S, N] twice."""
    a = merge_optional(c, c.require_rank(a, 3, "a"), b, "a and b must have the same shape")
    for v, name in ((bias, "dt_bias"), (scale, "decay_scale")):
        require_count(c, v, a[2], f"{name} must have one value per head")
    return a, a


@onnx("GatedDeltaNet", domain=MS)
def gated_delta_net(
    c: InferenceContext,
    query: Shape,
    key: Shape | None = None,
    value: Shape | None = None,
    ends: Shape | None = None,
    decay: Shape | None = None,
    beta: Shape | None = None,
    state: Shape | None = None,
    a_log: Shape | None = None,
    dt_bias: Shape | None = None,
    captured: Shape | None = None,
    active: Shape | None = None,
    *,
    state_update_capacity: int = 0,
) -> tuple[Shape, Shape, Shape]:
    """[*T, N, D], [*T, N, D], [*T, V, W] -> [*T, V, W], a state [B, V, W, D], [B, capacity*(V + N*D + V*W)].

    T is one packed axis or B, S; a packed query is [*T, 2*N*D + V*W]. The decay is [*T, V], or [*T, V, D], whose
    captured values are V*D.
    """
    for operand in (query, key, value):
        if operand is not None and len(operand) < 2:
            c.fail("query, key and value must have rank 2 or more", operand)
    if key is None or value is None:
        lead, key_size, heads, value_width, width = _packed_sizes(c, query, state)
    else:
        lead, (key_heads, width), (heads, value_width) = query[:-2], key[-2:], value[-2:]
        c.merge(query[-1], width, "query and key must have the same head size")
        key_size = key_heads * width
    batch = _batch(c, lead, ends, state)
    final = merge_optional(c, Shape((batch, heads, value_width, width)), state, STATE)
    decays = _decay_size(c, decay, len(lead), heads, width)
    update = state_update_capacity * (decays + key_size + heads * value_width)
    return Shape((*lead, heads, value_width)), final, Shape((batch, update))


def _decay_size(c: InferenceContext, decay: Shape | None, lead: int, heads: DimSize, width: DimSize) -> DimSize:
    """The number of captured decays of a token: V, or V*D of a decay per element of the key."""
    if decay is None:
        return heads
    if decay.dims is None:
        return c.fresh("decays")
    if len(decay.dims) not in (lead + 1, lead + 2):
        c.fail("decay must have one value per head, or per element of the key", decay)
    return heads if len(decay.dims) == lead + 1 else heads * width


def _packed_sizes(
    c: InferenceContext, query: Shape, state: Shape | None
) -> tuple[tuple[DimSize, ...], DimSize, DimSize, DimSize, DimSize]:
    """The axes of tokens, N*D, V, W and D of a packed query."""
    if state is None:
        c.fail("a packed query requires initial_state", query)
    _, heads, value_width, width = c.require_rank(state, 4, "initial_state")
    message = "the last axis of a packed query must hold query, key, and a value of the size in initial_state"
    keys = part_size(c, query[-1] - heads * value_width, 2, message)
    return query[:-1], keys, heads, value_width, width


def _batch(c: InferenceContext, lead: tuple[DimSize, ...], ends: Shape | None, state: Shape | None) -> DimSize:
    """The batch size, by the state, the ends of the sequences [B + 1], or the axes in front of the heads."""
    if state is not None:
        return c.require_rank(state, 4, "initial_state")[0]
    if ends is not None:
        return c.require_rank(ends, 1, "cu_seqlens")[0] - 1
    return lead[0] if len(lead) > 1 else c.fresh("batch")


@onnx("CausalConvWithState", domain=MS)
def causal_conv(
    c: InferenceContext,
    x: Shape,
    weight: Shape,
    bias: Shape | None = None,
    past: Shape | None = None,
    *,
    ndim: int = 1,
    channels_last: int = 0,
    dilation: int = 1,
    state_window: int = 0,
    input_channels: int = 0,
    input_channel_offset: int = 0,
    state_channels_last: int = -1,
    state_length: int = 0,
    state_update_capacity: int = 0,
) -> tuple[Shape, Shape, Shape]:
    """[B, C, *S], [C, 1, *K] -> [B, C, *S], a state [B, C, (K - 1)*dilation] along the last axis, [B, U, C].

    With `channels_last` [B, S, *C], and a state [B, (K - 1)*dilation, *C]. Attributes override the length and layout of
    the state, and select `input_channels` of the channels; U is `state_update_capacity`.
    """
    weight = c.require_rank(weight, 2 + ndim, "weight")
    if input_channels:
        batch, steps, stride = c.require_rank(x, 3, "input")
        c.at_most(
            input_channel_offset + input_channels,
            stride,
            "the selected channels must equal the channels of the input",
        )
        x = Shape((batch, steps, input_channels))
    last = bool(channels_last or input_channels)
    channels = c.numel(x[2:]) if last else c.require_rank(x, 2 + ndim, "input")[1]
    c.merge(weight[0], channels, "the weight must have one kernel per channel")
    c.merge(weight[1], 1, "the second axis of the weight must have size 1")
    require_vector(c, bias, channels, "the bias must have one value per channel")
    needed = (weight[-1] - 1) * dilation
    if state_length:
        c.at_least(state_length, needed, "state_length must cover the receptive field")
    state = _convolved_state(
        x, last, last if state_channels_last < 0 else bool(state_channels_last), state_length or needed
    )
    update = Shape((x[0], state_update_capacity, channels))
    return x, merge_optional(c, add_window(state, state_window), past, STATE), update


def _convolved_state(x: Shape, last: bool, state_last: bool, length: DimSize) -> Shape:
    """The state of a causal convolution: the input with `length` steps; either has its channels last or second."""
    features = x[2:] if last else x[1:-1]
    return Shape((x[0], length, *features)) if state_last else Shape((x[0], *features, length))


@onnx("VarlenCausalConvWithState", domain=MS)
def packed_causal_conv(
    c: InferenceContext,
    x: Shape,
    weight: Shape,
    ends: Shape,
    bias: Shape | None,
    state: Shape,
    captured: Shape | None = None,
    deltas: Shape | None = None,
    mask: Shape | None = None,
    *,
    dilation: int = 1,
    state_update_capacity: int = 0,
    group_size: int = 1,
) -> tuple[Shape, Shape, Shape]:
    """[T, C], [C, 1, K], ends [B + 1] -> [T, C], a state [B, C, (K - 1)*dilation], [B, state_update_capacity, C].

    Changes of the kernels are [T, taps, C/group_size], their mask is [T, 1].
    """
    x, weight = c.require_rank(x, 2, "input"), c.require_rank(weight, 3, "weight")
    channels = c.merge(weight[0], x[1], "the weight must have one kernel per channel")
    c.merge(weight[1], 1, "the second axis of the weight must have size 1")
    require_vector(c, bias, channels, "the bias must have one value per channel")
    batch = c.require_rank(ends, 1, "cumulative_sequence_length")[0] - 1
    require_vector(c, captured, batch, "capture_count must have one value per request")
    if deltas is not None:
        tokens, _, groups = c.require_rank(deltas, 3, "kernel_delta")
        c.merge(tokens, x[0], "kernel_delta must have one entry per token")
        c.merge(groups * group_size, channels, "kernel_delta must have one value per group of channels")
    merge_optional(c, Shape((x[0], 1)), mask, "previous_mask must be [tokens, 1]")
    final = merge_optional(c, Shape((batch, channels, (weight[2] - 1) * dilation)), state, STATE)
    return x, final, Shape((batch, state_update_capacity, channels))


@onnx("AttnLSTM", domain=MS)
def attention_lstm(
    c: InferenceContext,
    x: Shape,
    w: Shape,
    r: Shape,
    bias: Shape | None = None,
    lengths: Shape | None = None,
    hidden_state: Shape | None = None,
    cell_state: Shape | None = None,
    peepholes: Shape | None = None,
    query_weights: Shape | None = None,
    memory_weights: Shape | None = None,
    v: Shape | None = None,
    memory: Shape | None = None,
    memory_lengths: Shape | None = None,
    attention_weights: Shape | None = None,
    *,
    cells: Cells,
) -> tuple[Shape, Shape, Shape]:
    """[S, B, I] -> [S, directions, B, H], and [directions, B, H] twice; H is that of the weights [directions, 4*H, H].

    The input of a cell is X concatenated with the attention, [..., I + A]; the memory is [B, M, D].
    """
    x, r = c.require_rank(x, 3, "X"), c.require_rank(r, 3, "R")
    count, hidden = cells.directions, cells.hidden_size or r[2]
    depth = _constrain_memory(c, x, count, hidden, query_weights, memory_weights, v, memory)
    require_vector(c, memory_lengths, x[1], "memory_seq_lens must have one length per sample")
    attended = _attention_size(c, count, hidden, depth, memory, attention_weights)
    if attended is not None:
        c.merge(w, Shape((count, GATES * hidden, x[2] + attended)), "W must be [directions, 4*hidden_size, inputs]")
    c.merge(r, Shape((count, GATES * hidden, hidden)), "R must be [directions, 4*hidden_size, hidden_size]")
    return recurrent_states(c, x, cells, hidden, GATES, bias, lengths, hidden_state, cell_state, peepholes)


GATES = 4
"""The gates of an LSTM cell."""


def _attention_size(
    c: InferenceContext,
    directions: int,
    hidden: DimSize,
    depth: DimSize | None,
    memory: Shape | None,
    weights: Shape | None,
) -> DimSize | None:
    """A, the size of the attention that is an input of the cells, None without one; constrains the weights AW."""
    if weights is None:
        return None if depth is None or memory is None else memory[2]
    attended = c.require_rank(weights, 3, "AW")[2]
    if memory is not None:
        message = "AW must be [directions, memory width + hidden_size, depth]"
        c.merge(weights, Shape((directions, memory[2] + hidden, attended)), message)
    return attended


def _constrain_memory(
    c: InferenceContext,
    x: Shape,
    directions: int,
    hidden: DimSize,
    query_weights: Shape | None,
    memory_weights: Shape | None,
    v: Shape | None,
    memory: Shape | None,
) -> DimSize | None:
    """The depth of the attention, None without a memory; constrains the memory and the weights V, QW and MW."""
    if memory is None or query_weights is None or memory_weights is None or v is None:
        return None
    batch, _, width = c.require_rank(memory, 3, "M")
    c.merge(batch, x[1], "M must have the batch size of X")
    depth = c.require_rank(v, 2, "V")[1]
    c.merge(v[0], directions, "V must be [directions, depth]")
    c.merge(query_weights, Shape((directions, hidden, depth)), "QW must be [directions, hidden_size, depth]")
    c.merge(memory_weights, Shape((directions, width, depth)), "MW must be [directions, memory width, depth]")
    return depth


@onnx("DynamicQuantizeLSTM", domain=MS)
def quantized_lstm(
    c: InferenceContext,
    x: Shape,
    w: Shape,
    r: Shape,
    bias: Shape | None = None,
    lengths: Shape | None = None,
    hidden_state: Shape | None = None,
    cell_state: Shape | None = None,
    peepholes: Shape | None = None,
    w_scale: Shape | None = None,
    w_zero: Shape | None = None,
    r_scale: Shape | None = None,
    r_zero: Shape | None = None,
    *,
    cells: Cells,
) -> tuple[Shape, Shape, Shape]:
    """[S, B, I] -> [S, directions, B, H], [directions, B, H] twice; H is that of the weights [directions, H, 4*H]."""
    x, w, r = (c.require_rank(v, 3, name) for v, name in ((x, "X"), (w, "W"), (r, "R")))
    count, hidden = cells.directions, cells.hidden_size or r[1]
    c.merge(w, Shape((count, x[2], GATES * hidden)), "W must be [directions, inputs, 4*hidden_size]")
    c.merge(r, Shape((count, hidden, GATES * hidden)), "R must be [directions, hidden_size, 4*hidden_size]")
    for scale, name in ((w_scale, "W_scale"), (w_zero, "W_zero_point"), (r_scale, "R_scale"), (r_zero, "R_zero_point")):
        message = f"{name} must be [directions], or [directions, 4*hidden_size]"
        if scale is not None and scale.rank == 1:
            c.merge(scale[0], count, message)
        elif scale is not None:
            c.merge(scale, Shape((count, GATES * hidden)), message)
    return recurrent_states(c, x, cells, hidden, GATES, bias, lengths, hidden_state, cell_state, peepholes)
