"""Which values of a program of ExecuTorch share storage, and which of its operators run bodies.

A program has the operators of torch. A graph in another dialect stands for the program that is made of the same model,
so an operator is listed here by what torch's exporters write it for. Views of any shape share the storage of their
source (`view_copy`, which ReplaceViewCopyWithViewPass turns into a view). All others are copied: `unsqueeze_copy`,
`squeeze_copy` and `clone` remain kernels. Read in ExecuTorch 1.5.1, exir/passes.
"""

from __future__ import annotations

from shapeinf.memory.runtimes.kernels import RuntimeKernels

ALIGNMENT = 16
"""Offsets in the arena, and so sizes, are multiples of it (exir/tensor.py)."""

executorch = RuntimeKernels("executorch", ALIGNMENT)

executorch.alias(
    *("aten.view.default", "aten._unsafe_view.default", "aten.view_as.default", "aten.reshape.default"),
    *("aten.flatten.using_ints", "aten.unflatten.int"),
)
executorch.alias("Reshape", "Flatten")
executorch.alias("Tensor.reshape", "Tensor.reshape_as", "Tensor.unflatten", "torch.flatten")

executorch.runs_bodies("Scan", kind="scan")
