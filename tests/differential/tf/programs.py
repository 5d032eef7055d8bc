"""Programs of operators that handles connect: variables, lists, arrays, queues, tables, datasets, accumulators."""

import numpy as np

from tests.differential.tf.program import Program, step
from tests.differential.tf.sparse_programs import SPARSE

FLOAT, INT = "float32", "int32"
LIST = {"element_dtype": FLOAT}
NEW = {"element_dtype": FLOAT, "shape_type": INT}
ARRAY = {"dtype": FLOAT}


def longs(*values):
    return np.array(values, np.int64)


VARIABLES = [
    Program(
        "variable",
        {"x": "float32[2, 3]"},
        [
            step("v", "VarHandleOp", dtype=FLOAT, shape=[2, 3]),
            step("assign", "AssignVariableOp", "v", "x", dtype=FLOAT),
            step("is", "VarIsInitializedOp", "v"),
            step("add", "AssignAddVariableOp", "v", "x", dtype=FLOAT),
            step("read", "ReadVariableOp", "v", dtype=FLOAT),
            step("sub", "AssignSubVariableOp", "v", "read", dtype=FLOAT),
        ],
    ),
    Program(
        "variable of an open size",
        {"x": "float32[2, 3]", "y": "float32[5, 3]"},
        [
            step("v", "VarHandleOp", dtype=FLOAT, shape=[-1, 3]),
            step("a", "AssignVariableOp", "v", "x", dtype=FLOAT),
            step("first", "ReadVariableOp", "v", dtype=FLOAT),
            step("b", "AssignVariableOp", "v", "y", dtype=FLOAT),
            step("second", "ReadVariableOp", "v", dtype=FLOAT),
        ],
        open=("first", "second"),
    ),
    Program(
        "counter",
        {},
        [
            step("v", "VarHandleOp", dtype="int64", shape=[]),
            step("a", "AssignVariableOp", "v", longs(4)[0], dtype="int64"),
            step("count", "ResourceCountUpTo", "v", limit=9, T="int64"),
        ],
    ),
    Program(
        "references",
        {"x": "float32[2, 3]", "y": "float32[4]"},
        [
            step("v", "VariableV2", shape=[2, 3], dtype=FLOAT),
            step("a", "Assign", "v", "x"),
            step("b", "AssignAdd", "v", "x"),
            step("c", "AssignSub", "a", "x"),
            step("is", "IsVariableInitialized", "v"),
            step("t", "TemporaryVariable", shape=[4], dtype=FLOAT, var_name="t"),
            step("d", "Assign", "t", "y"),
            step("e", "DestroyTemporaryVariable", "d", var_name="t"),
        ],
    ),
]

