"""Inputs of unknown rank, contents that are known in part, and broadcasting of sizes that may be 1."""

from __future__ import annotations

from tests.differential.tf.graphs.case import Family, tf

OPEN_RANKS = Family("open_ranks")


@OPEN_RANKS.graph("float32?[b, t, 12]")
def elementwise(x):
    return [tf.nn.relu(x) + 1.0, tf.shape(x), tf.rank(x), tf.size(x), tf.reshape(x, [-1]), tf.reduce_sum(x)]


@OPEN_RANKS.graph("float32?[b, t, 12]", "float32[t, 12]")
def contraction(x, y):
    x = tf.ensure_shape(x, [None, None, 12])
    return [tf.matmul(x, y, transpose_b=True), tf.einsum("btc,tc->b", x, y), x[:, 0] - y[:1]]


@OPEN_RANKS.graph("float32?[b, 12]")
def ranks_as_sizes(x):
    return [
        tf.zeros(tf.concat([tf.shape(x), [3]], 0)),
        tf.reshape(x, tf.concat([[-1], tf.ones([tf.rank(x) - 1], tf.int32)], 0)),
        tf.transpose(x),
        tf.expand_dims(x, 0),
        tf.zeros([tf.rank(x)]),
    ]


@OPEN_RANKS.graph("float32?[b, h, w, 3]")
def convolution(x):
    y = tf.nn.conv2d(x, tf.ones([3, 3, 3, 4]), 2, "SAME")
    return [y, tf.nn.max_pool2d(y, 2, 2, "VALID"), tf.reduce_mean(y, [1, 2])]


@OPEN_RANKS.graph("float32[b, t, 12]", "float32?[t, 12]")
def broadcast_with_open_rank(x, y):
    return [x + y, tf.maximum(y, x), tf.where(x > 0.5, x, y), tf.broadcast_dynamic_shape(tf.shape(x), tf.shape(y))]


@OPEN_RANKS.graph("float32[b, t, 12]", "float32[b, k, 12]")
def parts_of_shapes(x, y):
    sizes = tf.concat([tf.shape(x)[:1], [tf.reduce_max(tf.cast(x, tf.int32)) * 0 + 6], [-1]], 0)
    rows = tf.stack([tf.shape(y)[1], tf.cast(tf.reduce_min(y) * 0.0, tf.int32) + 2, 4])
    return [tf.reshape(tf.tile(x, [1, 2, 1]), sizes), tf.zeros(rows), tf.fill(rows[::2], 1), tf.zeros(rows[1:])]


@OPEN_RANKS.graph("float32[b, n, 1]", "float32[b, 1, k]", "float32[n, k]")
def outer_broadcasts(x, y, z):
    return [x + y, x * z, (x + y) * z, tf.matmul(x, y), tf.maximum(x, tf.zeros([tf.shape(z)[1]])), x - y + z]


@OPEN_RANKS.graph("float32[b, t]", "float32[n, t]")
def pairs(x, y):
    distances = tf.reduce_sum((x[:, None] - y[None]) ** 2, -1)
    nearest = tf.argmin(distances, 1)
    return [distances, nearest, tf.gather(y, nearest), tf.concat([x, y], 0), tf.broadcast_to(x[:1], tf.shape(y))]


@OPEN_RANKS.graph("float32[n, 4]", "float32[k, 4]")
def sizes_that_may_be_equal(x, y):
    more = tf.pad(y, [[0, tf.shape(x)[0] - tf.shape(y)[0]], [0, 0]])
    return [x + more, x + tf.reduce_sum(y, 0, keepdims=True), tf.concat([x, more], 1)]


@OPEN_RANKS.graph("float32[b, h, w, 3]")
def padded_to_multiples(x):
    height, width = tf.shape(x)[1], tf.shape(x)[2]
    y = tf.pad(x, [[0, 0], [0, -height % 8], [0, -width % 8], [0, 0]])
    z = tf.nn.space_to_depth(y, 8)
    return [y, z, tf.nn.depth_to_space(z, 8)[:, :height, :width] + x]


@OPEN_RANKS.graph("float32[b, t, 12]")
def empty_parts(x):
    none = x[:, :0]
    return [
        none,
        tf.concat([none, x], 1),
        tf.reduce_sum(none, 1),
        tf.reduce_max(x[..., 5:5], 2),
        tf.matmul(none, x, transpose_b=True),
    ]
