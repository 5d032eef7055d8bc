"""The dialect of TensorFlow Lite: OpDefs from `schemas.txt`, rules from the modules of this package.

A `Flex` operator is one of TensorFlow, with its rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tflite.declared import declare_outputs
from opdefs.tflite.schemas import CUSTOM, schema, wire_schema
from shapeinf.ops import CostRule, Dialect, OpDef, RuleIndex

if TYPE_CHECKING:
    from shapeinf.ops.axes import AxisRule

FLEX = "Flex"


def _schema(domain: str, op: str, version: int) -> OpDef | None:
    """The OpDef of an operator; of a Flex operator that of TensorFlow, whose rules know it by its name there."""
    original = _original(domain, op)
    function = tf.lookup("", original, 0) if original else None
    if function is not None:
        return attrs.evolve(function, dialect="tflite", domain=domain)
    return schema(domain, op, version)


class TensorFlowLite(Dialect):
    """The dialect; Flex operators have the cost rules and axis rules of TensorFlow."""

    def cost_rule(self, domain: str, op: str, version: int) -> CostRule | None:
        """See `Dialect.cost_rule`."""
        original = _original(domain, op)
        return tf.cost_rule("", original, 0) if original else super().cost_rule(domain, op, version)

    def axis_rule(self, domain: str, op: str, version: int) -> AxisRule | None:
        """See `Dialect.axis_rule`."""
        original = _original(domain, op)
        return tf.axis_rule("", original, 0) if original else super().axis_rule(domain, op, version)


def _original(domain: str, op: str) -> str:
    """The operator of TensorFlow that a Flex operator is; empty for another one."""
    return op.removeprefix(FLEX) if domain == CUSTOM and op.startswith(FLEX) else ""


tflite = TensorFlowLite(
    "tflite",
    _schema,
    versioned=False,  # the version of an operator selects a kernel, and never a shape
    costs=["opdefs.tflite.costs"],
    axes=["opdefs.tflite.axis_rules"],
    rule_index=RuleIndex("opdefs.tflite"),
    kernels={"litert": "opdefs.litert:litert", "tflite-micro": "opdefs.tflite_micro:tflite_micro"},
    context=TensorFlowContext,
)
tflite.declarations = lambda _: (wire_schema(),)
tflite.connect = declare_outputs
