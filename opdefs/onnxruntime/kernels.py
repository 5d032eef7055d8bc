"""The object that the modules of this package register their rules with, and what they share."""

from __future__ import annotations

from shapeinf.memory.runtimes.kernels import RuntimeKernels

MS, NCHWC = "com.microsoft", "com.microsoft.nchwc"
"""The domain of ONNX Runtime's public operators, and that of its blocked channel layout."""

ALIGNMENT = 64
"""The allocator for tensors and temporaries aligns to cache lines, and rounds each size up to one."""

MODULES = (
    *("attention", "convolution", "einsum", "elementwise", "interpolation", "movement", "normalization"),
    *("prepacking", "products", "quantized", "quantized_convolution", "recurrent", "rewritten", "session"),
    *("sharing", "signal"),
)
onnxruntime = RuntimeKernels("onnxruntime", ALIGNMENT, [f"opdefs.onnxruntime.{name}" for name in MODULES])
