"""tf.nn: convolutions, pools, losses, embeddings."""

from __future__ import annotations

from functools import partial
from itertools import product

from tests.differential.tf.graphs.case import Family, tf

LAYERS = Family("layers")


@LAYERS.graph("float32[b, h, w, 3]")
def fractional_pools(x):
    return [*tf.nn.fractional_max_pool(x, [1, 1.44, 1.73, 1]), *tf.nn.fractional_avg_pool(x, [1, 1.5, 1.2, 1])]


@LAYERS.graph("float32[b, t, 12]")
def various(x):
    return [
        tf.nn.softmax(x),
        tf.nn.log_softmax(x),
        tf.nn.l2_normalize(x, -1),
        tf.nn.top_k(x, 3)[0],
        tf.nn.moments(x, [0, 1])[0],
        tf.nn.crelu(x),
        tf.nn.gelu(x),
        tf.nn.silu(x),
        tf.nn.dropout(x, 0.3),
        tf.nn.zero_fraction(x),
        tf.nn.local_response_normalization(x[:, :, :, None]),
        tf.nn.normalize_moments(tf.constant(3.0), tf.reduce_sum(x, [0]), tf.reduce_sum(x, [0]), None)[0],
    ]


@LAYERS.graph("float32[b, 10]", "int32[b]")
def losses(logits, y):
    return [
        tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits),
        tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(y, 10), logits),
        tf.nn.sigmoid_cross_entropy_with_logits(tf.one_hot(y, 10), logits),
        tf.math.in_top_k(y, logits, 3),
        tf.nn.weighted_moments(logits, [0], tf.ones_like(logits))[0],
        tf.nn.log_poisson_loss(logits, logits),
        tf.nn.batch_normalization(logits, tf.zeros(10), tf.ones(10), None, None, 0.001),
    ]


@LAYERS.graph("float32[t, b, 6]", "int32[b, 3]")
def ctc(logits, y):
    return [
        tf.nn.ctc_loss(
            y + 1,
            logits,
            tf.fill([tf.shape(logits)[1]], 2),
            tf.fill([tf.shape(logits)[1]], tf.shape(logits)[0]),
            blank_index=0,
        ),
        tf.nn.ctc_greedy_decoder(logits, tf.fill([tf.shape(logits)[1]], tf.shape(logits)[0]))[1],
        tf.nn.ctc_greedy_decoder(logits, tf.fill([tf.shape(logits)[1]], tf.shape(logits)[0]))[0][0].values,
    ]


@LAYERS.graph("int32[b, t]")
def embeddings(i):
    return [
        tf.nn.embedding_lookup(tf.ones([10, 6]), i),
        tf.nn.embedding_lookup_sparse(tf.ones([10, 6]), tf.sparse.from_dense(i), None, combiner="mean"),
        tf.nn.safe_embedding_lookup_sparse(tf.ones([10, 6]), tf.sparse.from_dense(tf.cast(i, tf.int64))),
    ]


@LAYERS.graph("float32[b, 6]", "int64[b, 1]")
def sampled_losses(x, y):
    return [
        tf.nn.nce_loss(tf.ones([50, 6]), tf.zeros([50]), y, x, 4, 50),
        tf.nn.sampled_softmax_loss(tf.ones([50, 6]), tf.zeros([50]), y, x, 4, 50),
    ]


def convolutions(x, padding, stride):
    strides, ones = [1, stride, stride, 1], [1, 1, 1, 1]
    depthwise, flat = tf.ones([3, 3, 3, 2]), tf.ones([3, 3, 3])
    return [
        tf.nn.conv2d(x, tf.ones([3, 5, 3, 8]), strides, padding),
        tf.nn.conv2d(x, tf.ones([3, 3, 3, 4]), 1, padding, dilations=[1, 2, 2, 1]),
        tf.nn.depthwise_conv2d(x, depthwise, strides, padding),
        tf.nn.separable_conv2d(x, depthwise, tf.ones([1, 1, 6, 5]), strides, padding),
        tf.nn.erosion2d(x, flat, strides, padding, "NHWC", ones),
        tf.nn.dilation2d(x, flat, strides, padding, "NHWC", ones),
        tf.nn.max_pool2d(x, 3, stride, padding),
        tf.nn.avg_pool2d(x, [2, 3], [stride, stride], padding),
        tf.nn.max_pool_with_argmax(x, 3, stride, padding)[1],
        tf.nn.pool(x, [3, 3], "AVG", strides=[1, 1], padding="VALID", dilations=[2, 2]),
    ]


def sequences(x, padding, stride):
    return [
        tf.nn.conv1d(x, tf.ones([2, 12, 7]), stride, padding),
        tf.nn.max_pool1d(x, 2, stride, padding),
        tf.nn.avg_pool1d(x, 2, stride, padding),
        tf.nn.atrous_conv2d(x[:, :, None, :], tf.ones([2, 1, 12, 3]), 2, padding),
    ]


def volumes(x, padding, stride):
    return [
        tf.nn.conv3d(x, tf.ones([2, 3, 3, 2, 4]), [1, stride, stride, stride, 1], padding),
        tf.nn.max_pool3d(x, 2, stride, padding),
        tf.nn.avg_pool3d(x, [1, 2, 3], stride, padding),
    ]


def transposed(x, padding, stride):
    batch, *sizes = tf.unstack(tf.shape(x)[:3])
    sizes = [size * stride if padding == "SAME" else (size - 1) * stride + 3 for size in sizes]
    return [tf.nn.conv2d_transpose(x, tf.ones([3, 3, 6, 3]), tf.stack([batch, *sizes, 6]), stride, padding)]


WINDOWS = (
    (convolutions, "float32[b, h, w, 3]"),
    (sequences, "float32[b, t, 12]"),
    (volumes, "float32[b, t, h, w, 2]"),
    (transposed, "float32[b, h, w, 3]"),
)

for (function, text), mode, step in product(WINDOWS, ("SAME", "VALID"), (1, 2, 3)):
    LAYERS.add(f"{function.__name__}_{mode.lower()}_{step}", partial(function, padding=mode, stride=step), text)
