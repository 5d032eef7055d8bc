"""TensorFlow operators.

`rules.txt` lists the rules; a module is imported when an operator of it is first looked up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.lazy_names import import_on_first_use

__all__ = ["OpDefBuilder", "TensorFlowContext", "tf"]

if TYPE_CHECKING:
    from opdefs.tf.op_def_builder import OpDefBuilder
else:  # no model needs it
    __getattr__ = import_on_first_use(__name__, {"OpDefBuilder": "opdefs.tf.op_def_builder"})
