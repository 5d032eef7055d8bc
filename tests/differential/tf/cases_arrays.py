"""Reshapes, slices, concatenation and gathering."""

import numpy as np

from tests.differential.tf.case import Case, Runtime


def i32(*values):
    return np.array(values, dtype=np.int32)


def i64(*values):
    return np.array(values, dtype=np.int64)


EMPTY = np.zeros(0, np.int32)


def strided(inputs, begin, end, strides, **masks):
    return Case("StridedSlice", (inputs, i32(*begin), i32(*end), i32(*strides)), masks)


SAME = [
    *("Identity", "StopGradient", "PreventGradient", "Snapshot", "GuaranteeConst", "DeepCopy", "ZerosLike", "OnesLike"),
    *("DebugGradientIdentity",),
]

CASES = [
    *(Case(op, (spec,)) for op in SAME for spec in ("float32[2, 5]", i32(3, 1), "float32[0, 3]")),
    Case("CheckNumerics", ("float32[2, 5]",), {"message": "text"}),
    Case("CheckNumericsV2", ("float32[2, 5]",), {"message": "text"}),
    Case("IdentityN", (["float32[2, 5]", i32(1, 2)],)),
    Case("EnsureShape", ("float32[2, 5]",), {"shape": (-1, 5)}),
    Case("EnsureShape", ("float32[2, 5]",), {"shape": None}),
    Case("PlaceholderWithDefault", ("float32[2, 5]",), {"shape": (2, 5)}),
    # shapes
    *(Case("Shape", (spec,), {"out_type": t}) for spec in ("float32[2, 0]", "float32[]") for t in ("int32", "int64")),
    Case("ShapeN", (["float32[2, 5]", "float32[3]"],)),
    Case("Size", ("float32[2, 5]",)),
    Case("Rank", ("float32[2, 5]",)),
    Case("BroadcastArgs", (i32(2, 1, 3), i32(5, 1))),
    Case("BroadcastArgs", (EMPTY, i32(5, 1))),
    *(
        Case("BroadcastGradientArgs", (i32(*a), i32(*b)))
        for a, b in [([2, 3], [3]), ([1, 3], [3]), ([1, 3], [1, 3]), ([2, 1, 3], [1, 1, 3]), ([1, 5, 3], [2, 5, 1])]
    ),
    Case("BroadcastGradientArgs", (EMPTY, i32(3))),
    Case("BroadcastGradientArgs", (Runtime(i32(2, 1, 3)), Runtime(i32(3))), data=True),
    # reshapes
    *(
        Case("Reshape", ("float32[2, 6]", i32(*to)))
        for to in [(3, 4), (-1,), (4, -1), (2, -1, 3), (1, 12, 1, 1), (-1, 6)]
    ),
    Case("Reshape", ("float32[0, 6]", i32(-1, 3))),
    Case("Reshape", ("float32[0, 6]", i32(0, -1))),
    Case("Reshape", ("float32[0, 5]", i32(0, 12, -1))),
    Case("Reshape", ("float32[]", EMPTY)),
    Case("Reshape", ("float32[1]", i64(-1))),
    Case("Reshape", (i32(1, 2, 3, 4), i32(2, 2))),
    Case("Reshape", ("float32[2, 6]", Runtime(i32(3, 4))), data=True, ranked=False),
    Case("Squeeze", ("float32[1, 2, 1]",), ranked=False),
    Case("Squeeze", ("float32[1, 2, 1]",), {"squeeze_dims": (0,)}),
    Case("Squeeze", ("float32[1, 2, 1]",), {"squeeze_dims": (-1, 0)}),
    *(Case("ExpandDims", ("float32[2, 3]", np.int32(axis))) for axis in (0, 1, 2, -1, -3)),
    Case("ExpandDims", ("float32[2, 3]", i64(1))),
    Case("ExpandDims", ("float32[2, 3]", Runtime(np.int32(1))), data=True),
    Case("Transpose", ("float32[2, 3, 5]", i32(2, 0, 1))),
    Case("Transpose", ("float32[2, 3]", i64(1, 0))),
    Case("Transpose", ("float32[2, 3, 5]", i32(-1, 0, 1))),
    Case("Transpose", ("float32[]", EMPTY)),
    Case("Transpose", ("float32[2, 3]", Runtime(i32(1, 0))), data=True),
    Case("ConjugateTranspose", ("complex64[2, 3, 5]", i32(1, 2, 0))),
    Case("InvertPermutation", (i32(2, 0, 1),)),
    Case("InvertPermutation", (i64(),)),
    Case("Bitcast", ("float32[2, 3]",), {"type": "int32"}),
    Case("Bitcast", ("float32[2, 3]",), {"type": "int8"}),
    Case("Bitcast", ("uint8[2, 4]",), {"type": "float32"}),
    Case("Bitcast", ("int64[2, 3]",), {"type": "float32"}),
    Case("Reverse", ("float32[2, 3]", np.array([True, False]))),
    Case("Reverse", (i32(1, 2, 3), np.array([True]))),
    Case("ReverseV2", ("float32[2, 3]", i32(0, -1))),
    Case("ReverseV2", (i32(1, 2, 3), i32(0))),
    Case("ReverseV2", ("float32[2, 3]", EMPTY)),
    Case("ReverseV2", ("float32[]", i32(0))),
    Case("ReverseSequence", ("float32[2, 3, 5]", i64(3, 2, 1)), {"seq_dim": 2, "batch_dim": 1}),
    Case("ReverseSequence", ("float32[2, 3]", i32(3, 1)), {"seq_dim": 1}),
    Case("Roll", ("float32[2, 3]", np.int32(1), np.int32(0))),
    Case("Roll", ("float32[2, 3]", i32(1, 2), i32(0, 1))),
    Case("Diag", ("float32[3]",)),
    Case("Diag", ("float32[2, 3]",)),
    Case("DiagPart", ("float32[3, 3]",)),
    Case("DiagPart", ("float32[2, 3, 2, 3]",)),
    # concatenation
    *(Case("Pack", (["float32[2, 3]", "float32[2, 3]"],), {"axis": axis}) for axis in (0, 1, 2, -1)),
    Case("Pack", ([np.int32(3), np.int32(4)],)),
    Case("Pack", ([i32(3, 5), i32(4, 6)],), {"axis": 1}),
    *(
        Case("Unpack", ("float32[2, 3]",), {"num": num, "axis": axis})
        for num, axis in [(2, 0), (3, 1), (3, -1), (2, -2)]
    ),
    Case("Unpack", (i32(3, 4),), {"num": 2}),
    *(Case("ConcatV2", (["float32[2, 3]", "float32[2, 5]"], np.int32(axis))) for axis in (1, -1)),
    Case("ConcatV2", ([i32(1), i32(2, 3), EMPTY], np.int32(0))),
    Case("ConcatV2", (["float32[2, 3]", "float32[2, 3]"], Runtime(np.int64(1))), data=True),
    Case("Concat", (np.int32(0), ["float32[2, 3]", "float32[0, 3]"])),
    Case("Concat", (np.int32(-1), ["float32[2, 3]", "float32[2, 5]"])),
    Case("ConcatOffset", (np.int32(1), [i32(2, 3), i32(2, 5), i32(2, 1)])),
    Case("ConcatOffset", (np.int32(-1), [i32(2, 3), i32(2, 5)])),
    *(
        Case("Split", (np.int32(axis), "float32[4, 6]"), {"num_split": num})
        for axis, num in [(0, 2), (1, 3), (-1, 2), (0, 1)]
    ),
    Case("Split", (np.int32(0), i32(1, 2, 3, 4)), {"num_split": 2}),
    Case("Split", (Runtime(np.int32(1)), "float32[4, 6]"), {"num_split": 2}, data=True),
    *(
        Case("SplitV", ("float32[4, 6]", i64(*sizes), np.int32(axis)), {"num_split": len(sizes)})
        for sizes, axis in [((1, 5), 1), ((1, -1, 2), -1), ((4,), 0), ((0, 4), 0)]
    ),
    Case("SplitV", ("float32[4, 6]", i32(2, 4), Runtime(np.int32(1))), {"num_split": 2}, data=True),
    Case("SplitV", ("float32[4, 6]", Runtime(i32(2, 4)), np.int32(1)), {"num_split": 2}, data=True),
    Case("SplitV", (i32(1, 2, 3), i32(1, 2), np.int32(0)), {"num_split": 2}),
    Case("Tile", ("float32[2, 3]", i32(2, 1))),
    Case("Tile", ("float32[2, 3]", i64(0, 2))),
    Case("Tile", (i32(1, 2), i32(3))),
    Case("Tile", ("float32[2, 3]", Runtime(i32(2, 1))), data=True),
    Case("Fill", (i32(2, 3), np.float32(1))),
    Case("Fill", (EMPTY, np.int32(1))),
    Case("Fill", (i64(0, 3), np.array(True))),
    Case("Fill", (Runtime(i32(2, 3)), "float32[]"), data=True, ranked=False),
    Case("Empty", (i32(2, 3),), {"dtype": "int32", "init": True}),
    Case("Empty", (i32(2, 3),), {"dtype": "float32"}),
    Case("BroadcastTo", ("float32[1, 3]", i32(2, 3))),
    Case("BroadcastTo", ("float32[3]", i64(5, 2, 3))),
    Case("BroadcastTo", ("float32[1, 3]", i32(0, 3))),
    Case("BroadcastTo", (i32(1, 2), i32(3, 2))),
    Case("BroadcastTo", ("float32[2, 3]", Runtime(i32(5, 2, 3))), data=True, ranked=False),
    Case("ParallelConcat", (["float32[1, 3]", "float32[1, 3]"],), {"shape": (2, 3)}),
    # slices
    *(
        Case("Slice", ("float32[4, 6]", i32(*begin), i32(*size)))
        for begin, size in [((0, 1), (2, 3)), ((1, 2), (-1, 2)), ((4, 0), (0, -1)), ((0, 0), (-1, -1))]
    ),
    Case("Slice", (i32(1, 2, 3, 4), i32(1), i32(2))),
    Case("Slice", (i32(1, 2, 3, 4), i64(1), i64(-1))),
    Case("Slice", ("float32[4, 6]", Runtime(i32(0, 1)), i32(2, 3))),
    Case("Slice", ("float32[4, 6]", Runtime(i32(0, 1)), i32(2, -1)), data=True),
    Case("Slice", ("float32[4, 6]", i32(0, 1), Runtime(i32(2, 3))), data=True),
    strided("float32[5, 7]", [1], [4], [1]),
    strided("float32[5, 7]", [1, 2], [4, 6], [2, 3]),
    strided("float32[5, 7]", [-3], [-1], [1]),
    strided("float32[5, 7]", [4], [0], [-1]),
    strided("float32[5, 7]", [4, 0], [0, 7], [-2, 1], end_mask=1),
    strided("float32[5, 7]", [0, 0], [0, 0], [-1, -1], begin_mask=3, end_mask=3),
    strided("float32[5, 7]", [0], [9], [1]),
    strided("float32[1, 3]", [-2], [0], [-1], end_mask=1),
    strided("float32[4, 3]", [-9, 9], [-7, -9], [-1, -1]),
    strided(i32(1, 2), [-5], [-9], [-1]),
    strided("float32[5, 7]", [3], [2], [1]),
    strided("float32[5, 7]", [2], [3], [1], shrink_axis_mask=1),
    strided("float32[5, 7]", [-1], [0], [1], shrink_axis_mask=1),
    strided("float32[5, 7]", [0, -7], [0, -6], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2),
    strided("float32[5, 7, 3]", [0, 1], [0, 2], [1, 1], ellipsis_mask=1),
    strided("float32[5, 7, 3]", [1, 0, 1], [2, 0, 2], [1, 1, 1], ellipsis_mask=2, shrink_axis_mask=5),
    strided("float32[5, 7]", [0, 0, 1], [0, 0, 3], [1, 1, 1], new_axis_mask=2, begin_mask=1, end_mask=1),
    strided("float32[5, 7]", [0, 0], [0, 0], [1, 1], new_axis_mask=2, ellipsis_mask=1),
    strided("float32[5, 7]", [0, 0, 0], [0, 0, 1], [1, 1, 1], new_axis_mask=2, ellipsis_mask=1, shrink_axis_mask=4),
    strided("float32[5, 7]", [0, 0], [0, 0], [1, 1], new_axis_mask=3),
    strided("float32[]", [0], [0], [1], new_axis_mask=1),
    strided("float32[0, 3]", [0], [2], [1]),
    strided(i32(1, 2, 3, 4, 5), [1], [4], [2]),
    strided(i32(1, 2, 3, 4, 5), [-1], [0], [-2]),
    strided(i32(1, 2, 3, 4, 5), [-2], [0], [1], shrink_axis_mask=1),
    strided(
        np.arange(6, dtype=np.int32).reshape(2, 3), [0, 1], [0, 2], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2
    ),
    Case("StridedSlice", ("float32[5, 7]", Runtime(i32(1)), Runtime(i32(3)), i32(1)), data=True),
    Case("StridedSlice", ("float32[5, 7]", Runtime(i32(1)), Runtime(i32(2)), i32(1)), {"shrink_axis_mask": 1}),
    Case("StridedSlice", ("float32[5, 7]", i32(1), i32(3), Runtime(i32(1))), data=True),
    Case("StridedSliceGrad", (i32(5, 7), i32(1), i32(3), i32(1), "float32[2, 7]")),
    Case("TensorStridedSliceUpdate", ("float32[5, 7]", i32(1), i32(3), i32(1), "float32[2, 7]")),
    Case("TensorStridedSliceUpdate", ("float32[5, 7]", i32(1), i32(3), i32(1), "float32[1, 1]")),
    # gathering
    Case("Gather", ("float32[5, 3]", i32(0, 4, 1))),
    Case("Gather", (i32(7, 8, 9), np.int64(1))),
    *(Case("GatherV2", ("float32[5, 3, 2]", i32(0, 1), np.int32(axis))) for axis in (0, 1, 2, -1, -3)),
    Case("GatherV2", ("float32[5, 3]", np.array([[0, 1], [2, 0]]), np.int32(1))),
    Case("GatherV2", ("float32[2, 5, 3]", np.array([[0, 1, 4], [2, 0, 3]]), np.int32(1)), {"batch_dims": 1}),
    Case("GatherV2", ("float32[2, 5, 3]", np.array([[0, 1], [2, 0]]), np.int32(2)), {"batch_dims": 1}),
    Case("GatherV2", ("float32[2, 5, 3]", np.array([[0, 1], [2, 0]]), np.int32(2)), {"batch_dims": -1}),
    Case("GatherV2", (i32(7, 8, 9), i32(2, 0), np.int32(0))),
    Case("GatherV2", (i32(7, 8, 9), np.int32(2), np.int32(0))),
    Case("GatherV2", ("float32[2, 2]", i32(1, 0, 1), Runtime(np.int32(1))), data=True),
    Case("GatherV2", ("float32[0, 0]", i32(7, 1), np.int32(1))),
    Case("GatherNd", ("float32[5, 3]", np.array([[0, 1], [4, 2], [1, 1]]))),
    Case("GatherNd", ("float32[5, 3]", np.array([[0], [4]]))),
    Case("GatherNd", ("float32[5, 3]", np.zeros((2, 0), np.int32))),
    Case("GatherNd", (i32(7, 8, 9), np.array([[2], [0]], np.int32))),
    Case("GatherNd", (i32(7, 8, 9), np.array([2], np.int32))),
    *(
        Case("OneHot", (i64(0, 2, -1), np.int32(4), np.float32(1), np.float32(0)), {"axis": axis})
        for axis in (-1, 0, 1)
    ),
    Case("OneHot", (np.int32(1), np.int32(3), np.int32(7), np.int32(2))),
    Case("OneHot", (i64(0, 2), Runtime(np.int32(3)), np.float32(1), np.float32(0)), data=True),
    Case("LowerBound", (np.array([[1, 3, 5]], np.int32), np.array([[2, 9]], np.int32))),
    Case("UpperBound", ("float32[2, 3]", "float32[2, 4]"), {"out_type": "int64"}),
    Case("UnravelIndex", (i32(3, 5, 1), i32(2, 3))),
    Case("UnravelIndex", (np.int64(4), i64(2, 3))),
    Case("UnravelIndex", (i32(3), i32(5))),
]
