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

N_PLUS_1 = "N windows have N + 1 boundaries in the kernel"
BATCH_OF_1 = "a batch of 1 broadcasts with every other in the kernel"
MISSING_INPUT = "a missing input is an error of its own, with the name of the input"
EXCEPTIONS: dict[str, str] = {
    "image_ops_test.cc:ImageOpsTest.DecodeAndCropJpeg_ShapeFn#0": MISSING_INPUT,
    "image_ops_test.cc:ImageOpsTest.DecodeAndCropJpeg_InvalidCropWindow#0": MISSING_INPUT,
    **{f"nn_ops_test.cc:NNOpsTest.FractionalPool_ShapeFn#{i}": N_PLUS_1 for i in (3, 4, 5, 6, 7, 14, 15, 16, 17, 18)},
    **{f"nn_ops_test.cc:NNOpsTest.SoftmaxCrossEntropyWithLogits_ShapeFn#{i}": BATCH_OF_1 for i in (1, 2, 3, 4)},
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
