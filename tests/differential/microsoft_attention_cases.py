"""Cases of attention, its states and generation that ONNX Runtime's CPU kernels run."""

import numpy as np

from tests.differential.single_node import Case, Known, runtime_values

N2 = {"num_heads": 2}
QKV = ("f[2,3,8]", "f[2,5,8]", "f[2,5,8]")
LENGTH = runtime_values(4, dtype=np.int32)
GROUPED = {"num_heads": 4, "kv_num_heads": 2}


def i32(*values, shape=None):
    return runtime_values(*values, dtype=np.int32, shape=shape)


def known(*values, shape=None):
    return Known(*values, dtype=np.int32, shape=shape)


ATTENTION = [
    Case("Attention", ("f[2,3,6]", "f[6,24]", "f[24]"), N2),
    Case("Attention", ("f[2,3,6]", "f[6,24]", "f[24]"), N2, 2),
    Case("Attention", ("f[2,3,6]", "f[6,24]", "f[24]", None, "f[2,2,2,5,4]"), N2, 2),
    Case("Attention", ("f[2,3,6]", "f[6,28]", "f[28]"), {**N2, "qkv_hidden_sizes": [8, 8, 12]}),
    Case("Attention", ("f[2,3,6]", "f[6,28]", "f[28]"), {**N2, "qkv_hidden_sizes": [8, 8, 12]}, 2),
    Case(
        "QAttention",
        ("B[2,3,6]", "B[6,24]", "f[24]", "f[]", "f[]", None, "B[]", "B[]", "f[2,2,2,5,4]"),
        N2,
        2,
    ),
    Case("QAttention", ("B[2,3,6]", "B[6,24]", "f[24]", "f[]", "f[]", None, "B[]", "B[]"), N2, 2),
    Case("MultiHeadAttention", QKV, N2),
    Case("MultiHeadAttention", QKV, N2, 3),
    Case("MultiHeadAttention", QKV, N2, 4, types={3: "float32"}),
    Case("MultiHeadAttention", ("f[2,3,8]", "f[2,5,8]", "f[2,5,12]"), N2, 3),
    Case("MultiHeadAttention", ("f[2,3,8]", "f[2,2,5,4]", "f[2,2,5,4]"), N2),
    Case("MultiHeadAttention", ("f[2,3,8]", "f[2,2,5,4]", "f[2,2,5,4]"), N2, 4, types={3: "float32"}),
    Case(
        "MultiHeadAttention",
        ("f[2,3,8]", "f[2,3,8]", "f[2,3,8]", None, None, None, "f[2,2,7,4]", "f[2,2,7,4]"),
        N2,
        4,
        types={3: "float32"},
    ),
    Case(
        "MultiHeadAttention",
        ("f[2,1,8]", "f[2,1,8]", "f[2,1,8]", None, None, None, "f[2,2,7,4]", "f[2,2,7,4]", LENGTH),
        N2,
        4,
        data=True,
        types={3: "float32"},
    ),
    Case(
        "DecoderMaskedMultiHeadAttention",
        ("f[2,1,8]", "f[2,1,8]", "f[2,1,8]", None, None, "f[2,2,7,4]", "f[2,2,7,4]", LENGTH),
        {**N2, "past_present_share_buffer": 1},
        3,
    ),
    Case(
        "DecoderMaskedMultiHeadAttention",
        ("f[2,1,8]", "f[2,1,8]", "f[2,1,8]", None, None, "f[2,2,7,4]", "f[2,2,7,4]", LENGTH),
        {**N2, "past_present_share_buffer": 1, "output_qk": 1},
        4,
        data=True,
        types={3: "float32"},
    ),
    Case("DecoderMaskedMultiHeadAttention", ("f[2,1,8]", "f[2,2,7,4]", "f[2,2,7,4]"), N2),
    Case(
        "GroupQueryAttention",
        ("f[2,3,32]", "f[2,3,16]", "f[2,3,16]", None, None, i32(2, 2), known(3)),
        GROUPED,
        3,
    ),
    Case("GroupQueryAttention", ("f[2,3,64]", None, None, None, None, i32(2, 2), known(3, shape=())), GROUPED, 3),
    Case(
        "GroupQueryAttention",
        ("f[2,1,64]", None, None, "f[2,2,5,8]", "f[2,2,5,8]", i32(5, 5), known(6)),
        GROUPED,
        3,
    ),
    Case(
        "GroupQueryAttention",
        ("f[2,1,64]", None, None, "f[2,2,9,8]", "f[2,2,9,8]", i32(5, 5), known(6)),
        {**GROUPED, "qk_output": 1},
        4,
    ),
    Case(
        "GroupQueryAttention",
        ("f[2,1,64]", None, None, "f[2,2,9,8]", "f[2,2,9,8]", i32(5, 5), i32(6)),
        {**GROUPED, "qk_output": 1},
        4,
        data=True,
    ),
    Case(
        "GroupQueryAttention",
        ("f[1,1,64]", None, None, "f[1,2,4,8]", "f[1,2,4,8]", i32(5), known(6)),
        {**GROUPED, "sliding_window_cache": 1, "local_window_size": 4},
        3,
    ),
    Case("RotaryEmbedding", ("f[2,3,16]", runtime_values(0, 1, 2, 0, 1, 2, shape=(2, 3)), "f[9,4]", "f[9,4]")),
    Case("RotaryEmbedding", ("f[2,4,3,8]", runtime_values(0), "f[9,4]", "f[9,4]")),
    Case(
        "MRotaryEmbedding",
        ("f[2,3,16]", runtime_values(*range(3), *range(3), shape=(1, 2, 3)).repeat(3, 0), "f[9,4]", "f[9,4]"),
        {"mrope_section": [2, 1, 1], **N2},
    ),
    Case(
        "SparseAttention",
        (
            *("f[1,3,32]", "f[1,3,16]", "f[1,3,16]", "f[1,2,16,8]", "f[1,2,16,8]"),
            *(i32(0, 1, shape=(1, 2)), i32(0, shape=(1, 1)), known(3), i32(3)),
        ),
        {**GROUPED, "sparse_block_size": 16},
        3,
        in_place={1: 3, 2: 4},
    ),
]

