"""Deliberate differences from a runtime, with the text of the specification, and operators without an oracle."""

from __future__ import annotations

import attrs

from tests.differential.operands.verdicts import FALSE_NO, FALSE_YES, Disagreement


@attrs.frozen
class Deviation:
    """Intended disagreements of a kind for some operators: those whose detail contains a text."""

    ops: tuple[str, ...]
    kind: str
    text: str
    why: str

    def covers(self, disagreement: Disagreement) -> bool:
        return (
            disagreement.kind == self.kind
            and disagreement.case.node.op in self.ops
            and self.text in disagreement.detail
        )


def stricter(ops: str, text: str, why: str) -> Deviation:
    """shapeinf rejects what the specification excludes and the runtime accepts."""
    return Deviation(tuple(ops.split()), FALSE_NO, text, why)


def looser(ops: str, text: str, why: str) -> Deviation:
    """The runtime rejects what the specification allows, or for another reason than a size."""
    return Deviation(tuple(ops.split()), FALSE_YES, text, why)


REDUCTIONS = (
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare"
)
LOSSES = "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss"
NAMED_TWICE = "axes are distinct, as in numpy; the case repeats an axis to make the list longer"
CONTENTS = "contents, which only a run knows, are too large"
ONLY_THIS_KERNEL = "a limit of this kernel; the specification has none"
READS_THE_FIRST_ELEMENT = "the documentation requires one value; the kernel reads the first of several"

DEVIATIONS = (
    stricter("Attention", "must have the same batch size", "K and V have shape (batch_size, kv_num_heads, ..): as Q"),
    stricter("Attention", "must have the same head size", "Q and K both end in head_size"),
    stricter("Attention", "must have the same number of heads", "K and V both have kv_num_heads"),
    stricter("Attention", "must have the same length", "K and V both have kv_sequence_length"),
    stricter("Attention", "attn_mask must", "attn_mask: broadcastable to (batch_size, q_num_heads, .., ..)"),
    stricter("Attention", "nonpad_kv_seqlen must", "nonpad_kv_seqlen: a vector of integers of shape (batch_size,)"),
    stricter("Attention", "a vector must be of rank 1", "nonpad_kv_seqlen: of shape (batch_size,)"),
    looser("Attention", "attn_mask", "attn_mask: Shape must be broadcastable; the kernel wants all queries and keys"),
    looser("Attention", "Pads tensor size", "attn_mask: Shape must be broadcastable; a scalar is"),
    stricter("Compress", "must be at most as long", "Its length can be less than the input length along the axis"),
    stricter("Compress", "condition must be of rank 1", "condition: Rank 1 tensor of booleans"),
    stricter("Expand", "must be of rank 1", "shape: A 1-D tensor"),
    stricter("GatherND", "batch axis", "the first b dimensions of the shape of indices and data must be equal"),
    stricter("GatherND", "batch_dims must", "b is less than min(q, r)"),
    stricter("GroupNormalization", "must have one value", "scale and bias: of shape (C), before opset 21 (num_groups)"),
    stricter("GroupNormalization", "a vector must be", "scale and bias: of shape (C), before opset 21 (num_groups)"),
    stricter("MatMulInteger QLinearMatMul", "one per", "vectors of M (rows of A) or N (columns of B), or [.., M, 1]"),
    looser("MatMulInteger QLinearMatMul", "zero point", "may be an M element vector for per row quantization"),
    looser("QLinearMatMul", "scale must be", "may be an M element vector for per row quantization"),
    looser("QLinearMatMul", "could not be broadcast", "the reference does not align vectors with rows"),
    stricter("NonMaxSuppression", "must have exactly one element", READS_THE_FIRST_ELEMENT),
    looser("Pad", "reflect requires", ONLY_THIS_KERNEL),
    stricter("PRelu", "the slope must broadcast", "slope should be unidirectional broadcastable to input tensor X"),
    stricter(
        "QuantizeLinear DequantizeLinear", "must have exactly one element", "before opset 13 the scale is a scalar"
    ),
    stricter(REDUCTIONS, "axes must be distinct", NAMED_TWICE),
    stricter("Squeeze Unsqueeze", "axes must be distinct", NAMED_TWICE),
    stricter("Resize Upsample", "must be of rank 1", "scales and sizes hold one value an axis: a list"),
    stricter("Resize", "roi must have", "roi: 2*N values, N the length of axes; the kernel also takes the rank"),
    looser("Resize", "scale values being 1", ONLY_THIS_KERNEL),
    looser("Resize", "outermost", ONLY_THIS_KERNEL),
    looser(
        "Range",
        "ismatch between number",
        "a vector of one element passes for a scalar in the kernel, not in the function",
    ),
    looser(LOSSES, "Out of range value", "labels are data"),
    stricter(LOSSES, "one value per class", "weight: a 1D tensor of size C"),
    stricter("RotaryEmbedding", "must be even", "head_size has to be even"),
    looser("Loop Scan", "ismatch between number of inferred and declared", "what bodies declare is compared elsewhere"),
    looser("Loop Scan", "merge shape info", "what bodies declare is compared elsewhere"),
    looser("RNN GRU LSTM", "value/s in sequence_lens", CONTENTS),
    looser("com.microsoft.AttnLSTM com.microsoft.DynamicQuantizeLSTM", "value/s in sequence_lens", CONTENTS),
    looser("com.microsoft.AttnLSTM", "memory sequence lengths value", CONTENTS),
    looser(
        "com.microsoft.EmbedLayerNormalization com.microsoft.QEmbedLayerNormalization", "index out of range", CONTENTS
    ),
    looser("com.microsoft.VarlenNGramHashMapping", "cumulative_sequence_length", CONTENTS),
    stricter("com.microsoft.EmbedLayerNormalization", "position_ids must", "position_ids: 2D tensor"),
    looser("com.microsoft.nchwc.Conv", "blocked layout", "channels are padded to the block of the machine"),
    looser("com.microsoft.MatMulIntegerToFloat com.microsoft.DynamicQuantizeMatMul", "zero point", ONLY_THIS_KERNEL),
    stricter(
        "com.microsoft.QLinearSoftmax com.microsoft.QLinearWhere com.microsoft.QLinearConcat",
        "must have exactly one element",
        READS_THE_FIRST_ELEMENT,
    ),
    stricter("com.microsoft.MatMulIntegerToFloat", "must have exactly one element", READS_THE_FIRST_ELEMENT),
    looser("com.microsoft.Attention com.microsoft.QAttention", "4D mask in attention cpu kernel", ONLY_THIS_KERNEL),
    stricter("com.microsoft.WordConvEmbedding", "must be of rank", "the kernel does not look at more axes"),
    stricter("com.microsoft.MultiHeadAttention", "past_value must be", "past_value has the head size of the value"),
    stricter("com.microsoft.GroupQueryAttention", "position_ids must", "position_ids: 2D tensor"),
    stricter("com.microsoft.DecoderMaskedMultiHeadAttention", "must have exactly one element", READS_THE_FIRST_ELEMENT),
)

