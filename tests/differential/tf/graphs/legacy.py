"""Graphs of TensorFlow 1: frames of loops, switches and merges, queues, recurrent networks."""

from __future__ import annotations

from tests.differential.tf.graphs.case import Family, tf

LEGACY = Family("legacy")
SEQUENCE = "float32[b, t, 12]"


@LEGACY.graph(SEQUENCE, legacy=True)
def loop(x):
    def body(i, total):
        return i + 1, tf.tanh(total + x[:, i])

    start = [tf.constant(0), tf.zeros([tf.shape(x)[0], 12])]
    i, total = tf.compat.v1.while_loop(lambda i, _: i < tf.shape(x)[1], body, start)
    return [total * 2.0, tf.zeros([i])]


@LEGACY.graph(SEQUENCE, legacy=True)
def gradient_of_loop(x):
    def body(i, total):
        return i + 1, tf.tanh(total + x[:, i])

    start = [tf.constant(0), tf.zeros([tf.shape(x)[0], 12])]
    _, total = tf.compat.v1.while_loop(lambda i, _: i < tf.shape(x)[1], body, start)
    return tf.compat.v1.gradients(tf.reduce_sum(total), x)


@LEGACY.graph(SEQUENCE, legacy=True)
def growth(x):
    invariants = [tf.TensorShape([]), tf.TensorShape([None, None, 12])]
    _, grown = tf.compat.v1.while_loop(
        lambda i, _: i < 3, lambda i, y: (i + 1, tf.concat([y, x], 1)), [tf.constant(0), x], invariants
    )
    return grown + 1.0


@LEGACY.graph(SEQUENCE, legacy=True)
def nested_loops(x):
    def outer(i, y):
        _, z = tf.compat.v1.while_loop(lambda j, _: j < i, lambda j, z: (j + 1, z + y), [tf.constant(0), x])
        return i + 1, z

    return tf.compat.v1.while_loop(lambda i, _: i < 3, outer, [tf.constant(0), x])[1] * 1.0


@LEGACY.graph(SEQUENCE, "float32[n, 12]", legacy=True)
def rotated(x, y):
    invariants = [tf.TensorShape([])] + [tf.TensorShape([None, 12])] * 3
    start = [tf.constant(0), x[0], y, y[:1]]
    _, a, b, c = tf.compat.v1.while_loop(lambda i, *_: i < 4, lambda i, a, b, c: (i + 1, b, c, a), start, invariants)
    return [a + 1.0, b + 1.0, c + 1.0]


@LEGACY.graph(SEQUENCE, legacy=True)
def branches(x):
    return tf.compat.v1.cond(tf.reduce_sum(x) > 9.0, lambda: x[:, :1] * 2.0, lambda: tf.reduce_sum(x, 1, keepdims=True))


@LEGACY.graph(SEQUENCE, legacy=True)
def branches_of_other_sizes(x):
    y = tf.compat.v1.cond(tf.reduce_sum(x) > 50.0, lambda: x, lambda: tf.concat([x, x], 1))
    return [y + 1.0, tf.shape(y), tf.zeros([tf.shape(y)[1]])]


@LEGACY.graph(SEQUENCE, legacy=True)
def branch_in_loop(x):
    def body(i, y):
        return i + 1, tf.compat.v1.cond(tf.equal(i % 2, 0), lambda: y + x, lambda: y * x)

    return tf.compat.v1.while_loop(lambda i, _: i < 5, body, [tf.constant(0), x])[1] + 1.0


@LEGACY.graph(SEQUENCE, legacy=True)
def arrays(x):
    array = tf.TensorArray(tf.float32, tf.shape(x)[1]).unstack(tf.transpose(x, [1, 0, 2]))
    output = tf.TensorArray(tf.float32, tf.shape(x)[1], clear_after_read=False)

    def body(i, output):
        return i + 1, output.write(i, array.read(i) * 2.0)

    _, output = tf.compat.v1.while_loop(lambda i, _: i < tf.shape(x)[1], body, [tf.constant(0), output])
    return [output.stack(), output.concat(), output.gather([0]), output.size()]


class _Cell:
    """A recurrent cell without weights."""

    state_size = output_size = 12

    def __call__(self, inputs, state, scope=None):
        state = tf.tanh(inputs + state)
        return state, state

    def zero_state(self, batch_size, dtype):
        return tf.zeros([batch_size, 12], dtype)

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        return self.zero_state(batch_size, dtype)


@LEGACY.graph(SEQUENCE, legacy=True)
def dynamic_rnn(x):
    return tf.compat.v1.nn.dynamic_rnn(_Cell(), x, dtype=tf.float32)


@LEGACY.graph(SEQUENCE, legacy=True)
def dynamic_rnn_of_lengths(x):
    lengths = tf.fill([tf.shape(x)[0]], tf.shape(x)[1])
    return tf.compat.v1.nn.dynamic_rnn(_Cell(), x, lengths, dtype=tf.float32)


@LEGACY.graph(SEQUENCE, legacy=True)
def gradient_of_dynamic_rnn(x):
    outputs, _ = tf.compat.v1.nn.dynamic_rnn(_Cell(), x, dtype=tf.float32)
    return tf.compat.v1.gradients(tf.reduce_sum(outputs), x)


@LEGACY.graph(SEQUENCE, legacy=True)
def maps_and_folds(x):
    return [
        tf.map_fn(lambda row: tf.reduce_sum(row, 0), x),
        tf.scan(lambda total, row: total + row, x),
        tf.foldl(lambda total, row: total + row, x),
        tf.foldr(lambda total, row: total * row, x, tf.zeros([tf.shape(x)[1], 12])),
    ]


@LEGACY.graph(SEQUENCE, legacy=True, extreme=False)
def queue(x):
    queue = tf.queue.FIFOQueue(10, [tf.float32, tf.int32], [[12], []])
    rows = tf.reshape(x, [-1, 12])[:4]
    with tf.control_dependencies([queue.enqueue_many([rows, tf.range(tf.shape(rows)[0])])]):
        first, count = queue.dequeue()
        several, counts = queue.dequeue_many(2)
    return [first + 1.0, count, several, counts, queue.size()]


@LEGACY.graph(SEQUENCE, legacy=True)
def padded_queue(x):
    queue = tf.queue.PaddingFIFOQueue(10, [tf.float32], [[None, 12]])
    with tf.control_dependencies([queue.enqueue([x[0]])]), tf.control_dependencies([queue.enqueue([x[0, :1]])]):
        return queue.dequeue_many(2) + 1.0


@LEGACY.graph(SEQUENCE, legacy=True)
def layers_of_shape(x):
    static = [d if d is not None else tf.shape(x)[i] for i, d in enumerate(x.shape.as_list())]
    return tf.reshape(tf.tile(x[:, None], [1, 2, 1, 1]), [static[0] * 2, static[1], static[2]])