LISTS = [
    Program(
        "list of the rows of a tensor",
        {"x": "float32[5, 2, 3]"},
        [
            step("list", "TensorListFromTensor", "x", -1, **NEW),
            step("length", "TensorListLength", "list"),
            step("item", "TensorListGetItem", "list", 1, -1, **LIST),
            step("stack", "TensorListStack", "list", -1, **LIST),
            step("gather", "TensorListGather", "list", [0, 3, 3], -1, **LIST),
            step("concat", "TensorListConcat", "list", **LIST),
            step("concat2", "TensorListConcatV2", "list", -1, longs(), **NEW),
            step("pop", "TensorListPopBack", "list", -1, **LIST),
            step("rest", "TensorListLength", "pop:0"),
            step("more", "TensorListPushBack", "pop:0", "item", **LIST),
            step("again", "TensorListStack", "more", [2, 3], **LIST),
            step("both", "TensorListConcatLists", "list", "pop:0", **LIST),
            step("all", "TensorListStack", "both", -1, **LIST),
        ],
    ),
    Program(
        "list that is filled",
        {"x": "float32[3, 4]", "y": "float32[2, 3, 4]"},
        [
            step("empty", "TensorListReserve", -1, 3, **NEW),
            step("one", "TensorListSetItem", "empty", 1, "x", **LIST),
            step("zeros", "TensorListGetItem", "one", 0, -1, **LIST),
            step("stack", "TensorListStack", "one", -1, num_elements=3, **LIST),
            step("two", "TensorListScatterIntoExistingList", "one", "y", [0, 2], **LIST),
            step("stack2", "TensorListStack", "two", [3, -1], **LIST),
            step("large", "TensorListResize", "two", 7),
            step("stack4", "TensorListStack", "large", -1, **LIST),
            step("after", "TensorListSetItem", "two", 9, "x", resize_if_index_out_of_bounds=True, **LIST),
            step("stack5", "TensorListStack", "after", -1, **LIST),
        ],
    ),
    Program(
        "list of a declared shape",
        {"x": "float32[3, 4]"},
        [
            step("reserved", "TensorListReserve", [3, 4], 5, **NEW),
            step("zeros", "TensorListGetItem", "reserved", 0, -1, **LIST),
            step("stack", "TensorListStack", "reserved", -1, **LIST),
            step("empty", "EmptyTensorList", [3, 4], -1, **NEW),
            step("nothing", "TensorListStack", "empty", -1, **LIST),
            step("pushed", "TensorListPushBack", "empty", "x", **LIST),
            step("concat", "TensorListConcat", "pushed", element_shape=[3, 4], **LIST),
            step("open", "EmptyTensorList", [-1, 4], -1, **NEW),
            step("more", "TensorListPushBack", "open", "x", **LIST),
            step("item", "TensorListGetItem", "more", 0, [-1, 4], **LIST),
        ],
    ),
    Program(
        "list of items of several sizes",
        {"x": "float32[2, 4]", "y": "float32[3, 4]"},
        [
            step("empty", "EmptyTensorList", -1, -1, **NEW),
            step("a", "TensorListPushBack", "empty", "x", **LIST),
            step("b", "TensorListPushBack", "a", "y", **LIST),
            step("first", "TensorListGetItem", "b", 0, -1, **LIST),
            step("second", "TensorListGetItem", "b", 1, -1, **LIST),
            step("concat", "TensorListConcatV2", "b", [-1, 4], longs(), **NEW),
            step("gather", "TensorListGather", "b", [1, 1], -1, **LIST),
        ],
        open=("first", "second", "concat", "gather"),
    ),
    Program(
        "list of parts",
        {"x": "float32[7, 4]"},
        [
            step("parts", "TensorListSplit", "x", [-1, 4], longs(2, 5), **NEW),
            step("first", "TensorListGetItem", "parts", 0, -1, **LIST),
            step("last", "TensorListGetItem", "parts", 1, -1, **LIST),
            step("concat", "TensorListConcatV2", "parts", -1, longs(), **NEW),
            step("equal", "TensorListSplit", "x", -1, longs(7), **NEW),
            step("stack", "TensorListStack", "equal", -1, **LIST),
        ],
        open=("first", "last", "concat"),
    ),
    Program(
        "list of scattered rows",
        {"x": "float32[2, 4]"},
        [
            step("v1", "TensorListScatter", "x", [4, 1], [4], **NEW),
            step("stack1", "TensorListStack", "v1", -1, **LIST),
            step("v2", "TensorListScatterV2", "x", [0, 1], -1, 6, **NEW),
            step("stack2", "TensorListStack", "v2", -1, **LIST),
            step("v3", "TensorListScatterV2", "x", [0, 2], -1, -1, **NEW),
            step("stack3", "TensorListStack", "v3", -1, **LIST),
        ],
    ),
    Program(
        "batch of lists",
        {"x": "float32[2, 4]"},
        [
            step("a", "EmptyTensorList", -1, -1, **NEW),
            step("b", "EmptyTensorList", -1, -1, **NEW),
            step("batch", "Pack", ["a", "b"], T="variant"),
            step("pushed", "TensorListPushBackBatch", "batch", "x", **LIST),
            step("lists", "Unpack", "pushed", num=2, T="variant"),
            step("item", "TensorListGetItem", "lists:1", 0, -1, **LIST),
        ],
        unknown=("item",),
    ),
]

