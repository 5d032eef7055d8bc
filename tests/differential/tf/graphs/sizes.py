"""Sizes that a graph computes from the sizes of its inputs."""

from __future__ import annotations

from tests.differential.tf.graphs.case import Family, tf

SIZES = Family("sizes")


@SIZES.graph("float32[b, h, w, 3]")
def computed(x):
    return [
        tf.reshape(x, [tf.shape(x)[0], tf.shape(x)[1] * tf.shape(x)[2], 3]),
        tf.zeros(tf.maximum(tf.shape(x), tf.constant([1, 20, 20, 3]))),
        tf.zeros([tf.cast(tf.math.ceil(tf.cast(tf.shape(x)[1], tf.float32) / 4.0), tf.int32)]),
        tf.zeros([tf.reduce_prod(tf.shape(x)[1:3])]),
        tf.zeros([(tf.shape(x)[1] + 7) // 8 * 8 - tf.shape(x)[1]]),
        tf.range(tf.shape(x)[1] * 2 - 1),
        tf.range(0, tf.shape(x)[2], 3),
        tf.range(tf.shape(x)[2], 0, -2),
        tf.zeros([tf.size(tf.range(1, tf.shape(x)[1], 2))]),
        tf.zeros(tf.cast(tf.cast(tf.shape(x)[1:3], tf.float32) * 0.5, tf.int32)),
        tf.zeros([tf.cast(tf.cast(tf.shape(x)[1], tf.float32) * 1.5, tf.int32)]),
        tf.zeros([tf.cast(tf.round(tf.cast(tf.shape(x)[1], tf.float32) / 3), tf.int32)]),
        tf.zeros(tf.where(tf.shape(x) > tf.constant([0, 18, 18, 0]), tf.shape(x), tf.ones_like(tf.shape(x)))),
        tf.zeros([tf.math.floormod(-tf.shape(x)[1], 8)]),
        tf.zeros(tf.gather(tf.shape(x), [2, 1])),
        tf.zeros(tf.boolean_mask(tf.shape(x), [True, False, True, False])),
        tf.zeros([tf.shape(x)[1] - tf.minimum(tf.shape(x)[1], 18)]),
    ]


@SIZES.graph("float32[b, h, w, 3]")
def pieces(x):
    p = tf.nn.conv2d(x, tf.ones([4, 4, 3, 8]), 4, "VALID")
    return [
        p,
        tf.reshape(p, [tf.shape(p)[0], -1, tf.shape(p)[-1]]),
        tf.reshape(
            tf.transpose(
                tf.reshape(
                    x[:, : 4 * (tf.shape(x)[1] // 4), : 4 * (tf.shape(x)[2] // 4)],
                    [tf.shape(x)[0], tf.shape(x)[1] // 4, 4, tf.shape(x)[2] // 4, 4, 3],
                ),
                [0, 1, 3, 2, 4, 5],
            ),
            [-1, 16, 3],
        ),
    ]


@SIZES.graph("float32[b, t, 32]", "bool[b, t]")
def attention(x, m):
    q = tf.transpose(tf.reshape(x, [tf.shape(x)[0], -1, 4, 8]), [0, 2, 1, 3])
    return [
        q,
        tf.matmul(tf.nn.softmax(tf.where(m[:, None, None, :], tf.matmul(q, q, transpose_b=True), -1e9)), q),
        tf.linalg.band_part(tf.ones([tf.shape(x)[1], tf.shape(x)[1]]), -1, 0),
        tf.reshape(tf.transpose(q, [0, 2, 1, 3]), [tf.shape(x)[0], tf.shape(x)[1], 32]),
    ]


@SIZES.graph("float32[b, t, 16]")
def positions(x):
    return [
        x
        + tf.concat(
            [
                tf.sin(tf.cast(tf.range(tf.shape(x)[1]), tf.float32)[:, None] * tf.ones([1, 8])),
                tf.cos(tf.cast(tf.range(tf.shape(x)[1]), tf.float32)[:, None] * tf.ones([1, 8])),
            ],
            -1,
        )[None]
    ]


@SIZES.graph("float32[b, h, w, 3]")
def anchors(x):
    return [
        tf.reshape(tf.stack(tf.meshgrid(tf.range(tf.shape(x)[2] // 8), tf.range(tf.shape(x)[1] // 8)), -1), [-1, 2]),
        tf.tile(
            tf.reshape(tf.stack(tf.meshgrid(tf.range(tf.shape(x)[2]), tf.range(tf.shape(x)[1])), -1), [1, -1, 2]),
            [tf.shape(x)[0], 1, 1],
        ),
    ]


@SIZES.graph("float32[b, 20]")
def beam(x):
    return [
        tf.reshape(tf.tile(tf.expand_dims(x, 1), [1, 3, 1]), [-1, 20]),
        tf.gather(
            tf.reshape(tf.tile(x[:, None], [1, 3, 1]), [-1, 20]),
            tf.reshape(tf.range(tf.shape(x)[0])[:, None] * 3 + tf.math.top_k(x, 3)[1] % 3, [-1]),
        ),
        tf.math.top_k(tf.reshape(x, [tf.shape(x)[0], -1]), k=tf.minimum(tf.shape(x)[0], 3))[0],
    ]


@SIZES.graph("float32[b, n]")
def computed_counts(x):
    return [
        tf.math.top_k(x, tf.shape(x)[1] // 2)[0],
        tf.sort(x)[:, : tf.shape(x)[1] // 2],
        tf.image.resize(x[..., None][None], [tf.shape(x)[0] + 1, tf.shape(x)[1] * 3]),
    ]


@SIZES.graph("float32[b, t, 12]")
def computed_ranks(x):
    return [
        tf.reshape(x, tf.random.uniform([2], 1, 1 + 1, tf.int32) * 0 + [-1, 12]),
        tf.reshape(x, tf.concat([tf.shape(x)[:-1], [3, 4]], 0)),
        tf.reduce_sum(x, tf.range(1, tf.rank(x))),
        tf.transpose(x, tf.range(tf.rank(x) - 1, -1, -1)),
    ]
