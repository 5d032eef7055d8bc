"""Sparse tensors: indices, values and the dense shape."""

import numpy as np

from tests.differential.tf.case import Case, Runtime

I64 = np.int64
A = np.array([[0, 1], [1, 0], [1, 2]], I64)
B = np.array([[0, 0], [1, 2]], I64)
SIZES = np.array([2, 3], I64)
NONE = np.zeros((0, 2), I64)
CUBE = np.array([[0, 0, 1], [1, 2, 0]], I64)
CUBE_SIZES = np.array([2, 3, 4], I64)


def ints(*values):
    return np.array(values, I64)


SPARSE_A = (A, "float32[3]", SIZES)
SPARSE_B = (B, "float32[2]", SIZES)
EMPTY = (NONE, "float32[0]", SIZES)
CUBIC = (CUBE, "float32[2]", CUBE_SIZES)
WITHOUT_CONTENTS = (Runtime(A), "float32[3]", Runtime(SIZES))

ARITHMETIC = [
    *(Case("SparseAdd", (*a, *b, "float32[]"), data=True) for a, b in ((SPARSE_A, SPARSE_B), (SPARSE_A, EMPTY))),
    Case("SparseAdd", (*CUBIC, *CUBIC, np.float32(0)), data=True),
    Case("SparseAdd", (*WITHOUT_CONTENTS, *SPARSE_B, np.float32(100)), data=True),
    Case("SparseAddGrad", ("float32[5]", A, B, np.concatenate([A, B[:1], [[1, 1]]]))),
    Case("SparseAddGrad", ("float32[3]", A, NONE, A)),
    *(
        Case(op, (*a, *b), data=True)
        for op in ("SparseSparseMaximum", "SparseSparseMinimum")
        for a, b in ((SPARSE_A, SPARSE_B), (SPARSE_A, EMPTY), (CUBIC, CUBIC))
    ),
    *(Case("SparseReorder", operand) for operand in (SPARSE_A, EMPTY, CUBIC, WITHOUT_CONTENTS)),
    *(Case("SparseSoftmax", operand) for operand in (SPARSE_A, EMPTY, CUBIC)),
    *(
        Case(f"SparseDenseCwise{op}", (*operand, dense))
        for op in ("Add", "Div", "Mul")
        for operand, dense in ((SPARSE_A, "float32[2, 3]"), (SPARSE_A, "float32[3]"), (EMPTY, "float32[1]"))
    ),
    *(
        Case("SparseTensorDenseAdd", (*operand, dense))
        for operand, dense in ((SPARSE_A, "float32[2, 3]"), (CUBIC, "float32[2, 3, 4]"), (EMPTY, "float32[2, 3]"))
    ),
]

PRODUCTS = [
    *(
        Case("SparseTensorDenseMatMul", (*SPARSE_A, dense), {"adjoint_a": a, "adjoint_b": b})
        for a, b, dense in (
            (False, False, "float32[3, 5]"),
            (True, False, "float32[2, 5]"),
            (False, True, "float32[5, 3]"),
            (True, True, "float32[5, 2]"),
        )
    ),
    Case("SparseTensorDenseMatMul", (*EMPTY, "float32[3, 0]")),
    Case("SparseTensorDenseMatMul", (*WITHOUT_CONTENTS, "float32[3, 4]"), data=True),
]

DENSE = [
    Case("SparseToDense", (A, SIZES, "float32[3]", "float32[]")),
    Case("SparseToDense", (ints(0, 2), ints(4), "float32[2]", "float32[]")),
    Case("SparseToDense", (ints(2)[0], ints(4), "float32[]", "float32[]"), {"validate_indices": False}),
    Case("SparseToDense", (np.array([[1, 1]], np.int32), np.array([2, 2], np.int32), "float32[]", "float32[]")),
    Case("SparseToDense", (Runtime(A), Runtime(SIZES), "float32[3]", "float32[]"), data=True, ranked=False),
]

REDUCTIONS = [
    *(
        Case(op, (*operand, np.array(axes, np.int32)), {"keep_dims": keep}, data=op.endswith("Sparse"))
        for op in ("SparseReduceSum", "SparseReduceMax", "SparseReduceSumSparse", "SparseReduceMaxSparse")
        for operand, axes in ((SPARSE_A, [0]), (SPARSE_A, [-1, 0]), (CUBIC, [1]), (CUBIC, [2, 2]), (SPARSE_A, []))
        for keep in (False, True)
    ),
    Case("SparseReduceSum", (*CUBIC, np.int32(1))),
    Case("SparseReduceSum", (*WITHOUT_CONTENTS, np.array([0], np.int32)), data=True, ranked=False),
    Case("SparseReduceSum", (*SPARSE_A, Runtime(np.array([0], np.int32))), {"keep_dims": True}, data=True),
    Case("SparseReduceSum", (*SPARSE_A, Runtime(np.array([0], np.int32))), data=True, ranked=False),
]

