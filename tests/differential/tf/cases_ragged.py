"""Ragged tensors: row splits and values."""

import numpy as np

from tests.differential.tf.case import Case, Runtime


def longs(*values):
    return np.array(values, np.int64)


def numbers(*values):
    return np.array(values, np.int32)


ROWS = longs(0, 2, 3)
OUTER, INNER = longs(0, 2, 3), longs(0, 1, 1, 5)
NO_ROWS = longs(0)

RANGES = [
    Case("RaggedRange", (numbers(0, 5, 8), numbers(3, 5, 12), np.int32(1))),
    Case("RaggedRange", (np.int32(0), numbers(3, 5, 12), numbers(1, 2, 5))),
    Case("RaggedRange", (np.int32(0), np.int32(3), np.int32(1))),
    Case("RaggedRange", (numbers(5, 1), numbers(0, 3), numbers(-2, 1)), {"Tsplits": "int32"}),
    Case("RaggedRange", (numbers(), numbers(), np.int32(1))),
    Case("RaggedRange", (Runtime(numbers(0, 1)), Runtime(numbers(4, 4)), Runtime(np.int32(2))), data=True),
    Case("RaggedRange", (np.float32(0), Runtime(np.array([1, 2], np.float32)), np.float32(0.3)), data=True),
]

GATHERS = [
    *(
        Case("RaggedGather", ([ROWS], values, indices), {"OUTPUT_RAGGED_RANK": rank}, data=True)
        for values, indices, rank in (
            ("float32[3, 4]", numbers(0, 1, 1), 1),
            ("float32[3]", np.array([[0, 1, 1], [1, 1, 0]]), 2),
            ("float32[3, 4]", np.int32(0), 0),
            ("float32[3]", numbers(), 1),
        )
    ),
    Case(
        "RaggedGather",
        ([OUTER, INNER], "float32[5]", np.zeros((2, 1, 3), np.int64)),
        {"OUTPUT_RAGGED_RANK": 4},
        data=True,
    ),
    Case("RaggedGather", ([OUTER, INNER], "float32[5, 2]", longs(1)), {"OUTPUT_RAGGED_RANK": 2}, data=True),
]

FILLED = [
    Case("RaggedFillEmptyRows", (longs(0, 0, 3), "float32[3]", longs(5)[0], "float32[]"), data=True),
    Case("RaggedFillEmptyRows", (longs(0, 1), "int32[2]", longs(2)[0], "int32[]"), data=True),
    Case("RaggedFillEmptyRows", (longs(), "float32[0]", longs(5)[0], "float32[]")),
    Case("RaggedFillEmptyRows", (Runtime(longs(0)), "float32[1]", Runtime(longs(5)[0]), "float32[]"), data=True),
    Case("RaggedFillEmptyRowsGrad", (longs(0, 2), "float32[3]")),
]

TEXTS, COLUMN = np.array([b"a", b"b", b"c"], object), np.array([[b"x"], [b"y"]], object)
HASH = {
    "hashed_output": True,
    "num_buckets": 5,
    "hash_key": 3,
    "out_values_type": "int64",
    "out_row_splits_type": "int64",
}
CROSSES = [
    Case("RaggedCross", ([TEXTS], [ROWS], [], [], [], [COLUMN]), {"input_order": "RD", **HASH}, data=True),
    Case("RaggedCross", ([], [], [], [], [], [COLUMN, COLUMN]), {"input_order": "DD", **HASH}, data=True),
    Case(
        "RaggedCross",
        ([TEXTS], [ROWS], [np.array([[0, 0], [1, 1]])], [TEXTS[:2]], [longs(2, 2)], []),
        {"input_order": "RS", **HASH},
        data=True,
    ),
]

CONVERSIONS = [
    Case("RaggedTensorToSparse", ([ROWS], "float32[3]")),
    Case("RaggedTensorToSparse", ([ROWS], "float32[3, 4]")),
    Case("RaggedTensorToSparse", ([OUTER, INNER], "float32[5]")),
    Case("RaggedTensorToSparse", ([NO_ROWS], "float32[0]")),
    Case("RaggedTensorToSparse", ([ROWS.astype(np.int32)], "float32[3, 2, 2]")),
    Case("RaggedTensorToVariant", ([ROWS], "float32[3, 4]"), {"batched_input": True}),
    Case("RaggedTensorToVariant", ([ROWS], "float32[3, 4]"), {"batched_input": False}),
    Case("RaggedTensorToVariant", ([OUTER, INNER], "float32[5]"), {"batched_input": True}),
    Case("RaggedTensorToVariant", ([], "float32[3]"), {"batched_input": False}),
]

OPEN, SPLITS = longs(-1, -1), {"row_partition_types": ["ROW_SPLITS"]}
ROW_IDS = {"row_partition_types": ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]}
DENSE = [
    Case("RaggedTensorToTensor", (OPEN, "float32[3]", "float32[]", [ROWS]), SPLITS),
    Case("RaggedTensorToTensor", (longs(-1)[0], "float32[3, 5]", "float32[]", [ROWS]), SPLITS),
    Case("RaggedTensorToTensor", (longs(-1, -1, 5), "float32[3, 5]", "float32[5]", [ROWS]), SPLITS),
    Case("RaggedTensorToTensor", (longs(4, 3), "float32[3]", "float32[]", [ROWS]), SPLITS),
    Case("RaggedTensorToTensor", (longs(1, -1), "float32[3]", "float32[]", [ROWS]), SPLITS),
    Case("RaggedTensorToTensor", (OPEN, "float32[0]", "float32[]", [NO_ROWS]), SPLITS),
    Case("RaggedTensorToTensor", (OPEN, "float32[3]", "float32[]", [longs(5)[0], longs(0, 2, 2)]), ROW_IDS),
    Case("RaggedTensorToTensor", (longs(3, -1), "float32[4]", "float32[]", [longs(2)[0], longs(0, 0, 0, 1)]), ROW_IDS),
    Case("RaggedTensorToTensor", (OPEN, "float32[0]", "float32[]", [longs(2)[0], longs()]), ROW_IDS),
    Case(
        "RaggedTensorToTensor",
        (longs(-1, -1, -1), "float32[5]", "float32[]", [OUTER, INNER]),
        {"row_partition_types": ["ROW_SPLITS", "ROW_SPLITS"]},
    ),
    Case("RaggedTensorToTensor", (Runtime(OPEN), "float32[3]", "float32[]", [Runtime(ROWS)]), SPLITS, data=True),
    Case("RaggedTensorToTensor", (OPEN, "float32[3]", "float32[]", [Runtime(ROWS)]), SPLITS, data=True),
    Case(
        "RaggedTensorToTensor",
        (OPEN, "float32[3]", "float32[]", [Runtime(longs(5)[0]), Runtime(longs(0, 2, 2))]),
        ROW_IDS,
        data=True,
    ),
]

CASES = [*RANGES, *GATHERS, *FILLED, *CROSSES, *CONVERSIONS, *DENSE]
