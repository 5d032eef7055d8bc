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

UNKNOWN_AXIS = "an unknown axis may be any; TensorFlow's rule takes the last one"
EXCEPTIONS: dict[str, str] = {
    **dict.fromkeys(("gen:SplitV#1389", "gen:SplitV#1401", "gen:SplitV#1413", "gen:SplitV#1419"), UNKNOWN_AXIS),
    "array_ops_test.cc:ArrayOpsTest.ImmutableConst_ShapeFn#2": "the kind of attributes is checked before rules run",
    "array_ops_test.cc:ArrayOpsTest.Transpose_ShapeFn#10": "perm has two elements and the shape [0]",
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
