"""Operators of TensorFlow Lite, as LiteRT computes their shapes.

`rules.txt` lists the rules; a module is imported when an operator of it is first looked up.
"""

from __future__ import annotations

from opdefs.tflite.dialect import tflite

__all__ = ["tflite"]
