"""Serialized examples, records and tensors; files and summaries."""

import numpy as np

from tests.differential.tf.case import Case, Runtime


def texts(*values):
    return np.array(values, object)


def text(value):
    return np.array(value, object)


FIRST = b"\n!\n\x0c\n\x01a\x12\x07\x1a\x05\n\x03\x01\x02\x03\n\x11\n\x01b\x12\x0c\x12\n\n\x08\x00\x00\x80?\x00\x00\x00@"
SECOND = b"\n\x1f\n\n\n\x01a\x12\x05\x1a\x03\n\x01\x07\n\x11\n\x01b\x12\x0c\x12\n\n\x08\x00\x00@@\x00\x00\x80@"
"""tf.train.Example: `a` has the integers 1, 2, 3 or 7, `b` two floats."""

SEQUENCE = (
    b"\n\r\n\x0b\n\x01a\x12\x06\x1a\x04\n\x02\x01\x02\x12G\n/\n\x01d\x12*\n\x0c\x12\n\n\x08\x00\x00\x80?\x00\x00\x00@"
    b"\n\x0c\x12\n\n\x08\x00\x00\xa0@\x00\x00\xc0@\n\x0c\x12\n\n\x08\x00\x00\xa0@\x00\x00\xc0@"
    b"\n\x14\n\x01s\x12\x0f\n\x06\x1a\x04\n\x02\x01\x02\n\x05\x1a\x03\n\x01\x05"
)
"""tf.train.SequenceExample: the context has `a`, two integers; `d` has three lists of two floats, `s` two lists."""

BATCH, NAMES = texts(FIRST, SECOND), texts()
A, B, S, D, MISSING = (text(key) for key in (b"a", b"b", b"s", b"d", b"missing"))
NO_DEFAULT, ZERO = np.zeros(0, np.float32), np.zeros(1, np.int64)
NO_KEYS = texts()
V2 = {"num_sparse": 0, "sparse_types": [], "ragged_value_types": [], "ragged_split_types": [], "dense_shapes": []}


def v2(serialized, sparse=(), dense=(), ragged=(), defaults=(), names=NAMES, **attributes):
    """A case of ParseExampleV2."""
    keys = [np.array(k, object) for k in (sparse, dense, ragged)]
    return Case("ParseExampleV2", (serialized, names, *keys, list(defaults)), {**V2, **attributes}, data=True)


ONE_SPARSE = {"num_sparse": 1, "sparse_types": ["int64"]}
ONE_RAGGED = {"ragged_value_types": ["int64"], "ragged_split_types": ["int32"]}
EXAMPLES = [
    Case(
        "ParseExample",
        (BATCH, NAMES, [A], [B], [NO_DEFAULT]),
        {"sparse_types": ["int64"], "dense_shapes": [[2]]},
        data=True,
    ),
    Case("ParseExample", (BATCH, NAMES, [], [A], [ZERO]), {"sparse_types": [], "dense_shapes": [[None]]}, data=True),
    Case("ParseExample", (BATCH, NAMES, [], [B], [NO_DEFAULT]), {"sparse_types": [], "dense_shapes": [[1, 2]]}),
    Case(
        "ParseExample",
        (texts(b"", b"", b""), texts(b"x", b"y", b"z"), [A, MISSING], [B], [np.zeros(3, np.float32)]),
        {"sparse_types": ["int64", "string"], "dense_shapes": [[3]]},
        data=True,
    ),
    v2(BATCH, [b"a"], **ONE_SPARSE),
    v2(BATCH, [], [b"b"], defaults=[NO_DEFAULT], dense_shapes=[[2]]),
    v2(BATCH, [], [], [b"a"], **ONE_RAGGED),
    v2(texts(), [b"a"], [b"b"], defaults=[NO_DEFAULT], dense_shapes=[[2]], **ONE_SPARSE),
    v2(text(FIRST), [b"a"], [b"b"], defaults=[NO_DEFAULT], dense_shapes=[[2]], names=text(b""), **ONE_SPARSE),
    v2(text(FIRST), [], [], [b"a"], names=text(b""), **ONE_RAGGED),
    v2(BATCH, [b"missing"], [b"a"], defaults=[ZERO], dense_shapes=[[None]], **ONE_SPARSE),
    Case(
        "ParseSingleExample",
        (text(FIRST), [NO_DEFAULT]),
        {
            **{"num_sparse": 1, "sparse_keys": ["a"], "sparse_types": ["int64"]},
            **{"dense_keys": ["b"], "dense_shapes": [[2]]},
        },
        data=True,
    ),
    Case(
        "ParseSingleExample",
        (text(FIRST), [ZERO]),
        {"num_sparse": 0, "sparse_keys": [], "sparse_types": [], "dense_keys": ["a"], "dense_shapes": [[None]]},
        data=True,
    ),
]


def sequence_v2(serialized, name):
    """A case of ParseSequenceExampleV2 with a feature of each kind."""
    return [
        Case(
            "ParseSequenceExampleV2",
            (
                *(serialized, name, texts(b"a"), NO_KEYS, NO_KEYS, texts(b"s"), NO_KEYS, NO_KEYS),
                *(np.zeros(0, np.bool_), []),
            ),
            {
                **{"Ncontext_sparse": 1, "context_sparse_types": ["int64"]},
                **{"Nfeature_list_sparse": 1, "feature_list_sparse_types": ["int64"]},
            },
            data=True,
        ),
        Case(
            "ParseSequenceExampleV2",
            (
                *(serialized, name, NO_KEYS, NO_KEYS, texts(b"a"), NO_KEYS, texts(b"d"), texts(b"s")),
                *(np.zeros(1, np.bool_), []),
            ),
            {
                **{"context_ragged_value_types": ["int64"], "context_ragged_split_types": ["int64"]},
                **{"feature_list_ragged_value_types": ["int64"], "feature_list_ragged_split_types": ["int64"]},
                **{"Nfeature_list_dense": 1, "feature_list_dense_types": ["float32"]},
                "feature_list_dense_shapes": [[2]],
            },
            data=True,
        ),
    ]


