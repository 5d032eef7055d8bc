"""What a session of ONNX Runtime infers of its own operators, and how its operators with bodies run.

Asked of the session itself: every value of a model becomes an output without a type, and the session reports its shape.
"""

from __future__ import annotations

from opdefs.onnxruntime.kernels import onnxruntime

MICROSOFT, BLOCKED = "com.microsoft", "com.microsoft.nchwc"

onnxruntime.inferred_like("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MICROSOFT, like="Identity")
onnxruntime.inferred_like("BiasGelu", "FastGelu", "QuickGelu", "Gelu", domain=MICROSOFT, like="Identity")
onnxruntime.inferred_like("FusedConv", domain=MICROSOFT, like="Conv")
onnxruntime.inferred_like("Conv", domain=BLOCKED, like="Conv")
onnxruntime.inferred_like("MaxPool", domain=BLOCKED, like="MaxPool")
onnxruntime.inferred_like("AveragePool", domain=BLOCKED, like="AveragePool")
onnxruntime.inferred_like("GlobalMaxPool", "GlobalAveragePool", domain=BLOCKED, like="GlobalAveragePool")
onnxruntime.inferred_like("ReorderInput", domain=BLOCKED, like="Identity")

onnxruntime.contents_inferred("Shape")

onnxruntime.runs_bodies("If", kind="branches")
onnxruntime.runs_bodies("Loop", kind="loop")
onnxruntime.runs_bodies("Scan", kind="scan")
