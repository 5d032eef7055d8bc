"""ONNX Runtime's domains in the ONNX dialect. `onnx` does not define them; their OpDefs come from `schemas.json`."""

from __future__ import annotations

from opdefs.microsoft.schemas import DOMAINS, schema
from opdefs.onnx.dialect import onnx
from opdefs.onnx.schemas import SOURCES

MS, NCHWC = DOMAINS
"""The domain of ONNX Runtime's public operators, and that of its blocked channel layout."""

SOURCES.update(dict.fromkeys(DOMAINS, schema))

__all__ = ["MS", "NCHWC", "onnx"]
