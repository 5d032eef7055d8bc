"""Operators without a kernel of their own, and the element types that most kernels lack."""

from __future__ import annotations

from opdefs.onnxruntime.kernels import MS, onnxruntime

onnxruntime.rewritten(
    *("HardSwish", "Mish", "MeanVarianceNormalization", "GroupNormalization", "Bernoulli", "CenterCropPad", "CastLike"),
    *("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"),
    reason="the session replaces this operator by others: its optimized model shows them",
)

onnxruntime.emulated_types("float16", "bfloat16")
onnxruntime.own_types(
    "float16",
    *("Cast", "Clip", "Compress", "Concat", "ConstantOfShape", "Expand", "Flatten", "Gather"),
    *("GatherElements", "GatherND", "Identity", "IsInf", "IsNaN", "LayerNormalization", "Max", "Min", "Mod"),
    *("RandomNormalLike", "RandomUniformLike", "Reshape", "ReverseSequence", "Round", "ScatterElements"),
    *("ScatterND", "Shape", "Shrink", "Sign", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze", "Attention"),
    *("QuantizeLinear", "DequantizeLinear", "RotaryEmbedding"),
)
onnxruntime.own_types(
    "float16",
    *("ExpandDims", "RotaryEmbedding", "MatMulNBits", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization"),
    domain=MS,
)
onnxruntime.own_types(
    "bfloat16",
    *("Cast", "Concat", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Reshape"),
    *("Shape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze"),
)
