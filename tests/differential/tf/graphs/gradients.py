"""Gradients."""

from __future__ import annotations

from functools import wraps

from tests.differential.tf.graphs.case import Family, tf

GRADIENTS = Family("gradients")


def with_gradients(function):
    """The function's value, and its gradients by the inputs."""

    @wraps(function)
    def differentiated(*inputs):
        with tf.GradientTape() as tape:
            for value in inputs:
                tape.watch(value)
            result = function(*inputs)
        gradients = tape.gradient(result, list(inputs))
        return [result, *(g for g in gradients if g is not None)]

    return differentiated


@GRADIENTS.graph("float32[b, h, w, 3]")
@with_gradients
def conv(x):
    return tf.reduce_sum(tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, tf.ones([3, 3, 3, 8]), 2, "SAME")), 2, 2, "VALID"))


@GRADIENTS.graph("float32[b, n, 6]")
@with_gradients
def matmul(x):
    return tf.reduce_mean(tf.nn.softmax(tf.matmul(x, x, transpose_b=True)) @ x)


@GRADIENTS.graph("float32[b, n, 6]", "float32[n, 1]", "float32[6]")
@with_gradients
def broadcasts(x, y, z):
    return tf.reduce_sum(tf.tanh(x * y + z) / (y + 3.0))


@GRADIENTS.graph("float32[b, n, 6]", "float32[1, n, 1]")
@with_gradients
def broadcasts_of_units(x, y):
    return tf.reduce_sum(x * y)


@GRADIENTS.graph("float32[n, 6]")
@with_gradients
def gather(x):
    return tf.reduce_sum(tf.gather(x, [0, 2]) * tf.concat([x[:1], x[1:2]], 0)[..., :6])


@GRADIENTS.graph("float32[b, t, 12]")
@with_gradients
def various(x):
    return (
        tf.reduce_sum(tf.pad(tf.transpose(tf.reshape(x[:, 1:], [tf.shape(x)[0], -1]), [1, 0]), [[1, 1], [0, 0]]) ** 2)
        + tf.reduce_max(tf.cumsum(x))
        + tf.reduce_prod(x)
        + tf.reduce_sum(tf.tile(x, [1, 2, 1]))
    )


@GRADIENTS.graph("float32[b, t, 12]")
@with_gradients
def stack(x):
    return tf.reduce_sum(tf.stack(tf.split(x, 3, axis=2), 0) * 2) + tf.reduce_sum(tf.einsum("btc,bsc->bts", x, x))


@GRADIENTS.graph("float32[b, t, 12]")
@with_gradients
def loop(x):
    return tf.reduce_sum(
        tf.while_loop(
            lambda i, a: i < tf.shape(x)[1],
            lambda i, a: (i + 1, tf.tanh(a + x[:, i])),
            [0, tf.zeros([tf.shape(x)[0], 12])],
        )[1]
    )


@GRADIENTS.graph("float32[b, h, w, 3]")
@with_gradients
def normalization(x):
    return tf.reduce_sum(
        tf.compat.v1.nn.fused_batch_norm(x, tf.ones([3]), tf.zeros([3]))[0]
        * tf.image.resize(x, [tf.shape(x)[1], tf.shape(x)[2]])
    )


@GRADIENTS.graph("float32[b, h, w, 3]")
@with_gradients
def upsampling(x):
    return (
        tf.reduce_sum(tf.image.resize(tf.nn.avg_pool2d(x, 2, 2, "SAME"), [tf.shape(x)[1], tf.shape(x)[2]]))
        + tf.reduce_sum(tf.nn.depthwise_conv2d(x, tf.ones([3, 3, 3, 1]), [1, 1, 1, 1], "SAME"))
        + tf.reduce_sum(
            tf.nn.conv2d_transpose(
                x, tf.ones([2, 2, 4, 3]), tf.stack([tf.shape(x)[0], tf.shape(x)[1] * 2, tf.shape(x)[2] * 2, 4]), 2
            )
        )
    )


@GRADIENTS.graph("float32[b, t, 12]")
@with_gradients
def scan(x):
    return tf.reduce_sum(tf.scan(lambda total, row: tf.tanh(total + row), x))


@GRADIENTS.graph("float32[b, t, 12]")
@with_gradients
def mapped(x):
    return tf.reduce_sum(tf.map_fn(lambda row: tf.matmul(row, row, transpose_b=True), x))


@GRADIENTS.graph("float32[b, t, 12]")
@with_gradients
def branches(x):
    return tf.cond(tf.reduce_sum(x) > 9.0, lambda: tf.reduce_sum(x[:, :2]), lambda: tf.reduce_mean(x**2))


@GRADIENTS.graph("float32[b, t, 12]", "int32[b, k]")
@with_gradients
def gathers(x, i):
    return tf.reduce_sum(tf.gather(x, i * 0, axis=1, batch_dims=1)) + tf.reduce_sum(tf.gather(x, i * 0, axis=2))


@GRADIENTS.graph("float32[n, 6]", "float32[k, 6]")
@with_gradients
def pairs(x, y):
    distances = tf.norm(x[:, None] - y[None], axis=-1)
    return tf.reduce_sum(tf.nn.softmax(distances)) + tf.reduce_sum(tf.reduce_max(distances, 0))


@GRADIENTS.graph("float32[b, n, n]")
@with_gradients
def linear_algebra(x):
    y = tf.matmul(x, x, transpose_b=True) + 4.0 * tf.eye(tf.shape(x)[1])
    return tf.reduce_sum(tf.linalg.cholesky(y)) + tf.reduce_sum(tf.linalg.inv(y)) + tf.reduce_sum(tf.linalg.logdet(y))


@GRADIENTS.graph("float32[b, t, 12]")
@with_gradients
def windows(x):
    y = tf.nn.conv1d(x, tf.ones([3, 12, 4]), 2, "SAME")
    return tf.reduce_sum(tf.nn.avg_pool1d(y, 2, 1, "VALID")) + tf.reduce_sum(tf.signal.frame(x[..., 0], 2, 1))


@GRADIENTS.graph("float32[b, t, h, w, 2]")
@with_gradients
def volumes(x):
    y = tf.nn.conv3d(x, tf.ones([2, 3, 3, 2, 4]), [1, 1, 2, 2, 1], "SAME")
    return tf.reduce_sum(tf.nn.max_pool3d(y, 2, 2, "SAME"))


@GRADIENTS.graph("float32[b, t, 12]")
@with_gradients
def selections(x):
    values, _ = tf.math.top_k(x, 3)
    parts = tf.reduce_sum(tf.boolean_mask(x, x[..., 0] > 0.5)) + tf.reduce_sum(tf.sort(x, 1))
    return tf.reduce_sum(values) + parts + tf.reduce_sum(tf.roll(x, 2, 1)[:, ::2])


@GRADIENTS.graph("float32[b, t, 12]")
def second(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            loss = tf.reduce_sum(tf.tanh(tf.matmul(x, x, transpose_b=True)))
        first = inner.gradient(loss, x)
        total = tf.reduce_sum(first**2)
    return [first, outer.gradient(total, x)]


@GRADIENTS.graph("float32[b, t, 3]")
def jacobian(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x**2, 2)
    return tape.batch_jacobian(y, x)
