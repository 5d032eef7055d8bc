"""Cases of ONNX Runtime's operators that its CPU kernels run: element-wise, normalization, products, images."""

import numpy as np

from tests.differential.single_node import NCHWC, Case, Known, runtime_values

TENSOR_SCALE = runtime_values(0.5, dtype=np.float32, shape=())
ZERO = runtime_values(0, dtype=np.uint8, shape=())
Q = (TENSOR_SCALE, ZERO)  # scale and zero point

FUSED = [
    Case("Gelu", ("f[2,3,4]",)),
    Case("QuickGelu", ("f[2,3]",)),
    Case("BiasGelu", ("f[2,3,4]", "f[4]")),
    Case("FastGelu", ("f[2,3,4]",)),
    Case("FastGelu", ("f[2,3,4]", "f[4]")),
    Case("SampleOp", ("f[2,3]",)),
    Case("Inverse", (np.eye(3, dtype=np.float32)[None].repeat(2, 0),)),
    Case("Trilu", ("f[2,3,4]",)),
    Case("Trilu", ("f[2,3,4]", runtime_values(1, shape=()))),
    Case("ScaledSiLU", ("f[2,3,4]",), {"alpha": 2.0}),
    Case("ScaledSiLU", ("f[2,3,4]", runtime_values(2, dtype=np.float32, shape=()))),
    Case("GatedAdd", ("f[2,3,4]", "f[2,3,4]", "f[2,3,1]")),
    Case("ExpandDims", ("f[2,3]", Known(1, dtype=np.int32, shape=()))),
    Case("ExpandDims", ("f[2,3]", Known(-1, dtype=np.int32, shape=()))),
    Case("ExpandDims", ("f[2,3]", runtime_values(2, dtype=np.int32, shape=())), data=True),
]

NORMALIZATION = [
    Case("SimplifiedLayerNormalization", ("f[2,3,4]", "f[4]"), domain=""),
    Case("SkipLayerNormalization", ("f[2,3,4]", "f[2,3,4]", "f[4]", "f[4]", "f[4]")),
    Case("SkipLayerNormalization", ("f[2,3,4]", "f[1,3,4]", "f[4]")),
    Case("SkipLayerNormalization", ("f[2,3,4]", "f[3,4]", "f[4]")),
    Case("SkipSimplifiedLayerNormalization", ("f[2,3,4]", "f[2,3,4]", "f[4]")),
    Case("SkipSimplifiedLayerNormalization", ("f[5,4]", "f[5,4]", "f[4]", "f[4]")),
    Case(
        "EmbedLayerNormalization", ("i[2,3]", "i[2,3]", "f[9,4]", "f[8,4]", "f[2,4]", "f[4]", "f[4]", "i[2,3]"), {}, 3
    ),
    Case("EmbedLayerNormalization", ("i[2,3]", None, "f[9,4]", "f[8,4]", None, "f[4]", "f[4]"), {}, 2),
    Case(
        "EmbedLayerNormalization",
        ("i[2,3]", None, "f[9,4]", "f[8,4]", None, "f[4]", "f[4]", None, "i[1,3]"),
        {},
        2,
    ),
    Case(
        "QEmbedLayerNormalization",
        (
            "i[2,3]",
            "i[2,3]",
            "B[9,4]",
            "B[8,4]",
            "B[2,4]",
            "B[4]",
            "B[4]",
            "i[2,3]",
            *(TENSOR_SCALE,) * 5,
            *(ZERO,) * 5,
        ),
        {},
        2,
    ),
    Case("BranchwiseRMSNorm", ("f[2,3,4]", "f[4]")),
    Case("BranchwiseRMSNorm", ("f[2,3,12]", "f[12]"), {"num_branches": 3}),
    Case("GatedRMSNorm", ("f[2,3,8]", "f[4]", "f[2,3,8]")),
]

