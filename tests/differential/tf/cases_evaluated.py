"""Known contents through gathers, orders, products, segments, counts, scatters, diagonals, bits, strings, functions."""

import numpy as np

from tests.differential.tf.case import Case


def i32(*values):
    return np.array(values, np.int32)


def i64(*values):
    return np.array(values, np.int64)


def f32(*values):
    return np.array(values, np.float32)


def f64(*values):
    return np.array(values, np.float64)


def texts(*values):
    return np.array(
        [value.encode() if isinstance(value, str) else [v.encode() for v in value] for value in values], object
    )


def scalar(value, dtype=np.int32):
    return np.array(value, dtype)


SIZES = i32(3, 7, 640, 33)
LONGS = i64(3, 7, 640, 33)
GRID = i32([5, 1, 4], [2, 6, 3])
SIGNED = i32([7, -7, 0], [3, 12, -1])
REPEATED = i32(3, 1, 3, 2, 1)
FRACTIONS = f32(2.5, -2.5, 0.0, 7.0, -0.5)
POSITIVE = f32(1.0, 2.0, 0.5, 3.0, 49.0, 343.0, 640.0)
NONE = np.zeros(0, np.int32)

PRODUCTS = [
    Case("MatMul", (GRID, GRID.T.copy())),
    Case("MatMul", (GRID, GRID), {"transpose_b": True}),
    Case("MatMul", (GRID, GRID), {"transpose_a": True}),
    Case("MatMul", (f32([3, 7]), f32([1, 0], [0, 2]))),
    Case("MatMul", (f32([3, 7]), f32([0.5, 1], [0.25, -1]))),
    Case("MatMul", (f32([3.3, 7.1]), f32([0.1, 1], [0.2, -1]))),
    *(
        Case(op, (f32([[3, 7]], [[1, 2]]), f32([[1, 0], [0, 2]], [[1, 1], [3, 2]])))
        for op in ("BatchMatMul", "BatchMatMulV2")
    ),
    Case("BatchMatMulV2", (f32([[3, 7]], [[1, 2]]), f32([[1, 0], [0, 2]])), {"adj_y": True}),
    Case("BatchMatMulV3", (f32([[3, 7]], [[1, 2]]), f32([[1, 0], [0, 2]])), {"Tout": "float32"}),
    *(
        Case("Einsum", (list(operands),), {"equation": equation})
        for equation, operands in (
            ("i,i->", (f32(3, 7), f32(1, 2))),
            ("i,j->ij", (SIZES, i32(1, 2))),
            ("ij,jk->ik", (f32([3, 7]), f32([1, 0], [0, 2]))),
            ("ij->ji", (GRID,)),
            ("ij->i", (GRID,)),
            ("...i,i->...", (GRID, i32(1, 2, 1))),
        )
    ),
]

ORDER = [
    *(
        Case(op, (x, scalar(axis)))
        for op in ("ArgMax", "ArgMin")
        for x, axis in ((SIZES, 0), (GRID, 0), (GRID, -1), (REPEATED, 0), (FRACTIONS, 0))
    ),
    Case("ArgMax", (GRID, scalar(1)), {"output_type": "int32"}),
    *(Case("TopKV2", (x, scalar(k))) for x in (SIZES, GRID, REPEATED, FRACTIONS) for k in (0, 1, 3)),
    *(
        Case("NthElement", (x, scalar(n)), {"reverse": r})
        for x in (f32(3, 1, 2), f32([5, 1, 4], [2, 6, 3]))
        for n in (0, 2)
        for r in (False, True)
    ),
    *(Case(op, (i32([1, 3, 3, 7], [2, 4, 6, 8]), i32([0, 3, 8], [8, 2, 5]))) for op in ("LowerBound", "UpperBound")),
    Case("LowerBound", (f32([0, 0.5, 1]), f32([0.25, 0.5, 2])), {"out_type": "int64"}),
    *(
        Case(op, (x,))
        for op in ("Unique", "UniqueWithCounts")
        for x in (REPEATED, f32(0.5, -1.0, 0.5), texts("b", "a", "b"))
    ),
    *(Case(op, (i32([1, 2], [1, 2], [0, 5]), i64(0))) for op in ("UniqueV2", "UniqueWithCountsV2")),
    Case("UniqueV2", (i32([1, 1, 3], [2, 2, 0]), i64(1))),
    Case("ListDiff", (REPEATED, i32(1, 9))),
    Case("ListDiff", (texts("a", "b"), texts("b"))),
    Case("Where", (SIGNED,)),
    Case("Where", (FRACTIONS,)),
    Case("InvertPermutation", (i32(2, 0, 1),)),
    Case("Bucketize", (SIZES,), {"boundaries": [5.0, 100.0]}),
]

