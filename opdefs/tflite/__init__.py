"""The operators of TensorFlow Lite, builtin ones (`CONV_2D`) and custom ones in the domain `custom`.

`rules.txt` lists the rules of this package; a module is imported on the first lookup of one of its operators.
"""

from __future__ import annotations

from opdefs.tflite.dialect import tflite

__all__ = ["tflite"]
