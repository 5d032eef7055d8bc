"""Calls of ONNX operators with known contents, run by onnxruntime."""

import numpy as np

from tests.differential.contents.rules import Case

ML = "ai.onnx.ml"
MS = "com.microsoft"


def i64(*values):
    return np.array(values, np.int64)


def i32(*values):
    return np.array(values, np.int32)


def f32(*values):
    return np.array(values, np.float32)


def flags(*values):
    return np.array(values, np.bool_)


def texts(*values):
    return np.array(values, object)


def one(value, dtype=np.int64):
    return np.array(value, dtype)


SIZES = i64(3, 7, 640, 33)
SIGNED = i64([7, -7, 0], [3, 12, -1])
GRID = i64([5, 1, 4], [2, 6, 3])
FRACTIONS = f32(2.5, -2.5, 0.0, 7.0, -0.5)
HALVES = f32(2.0, 4.0, 0.5, 3.0, -1.0)
BYTES = np.array([200, 100, 0, 7], np.uint8)

INDEXING = [
    Case("GatherElements", (SIZES, i64(0, 3, 3, -1))),
    Case("GatherElements", (GRID, i64([0, 1], [2, 0])), {"axis": 1}),
    Case("GatherElements", (GRID, i64([1, 0, 1])), {"axis": 0}),
    Case("GatherND", (GRID, i64([0], [2])), {"batch_dims": 1}),
    Case("GatherND", (GRID, i64([[0], [-1]], [[2], [2]])), {"batch_dims": 1}),
    Case("GatherND", (GRID, i64([0, 1], [1, 2]))),
    Case("Gather", (GRID, i64([2, 0])), {"axis": 1}),
    Case("ReverseSequence", (GRID, i64(1, 2, 0)), {"batch_axis": 1, "time_axis": 0}),
    Case("ReverseSequence", (GRID, i64(2, 3)), {"batch_axis": 0, "time_axis": 1}),
    *(
        Case("ScatterElements", (GRID, i64([2, 0], [1, -1]), i64([9, 8], [7, 6])), {"axis": 1, "reduction": r})
        for r in ("none", "add", "mul", "max", "min")
    ),
    *(
        Case(
            "ScatterElements", (GRID, i64([0, 0, 1], [0, 1, 1]), i64([9, 8, 2], [7, 6, 5])), {"axis": 0, "reduction": r}
        )
        for r in ("add", "mul", "max", "min")
    ),
    *(
        Case("ScatterND", (SIZES, i64([1], [3]), i64(9, 8)), {"reduction": r})
        for r in ("none", "add", "mul", "max", "min")
    ),
    *(Case("ScatterND", (SIZES, i64([1], [1]), i64(9, 8)), {"reduction": r}) for r in ("add", "mul", "max", "min")),
    *(
        Case("ScatterND", (FRACTIONS, i64([1], [3]), HALVES[:2]), {"reduction": r})
        for r in ("none", "add", "mul", "max")
    ),
    Case("ScatterND", (GRID, i64([1]), i64([9, 8, 7]).reshape(1, 3)[0:1])),
    Case("Compress", (SIZES, flags(True, False, True))),
    Case("Compress", (GRID, flags(False, True)), {"axis": 0}),
    Case("Compress", (GRID, flags(True, False, True)), {"axis": -1}),
    Case("Compress", (GRID, flags(False, True, True, False, True))),
    Case("Compress", (SIZES, flags(False, False))),
    *(Case("Trilu", (x,), {"upper": u}) for x in (GRID, SIGNED.T.copy()) for u in (0, 1)),
    *(Case("Trilu", (GRID, one(k)), {"upper": u}) for k in (-1, 1, 5) for u in (0, 1)),
    Case("Trilu", (np.arange(24, dtype=np.int64).reshape(2, 3, 4), one(1))),
    Case("OneHot", (i64(1, 0, -1), one(3), i64(5, 9))),
    Case("OneHot", (i64([1, 0], [2, 7]), one(3), i64(0, 1)), {"axis": 1}),
    Case("NonZero", (SIGNED,)),
    Case("NonZero", (flags(True, False, True),)),
    Case("EyeLike", (np.zeros((2, 3), np.int64),)),
    Case("EyeLike", (np.zeros((3, 3), np.int64),), {"k": -1, "dtype": 1}),
    Case("Flatten", (np.arange(24, dtype=np.int64).reshape(2, 3, 4),), {"axis": -1}),
    Case("Reshape", (GRID, i64(3, -1))),
    Case("Transpose", (GRID,)),
    Case("Squeeze", (i64([4]), i64(0))),
    Case("Unsqueeze", (SIZES, i64(1))),
    Case("Concat", (SIZES, i64(1, 2)), {"axis": 0}),
    Case("Expand", (i64([1], [2]), i64(2, 3))),
    Case("Tile", (SIZES, i64(2))),
    Case("Slice", (SIZES, i64(-1), i64(-9), i64(0), i64(-2))),
    Case("Split", (SIZES, i64(1, 3)), {}, outputs=2),
    Case("Pad", (SIZES, i64(1, 2), one(9))),
    Case("Where", (flags(True, False, True, False), SIZES, SIZES[::-1].copy())),
    Case("Identity", (SIZES,)),
    Case("Dropout", (FRACTIONS,), {}, outputs=1),
    Case("Dropout", (FRACTIONS, one(0.5, np.float32), one(False, np.bool_)), {}, outputs=1),
    Case("Constant", (), {"value_ints": (1, 2, 3)}),
    Case("ConstantOfShape", (i64(2, 2),)),
    Case("Shape", (GRID,)),
    Case("Size", (GRID,)),
    Case("Range", (one(2), one(11), one(3))),
    Case("Range", (one(11), one(2), one(-4))),
]