LSTM_BIAS = ("f[1,32]", None, None, None, None)
LINEAR = {"q_num_heads": 2, "kv_num_heads": 2}
SCALE = "f[1]"

STATES = [
    Case("LinearAttention", ("f[2,3,8]", "f[2,3,8]", "f[2,3,12]"), {**LINEAR, "update_rule": "linear"}, 2),
    Case(
        "LinearAttention",
        ("f[2,3,8]", "f[2,3,8]", "f[2,3,12]", "f[2,2,4,6]", "f[2,3,2]", "f[2,3,2]"),
        {**LINEAR, "update_rule": "gated_delta"},
        2,
    ),
    Case(
        "LinearAttention",
        ("f[2,3,16]", "f[2,3,8]", "f[2,3,12]"),
        {"q_num_heads": 4, "kv_num_heads": 2, "update_rule": "linear"},
        2,
    ),
    Case("LinearAttentionGate", ("f[2,3,4]", "f[4]", "f[4]", "f[2,3,4]"), {}, 2),
    Case("CausalConvWithState", ("f[2,4,7]", "f[4,1,3]", "f[4]"), {}, 2),
    Case("CausalConvWithState", ("f[2,4,7]", "f[4,1,3]", None, "f[2,4,4]"), {"dilation": 2}, 2),
    Case("CausalConvWithState", ("f[2,7,2,3]", "f[6,1,3]"), {"channels_last": 1}, 2),
    Case("EngramGate", ("f[2,3,4,8]", "f[2,3,4,8]", "f[2,3,8]", "f[4,8]", "f[4,8]", "f[4,8]"), {}, 2),
    Case("HyperConnectionPreMix", ("f[2,3,4,8]", "f[2,3,4]")),
    Case("HyperConnectionPreMix", ("f[2,3,32]", "f[2,3,32]"), {"num_branches": 4}),
    Case("HyperConnectionPostMix", ("f[2,3,4,8]", "f[2,3,8]", "f[2,3,4]", "f[2,3,4,4]")),
    Case("HyperConnectionPostMix", ("f[2,3,32]", "f[2,3,8]", "f[2,3,4,1]"), {"num_branches": 4}),
    Case(
        "DynamicQuantizeLSTM",
        ("f[5,2,3]", "b[1,3,16]", "b[1,4,16]", *LSTM_BIAS, SCALE, "b[1]", SCALE, "b[1]"),
        {"hidden_size": 4},
        3,
    ),
    Case(
        "DynamicQuantizeLSTM",
        ("f[5,2,3]", "b[2,3,16]", "b[2,4,16]", *(None,) * 5, "f[2]", "b[2]", "f[2]", "b[2]"),
        {"hidden_size": 4, "direction": "bidirectional"},
        3,
    ),
    Case(
        "AttnLSTM",
        (
            *("f[5,2,3]", "f[1,16,9]", "f[1,16,4]", "f[1,32]", i32(5, 5), None, None, None),
            *("f[1,4,7]", "f[1,6,7]", "f[1,7]", "f[2,8,6]", i32(8, 8)),
        ),
        {"hidden_size": 4},
        3,
    ),
]

ATTENTION_CASES = [*ATTENTION, *STATES]
