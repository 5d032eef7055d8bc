"""4,508 calls of TensorFlow's shape functions: those of its own tests, and generated ones traced from its C++ code."""

from collections import defaultdict

import pytest

from opdefs.tf import tf

from .conftest import need, vectors
from .tf_calls import problem

FILES = ("tf/ops.json", "tf/generated.json")
DATA = {name: vectors(name) for name in FILES}
BY_OPERATOR = defaultdict(list)
for _name in FILES:
    for _record in (DATA[_name] or {"records": []})["records"]:
        BY_OPERATOR[_record["op"]].append(_record)

_EQUAL = "without incompatible_shape_error the kernel returns a scalar for two sizes that turn out to differ"
_BOUNDARIES = "N windows have N + 1 boundaries in the kernel"
_BATCH = "a batch of 1 broadcasts with every other in the kernel"
_SCALAR = "the kernel returns a scalar handle, not [2]"
_CONTRADICTION = "the vector gives one input the shape [2, 3] and contents of the shape [2]"
EXCEPTIONS: dict[str, str] = {
    **{f"math_ops_test.cc:MathOpsTest.BroadcastBinaryOps_ShapeFn#{i}": _EQUAL for i in (123, 587)},
    **{f"nn_ops_test.cc:NNOpsTest.FractionalPool_ShapeFn#{i}": _BOUNDARIES for i in (*range(3, 8), *range(14, 19))},
    **{f"nn_ops_test.cc:NNOpsTest.SoftmaxCrossEntropyWithLogits_ShapeFn#{i}": _BATCH for i in (1, 2, 3, 4)},
    **{f"data_flow_ops_test.cc:DataFlowOpsTest.TensorArrayV3#{i}": _SCALAR for i in (0, 1)},
    "gen:EmptyTensorList#1839": _CONTRADICTION,
}
"""Vectors that we answer otherwise, with the reason."""


@pytest.mark.parametrize("op", sorted(BY_OPERATOR) or ["-"])
def test_every_call(op):
    for name in FILES:
        need(DATA[name], name)
    if tf.lookup("", op, 0).rule is None:
        pytest.fail(f"{op} has no rule")
    failures = [
        (record["id"], record["ins"], why)
        for record in BY_OPERATOR[op]
        if record["id"] not in EXCEPTIONS and (why := problem(record))
    ]
    assert not failures, f"{len(failures)} of {len(BY_OPERATOR[op])}: {failures[:5]}"