ARRAYS = [
    Program(
        "array of the rows of a tensor",
        {"x": "float32[5, 3]"},
        [
            step("ta", "TensorArrayV3", 5, clear_after_read=False, **ARRAY),
            step("all", "TensorArrayScatterV3", "ta:0", [0, 1, 2, 3, 4], "x", "ta:1"),
            step("read", "TensorArrayReadV3", "ta:0", 2, "all", **ARRAY),
            step("gather", "TensorArrayGatherV3", "ta:0", [0, 3], "all", **ARRAY),
            step("size", "TensorArraySizeV3", "ta:0", "all"),
            step("grad", "TensorArrayGradV3", "ta:0", "all", source="g"),
            step("back", "TensorArrayScatterV3", "grad:0", [0, 1, 2, 3, 4], "x", "grad:1"),
            step("sums", "TensorArrayGatherV3", "grad:0", [4, 0, 1], "back", **ARRAY),
            step("close", "TensorArrayCloseV3", "ta:0"),
        ],
    ),
    Program(
        "array that is filled",
        {"x": "float32[2, 4]", "y": "float32[3, 4]"},
        [
            step("ta", "TensorArrayV3", 2, clear_after_read=False, **ARRAY),
            step("a", "TensorArrayWriteV3", "ta:0", 0, "x", "ta:1"),
            step("b", "TensorArrayWriteV3", "ta:0", 1, "y", "a"),
            step("first", "TensorArrayReadV3", "ta:0", 0, "b", **ARRAY),
            step("last", "TensorArrayReadV3", "ta:0", 1, "b", **ARRAY),
            step("concat", "TensorArrayConcatV3", "ta:0", "b", **ARRAY),
        ],
        open=("first", "last", "concat"),
    ),
    Program(
        "array of a declared shape",
        {},
        [
            step("ta", "TensorArrayV3", 3, element_shape=[2, 4], dynamic_size=True, **ARRAY),
            step("gather", "TensorArrayGatherV3", "ta:0", [0, 1], "ta:1", element_shape=[-1, 4], **ARRAY),
            step("read", "TensorArrayReadV3", "ta:0", 2, "ta:1", **ARRAY),
        ],
    ),
    Program(
        "array of parts",
        {"x": "float32[7, 4]"},
        [
            step("ta", "TensorArrayV3", 2, clear_after_read=False, **ARRAY),
            step("parts", "TensorArraySplitV3", "ta:0", "x", longs(3, 4), "ta:1"),
            step("read", "TensorArrayReadV3", "ta:0", 0, "parts", **ARRAY),
            step("last", "TensorArrayReadV3", "ta:0", 1, "parts", **ARRAY),
            step("concat", "TensorArrayConcatV3", "ta:0", "parts", element_shape_except0=[4], **ARRAY),
        ],
        open=("read", "last", "concat"),
    ),
    Program(
        "gradients with more axes",
        {"x": "float32[3, 4]", "y": "float32[3, 2, 4]"},
        [
            step("ta", "TensorArrayV3", 3, clear_after_read=False, **ARRAY),
            step("all", "TensorArrayScatterV3", "ta:0", [0, 1, 2], "x", "ta:1"),
            step("grad", "TensorArrayGradWithShape", "ta:0", "all", [2], source="g"),
            step("back", "TensorArrayScatterV3", "grad:0", [0, 1, 2], "y", "grad:1"),
            step("gather", "TensorArrayGatherV3", "grad:0", [0, 1], "back", **ARRAY),
        ],
    ),
]