ORDER = [
    *(
        Case(op, (x,), {"axis": a, "keepdims": k, "select_last_index": s})
        for op in ("ArgMax", "ArgMin")
        for x, a in ((SIZES, 0), (GRID, 0), (GRID, -1), (i64([3, 3, 1], [1, 1, 1]), 1), (FRACTIONS, 0))
        for k, s in ((0, 0), (1, 0), (1, 1))
    ),
    *(
        Case("TopK", (x, i64(k)), {"largest": g, "axis": a}, outputs=2)
        for x, a in ((SIZES, 0), (GRID, 0), (GRID, 1), (i64(3, 1, 3, 3, 1), 0), (FRACTIONS, -1))
        for k in (1, 2)
        for g in (0, 1)
    ),
    Case("TopK", (SIZES, i64(0)), outputs=2),
    *(
        Case("Unique", (x,), attributes, outputs=4)
        for x in (i64(3, 1, 3, 2, 1), GRID, i64([1, 2], [1, 2], [0, 5]), f32(0.5, -1.0, 0.5), texts("b", "a", "b"))
        for attributes in ({}, {"sorted": 0}, {"axis": 0}, {"axis": 0, "sorted": 0})
        if not (x.dtype == object and x.ndim > 1)
    ),
    Case("Unique", (i64([1, 1, 3], [2, 2, 0]),), {"axis": 1}, outputs=4),
]

