"""ONNX operators.

`signatures.txt` lists the rules; a module is imported when an operator of it is first looked up.
"""

from __future__ import annotations

from opdefs.onnx.dialect import onnx

__all__ = ["onnx"]
