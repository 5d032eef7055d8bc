"""The ONNX dialect: OpDefs from the tables of schemas, rules from the modules of this package and `microsoft`."""

from __future__ import annotations

from opdefs.onnx.schemas import history, schema
from shapeinf.ops import Dialect, RuleIndex

onnx = Dialect(
    "onnx",
    schemas=schema,
    history=history,
    costs=["opdefs.onnx.costs"],
    axes=["opdefs.onnx.axes"],
    kernels={"executorch": "opdefs.executorch:executorch", "onnxruntime": "opdefs.onnxruntime:onnxruntime"},
    rule_index=RuleIndex("opdefs.onnx", "opdefs.microsoft"),
)
