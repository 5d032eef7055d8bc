"""Branches and loops whose conditions compare sizes, as functions and as switches and merges of TensorFlow 1."""

from __future__ import annotations

from tests.differential.tf.graphs.case import Family, tf

CONDITIONS = Family("conditions")
LEGACY_CONDITIONS = Family("legacy_conditions")


def both(*inputs, **options):
    """Add a graph in both forms."""

    def add_case(build):
        CONDITIONS.add(build.__name__, build, *inputs, **options)
        LEGACY_CONDITIONS.add(build.__name__, build, *inputs, legacy=True, static=False, **options)
        return build

    return add_case


def rows(x):
    return tf.shape(x)[0]


def pad_to(x, size):
    return tf.pad(x, [[0, size - rows(x)], [0, 0]])


@both("float32[t, 3]")
def pad_or_crop(x):
    return [tf.cond(rows(x) < 5, lambda: pad_to(x, 5), lambda: x[:5])]


@both("float32[t, 3]")
def crop_or_pad(x):
    return [tf.cond(rows(x) > 4, lambda: x[:4], lambda: pad_to(x, 4))]


@both("float32[t, 3]")
def not_less(x):
    return [tf.cond(tf.logical_not(rows(x) < 5), lambda: x[:5], lambda: pad_to(x, 5))]


@both("float32[t, 3]", "float32[n, 3]")
def pad_or_crop_to_another(x, y):
    fitted = tf.cond(rows(x) < rows(y), lambda: pad_to(x, rows(y)), lambda: x[: rows(y)])
    return [fitted, fitted + y]


@both("float32[h, w, 3]")
def square(x):
    h, w = tf.shape(x)[0], tf.shape(x)[1]
    return [
        tf.cond(
            h < w,
            lambda: tf.pad(x, [[0, w - h], [0, 0], [0, 0]]),
            lambda: tf.pad(x, [[0, 0], [0, h - w], [0, 0]]),
        )
    ]


@both("float32[t, 3]")
def case_of_one(x):
    return [tf.case([(rows(x) > 3, lambda: x[:3])], default=lambda: x)]


@both("float32[t, 3]")
def case_of_two(x):
    cases = [(rows(x) > 6, lambda: x[:6]), (rows(x) < 4, lambda: pad_to(x, 4))]
    return [tf.case(cases, default=lambda: x)]


@both("float32[t, 3]")
def switch_by_size(x):
    branches = [lambda: pad_to(x, 4), lambda: x]
    return [tf.switch_case(tf.where(rows(x) > 4, 1, 0), branches), tf.switch_case(rows(x) - 4, branches)]


@both("float32[b, 3]")
def squeeze_one(x):
    return [tf.cond(tf.equal(rows(x), 1), lambda: tf.expand_dims(tf.squeeze(x, 0), 0), lambda: x)]


@both("float32[t, 3]")
def number_of_a_branch(x):
    missing = tf.cond(rows(x) < 5, lambda: 5 - rows(x), lambda: 0)
    return [tf.pad(x, [[0, missing], [0, 0]])]


@both("float32[t, 3]")
def nested_numbers(x):
    missing = tf.cond(rows(x) < 6, lambda: tf.cond(rows(x) < 3, lambda: 2, lambda: 6 - rows(x)), lambda: 0)
    return [tf.pad(x, [[0, missing], [0, 0]])]


@both("float32[h, w, 3]")
def both_axes(x):
    h, w = tf.shape(x)[0], tf.shape(x)[1]
    large = tf.logical_and(h >= 20, w >= 20)
    fill = [[0, tf.maximum(20 - h, 0)], [0, tf.maximum(20 - w, 0)], [0, 0]]
    return [tf.cond(large, lambda: x[:20, :20], lambda: tf.pad(x, fill)[:20, :20])]


@both("float32[t, 3]")
def all_sizes(x):
    return [tf.cond(tf.reduce_all(tf.shape(x) > 2), lambda: x[:3], lambda: x)]


@both("float32[t, 3]")
def loop_until_enough(x):
    shapes = [tf.TensorShape([None, 3])]
    return [tf.while_loop(lambda y: rows(y) < 6, lambda y: tf.concat([y, tf.zeros([1, 3])], 0), [x], shapes)]


@both("float32[t, 3]")
def loop_until_few(x):
    return [tf.while_loop(lambda y: rows(y) > 4, lambda y: y[1:], [x], [tf.TensorShape([None, 3])])]


@both("float32[t, 3]")
def loop_of_four(x):
    shapes = [tf.TensorShape([]), tf.TensorShape([None, 3])]
    return tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, tf.concat([y, y[:1]], 0)), [0, x], shapes)[1:]


@both("float32[t, 3]", extreme=False)
def loop_that_doubles(x):
    """The rows are at least 6, and how many depends on how often they double."""
    shapes = [tf.TensorShape([None, 3])]
    return [tf.while_loop(lambda y: rows(y) < 6, lambda y: tf.concat([y, y], 0), [x], shapes)[:6]]


@both("float32[t, 3]", "float32[k, 3]")
def loop_after_branch(x, y):
    start = tf.cond(rows(x) > 4, lambda: x[:4], lambda: x)
    shapes = [tf.TensorShape([]), tf.TensorShape([None, 3])]
    step = lambda i, z: (i + 1, tf.concat([z, y[:1] * 0], 0))  # noqa: E731
    return tf.while_loop(lambda i, z: i < rows(x), step, [0, start], shapes)[1:]


@both("float32[t, 3]")
def branch_in_loop(x):
    def step(i, y):
        return i + 1, tf.cond(rows(y) < 6, lambda: tf.concat([y, tf.zeros([1, 3])], 0), lambda: y[:6])

    shapes = [tf.TensorShape([]), tf.TensorShape([None, 3])]
    return tf.while_loop(lambda i, y: i < 9, step, [0, x], shapes)[1:]