DATA = {
    ("SplitToSequence", 1): "the sizes of the parts must add up to the axis",
    ("com.microsoft.BifurcationDetector", 3): "the number of predicted tokens follows from an index",
    ("com.microsoft.DecoderMaskedMultiHeadAttention", 3): "the number of keys in a buffer is data",
    ("com.microsoft.VarlenNGramHashMapping", 2): "the ends of the sequences must cover all tokens",
    ("com.microsoft.VarlenNGramHashMapping", 3): "the ends of the sequences must cover all tokens",
    ("com.microsoft.QMoE", 2): "packed weights come in several layouts",
    ("com.microsoft.QMoE", 5): "packed weights come in several layouts",
    ("com.microsoft.QMoE", 8): "packed weights come in several layouts",
    ("Loop", 1): "trip counts and conditions of more than one element",
}
"""Operands whose legal sizes depend on contents, by operator and position, with the reason."""

UNJUDGED = {
    "CastLike": "nothing but the type of the second input matters",
    "SequenceAt": "inputs are sequences",
    "SequenceConstruct": "elements of a sequence may have any shapes",
    "SequenceErase": "inputs are sequences",
    "SequenceInsert": "inputs are sequences",
    "SequenceMap": "inputs are sequences",
    "ai.onnx.preview.training.Gradient": "neither runtime has it",
    "com.microsoft.BitmaskDropout": "no kernel on a CPU; ratio and mode are left out by its one case",
    "com.microsoft.EPContext": "a compiled graph has any inputs",
    "com.microsoft.Snpe": "a compiled graph has any inputs",
    "com.microsoft.MatMulBlockQuantizedFp8Weight": "no kernel on a CPU, and types that its inference does not take",
    "com.microsoft.SparseAttention": "runs with buffers only that are shared with its outputs",
    "com.microsoft.SparseToDenseMatMul": "a sparse operand",
    "com.microsoft.WhisperBeamSearch": "runs around whole decoders only",
}
"""Operators of two inputs or more without a case, and the reason."""

OPEN = {
    "Loop": "trip counts and conditions of more than one element",
    "com.microsoft.VarlenNGramHashMapping": "there must be a token for each sample",
    "com.microsoft.MoE": "the sizes of hidden layers of experts: weights come in two layouts",
    "com.microsoft.QMoE": "the sizes of hidden layers of experts: packed weights come in several layouts",
    "com.microsoft.GatedDeltaNet": "no kernel on a CPU: the sizes of packed forms",
    "com.microsoft.SparseAttentionIndexer": "no kernel on a CPU: its weights, tables and buffers",
    "com.microsoft.PackedSparseAttentionIndexer": "no kernel on a CPU: as the indexer that is not packed",
    "com.microsoft.PagedAttention": "no kernel on a CPU: caches in blocks",
    "com.microsoft.SparsePagedAttention": "no kernel on a CPU: caches in blocks",
    "com.microsoft.DynamicSparseAttention": "no kernel on a CPU: what is selected",
    "com.microsoft.VarlenCausalConvWithState": "no kernel on a CPU: fewer tokens than samples",
    "com.microsoft.DecoderMaskedMultiHeadAttention": "cache_indirection, and lengths that are data",
    "com.microsoft.MultiHeadAttention": "lengths that are data",
    "com.microsoft.Attention": "a vector of lengths has three forms",
    "com.microsoft.QAttention": "a vector of lengths has three forms",
    "com.microsoft.GroupQueryAttention": "lengths that are data",
    "com.microsoft.MatMulNBits": "an index of groups may be padded",
    "com.microsoft.ExpandDims": "the axis must be a constant",
}
"""Operators of which some sizes are unchecked, so that the contract may accept what a run rejects."""
