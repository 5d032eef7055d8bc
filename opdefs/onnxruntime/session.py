"""What a session of ONNX Runtime infers of its own operators, and how its operators with bodies run.

A session reports its shapes where all values of a model become outputs without a type.
"""

from __future__ import annotations

from opdefs.onnxruntime.kernels import MS, NCHWC, onnxruntime

onnxruntime.inferred_like("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MS, like="Identity")
onnxruntime.inferred_like("BiasGelu", "FastGelu", "QuickGelu", "Gelu", domain=MS, like="Identity")
onnxruntime.inferred_like("FusedConv", domain=MS, like="Conv")
onnxruntime.inferred_like("Conv", domain=NCHWC, like="Conv")
onnxruntime.inferred_like("MaxPool", domain=NCHWC, like="MaxPool")
onnxruntime.inferred_like("AveragePool", domain=NCHWC, like="AveragePool")
onnxruntime.inferred_like("GlobalMaxPool", "GlobalAveragePool", domain=NCHWC, like="GlobalAveragePool")
onnxruntime.sized_by_machine("ReorderInput", domain=NCHWC)  # by the channels of a block

onnxruntime.contents_inferred("Shape")

onnxruntime.passes_on("Identity")

onnxruntime.runs_bodies("If", kind="branches")
onnxruntime.runs_bodies("Loop", kind="loop")
onnxruntime.runs_bodies("Scan", kind="scan")