QUEUES = [
    Program(
        "queue",
        {"x": "float32[2, 3]", "y": "int32[5]", "xs": "float32[4, 2, 3]", "ys": "int32[4, 5]"},
        [
            step("q", "FIFOQueueV2", component_types=[FLOAT, INT], shapes=[[2, 3], [5]]),
            step("in", "QueueEnqueueV2", "q", ["x", "y"], Tcomponents=[FLOAT, INT]),
            step("more", "QueueEnqueueManyV2", "q", ["xs", "ys"], Tcomponents=[FLOAT, INT]),
            step("size", "QueueSizeV2", "q"),
            step("one", "QueueDequeueV2", "q", component_types=[FLOAT, INT]),
            step("two", "QueueDequeueManyV2", "q", 2, component_types=[FLOAT, INT]),
            step("close", "QueueCloseV2", "q"),
            step("closed", "QueueIsClosedV2", "q"),
            step("rest", "QueueDequeueUpToV2", "q", 9, component_types=[FLOAT, INT]),
        ],
        open=("rest",),
    ),
    Program(
        "queue that pads",
        {"x": "float32[2]", "y": "float32[5]"},
        [
            step("q", "PaddingFIFOQueueV2", component_types=[FLOAT], shapes=[[-1]]),
            step("a", "QueueEnqueueV2", "q", ["x"], Tcomponents=[FLOAT]),
            step("b", "QueueEnqueueV2", "q", ["y"], Tcomponents=[FLOAT]),
            step("out", "QueueDequeueManyV2", "q", 2, component_types=[FLOAT]),
        ],
        open=("out",),
    ),
    Program(
        "queue of any shapes",
        {"x": "float32[2]", "y": "float32[5, 1]"},
        [
            step("q", "RandomShuffleQueueV2", component_types=[FLOAT]),
            step("a", "QueueEnqueueV2", "q", ["x"], Tcomponents=[FLOAT]),
            step("out", "QueueDequeueV2", "q", component_types=[FLOAT]),
        ],
    ),
    Program(
        "queue with priorities",
        {"x": "float32[2]"},
        [
            step("q", "PriorityQueueV2", component_types=[FLOAT], shapes=[[2]]),
            step("a", "QueueEnqueueV2", "q", [longs(3)[0], "x"], Tcomponents=["int64", FLOAT]),
            step("out", "QueueDequeueV2", "q", component_types=["int64", FLOAT]),
        ],
    ),
    Program(
        "queue of the old version",
        {"x": "float32[2]"},
        [
            step("q", "FIFOQueue", component_types=[FLOAT], shapes=[[2]]),
            step("a", "QueueEnqueue", "q", ["x"], Tcomponents=[FLOAT]),
            step("size", "QueueSize", "q"),
            step("out", "QueueDequeueMany", "q", 1, component_types=[FLOAT]),
        ],
    ),
    Program(
        "barrier",
        {"x": "float32[3, 2]"},
        [
            step("b", "Barrier", component_types=[FLOAT], shapes=[[2]]),
            step("in", "BarrierInsertMany", "b", np.array([b"a", b"b", b"c"], object), "x", component_index=0),
            step("ready", "BarrierReadySize", "b"),
            step("incomplete", "BarrierIncompleteSize", "b"),
            step("take", "BarrierTakeMany", "b", 2, component_types=[FLOAT]),
            step("close", "BarrierClose", "b"),
            step("rest", "BarrierTakeMany", "b", 5, component_types=[FLOAT], allow_small_batch=True),
        ],
        open=("rest",),
    ),
    Program(
        "stack",
        {"x": "float32[3, 2]"},
        [
            step("s", "StackV2", 4, elem_type=FLOAT),
            step("in", "StackPushV2", "s", "x"),
            step("out", "StackPopV2", "s", elem_type=FLOAT),
        ],
    ),
    Program(
        "accumulator",
        {"x": "float32[3, 2]"},
        [
            step("a", "ConditionalAccumulator", dtype=FLOAT, shape=[3, 2]),
            step("in", "AccumulatorApplyGradient", "a", longs(0)[0], "x"),
            step("count", "AccumulatorNumAccumulated", "a"),
            step("out", "AccumulatorTakeGradient", "a", 1, dtype=FLOAT),
        ],
    ),
    Program(
        "accumulator of rows",
        {"x": "float32[2, 4]"},
        [
            step("a", "SparseConditionalAccumulator", dtype=FLOAT, shape=[5, 4]),
            step(
                "in",
                "SparseAccumulatorApplyGradient",
                "a",
                longs(0)[0],
                longs(1, 3),
                "x",
                longs(5, 4),
                has_known_shape=True,
            ),
            step("out", "SparseAccumulatorTakeGradient", "a", 1, dtype=FLOAT),
        ],
        open=("out",),
    ),
]

TABLE = {"key_dtype": "int64", "value_dtype": FLOAT}
PAIR = {"Tin": "int64", "Tout": FLOAT}

TABLES = [
    Program(
        "table",
        {"keys": "int64[2, 3]"},
        [
            step("t", "HashTableV2", **TABLE),
            step("init", "InitializeTableV2", "t", longs(0, 1), np.array([0.5, 1.5], np.float32)),
            step("size", "LookupTableSizeV2", "t"),
            step("find", "LookupTableFindV2", "t", "keys", -1.0, **PAIR),
            step("export", "LookupTableExportV2", "t", Tkeys="int64", Tvalues=FLOAT),
        ],
        open=("export",),
    ),
    Program(
        "table that changes",
        {"keys": "int64[2, 3]"},
        [
            step("t", "MutableHashTableV2", **TABLE),
            step("insert", "LookupTableInsertV2", "t", longs(0, 1), np.array([0.5, 1.5], np.float32), **PAIR),
            step("remove", "LookupTableRemoveV2", "t", longs(1)),
            step("find", "LookupTableFindV2", "t", "keys", -1.0, **PAIR),
            step("export", "LookupTableExportV2", "t", Tkeys="int64", Tvalues=FLOAT),
            step("import", "LookupTableImportV2", "t", "export:0", "export:1", **PAIR),
        ],
        open=("export",),
    ),
    Program(
        "table of tensors",
        {"keys": "int64[2, 3]", "values": "float32[2, 4]"},
        [
            step("t", "MutableHashTableOfTensorsV2", value_shape=[4], **TABLE),
            step("insert", "LookupTableInsertV2", "t", longs(0, 1), "values", **PAIR),
            step("find", "LookupTableFindV2", "t", "keys", np.zeros(4, np.float32), **PAIR),
            step("export", "LookupTableExportV2", "t", Tkeys="int64", Tvalues=FLOAT),
        ],
        open=("export",),
    ),
    Program(
        "table of keys that are tensors",
        {"keys": "int64[3, 2]", "values": "float32[3, 4]"},
        [
            step("t", "MutableDenseHashTableV2", longs(-1, -1), longs(-2, -2), value_shape=[4], **TABLE),
            step("insert", "LookupTableInsertV2", "t", "keys", "values", **PAIR),
            step("find", "LookupTableFindV2", "t", "keys", np.zeros(4, np.float32), **PAIR),
            step("export", "LookupTableExportV2", "t", Tkeys="int64", Tvalues=FLOAT),
        ],
        open=("export",),
    ),
    Program(
        "table of the old version",
        {"keys": "int64[2, 3]"},
        [
            step("t", "HashTable", **TABLE),
            step("init", "InitializeTable", "t", longs(0, 1), np.array([0.5, 1.5], np.float32)),
            step("size", "LookupTableSize", "t"),
            step("find", "LookupTableFind", "t", "keys", -1.0, **PAIR),
        ],
    ),
]

