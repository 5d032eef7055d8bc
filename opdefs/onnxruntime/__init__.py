"""The kernels of ONNX Runtime on processors: what each allocates, overwrites, shares and repacks.

The formulas are those of onnxruntime 1.32 on x86-64 with AVX2; docs/dev/onnxruntime-kernels.md has the measurements.
"""

from opdefs.onnxruntime.kernels import onnxruntime

__all__ = ["onnxruntime"]
