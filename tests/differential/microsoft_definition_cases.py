"""Cases that no CPU kernel of ONNX Runtime runs; its shape inference, if the operator has one, must not object."""

from tests.differential.microsoft_attention_cases import GROUPED, LENGTH, N2, known
from tests.differential.single_node import Case, Known

S = "f[]"
BITS = {"K": 32, "N": 8, "block_size": 32, "bits": 4}
QKV_BITS = {"K": 32, "Nq": 8, "Nkv": 4, "block_size": 32, "bits": 4}
PROJECTION = ("B[8,1,16]", "f[8,1]", None)
NARROW = ("B[4,1,16]", "f[4,1]", None)
ORDER = {"order_input": 1, "order_weight": 1, "order_output": 1}
FLAGS = ("?[1]",) * 4
PAGES = ("i[3]", "i[2]", "i[2,4]")
SELECTED = ("i[6,4]", "i[6]", "i[2]")
QSA = {"policy_mode": "qsa", "compress_ratio": 4, "token_budget": 8}
CSA = {"policy_mode": "csa", "compress_ratio": 4, "index_topk": 6}
NORMS = ("f[8]", "f[8]", "f[9,2]", "f[9,2]")

FUSED = [
    Case("BiasAdd", ("f[2,3,8]", "f[8]", "f[2,3,8]")),
    Case("BiasDropout", ("f[2,3,8]", "f[8]", "f[2,3,8]"), {}, 2),
    Case("BitmaskDropout", ("f[5,7]",), {}, 2),
    Case("BitmaskBiasDropout", ("f[5,7]", "f[7]", "f[5,7]"), {}, 2),
    Case("BiasSoftmax", ("f[2,3,8]", "f[2,1,8]"), {"is_inner_broadcast": 1, "axis": 2}),
    Case("BiasSplitGelu", ("f[2,3,8]", "f[8]")),
    Case("IsAllFinite", ("f[2,3]", "f[4]")),
    Case("MulInteger", ("B[2,3,8]", "B[]", "B[8]", "B[]")),
    Case("ComplexMul", ("f[2,3,2]", "f[3,2]")),
    Case("ComplexMulConj", ("f[2,3,2]", "f[3,2]")),
    Case("GroupNorm", ("f[2,4,5,6]", "f[6]", "f[6]"), {"groups": 2, "activation": 0}),
    Case("GroupNorm", ("f[2,6,4,5]", "f[6]", "f[6]"), {"groups": 2, "activation": 0, "channels_last": 0}),
    Case("SkipGroupNorm", ("f[2,4,5,6]", "f[6]", "f[6]", "f[2,6]", "f[6]"), {"groups": 2, "activation": 0}, 2),
    Case("QOrderedLayerNormalization", ("b[2,3,8]", S, "f[8]", "f[8]", S)),
    Case("SkipLayerNormalization", ("f[2,3,4]", "f[2,3,4]", "f[4]", "f[4]"), {}, 4),
    Case("Rfft", ("f[2,3,8]",), {"signal_ndim": 1}),
    Case("Irfft", ("f[2,3,5,2]",), {"signal_ndim": 1}),
    Case("TorchEmbedding", ("f[9,4]", "l[2,3]")),
]