SEGMENTS = [
    *(
        Case(f"Segment{op}", (x, ids))
        for op in ("Sum", "Prod", "Max", "Min", "Mean")
        for x, ids in (
            (SIZES, i32(0, 0, 2, 2)),
            (SIGNED, i32(0, 0)),
            (f32(1, 2, 4, 8), i32(0, 1, 1, 3)),
            (i32(7, -8, 3), i32(0, 0, 1)),
        )
    ),
    *(
        Case(f"UnsortedSegment{op}", (x, ids, scalar(4)))
        for op in ("Sum", "Prod", "Max", "Min")
        for x, ids in ((SIZES, i32(2, 0, 2, -1)), (SIGNED, i32(3, 1)), (GRID, i32([0, 1, 0], [3, 3, 3])))
    ),
    Case("UnsortedSegmentSum", (f32(1, 2, 4, 8), i32(2, 0, 2, 1), scalar(3))),
    Case("UnsortedSegmentProd", (f32(1, 2, 4, 8), i32(2, 0, 2, 1), scalar(3))),
    Case("UnsortedSegmentJoin", (texts("a", "b", "c"), i32(1, 0, 1), scalar(3)), {"separator": "-"}),
    Case("SparseSegmentSum", (f32([1, 2], [3, 4], [5, 6]), i32(2, 0, 0), i32(0, 0, 1))),
    Case("Bincount", (i32(1, 3, 1, 0, 9), scalar(5), NONE)),
    Case("Bincount", (i32(1, 3, 1, 0, 9), scalar(5), f32(1, 2, 3, 4, 5))),
    Case("DenseBincount", (i32(1, 3, 1, 0, 9), scalar(5), NONE)),
    Case("DenseBincount", (i32(1, 3, 1, 0, 9), scalar(5), NONE), {"binary_output": True}),
    *(
        Case(op, (x, scalar(axis)), {"exclusive": e, "reverse": r})
        for op in ("Cumsum", "Cumprod")
        for x, axis in ((SIZES[:3], 0), (GRID, 0), (GRID, 1), (f32(1, 2, 4), 0))
        for e in (False, True)
        for r in (False, True)
    ),
    *(
        Case("Mean", (x, axes))
        for x, axes in (
            (GRID, scalar(0)),
            (GRID, i32(0, 1)),
            (SIGNED, scalar(1)),
            (f32(1, 2, 6), scalar(0)),
            (f32(49, 49, 49), scalar(0)),
            (i32(-7, 2), scalar(0)),
        )
    ),
    Case("Mean", (f32(0.1, 0.2, 0.7), scalar(0))),
    Case("EuclideanNorm", (f32(3, 4), scalar(0))),
]

