"""tf.math, random numbers, integers and complex numbers."""

from __future__ import annotations

from tests.differential.tf.graphs.case import Family, tf

MATH = Family("math")


@MATH.graph("float32[b, t, 12]")
def reductions(x):
    return [
        f(x, axis=a, keepdims=k)
        for f in (
            tf.reduce_sum,
            tf.reduce_mean,
            tf.reduce_max,
            tf.reduce_prod,
            tf.math.reduce_std,
            tf.reduce_logsumexp,
            tf.math.reduce_euclidean_norm,
        )
        for a in (None, 0, -1, [0, 2])
        for k in (False, True)
    ]


@MATH.graph("float32[n, k]")
def various(x):
    return [
        tf.cumsum(x),
        tf.math.cumprod(x, 1),
        tf.math.cumulative_logsumexp(x),
        tf.argmax(x, 1),
        tf.sort(x),
        tf.argsort(x, 0),
        tf.clip_by_value(x, 0.0, 1.0),
        tf.clip_by_norm(x, 1.0),
        tf.math.top_k(x, 2)[1],
        tf.math.bincount(tf.cast(x, tf.int32)),
        tf.histogram_fixed_width(x, [0.0, 1.0], 7),
        tf.searchsorted(tf.sort(x[:, 0]), x[:, 1]),
        tf.math.segment_sum(x, tf.zeros([tf.shape(x)[0]], tf.int32)),
        tf.math.unsorted_segment_max(x, tf.zeros([tf.shape(x)[0]], tf.int32), 5),
        tf.math.confusion_matrix(tf.cast(x[:, 0], tf.int32), tf.cast(x[:, 1], tf.int32), num_classes=4),
        tf.math.zeta(x + 1, x),
        tf.math.polyval([x, x, x], x),
        tf.math.accumulate_n([x, x]),
        tf.math.l2_normalize(x),
        tf.quantization.fake_quant_with_min_max_args(x),
        tf.math.xlogy(x, x),
        tf.math.nextafter(x, x),
        tf.math.is_non_decreasing(x),
        tf.linspace(x[0], x[1], 6),
        tf.unique(tf.reshape(x, [-1]))[0],
        tf.unique_with_counts(tf.reshape(x, [-1]))[2],
    ]


@MATH.graph("float32[n, k]")
def random(x):
    return [
        tf.random.normal(tf.shape(x)),
        tf.random.uniform([tf.shape(x)[0], 3], maxval=5, dtype=tf.int32),
        tf.random.shuffle(x),
        tf.random.categorical(x, 4),
        tf.random.gamma([2], x),
        tf.random.poisson([3], x),
        tf.random.stateless_normal(tf.shape(x), [1, 2]),
        tf.random.truncated_normal([tf.shape(x)[1]]),
        tf.random.stateless_categorical(x, 3, [1, 2]),
        tf.random.stateless_gamma(tf.concat([[2], tf.shape(x)], 0), [1, 2], x),
        tf.random.log_uniform_candidate_sampler(tf.cast(x[:, :1], tf.int64), 1, 4, False, 10)[0],
        tf.random.experimental.stateless_shuffle(x, [1, 2]),
    ]


@MATH.graph("float32[b, h, w, 3]")
def quantized(x):
    return [
        tf.quantization.fake_quant_with_min_max_vars(x, 0.0, 1.0),
        *tf.quantization.quantize(x, 0.0, 1.0, tf.quint8),
        tf.quantization.dequantize(tf.quantization.quantize(x, 0.0, 1.0, tf.quint8)[0], 0.0, 1.0),
    ]


@MATH.graph("int32[b, n]")
def integers(x):
    return [
        tf.bitwise.bitwise_and(x, 3),
        tf.bitwise.left_shift(x, x[:1]),
        tf.bitwise.invert(x),
        tf.math.floordiv(x, 2),
        x // 3,
        x % 4,
        tf.math.truediv(x, 2),
        tf.cast(x, tf.float16),
        tf.math.bincount(x, minlength=5, axis=-1),
        tf.math.bincount(x, binary_output=True, maxlength=6, minlength=6),
    ]


@MATH.graph("complex64[b, n]")
def complex_numbers(x):
    return [
        tf.math.real(x),
        tf.math.abs(x),
        tf.math.angle(x),
        tf.math.conj(x),
        tf.matmul(x, x, adjoint_b=True),
        tf.complex(tf.math.real(x), tf.math.imag(x)),
        tf.signal.ifft(x),
    ]


@MATH.graph("float32[n]")
def sorted_segments(x):
    return [
        tf.sort(x),
        tf.unique(x)[1],
        tf.math.segment_mean(x, tf.cast(tf.range(tf.shape(x)[0]) // 2, tf.int32)),
        tf.math.unsorted_segment_sum(x, tf.range(tf.shape(x)[0]), tf.shape(x)[0]),
        tf.scatter_nd(tf.where(x > 0.5), tf.boolean_mask(x, x > 0.5), tf.shape(x, tf.int64)),
        tf.math.invert_permutation(tf.argsort(x)),
        tf.dynamic_partition(x, tf.cast(x > 0.5, tf.int32), 2)[1],
        tf.repeat(x, tf.range(tf.shape(x)[0])),
    ]
