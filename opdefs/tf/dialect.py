"""The TensorFlow dialect: OpDefs from `opdefs.json`, rules from the modules of this package."""

from __future__ import annotations

from opdefs.tf.schemas import schema
from shapeinf.ops import Dialect

tf = Dialect(
    "tf", schemas=schema, versioned=False, costs=["opdefs.tf.costs"]
)  # the only version is that of the producer of a file
