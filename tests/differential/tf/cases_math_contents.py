"""Known contents: integers, floats and bools of small tensors through arithmetic, comparisons and reductions."""

import numpy as np

from tests.differential.tf.case import Case

SIGNED = np.array([[7, -7, 0], [3, 12, -1]], np.int32)
DIVISORS = np.array([2, -2, 5], np.int32)
SIZES = np.array([1, 7, 640, 33], np.int64)
PARTS = np.array([[2], [3]], np.int64)
BYTES = np.array([200, 100, 0], np.uint8)
FLOATS = np.array([2.5, -2.5, 0.0, 7.0, -0.5], np.float32)
HALVES = np.array([2.0, 4.0, 0.5, 3.0, -1.0], np.float32)
FLAGS = np.array([[True, False, True], [False, False, True]])
ROW = np.array([True, False, False])


def scalar(value, dtype=np.int32):
    return np.array(value, dtype)


INTEGERS = ("Add", "AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference")
QUOTIENTS = ("Div", "FloorDiv", "TruncateDiv", "FloorMod", "Mod", "TruncateMod")
COMPARISONS = ("Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual")

CASES = [
    *(Case(op, inputs) for op in (*INTEGERS, *COMPARISONS) for inputs in ((SIGNED, DIVISORS), (SIZES, PARTS))),
    *(Case(op, (BYTES, BYTES[::-1].copy())) for op in ("AddV2", "Sub", "Mul", "Maximum")),
    *(Case(op, (FLOATS, HALVES)) for op in (*INTEGERS, *COMPARISONS, "RealDiv", "Div", "FloorDiv", "FloorMod")),
    *(Case(op, (scalar(640, np.float32), FLOATS[[0, 3]])) for op in ("RealDiv", "FloorDiv", "Mul")),
    *(Case(op, inputs) for op in QUOTIENTS for inputs in ((SIGNED, DIVISORS), (SIZES, PARTS))),
    *(Case(op, (SIGNED, scalar(4))) for op in QUOTIENTS),
    Case("Pow", (SIGNED, scalar(3))),
    Case("Pow", (SIZES, PARTS)),
    *(Case(op, (x,)) for op in ("Abs", "Neg", "Sign", "Square", "Relu") for x in (SIGNED, SIZES, FLOATS)),
    *(Case(op, (FLOATS,)) for op in ("Ceil", "Floor", "Round", "Rint", "Relu6", "IsNan", "IsInf", "IsFinite")),
    Case("Sqrt", (np.array([4.0, 2.0, 0.25], np.float32),)),
    *(Case("Invert", (x,)) for x in (SIGNED, SIZES, BYTES)),
    *(
        Case(op, (x, scalar(y, x.dtype)))
        for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
        for x in (SIGNED, SIZES)
        for y in (7, 5)
    ),
    *(
        Case(op, (x, scalar(y, x.dtype)))
        for op in ("LeftShift", "RightShift")
        for x in (SIGNED, SIZES, BYTES)
        for y in (1, 4)
    ),
    Case("LogicalNot", (FLAGS,)),
    *(Case(op, (FLAGS, ROW)) for op in ("LogicalAnd", "LogicalOr", "Equal", "NotEqual")),
    *(
        Case("Cast", (x,), {"DstT": dtype})
        for x in (SIGNED, SIZES)
        for dtype in ("int64", "float32", "bool", "uint8", "float16")
    ),
    *(Case("Cast", (FLOATS,), {"DstT": dtype}) for dtype in ("int32", "int64", "bool", "float64")),
    *(Case("Cast", (FLAGS,), {"DstT": dtype}) for dtype in ("int32", "float32")),
    Case("SelectV2", (FLAGS, SIGNED, scalar(9))),
    Case("SelectV2", (scalar(True, bool), SIZES, SIZES[::-1].copy())),
    Case("Select", (FLAGS, SIGNED, SIGNED * 2)),
    Case("Select", (np.array([True, False]), SIGNED, SIGNED * 2)),
    Case("ClipByValue", (SIGNED, scalar(-2), scalar(5))),
    Case("AddN", ([SIGNED, SIGNED, SIGNED * 3],)),
    *(
        Case(op, (x, axes), {"keep_dims": keep})
        for op in ("Max", "Min", "Prod", "Sum")
        for x, axes, keep in (
            (SIGNED, scalar(0), False),
            (SIGNED, scalar(-1), True),
            (SIGNED, np.array([0, 1]), False),
            (SIZES, scalar(0), False),
            (SIZES, np.array([], np.int32), False),
            (FLOATS, scalar(0), False),
        )
    ),
    *(Case(op, (np.zeros((0, 2), np.int32), scalar(0))) for op in ("Prod", "Sum")),
    *(
        Case(op, (FLAGS, axes))
        for op in ("All", "Any")
        for axes in (scalar(0), np.array([0, 1]), np.array([], np.int32))
    ),
    *(
        Case(op, (SIZES, scalar(0)), {"exclusive": exclusive, "reverse": reverse})
        for op in ("Cumsum", "Cumprod")
        for exclusive in (False, True)
        for reverse in (False, True)
    ),
    *(
        Case("Range", tuple(scalar(v, dtype) for v in values))
        for dtype, values in (
            (np.int32, (2, 11, 3)),
            (np.int64, (7, 0, -2)),
            (np.int32, (4, 4, 1)),
            (np.float32, (0, 2, 0.5)),
            (np.float32, (3, 9, 2)),
        )
    ),
    Case("Bucketize", (np.array([0.0, 2.5, 1.0, 3.0], np.float32),), {"boundaries": [0.0, 2.5]}),
]
