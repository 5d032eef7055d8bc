"""ONNX operators.

`rules.txt` lists the rules; a module is imported on the first lookup of one of its operators.
"""

from __future__ import annotations

from opdefs.onnx.dialect import onnx

__all__ = ["onnx"]
