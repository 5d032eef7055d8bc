"""The TensorFlow dialect: OpDefs from `schemas.txt`, rules from the modules of this package."""

from __future__ import annotations

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.schemas import history, schema
from shapeinf.graph import Graph
from shapeinf.ops import Dialect, RuleIndex


def _connect(graph: Graph) -> Graph:
    """See `opdefs.tf.stored_values.connect`, which is imported only for graphs of TensorFlow."""
    from opdefs.tf.stored_values import connect

    return connect(graph)


tf = Dialect(
    "tf",
    schemas=schema,
    history=history,
    versioned=False,  # the only version is that of the producer of a file
    costs=["opdefs.tf.costs"],
    axes=["opdefs.tf.axes"],
    rule_index=RuleIndex("opdefs.tf"),
    context=TensorFlowContext,
)
tf.connect = _connect
