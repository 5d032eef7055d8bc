"""The TensorFlow Lite dialect: builtin and custom operators, and TensorFlow's own as `Flex` operators."""

from __future__ import annotations

from opdefs.tf.context import TensorFlowContext
from opdefs.tflite.declared import declare_outputs
from shapeinf.ops import ArgDef, Dialect, OpDef, RuleIndex

_INPUTS = (ArgDef("input", variadic=True, optional=True),)
_OUTPUTS = (ArgDef("output", type_list_attr="output_types"),)


def _schema(domain: str, op: str, version: int) -> OpDef | None:
    if not tflite.has_rule(domain, op):
        return None
    return OpDef(op, "tflite", domain, inputs=_INPUTS, outputs=_OUTPUTS)


tflite = Dialect(
    "tflite",
    _schema,
    versioned=False,
    rule_index=RuleIndex("opdefs.tflite"),
    context=TensorFlowContext,
)
tflite.connect = declare_outputs
