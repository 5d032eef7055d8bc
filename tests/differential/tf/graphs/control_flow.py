"""Loops, branches and arrays of tensors."""

from __future__ import annotations

from tests.differential.tf.graphs.case import Family, tf

CONTROL_FLOW = Family("control_flow")


@CONTROL_FLOW.graph("float32[b, t, 12]")
def loop(x):
    i = tf.constant(0)
    a = tf.zeros([tf.shape(x)[0], 12])
    ta = tf.TensorArray(tf.float32, tf.shape(x)[1])

    def body(i, a, ta):
        a = a + x[:, i]
        return (i + 1, a, ta.write(i, a * 2))

    i, a, ta = tf.while_loop(lambda i, a, ta: i < tf.shape(x)[1], body, [i, a, ta])
    return [a, ta.stack(), tf.transpose(ta.stack(), [1, 0, 2]), i]


@CONTROL_FLOW.graph("float32[b, t, 12]")
def growth(x):
    i = tf.constant(0)
    a = x[:, :1]
    i, a = tf.while_loop(
        lambda i, a: i < 4,
        lambda i, a: (i + 1, tf.concat([a, a[:, -1:] + x[:, :1]], 1)),
        [i, a],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, None, 12])],
    )
    return [a]


@CONTROL_FLOW.graph("float32[b, t, 12]")
def growth_by_size(x):
    i = tf.constant(0)
    a = x[:, :1]
    i, a = tf.while_loop(
        lambda i, a: i < tf.shape(x)[1],
        lambda i, a: (i + 1, tf.concat([a, a[:, -1:] + x[:, :1]], 1)),
        [i, a],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, None, 12])],
    )
    return [a]


@CONTROL_FLOW.graph("float32[b, t, 12]")
def branches(x):
    y = tf.cond(
        tf.reduce_sum(x) > 10.0,
        lambda: tf.reshape(x, [tf.shape(x)[0], -1]),
        lambda: tf.reshape(x, [tf.shape(x)[0], -1]) * 2,
    )
    z = tf.cond(tf.shape(x)[1] > 5, lambda: x[:, :5], lambda: x)
    w = tf.switch_case(tf.shape(x)[0] % 3, [lambda: x, lambda: x + 1, lambda: x * 2])
    return [y, z, w]


@CONTROL_FLOW.graph("float32[b, t, 12]")
def maps_and_folds(x):
    return [
        tf.map_fn(lambda t: tf.reduce_sum(t, 0), x),
        tf.scan(lambda a, t: a + t, x),
        tf.vectorized_map(lambda t: tf.matmul(t, t, transpose_b=True), x),
        tf.foldl(lambda a, t: a + t, x),
        tf.map_fn(lambda t: (t[0], t[1:]), x, fn_output_signature=(tf.float32, tf.float32))[1],
        tf.foldr(lambda a, t: a + t, x, initializer=tf.zeros([tf.shape(x)[1], 12])),
    ]


@CONTROL_FLOW.graph("float32[b, t, 12]")
def autograph(x):
    out = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    s = tf.zeros([tf.shape(x)[0], 12])
    for t in tf.range(tf.shape(x)[1]):
        if t % 2 == 0:  # noqa: SIM108  a branch of the graph
            s = s + x[:, t]
        else:
            s = s * x[:, t]
        out = out.write(t, s)
    return [out.stack(), out.concat(), s]


@CONTROL_FLOW.graph("float32[b, t, 12]")
def break_out(x):
    n = tf.constant(0)
    for _ in tf.range(100):
        if n > tf.shape(x)[1]:
            break
        n += 2
    return [tf.zeros([n]), n]


@CONTROL_FLOW.graph("float32[b, t, 12]")
def branch_in_loop(x):
    out = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[None, 12])
    s = tf.zeros([tf.shape(x)[0], 12])

    def body(t, s, out):
        s = tf.cond(tf.equal(t % 2, 0), lambda: s + x[:, t], lambda: s * x[:, t])
        return (t + 1, s, out.write(t, s))

    _, s, out = tf.while_loop(lambda t, s, o: t < tf.shape(x)[1], body, [0, s, out])
    return [out.stack(), out.concat(), s]


@CONTROL_FLOW.graph("float32[b, t, 12]")
def computed_steps(x):
    (n,) = tf.while_loop(lambda n: n <= tf.shape(x)[1], lambda n: [n + 2], [0])
    _, m = tf.while_loop(lambda i, m: i < 10, lambda i, m: [i + 3, m * 2], [0, 1])
    return [tf.zeros([n]), n, tf.zeros([m])]


@CONTROL_FLOW.graph("float32[b, t, 12]")
def nested_loops(x):
    def outer(i, a):
        _, b = tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b + a), [0, x])
        return (i + 1, b)

    _, a = tf.while_loop(lambda i, a: i < 3, outer, [0, x])
    return [a, tf.concat([a, x], 1)]


@CONTROL_FLOW.graph("float32[b, 4]", "float32[n, 4]")
def swapped(x, y):
    _, a, b = tf.while_loop(
        lambda i, a, b: i < tf.shape(x)[0],
        lambda i, a, b: (i + 1, b, a),
        [0, x, y],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 4]), tf.TensorShape([None, 4])],
    )
    return [a, b]


@CONTROL_FLOW.graph("float32[b, t, 12]")
def ranks_of_branches(x):
    return [tf.switch_case(tf.shape(x)[0] % 2, [lambda: tf.reduce_sum(x), lambda: x])]


@CONTROL_FLOW.graph("float32[b, t, 12]")
def decided_branches(x):
    return [
        tf.cond(tf.shape(x)[2] > 5, lambda: x[:, :2], lambda: x),
        tf.cond(tf.greater(tf.shape(x)[1], 100), lambda: tf.matmul(x, x), lambda: x),
    ]


@CONTROL_FLOW.graph("float32[b, t, 12]")
def arrays(x):
    ta = tf.TensorArray(tf.float32, size=tf.shape(x)[0]).unstack(x)
    ta2 = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x[0], [2, tf.shape(x)[1] - 2])
    return [ta.read(0), ta.gather([0, 0]), ta.concat(), ta.size(), ta2.read(1), ta.stack()]


@CONTROL_FLOW.graph("float32[b, t, 12]")
def v1_loop(x):
    return [tf.compat.v1.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), [tf.constant(0), x])[1]]
