"""Element-wise operators, reductions, ranges, segments and counts."""

import numpy as np

from tests.differential.tf.case import Case, Runtime

UNARY = [
    *("Abs", "Acos", "Asin", "Asinh", "Atan", "Atanh", "BesselI0", "BesselI0e", "BesselI1", "BesselI1e"),
    *("BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0", "BesselY1"),
    *("Ceil", "Cos", "Cosh", "Dawsn", "Digamma", "Elu", "Erf", "Erfc", "Erfinv", "Exp", "Expint", "Expm1"),
    *("Floor", "FresnelCos", "FresnelSin", "Inv", "IsFinite", "IsInf", "IsNan", "LeakyRelu", "Lgamma", "Log"),
    *("Log1p", "LogSoftmax", "Ndtri", "Neg", "Reciprocal", "Relu", "Relu6", "Rint", "Round", "Rsqrt", "Selu"),
    *("Sigmoid", "Sign", "Sin", "Sinh", "Softmax", "Softplus", "Softsign", "Spence", "Sqrt", "Square", "Tan"),
    *("Tanh",),
]
BINARY = [
    *("Add", "AddV2", "Atan2", "Complex", "Div", "DivNoNan", "Equal", "FloorDiv", "FloorMod", "Greater"),
    *("GreaterEqual", "Igamma", "IgammaGradA", "Igammac", "Less", "LessEqual", "Maximum", "Minimum", "Mod"),
    *("Mul", "MulNoNan", "NextAfter", "NotEqual", "Polygamma", "Pow", "RandomGammaGrad", "RealDiv"),
    *("SquaredDifference", "Sub", "Xdivy", "Xlog1py", "Xlogy", "Zeta"),
]
BITS = ["BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift"]
REDUCTIONS = ["EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum"]
INTS = np.array([0, 0, 4], np.int32)
SHAPES = [("float32[2, 1, 3]", "float32[4, 1]"), ("float32[]", "float32[0, 3]"), ("float32[5]", "float32[5]")]


def scalar(value, dtype=np.int32):
    return np.array(value, dtype)