SUMS = [
    *(
        Case(op, (x, one(a)), {"exclusive": e, "reverse": r})
        for op in ("CumSum", "CumProd")
        for x, a in ((SIZES, 0), (GRID, 0), (GRID, -1), (np.abs(HALVES), 0))
        for e in (0, 1)
        for r in (0, 1)
    ),
    *(
        Case("ReduceSum", (x, i64(*axes)), {"keepdims": k})
        for x, axes in ((GRID, (0,)), (GRID, (1,)), (GRID, (0, 1)), (SIGNED, (1,)), (FRACTIONS, (0,)))
        for k in (0, 1)
    ),
    *(
        Case(f"Reduce{name}", (x, i64(*axes)), {"keepdims": 0})
        for name in ("Prod", "Max", "Min", "Mean", "SumSquare", "L1")
        for x, axes in ((GRID, (0,)), (SIGNED, (1,)), (GRID, (0, 1)), (HALVES[:3], (0,)), (i32(7, -8), (0,)))
    ),
    *(
        Case(f"Reduce{name}", (GRID,), {"keepdims": 1})
        for name in ("Sum", "Prod", "Max", "Min", "Mean", "SumSquare", "L1")
    ),
    Case("MatMul", (SIZES, np.eye(4, dtype=np.int64))),
    Case("MatMul", (SIZES, SIZES)),
    Case("MatMul", (GRID, GRID.T.copy())),
    Case("MatMul", (np.arange(12, dtype=np.int32).reshape(2, 2, 3), np.arange(6, dtype=np.int32).reshape(3, 2))),
    Case("MatMul", (np.arange(12, dtype=np.int32).reshape(2, 2, 3), i32(1, -2, 3))),
    Case("MatMul", (f32(3, 7), f32([1, 0], [0, 2]))),
    Case("MatMul", (f32(3, 7), f32([0.5, 1], [0.25, -1]))),
    Case("MatMulInteger", (np.array([[200, 3]], np.uint8), np.array([[2], [7]], np.uint8))),
    Case("Gemm", (f32([3, 7]), f32([1, 0], [0, 2]))),
    Case("Gemm", (f32([3, 7]), f32([1, 0], [0, 2]), f32(1, 2))),
    Case("Gemm", (f32([3], [7]), f32([1, 5], [0, 2])), {"transA": 1, "transB": 1}),
    *(
        Case("Einsum", xs, {"equation": e})
        for e, xs in (
            ("i,i->", (f32(3, 7), f32(1, 2))),
            ("i,j->ij", (f32(3, 7), f32(1, 2))),
            ("ij,jk", (f32([3, 7]), f32([1, 0], [0, 2]))),
            ("ij->ji", (GRID.astype(np.float32),)),
            ("ij->i", (GRID.astype(np.float32),)),
            ("ii->i", (f32([1, 2], [3, 4]),)),
            ("...i,i->...", (GRID.astype(np.float32), f32(1, 2, 1))),
        )
    ),
    Case("Sum", (SIZES.astype(np.float32), f32(1))),
    Case("Sum", (f32(3, 7), f32(1, 2), f32(0.5))),
    Case("Mean", (f32(3, 7), f32(1, 2))),
    Case("Mean", (f32(3, 7), f32(1, 2), f32(2, 3))),
    Case("Max", (SIZES, i64(5), i64(1, 9, 2, 50))),
    Case("Min", (SIZES, i64(5), i64(1, 9, 2, 50))),
]

BITS = [
    *(
        Case("BitShift", (np.array([1, 7, 200], t), np.array([b], t)), {"direction": d})
        for t in (np.uint8, np.uint32, np.uint64)
        for b in (0, 1, 3, 7)
        for d in ("LEFT", "RIGHT")
    ),
    *(
        Case(f"Bitwise{name}", (x, np.array([m], x.dtype)))
        for name in ("And", "Or", "Xor")
        for x in (SIZES, i32(7, -7, 100), i64(-1, -100))
        for m in (0, 1, 6, 7, 8, 0x5A, -1, -8, -6)
    ),
    *(
        Case(f"Bitwise{name}", (BYTES, np.array([m], np.uint8)))
        for name in ("And", "Or", "Xor")
        for m in (0, 15, 240, 255)
    ),
    *(Case("BitwiseNot", (x,)) for x in (SIZES, SIGNED, BYTES)),
]