ROWS = [
    *(
        Case("SparseFillEmptyRows", (*operand, "float32[]"), data=True)
        for operand in (SPARSE_A, CUBIC, WITHOUT_CONTENTS)
    ),
    Case("SparseFillEmptyRows", (*EMPTY, "float32[]")),
    Case("SparseFillEmptyRows", (ints([4, 0], [6, 1]), "float32[2]", ints(9, 2), "float32[]"), data=True),
    Case("SparseFillEmptyRowsGrad", (ints(0, 2), "float32[4]")),
    Case("SparseFillEmptyRowsGrad", (ints(), "float32[4]")),
]

AXES = [
    *(
        Case("SparseConcat", ([a[0], b[0]], [a[1], b[1]], [a[2], b[2]]), {"concat_dim": axis})
        for a, b, axis in (
            (SPARSE_A, SPARSE_B, 0),
            (SPARSE_A, EMPTY, -1),
            (CUBIC, CUBIC, 1),
            (WITHOUT_CONTENTS, SPARSE_B, 0),
        )
    ),
    Case("SparseConcat", ([A, B, A], ["float32[3]", "float32[2]", "float32[3]"], [SIZES] * 3), {"concat_dim": 1}),
    *(
        Case("SparseSplit", (ints(axis)[0], *operand), {"num_split": parts}, data=True)
        for axis, operand, parts in ((0, SPARSE_A, 2), (1, SPARSE_A, 2), (-1, CUBIC, 3), (2, CUBIC, 1), (1, EMPTY, 2))
    ),
    Case("SparseSplit", (Runtime(ints(1)[0]), *SPARSE_A), {"num_split": 2}, data=True),
    *(
        Case("SparseSlice", (*SPARSE_A, ints(*start), ints(*size)), data=True)
        for start, size in (((0, 1), (2, 2)), ((1, 0), (5, 1)), ((3, 0), (1, 1)), ((0, 0), (0, 3)))
    ),
    Case("SparseSlice", (*WITHOUT_CONTENTS, Runtime(ints(0, 0)), Runtime(ints(1, 3))), data=True),
    Case("SparseSliceGrad", ("float32[3]", A, ints(0, 0), A)),
    Case("SparseSliceGrad", ("float32[1]", A, ints(0, 0), A[:1])),
    *(
        Case("SparseReshape", (indices, sizes, ints(*new)))
        for indices, sizes, new in (
            (A, SIZES, (3, 2)),
            (A, SIZES, (-1,)),
            (CUBE, CUBE_SIZES, (4, -1)),
            (NONE, SIZES, (6,)),
        )
    ),
    Case("SparseReshape", (NONE, ints(0, 3), ints(-1))),
    Case("SparseReshape", (Runtime(A), Runtime(SIZES), Runtime(ints(1, 2, -1)))),
]

TEXTS = np.array([b"a", b"b", b"c"], object)
COLUMN = np.array([[b"f"], [b"g"]], object)
FEATURE = ([A], [TEXTS], [SIZES], [COLUMN])
CROSSES = [
    Case("SparseCrossV2", (*FEATURE, np.array(b"_X_", object)), data=True),
    Case("SparseCrossHashed", (*FEATURE, ints(0)[0], np.bool_(False), ints(3, 4)), data=True),
    Case(
        "SparseCross",
        ([], [], [], [COLUMN, COLUMN]),
        {
            **{"hashed_output": True, "num_buckets": 7, "hash_key": 3},
            **{"out_type": "int64", "internal_type": "string"},
        },
        data=True,
    ),
]

SERIALIZED = [
    *(Case("SerializeSparse", operand) for operand in (SPARSE_A, EMPTY, CUBIC)),
    Case("SerializeSparse", SPARSE_A, {"out_type": "variant"}),
    *(Case("SerializeManySparse", operand) for operand in (SPARSE_A, EMPTY, CUBIC)),
    *(Case("AddSparseToTensorsMap", operand, {"shared_name": "one"}) for operand in (SPARSE_A, CUBIC)),
    *(Case("AddManySparseToTensorsMap", operand, {"shared_name": "many"}) for operand in (SPARSE_A, EMPTY, CUBIC)),
    Case("SerializeManySparse", WITHOUT_CONTENTS, data=True),
]

COUNTS = [
    *(
        Case("DenseCountSparseOutput", (values, "int64[0]"), {"binary_output": binary, **limits}, data=True)
        for values in ("int64[5]", "int32[2, 3]", "int64[2, 0]")
        for binary, limits in (
            (False, {}),
            (True, {"minlength": 3}),
            (False, {"maxlength": 4}),
            (True, {"minlength": 5, "maxlength": 2}),
        )
    ),
    *(
        Case("SparseCountSparseOutput", (indices, "int64[2]", sizes, weights), {"binary_output": False}, data=True)
        for indices, sizes, weights in (
            (B, SIZES, "float32[0]"),
            (ints([0], [3]), ints(5), "float32[2]"),
            (B, Runtime(SIZES), "int64[0]"),
        )
    ),
    *(
        Case(
            "RaggedCountSparseOutput",
            (ints(0, 2, 2, 3), "int64[3]", "int64[0]"),
            {"binary_output": b, **limits},
            data=True,
        )
        for b, limits in ((False, {}), (True, {"minlength": 2}), (False, {"maxlength": 9}))
    ),
]

CASES = [*ARITHMETIC, *PRODUCTS, *DENSE, *REDUCTIONS, *ROWS, *AXES, *CROSSES, *SERIALIZED, *COUNTS]
