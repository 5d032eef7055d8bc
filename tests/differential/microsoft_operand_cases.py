"""Cases of ONNX Runtime's operators with operands that other cases omit: biases, masks, states, tables."""

import numpy as np

from tests.differential.microsoft_attention_cases import GROUPED, LENGTH, LINEAR, N2, SCALE, i32, known
from tests.differential.single_node import Case, runtime_values

ROTATED = {**GROUPED, "do_rotary": 1}
BITS = {"K": 32, "N": 8, "block_size": 16}
EXPERTS = ("f[5,8]", "f[5,4]", "f[4,16,8]", "f[4,16]", "f[4,8,16]", "f[4,8]")
LSTM_STATES = ("f[1,32]", i32(5, 4), "f[1,2,4]", "f[1,2,4]", "f[1,12]")
TENSOR_SCALE = runtime_values(0.5, dtype=np.float32, shape=())
ZERO = runtime_values(0, dtype=np.uint8, shape=())
ZEROS = runtime_values(*(0,) * 16, dtype=np.int8, shape=(1, 16))

OPERAND_CASES = [
    Case("Attention", ("f[2,3,6]", "f[6,24]", "f[24]", "i[2,3]"), N2),
    Case("Attention", ("f[2,3,6]", "f[6,24]", "f[24]", i32(2, 3)), N2),
    Case("Attention", ("f[2,3,6]", "f[6,24]", "f[24]", "i[2,3,3]"), N2),
    Case("Attention", ("f[2,3,6]", "f[6,24]", "f[24]", None, None, "f[2,2,3,3]"), N2),
    Case("QAttention", ("B[2,3,6]", "B[6,24]", "f[24]", "f[]", "f[24]", "i[2,3]", "B[]", "B[24]"), N2),
    Case("MultiHeadAttention", ("f[2,3,8]", "f[2,5,8]", "f[2,5,8]", "f[24]", "i[2,5]"), N2),
    Case("MultiHeadAttention", ("f[2,3,8]", "f[2,5,8]", "f[2,5,8]", None, "i[2,3,5]"), N2),
    Case("MultiHeadAttention", ("f[2,3,8]", "f[2,5,8]", "f[2,5,12]", "f[28]", None, "f[2,2,3,5]"), N2),
    Case("MultiHeadAttention", ("f[2,3,8]", "f[2,2,5,4]", "f[2,2,5,4]", "f[24]", None, "f[1,2,3,5]"), N2),
    Case(
        "DecoderMaskedMultiHeadAttention",
        (*("f[2,1,8]",) * 3, "i[2,5]", "f[1,2,1,5]", "f[2,2,7,4]", "f[2,2,7,4]", LENGTH, None, None, "f[24]"),
        {**N2, "past_present_share_buffer": 1},
        3,
    ),
    Case(
        "DecoderMaskedMultiHeadAttention",
        (*("f[2,1,8]",) * 3, None, None, "f[2,2,7,4]", "f[2,2,7,4]", LENGTH, i32(2), "i[1,2,7]"),
        {**N2, "past_present_share_buffer": 1},
        3,
    ),
    Case(
        "GroupQueryAttention",
        ("f[2,3,128]", None, None, None, None, i32(2, 2), known(3), "f[9,8]", "f[9,8]"),
        ROTATED,
        3,
    ),
    Case(
        "GroupQueryAttention",
        ("f[2,3,128]", None, None, None, None, i32(2, 2), known(3), "f[9,8]", "f[9,8]", "l[2,3]"),
        ROTATED,
        3,
    ),
    Case(
        "GroupQueryAttention",
        ("f[2,3,64]", None, None, None, None, i32(2, 2), known(3), None, None, None, "f[2,4,3,3]", "f[4]"),
        {**GROUPED, "smooth_softmax": 0},
        3,
    ),
    Case(
        "SparseAttention",
        (
            *("f[1,3,64]", "f[1,3,32]", "f[1,3,32]", "f[1,2,16,16]", "f[1,2,16,16]"),
            *(i32(0, 1, shape=(1, 2)), i32(0, shape=(1, 1)), known(3), i32(3), "f[16,8]", "f[16,8]"),
        ),
        {**GROUPED, "sparse_block_size": 16, "do_rotary": 1},
        3,
        in_place={1: 3, 2: 4},
    ),
    Case("RotaryEmbedding", ("f[2,3,16]", runtime_values(0), "f[9,4]", "f[9,4]"), N2),
    Case("RotaryEmbedding", ("f[2,3,16]", runtime_values(0), "f[9,2]", "f[9,2]"), {**N2, "rotary_embedding_dim": 4}),
    Case(
        "LinearAttention",
        ("f[2,3,8]", "f[2,3,8]", "f[2,3,12]", None, "f[2,3,8]"),
        {**LINEAR, "update_rule": "gated"},
        2,
    ),
    Case(
        "DynamicQuantizeLSTM",
        ("f[5,2,3]", "b[1,3,16]", "b[1,4,16]", *LSTM_STATES, *(SCALE, "b[1]") * 2),
        {"hidden_size": 4},
        3,
    ),
    Case(
        "DynamicQuantizeLSTM",
        ("f[5,2,3]", "b[1,3,16]", "b[1,4,16]", *LSTM_STATES, "f[1,16]", ZEROS, "f[1,16]", ZEROS),
        {"hidden_size": 4},
        3,
    ),
    Case(
        "AttnLSTM",
        (
            *("f[5,2,3]", "f[1,16,10]", "f[1,16,4]", *LSTM_STATES),
            *("f[1,4,7]", "f[1,6,7]", "f[1,7]", "f[2,8,6]", i32(8, 8), "f[1,10,7]"),
        ),
        {"hidden_size": 4},
        3,
    ),
    Case("MatMulNBits", ("f[2,3,32]", "B[8,2,8]", "f[8,2]", "B[8,1]", None, "f[8]"), BITS),
    Case("MatMulNBits", ("f[2,3,32]", "B[8,2,8]", "f[16]", "B[8]"), BITS),
    Case("MatMulNBits", ("f[2,3,32]", "B[8,2,8]", "f[8,2]", "f[8,2]"), BITS),
    Case("MatMulNBits", ("f[2,3,32]", "B[8,2,8]", "f[8,2]", None, runtime_values(*(0, 1) * 16, dtype=np.int32)), BITS),
    Case("MatMulNBits", ("f[2,3,32]", "B[8,2,16]", "f[8,2]", "B[8,2]"), {**BITS, "bits": 8}),
    Case("GatherBlockQuantized", ("B[5,16]", "l[2,3]", "f[5,2]", "B[5,1]"), {"block_size": 16}),
    Case("GatherBlockQuantized", ("B[5,24]", "l[2,3]", "f[5,3]", "B[5,2]"), {"block_size": 16}),
    Case("MatMulIntegerToFloat", ("B[2,3,4]", "B[4,5]", "f[1]", "f[5]", "B[1]", "B[5]", "f[5]")),
    Case("DynamicQuantizeMatMul", ("f[2,3,4]", "B[4,5]", "f[5]", "B[5]", "f[5]")),
    Case("QGemm", ("B[3,4]", TENSOR_SCALE, ZERO, "B[4,5]", "f[5]", "B[5]", "i[5]", TENSOR_SCALE, ZERO)),
    Case("MoE", EXPERTS, {"k": 2}),
    Case(
        "MoE",
        ("f[5,8]", "f[5,4]", "f[4,32,8]", "f[4,32]", "f[4,8,16]"),
        {"k": 2, "activation_type": "swiglu", "swiglu_fusion": 1},
    ),
    Case(
        "QMoE",
        ("f[5,32]", "f[5,4]", "B[4,32,16]", "f[4,32]", "f[4,32]", "B[4,32,16]", "f[4,32]", "f[4,32]"),
        {"k": 2, "activation_type": "relu"},
    ),
    Case(
        "NGramHashMapping",
        ("l[2,5]", "l[3]", runtime_values(5, 7, 11, 13), None, "l[4]", None, "i[2,5]"),
        {"max_ngram_size": 3, "n_head_per_ngram": 2, "pad_id": 0},
        2,
    ),
    Case("QLinearConv", ("B[1,4,8,9]", TENSOR_SCALE, ZERO, "B[6,4,3,3]", "f[6]", "B[6]", TENSOR_SCALE, ZERO, "i[6]")),
    Case("Pad", ("f[2,3]", runtime_values(0, 2, 1, 0), TENSOR_SCALE), data=True),
]
