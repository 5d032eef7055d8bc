"""Costs of onnxruntime's operators."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules import cost_elements as elements
from opdefs.rules import cost_products as products

MS = "com.microsoft"

onnx.cost("Gelu", "QuickGelu", "FastGelu", domain=MS)(elements.elementwise)
onnx.cost("FusedConv", domain=MS)(products.convolution())