PRODUCTS = [
    Case("FusedMatMulActivation", ("f[2,4,3]", "f[2,4,5]"), {"transA": 1, "activation": "Relu"}),
    Case("GemmFastGelu", ("f[2,3,4]", "f[4,5]", "f[5]")),
    Case("GemmFloat8", ("f[3,4]", "f[5,4]"), {"transB": 1, "dtype": 1}),
    Case("MatMulBlockQuantizedFp4Weight", ("h[2,3,32]", "B[8,16]", "B[8,2]", S)),
    Case("MatMulNBitsMlp", ("f[2,3,32]", None, None, *PROJECTION, *PROJECTION), {**BITS, "activation": "silu"}),
    Case(
        "MatMulNBitsMlp",
        ("f[2,3,32]", "f[2,3,32]", "f[32]", *PROJECTION, *PROJECTION),
        {**BITS, "activation": "silu"},
        2,
    ),
    Case("MatMulNBitsQkv", ("f[2,3,32]", "f[2,3,32]", "f[32]", *PROJECTION, *NARROW, *NARROW), QKV_BITS, 4),
    Case("QOrderedMatMul", ("b[2,3,4]", S, "b[4,5]", S, S), {"order_A": 1, "order_B": 1, "order_Y": 1}),
    Case("QOrderedGelu", ("b[2,3]", S, S)),
    Case("QLinearReduceMean", ("B[2,3,4]", S, "B[]", S, "B[]"), {"axes": [1], "keepdims": 0}),
    Case("QLinearReduceMean", ("B[2,3,4]", S, "B[]", S, "B[]"), {"axes": [-1], "keepdims": 1}),
    Case("ReduceSumInteger", ("B[2,3,4]",), {"axes": [1], "keepdims": 1}, types={0: "int32"}),
    Case("QuantizeWithOrder", ("f[2,3]", S), {"order_input": 1, "order_output": 1}),
    Case("DequantizeWithOrder", ("b[2,3]", S), {"order_input": 1, "order_output": 1, "to": 10}),
    Case("QuantizeBFP", ("f[2,3]",), {"bfp_type": 0}, 3),
    Case("DequantizeBFP", ("B[40]", Known(2, 3), Known(3, 1)), {"bfp_type": 0}),
    Case("NhwcConv", ("f[1,8,9,4]", "f[6,2,3,3]"), {"group": 2, "strides": [2, 2]}),
    Case("NhwcFusedConv", ("h[1,8,9,4]", "h[6,4,3,3]", "h[6]", "h[1,6,7,6]"), {"activation": "Relu"}),
]

ATTENTION = [
    Case("MultiHeadAttention", ("f[2,3,2,3,4]",), N2),
    Case("MultiHeadAttention", ("f[2,3,8]", "f[2,5,2,2,4]"), N2),
    Case("DecoderMaskedSelfAttention", ("f[2,1,6]", "f[6,24]", "f[24]", None, "f[2,2,2,7,4]", None, LENGTH), N2, 2),
    Case(
        "DecoderMaskedSelfAttention",
        ("f[2,1,6]", "f[6,24]", "f[24]", None, "f[2,2,2,7,4]", None, LENGTH),
        {**N2, "past_present_share_buffer": 1},
        2,
    ),
    Case("PackedAttention", ("f[7,6]", "f[6,24]", "f[24]", "i[2,5]", "i[3]"), N2),
    Case("PackedAttention", ("f[7,6]", "f[6,28]", "f[28]", "i[2,5]", "i[3]"), {**N2, "qkv_hidden_sizes": [8, 8, 12]}),
    Case("PackedMultiHeadAttention", ("f[7,8]", "f[7,8]", "f[7,12]", None, "i[2,5]", "i[3]"), N2),
    Case("PackedMultiHeadAttention", ("f[7,2,3,4]", None, None, None, "i[2,5]", "i[3]"), N2),
    Case(
        "LongformerAttention",
        ("f[2,8,6]", "f[6,18]", "f[18]", "f[2,8]", "f[6,18]", "f[18]", "i[2,8]"),
        {**N2, "window": 2},
    ),
    Case(
        "QOrderedLongformerAttention",
        (
            *("b[2,8,6]", S, "b[6,18]", S, "f[18]", S, S, "h[2,8]"),
            *("b[6,18]", S, "f[18]", S, "i[2,8]", S),
        ),
        {**N2, **ORDER, "window": 2, "order_global_weight": 1},
    ),
    Case(
        "QOrderedAttention",
        ("b[2,5,8]", *(S,) * 4, *("b[8,8]",) * 3, *(S,) * 3, *("f[8]",) * 3, None, None, S),
        {**N2, **ORDER},
    ),
    Case("DecoderAttention", ("f[3,2,8]", "f[5,2,8]", "f[8,8]", "f[8,16]", "f[24]", None, None, None, *FLAGS), N2, 3),
    Case("GemmaRotaryEmbedding", ("f[2,3,4]", *("h[2,5,3,4]",) * 4), {}, 2),
    Case("GatedRelativePositionBias", ("f[2,3,8]", "f[8]", "f[1,2,3,3]", "f[4,6]", "f[6]", "f[1,2,1,1]"), N2),
    Case("GatedRelativePositionBias", ("f[4,8]", "f[8]", "f[1,2,3,3]", "f[4,6]", "f[6]", "f[1,2,1,1]", "i[2,3]"), N2),
    Case("RelativePositionBias", ("f[32,4]", Known(5), Known(7)), {"max_distance": 8}),
    Case("RelativePositionBias", ("f[32,4]", "l[1]", "l[1]"), {"max_distance": 8}),
    Case("RemovePadding", ("f[2,5,8]", "i[2]"), {}, 4),
    Case("RestorePadding", ("f[7,8]", "i[2,5]")),
    Case(
        "DynamicSparseAttention",
        ("f[2,3,32]", "f[2,3,16]", "f[2,3,16]", "f[2,2,9,8]", "f[2,2,9,8]", None, None, *SELECTED, known(8)),
        GROUPED,
        3,
    ),
    Case(
        "DynamicSparseAttention",
        ("f[2,3,64]", None, None, None, None, None, None, *SELECTED, known(3)),
        GROUPED,
        3,
    ),
    Case("PagedAttention", ("h[7,32]", "h[7,16]", "h[7,16]", "h[3,16,2,8]", "h[3,16,2,8]", *PAGES), GROUPED, 3),
    Case("PagedAttention", ("h[7,64]", None, None, "h[3,16,2,8]", "h[3,16,2,8]", *PAGES), GROUPED, 3),
    Case(
        "PagedAttention",
        ("h[7,32]", "h[7,8]", None, "h[3,16,1,8]", None, *PAGES),
        {"num_heads": 4, "kv_num_heads": 1, "kv_cache_layout": "LATENT", "v_head_size": 6, "scale": 1.0},
        2,
    ),
    Case(
        "SparsePagedAttention",
        ("h[7,64]", None, None, "h[3,16,2,8]", "h[3,16,2,8]", *PAGES, None, "i[7,4]", "i[7]"),
        GROUPED,
        3,
    ),
]

