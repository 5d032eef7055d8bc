"""Which buffers ONNX Runtime shares: 19 operators write in place, five are names for the buffer of their input.

Measured at opsets 7 to 23. Arithmetic, comparisons, normalizations and all other operators write to another buffer.
"""

from __future__ import annotations

from opdefs.onnxruntime.kernels import onnxruntime

onnxruntime.alias("Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten")

onnxruntime.in_place(
    *("Relu", "LeakyRelu", "Elu", "Selu", "Celu", "ThresholdedRelu", "Shrink", "Softplus", "Softsign"),
    *("Sigmoid", "HardSigmoid", "Tanh", "Clip", "Softmax", "LogSoftmax", "Cast", "CastLike"),
    *("ScatterElements", "Trilu"),
)
onnxruntime.in_place("Scaler", "Normalizer", domain="ai.onnx.ml")

SUM = 3
"""The input with the tensor that a fused convolution adds to its result."""
onnxruntime.in_place("FusedConv", domain="com.microsoft", position=SUM)
onnxruntime.in_place("Conv", domain="com.microsoft.nchwc", position=SUM)