PLACES = [
    *(Case(f"TensorScatter{op}", (SIZES, i32([1], [3]), i32(9, 80))) for op in ("Update", "Add", "Sub", "Max", "Min")),
    *(Case(f"TensorScatter{op}", (SIZES, i32([1], [1]), i32(9, 80))) for op in ("Add", "Sub", "Max", "Min")),
    Case("TensorScatterAdd", (FRACTIONS, i32([1], [3]), f32(1.5, 2.0))),
    Case("TensorScatterUpdate", (GRID, i32([1]), i32([7, 8, 9]))),
    Case("ScatterNd", (i32([1], [1], [3]), i32(9, 8, 7), i32(4))),
    Case("ScatterNd", (i32([1, 0], [0, 2]), i32(9, 8), i32(2, 3))),
    Case("ScatterNdNonAliasingAdd", (SIZES, i32([1], [1]), i32(9, 8))),
    Case("GatherV2", (GRID, i32([2, 0], [1, 1]), scalar(1)), {"batch_dims": 1}),
    Case("GatherV2", (GRID, i32(1), scalar(0))),
    Case("GatherNd", (GRID, i32([1, 0], [0, 2]))),
    Case("Roll", (SIZES, scalar(1), scalar(0))),
    Case("Roll", (GRID, i32(1, -2), i32(0, 1))),
    Case("ReverseSequence", (GRID, i32(2, 3)), {"seq_dim": 1}),
    Case("ReverseSequence", (GRID, i32(1, 2, 0)), {"seq_dim": 0, "batch_dim": 1}),
    *(
        Case(op, (GRID, scalar(lower), scalar(upper)))
        for op in ("MatrixBandPart",)
        for lower, upper in ((0, 0), (-1, 0), (0, -1), (1, 1), (-1, -1))
    ),
    Case("MatrixDiag", (GRID,)),
    Case("MatrixDiagPart", (GRID,)),
    Case("MatrixSetDiag", (GRID, i32(8, 9))),
    *(
        Case(op, (i32(8, 9), scalar(k), scalar(-1), scalar(-1), scalar(5)))
        for op in ("MatrixDiagV2", "MatrixDiagV3")
        for k in (0, 1, -1)
    ),
    *(Case(op, (GRID, scalar(k), scalar(5))) for op in ("MatrixDiagPartV2", "MatrixDiagPartV3") for k in (0, 1, -1)),
    *(Case(op, (GRID, i32(8, 9), scalar(k))) for op in ("MatrixSetDiagV2", "MatrixSetDiagV3") for k in (0, 1)),
    Case("Diag", (SIZES,)),
    Case("Diag", (GRID,)),
    Case("DiagPart", (GRID[:, :2].copy(),)),
    Case("Bitcast", (SIZES,), {"type": "int16"}),
    Case("Bitcast", (SIZES,), {"type": "float32"}),
    Case("Bitcast", (i32([3, 0], [7, 1]),), {"type": "int64"}),
    Case("LinSpace", (scalar(0, np.float32), scalar(6, np.float32), scalar(4))),
    Case("LinSpace", (scalar(3, np.float32), scalar(6, np.float32), scalar(1))),
]

SAME = [
    Case("Concat", (scalar(0), [SIZES, i32(1)])),
    Case("ConcatV2", ([GRID, GRID], scalar(1))),
    Case("Squeeze", (i32([[3], [4]]),)),
    Case("ExpandDims", (SIZES, scalar(0))),
    Case("Transpose", (GRID, i32(1, 0))),
    Case("ConjugateTranspose", (GRID, i32(1, 0))),
    Case("IdentityN", ([SIZES, FRACTIONS],)),
    Case("CheckNumerics", (FRACTIONS,), {"message": ""}),
    Case("EnsureShape", (SIZES,), {"shape": [4]}),
    Case("DynamicStitch", ([i32(0, 2), i32(1)], [i32(5, 6), i32(7)])),
    Case("ParallelDynamicStitch", ([i32(0, 2), i32(1)], [i32(5, 6), i32(7)])),
    Case("SparseToDense", (i32([0, 2], [1, 0]), i32(2, 3), i32(8, 9), scalar(7))),
    Case("SparseToDense", (i32(1, 3), i32(4), scalar(5), scalar(0))),
    Case("SparseToDense", (scalar(2), i32(4), scalar(5), scalar(0))),
    Case("TensorStridedSliceUpdate", (SIZES, i32(1), i32(4), i32(2), i32(9, 8))),
    Case("TensorStridedSliceUpdate", (GRID, i32(0, 1), i32(2, 2), i32(1, 1), scalar(9))),
    Case("SparseSegmentSumWithNumSegments", (f32([1, 2], [3, 4]), i32(1, 0), i32(0, 0), scalar(3))),
    Case("StridedSlice", (SIZES, i32(1), i32(4), i32(2))),
    Case("BroadcastArgs", (i32(2, 1), i32(1, 3))),
    Case("MirrorPad", (SIZES, i32([1, 1])), {"mode": "REFLECT"}),
]