STATES = [
    Case(
        "LinearAttention",
        ("f[2,3,8]", "f[2,3,16]", "f[2,3,24]", "f[3,2,4,4,6]"),
        {"q_num_heads": 2, "kv_num_heads": 4, "state_window": 3},
        2,
    ),
    Case("CausalConvWithState", ("f[2,4,7]", "f[4,1,3]", None, "f[5,2,4,2]"), {"state_window": 5}, 2),
    Case("CausalConvWithState", ("f[2,7,6]", "f[6,1,3]"), {"channels_last": 1, "state_window": 2, "dilation": 3}, 2),
    Case("CausalConvWithState", ("f[2,4,6,7]", "f[4,1,3,3]"), {"ndim": 2}, 2),
    Case("VarlenCausalConvWithState", ("f[7,4]", "f[4,1,3]", "i[3]", None, "f[2,4,2]"), {}, 2),
    Case(
        "VarlenCausalConvWithState",
        ("f[7,4]", "f[4,1,3]", "i[3]", None, "f[2,4,4]", "i[2]"),
        {"dilation": 2, "state_update_capacity": 3},
        3,
    ),
    Case("GatedDeltaNet", ("f[7,2,8]", "f[7,2,8]", "f[7,4,6]", "i[3]", "f[7,4]", "f[7,4]"), {}, 2),
    Case(
        "GatedDeltaNet",
        ("f[2,7,2,8]", "f[2,7,2,8]", "f[2,7,4,6]", None, "f[2,7,4]", "f[2,7,4]", "f[2,4,6,8]", None, None, "i[2]"),
        {"state_update_capacity": 3},
        3,
    ),
    Case("GatedDeltaNet", ("f[8,56]", None, None, None, "f[8,4]", "f[8,4]", "f[2,4,6,8]"), {}, 2),
    Case("SparseAttentionIndexer", ("f[2,3,16]", "f[2,3,8]", *NORMS, None, "f[2,5,8]"), QSA, 2),
    Case(
        "SparseAttentionIndexer",
        ("f[2,3,16]", "f[2,3,8]", *NORMS, None, "f[2,50,8]", *(None,) * 4, LENGTH),
        QSA,
        2,
    ),
    *(
        Case(
            "SparseAttentionIndexer",
            (
                *(f"f[2,{new},16]", f"f[2,{new},16]", *NORMS, None, "f[2,9,8]"),
                *(f"f[2,{new},16]", "f[4,16]", f"f[2,{new},2]", f"l[2,{new}]", None, f"f[2,2,{left},16]"),
            ),
            CSA,
            3,
        )
        for new, left in ((3, 0), (1, 2), (2, 2), (1, 5), (3, 6), (9, 7))
    ),
    Case(
        "PackedSparseAttentionIndexer",
        (
            *("f[7,16]", "f[7,8]", *NORMS, "i[3]", "i[2]", None, None, None, None),
            *("f[2,9,8]", "f[2,7,8]", None, "i[2,2]", "i[2]"),
        ),
        {**QSA, "state_capacity": 9, "state_update_capacity": 2},
        7,
        omitted=(4,),
    ),
    Case(
        "PackedSparseAttentionIndexer",
        (
            *("f[7,16]", "f[7,16]", *NORMS, "i[3]", "i[2]", "f[7,16]", "f[4,16]", "f[7,2]", "l[7]"),
            *("f[2,9,8]", "f[2,7,16]", "f[2,7,16]", "i[2,2]"),
        ),
        {**CSA, "state_capacity": 9},
        6,
    ),
]