DATASETS = [
    Program(
        "dataset",
        {"x": "float32[7, 3]", "y": "int32[7]"},
        [
            step("rows", "TensorSliceDataset", ["x", "y"], Toutput_types=[FLOAT, INT], output_shapes=[[3], []]),
            step("again", "RepeatDataset", "rows", longs(2)[0], output_types=[FLOAT, INT], output_shapes=[[3], []]),
            step(
                "batch",
                "BatchDatasetV2",
                "again",
                longs(4)[0],
                np.array(True),
                output_types=[FLOAT, INT],
                output_shapes=[[-1, 3], [-1]],
            ),
            step(
                "it",
                "IteratorV2",
                shared_name="",
                container="",
                output_types=[FLOAT, INT],
                output_shapes=[[-1, 3], [-1]],
            ),
            step("make", "MakeIterator", "batch", "it"),
            step("next", "IteratorGetNext", "it", output_types=[FLOAT, INT], output_shapes=[[-1, 3], [-1]]),
            step("opt", "IteratorGetNextAsOptional", "it", output_types=[FLOAT, INT], output_shapes=[[-1, 3], [-1]]),
            step("has", "OptionalHasValue", "opt"),
            step("value", "OptionalGetValue", "opt", output_types=[FLOAT, INT], output_shapes=[[-1, 3], [-1]]),
            step("cardinality", "DatasetCardinality", "batch"),
        ],
        open=("next", "value"),
    ),
    Program(
        "dataset of one element",
        {"x": "float32[7, 3]"},
        [
            step("one", "TensorDataset", ["x"], Toutput_types=[FLOAT], output_shapes=[[-1, -1]]),
            step("taken", "TakeDataset", "one", longs(1)[0], output_types=[FLOAT], output_shapes=[None]),
            step("zip", "ZipDataset", ["one", "taken"], output_types=[FLOAT, FLOAT], output_shapes=[None, None]),
            step("out", "DatasetToSingleElement", "zip", output_types=[FLOAT, FLOAT], output_shapes=[None, None]),
        ],
    ),
    Program(
        "batches",
        {"x": "float32[7, 3]"},
        [
            step("rows", "TensorSliceDataset", ["x"], Toutput_types=[FLOAT], output_shapes=[[-1]]),
            step("last", "SkipDataset", "rows", longs(5)[0], output_types=[FLOAT], output_shapes=[[-1]]),
            step("batch", "BatchDataset", "last", longs(4)[0], output_types=[FLOAT], output_shapes=[[-1, -1]]),
            step("out", "DatasetToSingleElement", "batch", output_types=[FLOAT], output_shapes=[[-1, -1]]),
        ],
        open=("out",),
    ),
    Program(
        "optional",
        {"x": "float32[7, 3]"},
        [
            step("opt", "OptionalFromValue", ["x"], Toutput_types=[FLOAT]),
            step("value", "OptionalGetValue", "opt", output_types=[FLOAT], output_shapes=[None]),
            step("none", "OptionalNone"),
            step("has", "OptionalHasValue", "none"),
        ],
    ),
]

PROGRAMS = [*VARIABLES, *LISTS, *ARRAYS, *QUEUES, *TABLES, *DATASETS, *SPARSE]
