"""The domains of ONNX Runtime in the ONNX dialect; `schemas.txt` has their OpDefs, which `onnx` lacks."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx

DOMAINS = ("com.microsoft", "com.microsoft.nchwc")
MS, NCHWC = DOMAINS
"""The domain of ONNX Runtime's public operators, and that of its blocked channel layout."""

__all__ = ["DOMAINS", "MS", "NCHWC", "onnx"]
