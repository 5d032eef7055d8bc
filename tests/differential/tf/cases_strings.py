"""Strings."""

import numpy as np

from tests.differential.tf.case import Case, Runtime


def texts(*values):
    return np.array(values, object)


WORDS = texts(b"a b", b"c d e", b"")
SHAPES = ("string[]", "string[3]", "string[2, 0, 3]")

UNARY = [
    Case(op, (shape,), attributes)
    for op, attributes in (
        ("StringStrip", {}),
        ("EncodeBase64", {}),
        ("EncodeBase64", {"pad": True}),
        ("DecodeBase64", {}),
        ("StringLower", {}),
        ("StringUpper", {"encoding": "utf-8"}),
        ("StringLength", {}),
        ("StringLength", {"unit": "UTF8_CHAR"}),
        ("StringToHashBucket", {"num_buckets": 3}),
        ("StringToHashBucketFast", {"num_buckets": 3}),
        ("StringToHashBucketStrong", {"num_buckets": 3, "key": [1, 2]}),
        ("StaticRegexFullMatch", {"pattern": "a.*"}),
        ("StaticRegexReplace", {"pattern": "a", "rewrite": "b"}),
        ("UnicodeTranscode", {"input_encoding": "UTF-8", "output_encoding": "UTF-16-BE"}),
        ("DecodeCompressed", {}),
    )
    for shape in SHAPES
]

CONVERSIONS = [
    *(Case("AsString", (x,), a) for x, a in (("int32[2, 3]", {}), ("float32[]", {"precision": 3}), ("bool[0]", {}))),
    *(
        Case("StringToNumber", (np.full(shape, b"7", object),), {"out_type": dtype})
        for shape, dtype in (((2, 3), "float32"), ((), "int64"), ((0,), "int32"))
    ),
    *(Case("UnicodeScript", (x,)) for x in ("int32[2, 3]", "int32[]", "int32[0]")),
    *(Case("Fingerprint", (x, texts(b"farmhash64")[0])) for x in ("int32[2, 3]", "string[4]", "float32[0, 2]")),
    *(Case("SdcaFprint", (x,)) for x in ("string[3]", "string[0]")),
    *(Case("DecodeJSONExample", (np.full(shape, b"{}", object),)) for shape in ((), (2, 3), (0,))),
]

PATTERNS = [
    *(Case("RegexFullMatch", (x, texts(b"t.*")[0])) for x in SHAPES),
    *(Case("RegexReplace", (x, texts(b"t")[0], texts(b"u")[0])) for x in SHAPES),
    Case("RegexReplace", ("string[2]", texts(b"t")[0], texts(b"u")[0]), {"replace_global": False}),
]

JOINS = [
    Case("StringJoin", (["string[2]", "string[]"],), {"separator": "-"}),
    Case("StringJoin", (["string[]", "string[]"],)),
    Case("StringJoin", (["string[2, 3]", "string[2, 3]", "string[]"],)),
    Case("StringFormat", (["int32[2, 3]", "string[]"],), {"template": "%s and %s"}),
    Case("StringFormat", (["float32[0]"],)),
    *(
        Case("ReduceJoin", ("string[2, 3]", np.array(axes, np.int32)), {"keep_dims": keep})
        for axes in (0, [1], [-1, 0], [])
        for keep in (False, True)
    ),
    Case("ReduceJoin", ("string[2, 0]", np.int32(1)), {"separator": ","}),
    Case("ReduceJoin", ("string[2, 3]", Runtime(np.int32(1))), {"keep_dims": True}, data=True),
    Case("ReduceJoin", ("string[2, 3]", Runtime(np.int32(1))), data=True, ranked=False),
    Case("UnsortedSegmentJoin", ("string[2, 3]", np.array([0, 2]), np.int32(4))),
    Case("UnsortedSegmentJoin", ("string[2, 3]", np.array([[0, 2, 1], [1, 1, 1]]), np.int32(3)), {"separator": ";"}),
    Case("UnsortedSegmentJoin", ("string[3]", np.array([0, 2, 1]), Runtime(np.int32(4))), data=True),
]

PARTS = [
    *(
        Case("Substr", operands, {"unit": unit})
        for operands in (
            ("string[3]", np.int32(0), np.int32(2)),
            ("string[]", "int32[3]", "int32[3]"),
            ("string[2, 3]", "int64[2, 3]", "int64[2, 3]"),
            ("string[2, 3]", "int32[3]", "int32[3]"),
            ("string[3]", "int32[2, 1]", "int32[2, 1]"),
        )
        for unit in ("BYTE", "UTF8_CHAR")
    ),
    *(Case("StringSplit", (x, texts(b" ")[0])) for x in (texts(),)),
    Case("StringSplit", (WORDS, texts(b" ")[0]), data=True),
    Case("StringSplit", (WORDS, texts(b"")[0]), {"skip_empty": False}, data=True),
    *(
        Case("StringSplitV2", (WORDS, texts(separator)[0]), {"maxsplit": most}, data=True)
        for separator in (b" ", b"")
        for most in (-1, 0, 1, 9)
    ),
    Case("StringSplitV2", (texts(), texts(b" ")[0]), {"maxsplit": 2}),
    *(
        Case(
            "StringNGrams",
            (data, np.array(splits)),
            {
                **{"separator": " ", "ngram_widths": widths, "left_pad": "<", "right_pad": ">", "pad_width": pad},
                "preserve_short_sequences": short,
            },
            data=True,
        )
        for data, splits, widths, pad, short in (
            ("string[4]", [0, 3, 4], [2], 0, False),
            ("string[4]", [0, 3, 4], [2, 3], -1, True),
            ("string[0]", [0, 0], [1], 1, False),
        )
    ),
]

UTF8 = {"input_encoding": "UTF-8"}
UNICODE = [
    *(Case(op, (x,), UTF8, data=True) for op in ("UnicodeDecode", "UnicodeDecodeWithOffsets") for x in SHAPES),
    Case("UnicodeDecode", ("string[3]",), {**UTF8, "Tsplits": "int32", "errors": "ignore"}, data=True),
    *(
        Case("UnicodeEncode", (np.full(n, 70, np.int32), np.array(splits)), {"output_encoding": "UTF-8"})
        for n, splits in ((3, [0, 2, 3]), (0, [0]), (4, [0, 0, 4, 4]))
    ),
]

CASES = [*UNARY, *CONVERSIONS, *PATTERNS, *JOINS, *PARTS, *UNICODE]