CASES = [
    *(Case(op, (shape,)) for op in UNARY for shape in ("float32[2, 3]", "float32[0, 3]")),
    Case("Acosh", (np.array([[1.5, 2.5]], np.float32),)),
    *(Case(op, ("complex64[2, 3]",), {"Tout": "float32"}) for op in ("Angle", "ComplexAbs", "Imag", "Real")),
    Case("Conj", ("complex64[2, 3]",)),
    *(Case("Cast", ("float32[2, 3]",), {"DstT": dtype}) for dtype in ("int32", "bool", "complex64", "float16")),
    *(Case(op, ("int32[2, 3]",)) for op in ("Invert", "PopulationCount")),
    Case("LogicalNot", ("bool[2, 3]",)),
    *(Case("Bucketize", (x,), {"boundaries": [0.0, 2.5]}) for x in ("float32[2, 3]", np.array([0.0, 2.5, 1, 3]))),
    Case("Cross", ("float32[2, 3]", "float32[2, 3]")),
    *(
        Case("ClipByValue", ("float32[2, 3]", low, "float32[]"))
        for low in ("float32[]", np.array(0.5, np.float32), Runtime(np.array(0.5, np.float32)))
    ),
    *(
        Case(op, ("float32[2, 3]", "float32[2, 3]"))
        for op in ("InvGrad", "ReciprocalGrad", "RsqrtGrad", "SigmoidGrad", "SqrtGrad", "TanhGrad", "ApproximateEqual")
    ),
    # two operands
    *(Case(op, inputs, {"Tout": "complex64"} if op == "Complex" else {}) for op in BINARY for inputs in SHAPES),
    *(Case(op, ("int32[2, 1, 3]", "int32[4, 1]")) for op in BITS),
    *(Case(op, ("bool[2, 1, 3]", "bool[4, 1]")) for op in ("LogicalAnd", "LogicalOr")),
    *(Case(op, ("int32[2, 1]", np.array([[1, 2, 3]], np.int32))) for op in ("TruncateDiv", "TruncateMod", "FloorMod")),
    Case("Equal", ("float32[2, 3]", "float32[]"), {"incompatible_shape_error": False}),
    Case("Equal", ("float32[2, 1]", "float32[3, 4]"), {"incompatible_shape_error": False}, ranked=False),
    Case("NotEqual", ("float32[2, 3]", "float32[4]"), {"incompatible_shape_error": False}, ranked=False),
    # selection, and sums of many
    Case("Select", ("bool[2]", "float32[2, 3]", "float32[2, 3]")),
    Case("Select", ("bool[2, 3]", "float32[2, 3]", "float32[2, 3]")),
    Case("Select", ("bool[]", "float32[2, 3]", "float32[2, 3]")),
    Case("SelectV2", ("bool[4, 1]", "float32[2, 1, 3]", "float32[]")),
    Case("SelectV2", ("bool[0, 1]", "float32[3]", "float32[1]")),
    Case("SelectV2", (scalar(True, bool), "float32[2, 1, 3]", "float32[4, 1]")),
    Case("AddN", (["float32[2, 3]", "float32[2, 3]", "float32[2, 3]"],)),
    Case("Betainc", ("float32[2, 3]", "float32[]", "float32[2, 3]")),
    Case("Betainc", ("float32[]", "float32[]", "float32[5]")),
    Case("Betainc", ("float32[]", "float32[]", "float32[]")),
    # reductions
    *(
        Case(
            op,
            ("float32[2, 3, 4]", axes),
            {"keep_dims": keep},
            data=isinstance(axes, Runtime),
            ranked=not isinstance(axes, Runtime),
        )
        for op in REDUCTIONS
        for axes in (scalar(1), np.array([0, -1]), np.array([], np.int32), Runtime(np.array([0, 2])))
        for keep in (False, True)
    ),
    *(Case(op, ("float32[0, 3]", scalar(0))) for op in REDUCTIONS),
    *(Case(op, ("bool[2, 3]", axes)) for op in ("All", "Any") for axes in (scalar(-1), np.array([0, 1]))),
    *(
        Case(op, ("float32[2, 3, 4]", axis), {"output_type": dtype}, data=isinstance(axis, Runtime))
        for op in ("ArgMax", "ArgMin")
        for axis, dtype in ((scalar(1), "int64"), (scalar(-1), "int32"), (Runtime(scalar(0)), "int64"))
    ),
    Case("ArgMax", ("float32[5]", scalar(0))),
    *(
        Case(op, ("float32[2, 3]", scalar(axis)), {"exclusive": exclusive, "reverse": not exclusive})
        for op in ("Cumsum", "Cumprod", "CumulativeLogsumexp")
        for axis, exclusive in ((0, False), (-1, True))
    ),
    # ranges
    *(
        Case("Range", tuple(np.array(v, dtype) for v in values))
        for dtype, values in (
            (np.int32, (1, 10, 3)),
            (np.int64, (10, 1, -4)),
            (np.int32, (3, 3, 1)),
            (np.float32, (0, 1, 0.1)),
            (np.float64, (2, -1, -0.7)),
            (np.float32, (1, 9, 2)),
        )
    ),
    Case("Range", tuple(Runtime(scalar(v)) for v in (1, 10, 3)), data=True),
    Case("Range", (scalar(0), Runtime(scalar(5)), scalar(1)), data=True),
    *(Case("LinSpace", ("float32[]", "float32[]", scalar(n))) for n in (1, 5)),
    Case("LinSpace", ("float32[]", "float32[]", Runtime(scalar(4))), data=True),
    # segments
    *(
        Case(f"Segment{op}", ("float32[3, 2]", ids), data=isinstance(ids, Runtime))
        for op in ("Max", "Mean", "Min", "Prod", "Sum")
        for ids in (INTS, Runtime(INTS))
    ),
    Case("SegmentSum", ("float32[0, 2]", np.array([], np.int32))),
    *(
        Case(f"UnsortedSegment{op}", ("float32[3, 2, 4]", "int32[3, 2]", count), data=isinstance(count, Runtime))
        for op in ("Max", "Min", "Prod", "Sum")
        for count in (scalar(6), Runtime(scalar(5)))
    ),
    Case("UnsortedSegmentJoin", ("string[3]", "int32[3]", scalar(2))),
    *(
        case
        for op in ("Mean", "SqrtN", "Sum")
        for case in (
            Case(f"SparseSegment{op}", ("float32[3, 2]", "int32[3]", INTS)),
            Case(f"SparseSegment{op}", ("float32[3, 2]", "int32[3]", Runtime(INTS)), data=True),
            Case(f"SparseSegment{op}WithNumSegments", ("float32[3, 2]", "int32[3]", Runtime(INTS), scalar(7))),
            Case(f"SparseSegment{op}Grad", ("float32[5, 2]", "int32[3]", Runtime(INTS), scalar(7))),
            Case(f"SparseSegment{op}GradV2", ("float32[5, 2]", "int32[3]", Runtime(INTS), scalar(7)), data=True),
        )
    ),
    # counts
    Case("Bincount", ("int32[6]", scalar(5), "float32[0]")),
    *(Case("DenseBincount", (shape, scalar(5), "float32[0]")) for shape in ("int32[6]", "int32[3, 6]")),
    Case("DenseBincount", ("int32[3, 6]", Runtime(scalar(5)), "float32[0]"), {"binary_output": True}, data=True),
    *(
        Case("SparseBincount", (f"int64[4, {len(shape)}]", "int32[4]", np.array(shape), scalar(5), "float32[0]"))
        for shape in ((3,), (3, 4))
    ),
    Case("RaggedBincount", (Runtime(np.array([0, 1, 1, 4])), "int32[4]", scalar(5), "float32[0]")),
    Case("HistogramFixedWidth", ("float32[2, 3]", Runtime(np.array([0, 1], np.float32)), scalar(4))),
    Case("HistogramFixedWidth", ("float32[]", Runtime(np.array([0, 1], np.float32)), scalar(3)), {"dtype": "int64"}),
    *(
        Case("SobolSample", (scalar(3), n, scalar(1)), data=isinstance(n, Runtime))
        for n in (scalar(7), Runtime(scalar(4)))
    ),
    Case("KMC2ChainInitialization", ("float32[4]", scalar(1, np.int64))),
    Case("KmeansPlusPlusInitialization", ("float32[5, 3]", *(scalar(n, np.int64) for n in (2, 1, 1)))),
    *(Case("NearestNeighbors", ("float32[5, 3]", "float32[4, 3]", scalar(k, np.int64))) for k in (2, 9)),
]
