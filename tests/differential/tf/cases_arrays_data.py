"""Padding, blocks, scattering, quantization, and sizes that depend on data."""

import numpy as np

from tests.differential.tf.case import Case, Runtime


def i32(*values):
    return np.array(values, dtype=np.int32)


def i64(*values):
    return np.array(values, dtype=np.int64)


TABLE = np.array([[0, 3, 0], [4, 0, 6]], np.int32)
AMOUNTS = i32([1, 2], [0, 3])
SPATIAL = i32([0, 1], [2, 0])

WINDOW = ("ksizes", "strides", "rates")

PADDING = [
    Case("Pad", ("float32[4, 5]", AMOUNTS)),
    Case("Pad", ("float32[4, 5]", Runtime(AMOUNTS)), data=True),
    Case("Pad", (i32(7, 8), i32([1, 2]))),
    Case("Pad", ("float32[]", np.zeros((0, 2), np.int32))),
    Case("PadV2", ("float32[0, 5]", AMOUNTS, np.float32(1))),
    Case("PadV2", (i32(7, 8), i64([0, 2]), np.int32(9))),
    *(Case("MirrorPad", ("float32[4, 5]", AMOUNTS), {"mode": mode}) for mode in ("REFLECT", "SYMMETRIC")),
    *(Case("MirrorPad", (i32(7, 8, 9), i32([1, 2])), {"mode": mode}) for mode in ("REFLECT", "SYMMETRIC")),
    Case("MirrorPad", ("float32[4, 5]", Runtime(AMOUNTS)), {"mode": "REFLECT"}, data=True),
    *(Case("MirrorPadGrad", ("float32[7, 8]", AMOUNTS), {"mode": mode}) for mode in ("REFLECT", "SYMMETRIC")),
    Case("MirrorPadGrad", ("float32[7, 8]", Runtime(AMOUNTS)), {"mode": "REFLECT"}, data=True),
    Case("SpaceToBatchND", ("float32[2, 5, 6, 3]", i32(2, 4), SPATIAL)),
    Case("SpaceToBatchND", ("float32[2, 5, 3]", i32(3), i64([0, 1]))),
    Case("SpaceToBatch", ("float32[2, 5, 6, 3]", SPATIAL), {"block_size": 2}),
    Case("BatchToSpaceND", ("float32[16, 3, 2, 3]", i32(2, 4), SPATIAL)),
    Case("BatchToSpaceND", ("float32[6, 2, 3]", i32(3), i64([0, 1]))),
    Case("BatchToSpaceND", ("float32[16, 3, 2, 3]", i32(2, 4), Runtime(SPATIAL)), data=True),
    Case("BatchToSpace", ("float32[8, 3, 4, 3]", SPATIAL), {"block_size": 2}),
    Case("SpaceToDepth", ("float32[2, 4, 6, 3]",), {"block_size": 2}),
    Case("SpaceToDepth", ("float32[1, 9, 6, 2]",), {"block_size": 3, "data_format": "NHWC"}),
    Case("DepthToSpace", ("float32[2, 4, 6, 8]",), {"block_size": 2}),
    Case("DepthToSpace", ("float32[1, 3, 2, 18]",), {"block_size": 3, "data_format": "NHWC"}),
    *(
        Case("ExtractImagePatches", ("float32[2, 9, 8, 3]",), {**dict(zip(WINDOW, sizes, strict=True)), "padding": p})
        for p in ("SAME", "VALID")
        for sizes in [((1, 2, 3, 1), (1, 2, 2, 1), (1, 1, 1, 1)), ((1, 3, 2, 1), (1, 1, 3, 1), (1, 2, 3, 1))]
    ),
    *(
        Case("ExtractVolumePatches", ("float32[2, 7, 9, 8, 3]",), {"ksizes": k, "strides": s, "padding": p})
        for p in ("SAME", "VALID")
        for k, s in [((1, 2, 3, 2, 1), (1, 2, 2, 3, 1)), ((1, 1, 3, 4, 1), (1, 1, 1, 2, 1))]
    ),
    *(
        Case(
            "ExtractImagePatches",
            (f"float32[1, {h}, 3, 1]",),
            {**dict(zip(WINDOW, sizes, strict=True)), "padding": "VALID"},
        )
        for h in (0, 1, 2)
        for sizes in [((1, 3, 3, 1), (1, 2, 2, 1), (1, 1, 1, 1))]
    ),
    Case(
        "ExtractVolumePatches",
        ("float32[1, 1, 4, 4, 1]",),
        {"ksizes": (1, 4, 1, 1, 1), "strides": (1, 2, 2, 2, 1), "padding": "VALID"},
    ),
    *(Case(op, (i32(1, 2, 3, 0),)) for op in ("DataFormatDimMap",)),
    Case("DataFormatVecPermute", (i32(7, 8, 9, 6),)),
    Case("DataFormatVecPermute", (i32(7, 8),), {"src_format": "NCHW", "dst_format": "NHWC"}),
    Case("DataFormatVecPermute", (i32([7, 8], [9, 6], [1, 2], [3, 4]),)),
]