PRODUCTS = [
    Case("FusedMatMul", ("f[2,3,4]", "f[4,5]")),
    Case("FusedMatMul", ("f[4]", "f[2,4,5]")),
    Case("FusedMatMul", ("f[2,3,4]", "f[4]")),
    Case("FusedMatMul", ("f[4,3]", "f[5,4]"), {"transA": 1, "transB": 1}),
    Case("FusedMatMul", ("f[4]", "f[5,4]"), {"transA": 1, "transB": 1}),
    Case("FusedMatMul", ("f[3,2,4]", "f[2,4,5]"), {"transBatchA": 1}),
    Case("FusedMatMul", ("f[3,2,6,4]", "f[5,2,6,4]"), {"transBatchA": 1, "transBatchB": 1, "transB": 1}),
    Case("FusedMatMul", ("f[4,2,6,3]", "f[2,6,4,5]"), {"transBatchA": 1, "transA": 1}),
    Case("TransposeMatMul", ("f[2,4,3]", "f[2,4,5]"), {"transA": 1}),
    Case("FusedGemm", ("f[3,4]", "f[4,5]", "f[5]"), {"activation": "Relu"}),
    Case("FusedGemm", ("f[4,3]", "f[5,4]"), {"transA": 1, "transB": 1, "activation": "Relu"}),
    Case("CDist", ("f[3,4]", "f[5,4]"), {"metric": "euclidean"}),
    Case("MatMulInteger16", ("s[2,3,4]", "s[4,5]")),
    Case("MatMulIntegerToFloat", ("B[2,3,4]", "B[4,5]", TENSOR_SCALE, TENSOR_SCALE, ZERO, ZERO, "f[5]")),
    Case("DynamicQuantizeMatMul", ("f[2,3,4]", "B[4,5]", TENSOR_SCALE, ZERO, "f[5]")),
    Case("DynamicQuantizeMatMul", ("f[2,3,4]", "B[4,5]", TENSOR_SCALE)),
    Case("QGemm", ("B[3,4]", *Q, "B[4,5]", *Q)),
    Case("QGemm", ("B[4,3]", *Q, "B[5,4]", *Q, "i[5]", *Q), {"transA": 1, "transB": 1, "alpha": 1.0}),
    Case("MatMulNBits", ("f[2,3,32]", "B[8,2,8]", "f[8,2]"), {"K": 32, "N": 8, "block_size": 16}),
    Case("MatMulNBits", ("f[3,40]", "B[8,3,8]", "f[8,3]"), {"K": 40, "N": 8, "block_size": 16}),
    Case("MatMulBnb4", ("f[2,3,32]", "B[128]", "f[16]"), {"K": 32, "N": 8, "block_size": 16, "quant_type": 0}),
    Case("MatMulFpQ4", ("f[3,32]", "B[160]", Known(32, 8)), {"blk_quant_type": 0}),
    Case("MoEGroupRouter", ("f[2,3,8]", "f[8]"), {"top_k": 2}),
    Case("MoEGroupRouter", ("f[5,8]", "f[8]"), {"top_k": 2, "n_group": 4, "topk_group": 2}),
    Case("MoE", ("f[5,8]", "f[5,4]", "f[4,16,8]", None, "f[4,8,16]"), {"k": 2}),
    Case("MoE", ("f[2,5,8]", "f[10,4]", "f[4,16,8]", None, "f[4,8,16]"), {"k": 2}),
    Case(
        "QMoE",
        ("f[5,32]", "f[5,4]", "B[4,32,16]", "f[4,32]", None, "B[4,32,16]", "f[4,32]"),
        {"k": 2, "activation_type": "relu"},
    ),
]

