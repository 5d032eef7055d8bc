"""The object that the modules of this package register their rules with."""

from __future__ import annotations

from shapeinf.memory.runtimes.kernels import RuntimeKernels

ALIGNMENT = 64
"""The allocator for tensors and temporaries aligns to cache lines, and rounds each size up to one."""

onnxruntime = RuntimeKernels(
    "onnxruntime",
    ALIGNMENT,
    [f"opdefs.onnxruntime.{name}" for name in ("sharing", "session", "elementwise")],
)