ELEMENTS = [
    *(Case(op, (x,)) for op in ("Abs", "Neg", "Sign") for x in (SIZES, SIGNED, FRACTIONS)),
    *(Case(op, (FRACTIONS,)) for op in ("Floor", "Ceil", "Round", "Relu")),
    *(Case(op, (SIGNED, i64(2, -2, 5))) for op in ("Add", "Sub", "Mul", "Div", "Mod")),
    Case("Mod", (SIGNED, i64(2, -2, 5)), {"fmod": 1}),
    *(Case(op, (FRACTIONS, HALVES)) for op in ("Add", "Sub", "Mul", "Div")),
    Case("Pow", (SIZES, one(2))),
    Case("Pow", (FRACTIONS, one(2.0, np.float32))),
    Case("Reciprocal", (f32(2, 4, 0.5),)),
    Case("Sqrt", (f32(4, 9, 2),)),
    *(Case(op, (SIGNED, i64(2, -7, 5))) for op in ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")),
    *(Case(op, (flags(True, False, True, False), flags(True, True, False, False))) for op in ("And", "Or", "Xor")),
    Case("Not", (flags(True, False),)),
    Case("Equal", (texts("a", "b", ""), texts("a", "c", ""))),
    *(
        Case("IsInf", (f32(1, np.inf, -np.inf, np.nan),), {"detect_negative": n, "detect_positive": p})
        for n in (0, 1)
        for p in (0, 1)
    ),
    Case("IsNaN", (f32(1, np.inf, -np.inf, np.nan),)),
    Case("Clip", (SIZES, one(5), one(100))),
    *(Case("Cast", (x,), {"to": t}) for x in (SIZES, SIGNED, FRACTIONS) for t in (1, 6, 7, 9, 11)),
    Case("CastLike", (SIZES, f32(1))),
]

WORDS = texts("", "ab", "3 x  7 ", "3,4,,5", "7")

STRINGS = [
    Case("StringConcat", (WORDS, texts("x"))),
    Case("StringConcat", (texts(["a"], ["b"]), texts("", "c"))),
    *(Case("StringSplit", (WORDS[1:],), {"delimiter": d}, outputs=2) for d in ("", ",", " ")),
    Case("StringSplit", (WORDS,), outputs=2),
    Case("StringSplit", (texts(["3 4"], ["1"]),), outputs=2),
    Case("StringNormalizer", (texts("a", "B"),)),
    Case("Cast", (i64(3, -70, 0),), {"to": 8}),
    Case("Cast", (i32(3, -70),), {"to": 8}),
    Case("Cast", (BYTES,), {"to": 8}),
    *(Case("Cast", (texts("3", "-70", "0"),), {"to": t}) for t in (1, 6, 7, 11)),
    *(Case("Cast", (texts("3.25", "-1e2", ".5"),), {"to": t}) for t in (1, 11)),
]

FUNCTIONS = [
    *(
        Case(op, (x,))
        for op in ("Exp", "Sigmoid", "Softplus", "Sin", "Cos", "Atan", "Sinh", "Asinh", "Tanh", "Erf")
        for x in (f32(0.0, 0.5, 1.0, 3.0, 6.0), np.array([0.0, 0.25, 2.0]))
        if not (x.dtype == np.float64 and op in ("Softplus", "Erf", "Sinh", "Asinh", "Atan"))
    ),
    *(Case(op, (f32(1.0, 2.0, 0.5, 49.0, 343.0),)) for op in ("Log", "Sqrt", "Reciprocal")),
    *(Case(op, (f32(0.0, 0.5, -0.25),)) for op in ("Asin", "Acos", "Atanh")),
    Case("Acosh", (f32(1.0, 2.0, 49.0),)),
    Case("ReduceL2", (f32([3, 4], [1, 2]), i64(1))),
    Case("ReduceLogSum", (f32([3, 4], [1, 2]), i64(1))),
    *(Case("ReduceMean", (np.full(n, v, np.float32), i64(0))) for n in (3, 7, 10) for v in (49, 0.1)),
    Case("ReduceSum", (f32(0.1, 0.2, 0.7, -0.3), i64(0))),
    Case("MatMul", (f32([3.3, 7.1]), f32([0.1, 1], [0.2, -1]))),
]

OTHERS = [
    Case("ExpandDims", (SIZES, one(0, np.int32)), domain=MS),
    Case("Pad", (SIZES.astype(np.float32), i64(1, 2), one(9, np.float32)), domain=MS),
    Case("Range", (one(2), one(11), one(3)), domain=MS),
    Case("GatherND", (GRID.astype(np.float32), i64([0, 1], [1, 2])), domain=MS),
    Case("Trilu", (GRID, one(1)), domain=MS),
    Case("Unique", (f32(3, 1, 3, 2, 1),), domain=MS, outputs=3),
    Case("ArrayFeatureExtractor", (GRID, i64([2, 0])), domain=ML),
    Case("ArrayFeatureExtractor", (SIZES, i64([2, 0])), domain=ML),
    Case("Scatter", (GRID, i64([2, 0], [1, 0]), i64([9, 8], [7, 6])), {"axis": 1}, opset=9),
    Case("BitCast", (f32(1.5, -2.0),), {"to": 6}),
]

CASES = [*OTHERS, *FUNCTIONS, *STRINGS, *INDEXING, *ORDER, *SUMS, *BITS, *ELEMENTS]