SEQUENCES = [
    Case(
        "ParseSingleSequenceExample",
        (text(SEQUENCE), NO_KEYS, [A], [A], [S], [D], [np.zeros(0, np.int64)], text(b"")),
        {
            **{"context_sparse_types": ["int64"], "context_dense_shapes": [[2]]},
            **{"feature_list_sparse_types": ["int64"], "feature_list_dense_types": ["float32"]},
            "feature_list_dense_shapes": [[2]],
        },
        data=True,
    ),
    Case(
        "ParseSequenceExample",
        (texts(SEQUENCE, SEQUENCE), NAMES, [np.zeros(0, np.int64)]),
        {
            **{"feature_list_dense_missing_assumed_empty": [], "context_sparse_keys": ["missing"]},
            **{"context_dense_keys": ["a"], "feature_list_sparse_keys": ["s"], "feature_list_dense_keys": ["d"]},
            **{"Ncontext_sparse": 1, "Ncontext_dense": 1, "Nfeature_list_sparse": 1, "Nfeature_list_dense": 1},
            **{"context_sparse_types": ["string"], "context_dense_shapes": [[2]]},
            **{"feature_list_sparse_types": ["int64"], "feature_list_dense_types": ["float32"]},
            "feature_list_dense_shapes": [[2]],
        },
        data=True,
    ),
    *sequence_v2(texts(SEQUENCE, SEQUENCE, SEQUENCE), NAMES),
    *sequence_v2(text(SEQUENCE), text(b"")),
]

BYTES = texts(b"abcdefgh", b"ijklmnop")
SHAPE_MESSAGE = {"message_type": "tensorflow.TensorShapeProto"}
RECORDS = [
    *(Case("DecodeRaw", (BYTES,), {"out_type": dtype}, data=True) for dtype in ("uint8", "int16", "float64")),
    Case("DecodeRaw", (text(b""),), {"out_type": "int32"}, data=True),
    Case("DecodeRaw", (BYTES.reshape(2, 1),), {"out_type": "float32", "little_endian": False}, data=True),
    *(Case("DecodePaddedRaw", (BYTES, np.int32(n)), {"out_type": d}) for n, d in ((8, "uint8"), (16, "float32"))),
    Case("DecodePaddedRaw", (BYTES.reshape(1, 2), Runtime(np.int32(8))), {"out_type": "int16"}, data=True),
    Case("DecodePaddedRaw", (texts(), np.int32(4)), {"out_type": "int16"}),
    Case("DecodeCSV", (texts(b"1,2", b"3,4"), [np.array([0], np.int32), NO_DEFAULT])),
    Case("DecodeCSV", (texts(b"1,2", b"3,4").reshape(2, 1), [np.int32(0), NO_DEFAULT]), {"use_quote_delim": False}),
    Case("DecodeCSV", (texts(b"1;x;3"), [np.zeros(1, np.int64)]), {"field_delim": ";", "select_cols": [2]}),
    *(Case("SerializeTensor", (x,)) for x in ("float32[2, 3]", "string[]", "int32[0]")),
    Case("DecodeProtoV2", (texts(b"", b""),), {**SHAPE_MESSAGE, "field_names": [], "output_types": []}),
    Case(
        "DecodeProtoV2",
        (texts(b"\x18\x01", b"").reshape(1, 2),),
        {**SHAPE_MESSAGE, "field_names": ["unknown_rank"], "output_types": ["bool"]},
        data=True,
    ),
    Case(
        "EncodeProto",
        (np.array([[1], [0]], np.int32), [np.zeros((2, 3), np.bool_)]),
        {**SHAPE_MESSAGE, "field_names": ["unknown_rank"]},
    ),
]

SUMMARIES = [
    Case("ScalarSummary", ("string[2]", "float32[2]")),
    Case("ScalarSummary", ("string[]", "float64[]")),
    *(Case("HistogramSummary", ("string[]", x)) for x in ("float32[3, 4]", "int32[]", "float64[0]")),
    *(Case("TensorSummaryV2", ("string[]", x, "string[]")) for x in ("float32[3, 4]", "string[2]", "int32[0]")),
    Case("TensorSummary", ("float32[3]",), {"description": "d"}),
    Case("AudioSummaryV2", ("string[]", "float32[2, 8]", "float32[]"), {"max_outputs": 2}),
    Case("MergeSummary", ([text(b""), text(b"")],)),
    Case("Timestamp", ()),
]

FILES = [
    *(
        Case("MatchingFiles", (x,), data=True)
        for x in (text(b"/missing/*"), texts(b"/missing/*", b"/missing2/*"), texts())
    ),
    Case("ShardedFilename", ("string[]", np.int32(1), np.int32(3))),
    Case("ShardedFilespec", ("string[]", np.int32(3))),
]

CASES = [*EXAMPLES, *SEQUENCES, *RECORDS, *SUMMARIES, *FILES]
