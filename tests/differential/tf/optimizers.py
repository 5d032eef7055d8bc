"""The inputs of each optimizer for which TensorFlow rejects a wrong shape.

`python -m tests.differential.tf.optimizers` creates each operator with a wrong shape of each input, and records them.
"""

from __future__ import annotations

import json
from pathlib import Path

from opdefs.tf import tf
from opdefs.tf.training import GRADIENTS, OPERATORS, SLOTS

RECORD = Path(__file__).parent / "optimizers.json"
RESOURCES = [op for op in OPERATORS if op.startswith("Resource")]
ROWS, VARIABLE, OTHER = 3, [5, 4], [7, 2]


def names(op):
    """The names of the inputs."""
    return [arg.name for arg in tf.lookup("", op, 0).inputs]


def shapes(op, other=None):
    """The shape of each input, with a wrong one for the input `other`."""
    usual = {"indices": [ROWS]} | dict.fromkeys(SLOTS, VARIABLE)
    usual |= dict.fromkeys(GRADIENTS, [ROWS, *VARIABLE[1:]] if "Sparse" in op else VARIABLE)
    return {name: OTHER if name == other else usual.get(name, []) for name in names(op)}


def is_refused(op, other):
    """Whether TensorFlow's shape function rejects a wrong shape of the input `other`."""
    import tensorflow

    types = {"T": "float32", "Tindices": "int32"}
    dtypes = {arg.name: types.get(arg.type_attr, arg.type) for arg in tf.lookup("", op, 0).inputs}
    with tensorflow.Graph().as_default():
        inputs = {
            name: tensorflow.raw_ops.VarHandleOp(dtype=tensorflow.float32, shape=shape, shared_name=name)
            if dtypes[name] == "resource"
            else tensorflow.raw_ops.Placeholder(dtype=dtypes[name], shape=shape)
            for name, shape in shapes(op, other).items()
        }
        try:
            getattr(tensorflow.raw_ops, op)(**inputs)
        except ValueError:
            return True
    return False


if __name__ == "__main__":
    assert not any(is_refused(op, None) for op in RESOURCES)
    answers = {op: [name for name in names(op) if is_refused(op, name)] for op in RESOURCES}
    RECORD.write_text(json.dumps(answers, indent=1) + "\n", encoding="utf8")
