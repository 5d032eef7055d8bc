"""The dialect of TensorFlow Lite: OpDefs from `schemas.txt`, rules from the modules of this package.

A `Flex` operator is one of TensorFlow, with its rules.
"""

from __future__ import annotations

import attrs

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tflite.declared import declare_outputs
from opdefs.tflite.schemas import CUSTOM, schema, wire_schema
from shapeinf.ops import Dialect, OpDef, RuleIndex

FLEX = "Flex"


def _schema(domain: str, op: str, version: int) -> OpDef | None:
    """The OpDef of an operator; of a Flex operator that of TensorFlow, whose rules know it by its name there."""
    if domain == CUSTOM and op.startswith(FLEX):
        original = tf.lookup("", op.removeprefix(FLEX), 0)
        if original is not None:
            return attrs.evolve(original, dialect="tflite", domain=domain)
    return schema(domain, op, version)


tflite = Dialect(
    "tflite",
    _schema,
    versioned=False,  # the version of an operator selects a kernel, and never a shape
    rule_index=RuleIndex("opdefs.tflite"),
    kernels={"litert": "opdefs.litert:litert", "tflite-micro": "opdefs.tflite_micro:tflite_micro"},
    context=TensorFlowContext,
)
tflite.declarations = lambda _: (wire_schema(),)
tflite.connect = declare_outputs