BITS = [
    *(
        Case(f"Bitwise{op}", (x, np.array(m, x.dtype)))
        for op in ("And", "Or", "Xor")
        for x in (SIZES, SIGNED)
        for m in (0, 6, 8, 0x5A, -1, -8, -6)
    ),
    *(
        Case(op, (x, scalar(b, x.dtype)))
        for op in ("LeftShift", "RightShift")
        for x in (SIZES, SIGNED, np.array([200, 7], np.uint8))
        for b in (0, 5, 7)
    ),
    Case("PopulationCount", (SIZES,)),
    Case("PopulationCount", (SIGNED,)),
]

WORDS = texts("ab", " 3 ", "3,4,,5", "", "Ab C")

STRINGS = [
    *(Case("AsString", (x,)) for x in (SIZES, LONGS, SIGNED, np.array([True, False]))),
    *(
        Case("StringToNumber", (texts("3", "-70", "0"),), {"out_type": t})
        for t in ("int32", "int64", "float32", "float64")
    ),
    Case("StringToNumber", (texts("3.25", "-1e2", ".5"),)),
    Case("StringToNumber", (texts("0.1", "1677721.7", "3.3"),)),
    Case("StringJoin", ([texts("a", "b"), texts("c", "d")],), {"separator": "-"}),
    Case("StringJoin", ([texts("a", "b"), np.array(b"x", object)],)),
    Case("StringLength", (WORDS,)),
    Case("StringLength", (texts("a\u00e4"),), {"unit": "UTF8_CHAR"}),
    Case("StringLength", (texts("a\u00e4"),)),
    *(Case(op, (WORDS,)) for op in ("StringLower", "StringUpper", "StringStrip")),
    Case("Substr", (texts("hello", "shape"), i32(1, -3), i32(2, 9))),
    Case("Substr", (texts("hello", "shape"), scalar(1), scalar(3))),
    Case("ReduceJoin", (texts(["a", "b"], ["c", "d"]), scalar(0)), {"separator": "-"}),
    Case("ReduceJoin", (texts(["a", "b"], ["c", "d"]), scalar(-1)), {"keep_dims": True}),
    Case("StringSplitV2", (WORDS, np.array(b"", object))),
    Case("StringSplitV2", (WORDS, np.array(b",", object))),
    Case("StringSplit", (WORDS, np.array(b",", object))),
    Case("StringSplit", (WORDS, np.array(b" ", object)), {"skip_empty": False}),
]

FUNCTIONS = [
    *(
        Case(op, (x,))
        for op in ("Exp", "Expm1", "Log1p", "Sigmoid", "Softplus", "Sin", "Cos", "Atan", "Sinh", "Asinh", "Tanh", "Erf")
        for x in (f32(0.0, 0.5, 1.0, 3.0, 6.0), f64(0.0, 0.25, 2.0))
    ),
    *(Case(op, (x,)) for op in ("Log", "Rsqrt", "Reciprocal", "Inv", "Sqrt") for x in (POSITIVE, f64(1.0, 2.0, 49.0))),
    *(Case(op, (f32(0.0, 0.5, -0.25),)) for op in ("Asin", "Acos", "Atanh")),
    Case("Acosh", (f32(1.0, 2.0, 49.0),)),
    *(
        Case("Pow", (x, scalar(y, x.dtype)))
        for x in (POSITIVE, f64(1.0, 2.0, 49.0))
        for y in (0.0, 1.0, 2.0, 0.5, -1.0, 3.0)
    ),
    Case("Pow", (scalar(2.0, np.float32), f32(0.0, 1.0, 8.0, -3.0))),
    *(Case(op, (f32(1.0, 2.0, 7.0, 3.0), f32(2.0, 0.0, 3.0, 0.5))) for op in ("DivNoNan", "MulNoNan")),
    *(Case(op, (f32(0.0, 2.0, 7.0), f32(2.0, 5.0, 3.0))) for op in ("DivNoNan", "MulNoNan", "Xdivy")),
]

CASES = [*PRODUCTS, *ORDER, *SEGMENTS, *PLACES, *SAME, *BITS, *STRINGS, *FUNCTIONS]