MAMBA = ("f[2]", "f[2]", "f[2]", "f[128]", "i[1]")
LORA = {"K": 40, "N": 8, "block_size": 32, "bits": 4, "lora_block_size": 16, "lora_bits": 8}
ROTATED = ("l[1]", "f[9,2]", "f[9,2]")

RELEASE_1_32 = [
    Case("GatedAdd", ("e[2,3,8]", "e[2,3,8]", "e[2,3,5]", "e[5,1]")),
    Case("SwiGLU", ("h[2,3,8]", "h[2,3,8]")),
    Case("SwiGLU", ("h[2,3,8]",)),
    Case("MatMulPacked", ("h[2,3,32]", "B[8,18]"), {"K": 32, "N": 8, "packed_type": 2}),
    Case("GatherPacked", ("B[9,144]", "l[2,3]"), {"K": 256, "packed_type": 12, "output_dtype": 10}),
    Case("GatherPacked", ("B[9,144]", "l[]"), {"K": 256, "packed_type": 12}),
    Case(
        "MatMulNBitsQLoRA",
        ("f[2,3,40]", "B[8,2,16]", "f[8,2]", "B[4,3,16]", "f[4,3]", "B[8,1,16]", "f[8,1]"),
        LORA,
    ),
    Case(
        "MatMulNBitsQLoRA",
        ("f[40]", "B[8,2,16]", "f[16]", "B[0,3,16]", "f[4,3]", "B[8,0,16]", "f[8,1]"),
        LORA,
    ),
    Case(
        "MoEPacked",
        ("h[2,3,256]", "f[6,4]", "B[4,256,66]", "B[4,256,66]", "B[4,256,66]", "f[6,4]"),
        {"gate_type": 16, "up_type": 16, "down_type": 16, "k": 2},
    ),
    Case(
        "MoEPacked",
        ("h[6,256]", "f[6,4]", "B[4,512,66]", None, "B[4,256,132]"),
        {"gate_type": 16, "down_type": 16, "activation_type": "relu2"},
    ),
    Case("MoEGroupRouter", ("f[2,3,8]", "f[8]"), {"top_k": 2}, 3, omitted=(0,)),
    Case("MoEGroupRouter", ("f[6,256]", "f[8]", "f[8,256]"), {"top_k": 2}, 3, omitted=(0,)),
    Case("RouterGateUpProj", ("h[2,3,8]", "h[8,14]"), {"router_size": 4}, 2),
    Case(
        "HyperConnectionLowRankMix",
        ("f[2,3,8]", "f[8]", "f[8,3]", "f[3,8]", "f[8,4]", "f[2,3,2]", "f[2,3,4]"),
        {"num_branches": 4},
        3,
    ),
    Case("HyperConnectionLowRankMix", ("f[3,8]", "f[8]", "f[8,3]", "f[3,8]", "f[8,4]"), {"num_branches": 4}, 2),
    Case("RMSNormRotary", ("h[2,3,4,8]", "f[8]", *ROTATED), {"rotary_embedding_dim": 4}, 2),
    Case(
        "RMSNormRotary",
        ("h[2,3,4,8]", "f[6]", "l[2,3]", "f[9,2]", "f[9,2]"),
        {"rotary_embedding_dim": 4, "input_start": 1, "input_width": 6, "output_fp16": 1, "flatten_batch": 1},
        2,
    ),
    Case("ConvStateReplay", ("f[24]", "f[48]", "f[32]", "l[8]")),
    Case("GatedDeltaNetStateReplay", ("f[24]", "f[48]", "f[32]", "l[11]")),
    Case("SpeculativePrefixCommit", ("l[2,8]", "l[2,8]", "i[1]", "l[2,16]", "l[2,2]", "l[2,16]", "l[2]"), {}, 3),
    Case(
        "SpeculativePrefixCommit",
        ("l[4]", "l[1,4]", "i[1]", "l[16]", "l[2]", "l[8]", "l[2]"),
        {"head_rows": 4},
        3,
    ),
    Case(
        "Mamba2Verify",
        ("e[5,514]", "e[3,384,3]", "f[3,2,128,64]", "e[384,4]", "e[384]", *MAMBA),
        {"heads": 2, "n_groups": 1},
        5,
    ),
    Case(
        "Mamba2Verify",
        ("e[5,514]", "e[3,384,3]", "f[3,2,128,64]", "e[384,1,4]", "e[384]", *MAMBA),
        {"heads": 2, "n_groups": 1},
        3,
    ),
    *(
        Case(
            "PackedSparseAttentionIndexerMerge",
            ("i[4,5]", "i[4]", "i[7]", *rest),
            {"max_output_entries": 9, "policy_mode": mode},
            3,
        )
        for mode, rest in (
            ("append_range", ("i[7]", "i[7]")),
            ("append_indices", (None, None, "i[7,3]", "i[7]")),
        )
    ),
    Case(
        "PackedSparseAttentionIndexer",
        (
            *("f[7,16]", "f[7,8]", *NORMS, "i[3]", "i[2]", None, None, None, None),
            *("f[2,9,8]", "f[2,7,8]", None, "i[2,2]", "i[2]", None, "i[1]", "i[2,12]", "i[2]", "i[2]"),
        ),
        {**QSA, "state_capacity": 9, "state_update_capacity": 2, "max_output_entries": 12},
        9,
        omitted=(4,),
    ),
    Case(
        "CausalConvWithState",
        ("f[2,7,10]", "f[6,1,3]"),
        {"channels_last": 1, "input_channels": 6, "input_channel_offset": 2, "state_length": 5},
        2,
    ),
    Case(
        "CausalConvWithState",
        ("f[2,7,6]", "f[6,1,3]", None, "f[2,6,2]"),
        {"channels_last": 1, "state_channels_last": 0, "state_update_capacity": 4},
        3,
    ),
    Case(
        "VarlenCausalConvWithState",
        ("f[7,4]", "f[4,1,2]", "i[3]", None, "f[2,4,1]", None, "f[7,3,2]", "f[7,1]"),
        {"group_size": 2},
        2,
    ),
    *(
        Case(
            "GatedDeltaNet",
            ("f[7,2,8]", "f[7,2,8]", "f[7,4,6]", "i[3]", decay, "f[7,4]", "f[2,4,6,8]", None, None, "i[2]"),
            {"state_update_capacity": 3},
            3,
        )
        for decay in ("f[7,4]", "f[7,4,8]")
    ),
    Case(
        "DynamicSparseAttention",
        ("h[2,3,32]", "h[2,3,16]", "h[2,3,16]", "b[2,2,9,8]", "b[2,2,9,8]", None, None, *SELECTED, known(8)),
        {**GROUPED, "output_bf16": 1},
        4,
    ),
]

DEFINITION_CASES = [*FUSED, *PRODUCTS, *ATTENTION, *STATES, *RELEASE_1_32]