TUPLES = i32([0, 1], [3, 2])
SCATTERS = ("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin")

SCATTERING = [
    *(Case(op, ("float32[4, 3]", TUPLES, "float32[2]")) for op in (*SCATTERS, "ScatterNdNonAliasingAdd")),
    *(Case(op, ("float32[4, 3]", i32([1], [0], [1]), "float32[3, 3]")) for op in SCATTERS),
    Case("TensorScatterUpdate", (i32(5, 6, 7), i32([2], [0]), i32(8, 9))),
    Case("ScatterNd", (TUPLES, "float32[2]", i32(4, 3))),
    Case("ScatterNd", (i32([1], [0]), "float32[2, 3]", i32(5, 3))),
    Case("ScatterNd", (i32([1], [0]), i32(4, 5), i32(3))),
    Case("ScatterNd", (i64([1], [1]), "int64[2]", Runtime(i64(3))), data=True, ranked=False),
    Case("InplaceUpdate", ("float32[4, 3]", i32(1, 2), "float32[2, 3]")),
    Case("InplaceAdd", ("float32[4, 3]", i32(1), "float32[1, 3]")),
    Case("InplaceSub", ("float32[4, 3]", i32(1, 2), "float32[2, 3]")),
]

COUNTS = ("UniqueWithCounts", "Unique")
AXIS_COUNTS = ("UniqueV2", "UniqueWithCountsV2")
NUMBERS = i32(3, 1, 3, 2)


def batches():
    """The rows of one call of several that ran as one batch; the index has its number and its first and last row."""
    for dims, first, last in (([4, 5], 1, 3), ([2, 3, 1], 0, 2), ([3], 0, 1)):
        operands = (f"float32{dims}", Runtime(i64([7, first, last])))
        yield Case("Unbatch", (*operands, np.array(7)), {"timeout_micros": 1000}, data=True)
    for dims in ([2, 5], [2, 3, 1], [2]):
        spec = f"float32{dims}"
        yield Case("UnbatchGrad", (spec, Runtime(i64([7, 0, 2])), spec, np.array(7)), data=True)


