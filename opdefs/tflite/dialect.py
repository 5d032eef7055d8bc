"""The dialect of TensorFlow Lite: OpDefs from `schemas.txt`, rules from the modules of this package."""

from __future__ import annotations

from opdefs.tflite.schemas import schema, wire_schema
from shapeinf.ops import Dialect, RuleIndex

tflite = Dialect(
    "tflite",
    schema,
    versioned=False,  # the version of an operator selects a kernel, and never a shape
    rule_index=RuleIndex("opdefs.tflite"),
)
tflite.declarations = lambda _: (wire_schema(),)