QUANTIZED = [
    Case("QuantizeLinear", ("f[2,3]", TENSOR_SCALE, ZERO)),
    Case("QuantizeLinear", ("f[2,3]", TENSOR_SCALE, runtime_values(1, dtype=np.int16, shape=()))),
    Case("QuantizeLinear", ("f[2,3]", "f[3]", "B[3]"), {"axis": 1}),
    Case("DequantizeLinear", ("B[2,3]", TENSOR_SCALE, ZERO)),
    Case("DequantizeLinear", ("i[2,3]", TENSOR_SCALE)),
    Case("QLinearAdd", ("B[2,1,4]", *Q, "B[3,1]", *Q, *Q)),
    Case("QLinearAdd", ("B[2,4]", *Q, "B[4]", *Q, TENSOR_SCALE)),
    Case("QLinearMul", ("B[2,1,4]", *Q, "B[3,1]", *Q, *Q)),
    Case("QLinearLeakyRelu", ("B[2,3]", *Q, *Q)),
    Case("QLinearSigmoid", ("B[2,3]", *Q, *Q)),
    Case("QLinearSoftmax", ("B[2,3]", *Q, *Q), {"opset": 13}),
    Case("QLinearWhere", ("?[2,1]", "B[3]", *Q, "B[2,3]", *Q, *Q)),
    Case("QLinearConcat", (*Q, "B[2,3]", *Q, "B[2,4]", *Q), {"axis": 1}),
    Case("QLinearAveragePool", ("B[1,3,8,9]", *Q, *Q), {"kernel_shape": [3, 3], "strides": [2, 2]}),
    Case(
        "QLinearAveragePool",
        ("B[1,8,9,3]", *Q, *Q),
        {"kernel_shape": [3, 3], "strides": [2, 2], "channels_last": 1, "pads": [1, 1, 1, 1]},
    ),
    Case("QLinearAveragePool", ("B[1,3,8,9]", *Q, *Q), {"kernel_shape": [3, 2], "strides": [2, 3], "ceil_mode": 1}),
    Case(
        "QLinearAveragePool",
        ("B[1,3,6,6]", *Q, *Q),
        {"kernel_shape": [1, 1], "strides": [4, 4], "ceil_mode": 1, "pads": [0, 0, 0, 0]},
    ),
    Case("QLinearAveragePool", ("B[1,3,8,9]", *Q, *Q), {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER"}),
    Case("QLinearGlobalAveragePool", ("B[1,3,8,9]", *Q, *Q)),
    Case("QLinearGlobalAveragePool", ("B[1,8,9,3]", *Q, *Q), {"channels_last": 1}),
    Case("QLinearConv", ("B[1,4,8,9]", *Q, "B[6,2,3,3]", *Q, *Q, "i[6]"), {"group": 2, "pads": [1, 1, 1, 1]}),
    Case("QLinearConv", ("B[1,8,9,4]", *Q, "B[6,4,3,3]", *Q, *Q), {"channels_last": 1, "strides": [2, 2]}),
    Case("GatherBlockQuantized", ("B[5,16]", "l[2,3]", "f[5,2]"), {"block_size": 16}),
    Case("GatherBlockQuantized", ("B[5,16]", "l[2,3]", "f[5,1]", "B[5,1]"), {"block_size": 16, "bits": 8}),
]

IMAGES = [
    Case("FusedConv", ("f[1,4,8,9]", "f[6,2,3,3]", "f[6]"), {"group": 2, "activation": "Relu"}),
    Case("FusedConv", ("f[1,4,8,9]", "f[6,4,3,3]", None, "f[1,6,6,7]"), {"activation": "Relu"}),
    Case("ConvTransposeWithDynamicPads", ("f[1,4,8,9]", "f[4,3,3,3]", Known(1, 1, 1, 0)), {"strides": [2, 2]}),
    Case(
        "ConvTransposeWithDynamicPads",
        ("f[1,4,8,9]", "f[4,3,3,3]", runtime_values(1, 1, 1, 0), "f[3]"),
        {"strides": [2, 2]},
        data=True,
    ),
    Case("NhwcMaxPool", ("B[1,8,9,3]",), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    Case("NhwcMaxPool", ("B[1,8,9,3]",), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    Case("NhwcMaxPool", ("B[1,8,9,3]",), {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    Case("MaxpoolWithMask", ("f[1,3,8,9]", "i[1,3,8,9]"), {"kernel_shape": [3, 3], "strides": [2, 2]}),
    Case("GridSample", ("f[2,3,8,9]", "f[2,4,5,2]")),
    Case("CropAndResize", ("f[2,3,8,9]", "f[5,4]", "i[5]", Known(4, 6, dtype=np.int32))),
    Case("CropAndResize", ("f[2,3,8,9]", "f[5,4]", "i[5]", runtime_values(4, 6, dtype=np.int32)), data=True),
    Case("Conv", ("f[1,16,8,9]", "f[32,16,3,3]", "f[32]"), {"pads": [1, 1, 1, 1]}, domain=NCHWC),
    Case("Conv", ("f[1,3,8,9]", "f[32,3,3,3]"), domain=NCHWC),
    Case("Conv", ("f[1,16,8,9]", "f[16,1,3,3]"), {"group": 16}, domain=NCHWC),
    Case("MaxPool", ("f[1,16,8,9]",), {"kernel_shape": [3, 3], "strides": [2, 2]}, domain=NCHWC),
    Case("MaxPool", ("f[1,16,8,9]",), {"kernel_shape": [3, 2], "strides": [2, 3], "ceil_mode": 1}, domain=NCHWC),
    Case("AveragePool", ("f[1,16,8,9]",), {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}, domain=NCHWC),
    Case("GlobalMaxPool", ("f[1,16,8,9]",), domain=NCHWC),
    Case("GlobalAveragePool", ("f[1,16,8,9]",), domain=NCHWC),
    Case("ReorderInput", ("f[1,32,8,9]",), domain=NCHWC),
    Case("ReorderInput", ("f[1,8,9,20]",), {"channels_last": 1}, domain=NCHWC, data=True),
    Case("ReorderInput", ("f[1,12,8,9]",), domain=NCHWC, data=True),
    Case("ReorderOutput", ("f[1,32,8,9]",), {"channels": 32}, domain=NCHWC),
    Case("ReorderOutput", ("f[1,32,8,9]",), {"channels": 30, "channels_last": 1}, domain=NCHWC),  # 32 in any blocks
    Case("Upsample", ("f[1,16,8,9]",), {"scales": [1, 1, 2, 3]}, domain=NCHWC),
]

WORDS = np.array(["a b", "c", "d e f", "", "g h", "i"], dtype=object)
TOKENS = {"mark": 0, "mincharnum": 1, "pad_value": "#", "separators": [" "]}
NGRAMS = {"max_ngram_size": 3, "n_head_per_ngram": 2, "pad_id": 0}
SIZES = runtime_values(5, 7, 11, 13)

TEXT = [
    Case("MurmurHash3", ("i[2,3]",)),
    Case("MurmurHash3", ("i[2,3]",), {"positive": 0}),
    Case("MurmurHash3", (WORDS,)),
    Case("Tokenizer", (WORDS,), TOKENS, data=True),
    Case("Tokenizer", (WORDS.reshape(2, 3),), TOKENS | {"mark": 1}, data=True),
    Case("Tokenizer", (WORDS[:0],), TOKENS),
    Case("Tokenizer", (WORDS[:0].reshape(2, 0),), TOKENS),
    Case("WordConvEmbedding", ("i[4,7]", "f[6,1,3,5]", "f[6]", "f[9,5]")),
    Case("NGramRepeatBlock", ("l[2,5]", "f[2,9]"), {"ngram_size": 2}),
    Case("BifurcationDetector", ("l[5]", "l[4]", runtime_values(0, shape=())), {}, 2),
    Case("BifurcationDetector", ("l[5]", "l[4]", runtime_values(0, shape=()), "l[6]"), {}, 2, data=True),
    Case(
        "BifurcationDetector",
        (runtime_values(2, 3), runtime_values(1), runtime_values(0, shape=()), runtime_values(2, 3, 4)),
        {},
        2,
        data=True,
    ),
    Case("NGramHashMapping", ("l[2,5]", "l[3]", SIZES), NGRAMS, 2),
    Case("NGramHashMapping", ("l[2,5]", "l[3]", SIZES, "l[2,2]", "l[4]"), NGRAMS, 2),
    Case("NGramHashMapping", ("l[2,1]", "l[3]", SIZES, None, None, runtime_values(1, shape=()), "i[2,1]"), NGRAMS, 2),
    Case("VarlenNGramHashMapping", ("l[5]", "l[3]", SIZES, runtime_values(0, 2, 5, dtype=np.int32)), NGRAMS, 2),
    Case(
        "VarlenNGramHashMapping",
        (
            *(
                "l[5]",
                "l[3]",
                SIZES,
                runtime_values(0, 2, 5, dtype=np.int32),
                "l[2,2]",
                "l[4]",
                runtime_values(1, shape=()),
            ),
            *("i[5]", "i[2,2]", runtime_values(1, 1, dtype=np.int32)),
        ),
        NGRAMS | {"state_update_capacity": 2},
        4,
    ),
]

TENSORS = [
    Case("GatherND", ("f[2,3,4]", runtime_values(0, 1, 1, 2, shape=(2, 2))), rank=False),
    Case("Pad", ("f[2,3]", Known(0, 2, 1, 0))),
    Case("Pad", ("f[2,3]", Known(0, 2, 1, -1, shape=(1, 4)))),
    Case("Pad", ("f[2,3]", runtime_values(0, 2, 1, 0)), data=True),
    Case("Range", (Known(1, shape=()), Known(10, shape=()), Known(2, shape=()))),
    Case("Range", (Known(1), Known(10))),
    Case("Range", (runtime_values(1, shape=()), runtime_values(10, shape=())), data=True),
    Case("Unique", ("f[6]",), {}, 3, data=True),
    Case("UnfoldTensor", ("f[2,9,3]",), {"dim": 1, "size": 3, "step": 2}),
    Case("UnfoldTensor", ("f[2,9]",), {"size": 4}),
    Case("DynamicTimeWarping", ("f[4,6]",), data=True),
    Case("DynamicTimeWarping", ("f[1,4,6]",), data=True),
]

CASES = [*FUSED, *NORMALIZATION, *PRODUCTS, *QUANTIZED, *IMAGES, *TEXT, *TENSORS]
