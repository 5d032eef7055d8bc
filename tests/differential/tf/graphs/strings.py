"""Texts and examples."""

from __future__ import annotations

from tests.differential.tf.graphs.case import Family, tf

STRINGS = Family("strings")


@STRINGS.graph("string[b]")
def texts(s):
    return [
        tf.strings.length(s),
        tf.strings.upper(s),
        tf.strings.split(s).values,
        tf.strings.split(s).row_splits,
        tf.strings.split(s, ",").to_tensor(),
        tf.strings.join([s, s], "-"),
        tf.strings.substr(s, 0, 2),
        tf.strings.regex_replace(s, "a", "b"),
        tf.strings.to_hash_bucket_fast(s, 10),
        tf.strings.reduce_join(s),
        tf.strings.bytes_split(s).values,
        tf.strings.unicode_decode(s, "UTF-8").to_tensor(),
        tf.strings.ngrams(tf.strings.split(s), 2).values,
        tf.strings.as_string(tf.strings.length(s)),
        tf.strings.strip(s),
        tf.io.decode_raw(s, tf.uint8),
        tf.io.encode_base64(s),
        tf.strings.unicode_script([1, 2]),
        tf.strings.format("{}", s),
        tf.strings.to_number(tf.strings.substr(s, 6, 1)),
        tf.strings.unicode_transcode(s, "UTF-8", "UTF-16-BE"),
    ]


@STRINGS.graph("string[b]")
def examples(s):
    empty = tf.where(tf.strings.length(s) > 100, s, tf.constant(b""))
    features = {
        "a": tf.io.FixedLenFeature([3], tf.float32, [0.0, 0.0, 0.0]),
        "c": tf.io.FixedLenFeature([], tf.int64, 0),
        "v": tf.io.VarLenFeature(tf.int64),
    }
    parsed = tf.io.parse_example(empty, features)
    return [parsed["a"], parsed["c"], parsed["v"].values, parsed["v"].indices]


@STRINGS.graph("string[b, t]")
def rows_of_texts(s):
    return [
        tf.strings.to_hash_bucket_strong(s, 7, [1, 2]),
        tf.strings.reduce_join(s, axis=1),
        tf.strings.split(tf.reshape(s, [-1]), " ").to_tensor(shape=[None, 3]),
        tf.strings.length(s, "UTF8_CHAR"),
        tf.strings.regex_full_match(s, "a.*"),
    ]
