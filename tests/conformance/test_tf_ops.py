"""4,508 calls of TensorFlow's shape functions: those of its own tests, and generated ones traced from its C++ code."""

from collections import defaultdict

import pytest

from opdefs.tf import tf
from tests.vectors import need, vectors

from .tf_calls import problem

FILES = ("tf/ops.json", "tf/generated.json")
DATA = {name: vectors(name) for name in FILES}
BY_OPERATOR = defaultdict(list)
for _name in FILES:
    for _record in (DATA[_name] or {"records": []})["records"]:
        BY_OPERATOR[_record["op"]].append(_record)

_EQUAL = "without incompatible_shape_error the kernel returns a scalar for two sizes that turn out to differ"
_NO_VECTORS = "without eigenvectors (singular vectors) the kernel returns scalars for them, not [0]"
_BOUNDARIES = "N windows have N + 1 boundaries in the kernel"
_BATCH = "a batch of 1 broadcasts with every other in the kernel"
_SCALAR = "the kernel returns a scalar handle, not [2]"
_CONTRADICTION = "the vector gives one input the shape [2, 3] and contents of the shape [2]"
_EITHER = "TensorFlow joins two unknown sizes to the first of them; the one that has a value may be the other"
_AXIS = "an unknown axis may be any; TensorFlow's rule takes the last one"
_MISSING = "a missing input is an error of its own, with the name of the input"
_ONE_EXAMPLE = "the kernel's row splits of a single example are scalars"
EXCEPTIONS: dict[str, str] = {
    **{
        f"parsing_ops_test.cc:ParsingOpsTest.ParseSequenceExampleV2_ShapeFn#{i}": _ONE_EXAMPLE
        for i in (8, 9, 12, 13, 16, 17)
    },
    **{f"gen:SplitV#{i}": _AXIS for i in (1389, 1401, 1413, 1419)},
    "array_ops_test.cc:ArrayOpsTest.ImmutableConst_ShapeFn#2": "the kind of attributes is checked before rules run",
    "array_ops_test.cc:ArrayOpsTest.Transpose_ShapeFn#10": "perm has two elements and the shape [0]",
    **{f"linalg_ops_test.cc:LinalgOpsTest.SelfAdjointEigV2_ShapeFn#{i}": _NO_VECTORS for i in range(3, 10)},
    **{f"linalg_ops_test.cc:LinalgOpsTest.Svd_ShapeFn#{i}": _NO_VECTORS for i in range(11)},
    "math_ops_test.cc:MathOpsTest.SparseSegmentGrad_ShapeFn#3": "its shape is [1,1], its contents are a scalar",
    "image_ops_test.cc:ImageOpsTest.DecodeAndCropJpeg_ShapeFn#0": _MISSING,
    "image_ops_test.cc:ImageOpsTest.DecodeAndCropJpeg_InvalidCropWindow#0": _MISSING,
    **{f"math_ops_test.cc:MathOpsTest.BroadcastBinaryOps_ShapeFn#{i}": _EQUAL for i in (123, 587)},
    **{f"nn_ops_test.cc:NNOpsTest.FractionalPool_ShapeFn#{i}": _BOUNDARIES for i in (*range(3, 8), *range(14, 19))},
    **{f"nn_ops_test.cc:NNOpsTest.SoftmaxCrossEntropyWithLogits_ShapeFn#{i}": _BATCH for i in (1, 2, 3, 4)},
    **{f"data_flow_ops_test.cc:DataFlowOpsTest.TensorArrayV3#{i}": _SCALAR for i in (0, 1)},
    "gen:Merge#1804": _EITHER,
    "gen:EmptyTensorList#1839": _CONTRADICTION,
}
"""Vectors for which the rules intentionally differ, with the reason."""


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
