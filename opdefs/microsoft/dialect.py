"""ONNX Runtime's domains in the ONNX dialect. `onnx` does not define them; their OpDefs come from `schemas.txt`."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx

DOMAINS = ("com.microsoft", "com.microsoft.nchwc")
MS, NCHWC = DOMAINS
"""The domain of ONNX Runtime's public operators, and that of its blocked channel layout."""

__all__ = ["DOMAINS", "MS", "NCHWC", "onnx"]