DATA = [
    Case("Where", (TABLE,)),
    Case("Where", (Runtime(TABLE),), data=True),
    Case("Where", (np.array([True, False, True]),)),
    Case("Where", (np.zeros((0, 3), bool),)),
    *(Case(op, (NUMBERS,)) for op in COUNTS),
    *(Case(op, (Runtime(NUMBERS),), {"out_idx": "int64"}, data=True) for op in COUNTS),
    *(Case(op, (i32(),)) for op in COUNTS),
    *(Case(op, (NUMBERS, i64(0))) for op in AXIS_COUNTS),
    *(Case(op, (NUMBERS, i64())) for op in AXIS_COUNTS),
    *(Case(op, (Runtime(i32([1, 2], [1, 2], [0, 5])), i32(0)), data=True) for op in AXIS_COUNTS),
    *(Case(op, (Runtime(i32([1, 1], [2, 2], [0, 0])), i32(-1)), data=True) for op in AXIS_COUNTS),
    *(Case(op, (Runtime(i32([1, 1], [2, 2])), Runtime(i32(1))), data=True, ranked=False) for op in AXIS_COUNTS),
    Case("ListDiff", (NUMBERS, i32(1, 9))),
    Case("ListDiff", (Runtime(NUMBERS), i32(1, 9)), {"out_idx": "int64"}, data=True),
    Case("ListDiff", (NUMBERS, i32())),
    *(Case("ListDiff", (Runtime(i32(*x)), i32(1, 9)), data=True) for x in ([], [1], [5], [1, 5])),
    Case("DynamicPartition", ("float32[4, 3]", i32(0, 2, 0, 1)), {"num_partitions": 3}),
    Case("DynamicPartition", ("float32[4, 3]", Runtime(i32(0, 2, 0, 1))), {"num_partitions": 3}, data=True),
    Case("DynamicPartition", (NUMBERS, i32(0, 1, 0, 1)), {"num_partitions": 2}),
    Case("DynamicPartition", (TABLE, Runtime(np.zeros((2, 3), np.int32))), {"num_partitions": 1}, data=True),
    *(
        case
        for op in ("DynamicStitch", "ParallelDynamicStitch")
        for case in (
            Case(op, ([i32(0, 2), i32(1)], ["float32[2, 3]", "float32[1, 3]"])),
            Case(op, ([i32(3, 0), np.int32(2)], [i32(7, 8), np.int32(9)])),
            Case(op, ([Runtime(i32(0, 2)), i32(1)], ["float32[2, 3]", "float32[1, 3]"]), data=True),
            Case(op, ([i32(), i32()], ["float32[0, 3]", "float32[0, 3]"])),
        )
    ),
    Case(
        "EditDistance",
        (i64([0, 0], [1, 0]), i32(1, 2), i64(2, 1), i64([0, 0], [1, 0]), i32(1, 3), i64(2, 2)),
    ),
]

LIMITS = ("float32[]", np.float32(1))
ROWS = ("float32[3]", np.array([1, 1, 1], np.float32))

QUANTIZATION = [
    Case("FakeQuantWithMinMaxArgs", ("float32[2, 3]",), {"num_bits": 4}),
    Case("FakeQuantWithMinMaxArgsGradient", ("float32[2, 3]", "float32[2, 3]")),
    Case("FakeQuantWithMinMaxVars", ("float32[2, 3]", *LIMITS)),
    Case("FakeQuantWithMinMaxVarsGradient", ("float32[2, 3]", "float32[2, 3]", *LIMITS)),
    Case("FakeQuantWithMinMaxVarsPerChannel", ("float32[2, 3]", *ROWS)),
    Case("FakeQuantWithMinMaxVarsPerChannelGradient", ("float32[2, 3]", "float32[2, 3]", *ROWS)),
    *(Case(f"QuantizeAndDequantizeV{n}", ("float32[2, 3]", *LIMITS)) for n in (2, 4)),
    *(Case(f"QuantizeAndDequantizeV{n}", ("float32[2, 3]", *ROWS), {"axis": 1}) for n in (2, 4)),
    Case("QuantizeAndDequantizeV3", ("float32[2, 3]", *LIMITS, np.int32(8))),
    Case("QuantizeAndDequantizeV4Grad", ("float32[2, 3]", "float32[2, 3]", *LIMITS)),
    Case("QuantizeAndDequantizeV4Grad", ("float32[2, 3]", "float32[2, 3]", *ROWS), {"axis": 1}),
    Case("QuantizeV2", ("float32[2, 3]", *LIMITS), {"T": "quint8"}),
    Case("QuantizeV2", ("float32[2, 3]", *ROWS), {"T": "qint8", "axis": 1, "mode": "SCALED"}),
]

CASES = [*PADDING, *SCATTERING, *DATA, *batches(), *QUANTIZATION]
