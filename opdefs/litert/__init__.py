"""The kernels of LiteRT on processors: where their results are, which memory they share, and their temporaries.

Read in LiteRT (tflite/kernels, August 2026), and measured with ai-edge-litert 2.3.0.
"""

from opdefs.litert.kernels import litert

__all__ = ["litert"]
