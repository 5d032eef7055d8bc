"""Reshaping, slices and selection."""

from __future__ import annotations

from tests.differential.tf.graphs.case import Family, tf

ARRAYS = Family("arrays")


@ARRAYS.graph("float32[b, t, 12]")
def reshaping(x):
    return [
        tf.reshape(x, [-1, tf.shape(x)[1] * 12]),
        tf.reshape(x, [tf.shape(x)[0], -1, 3, 4]),
        tf.reshape(x, tf.concat([tf.shape(x)[:2], [2, 6]], 0)),
        tf.reshape(x, tf.reverse(tf.shape(x), [0])),
        tf.transpose(x),
        tf.transpose(x, [1, 0, 2]),
        tf.expand_dims(x, -2),
        tf.squeeze(x[:, :1], 1),
        tf.tile(x, [1, 2, tf.shape(x)[0]]),
        tf.repeat(x, 3, axis=1),
        tf.repeat(x, tf.range(tf.shape(x)[0]), axis=0),
        tf.roll(x, 1, 0),
        tf.reverse(x, [1]),
        tf.reverse_sequence(x, tf.ones([tf.shape(x)[0]], tf.int32), 1),
        tf.broadcast_to(x[:1], tf.shape(x)),
        tf.stack([x, x], 2),
        tf.concat([x, x[:, :2]], 1),
        *tf.split(x, 3, axis=2),
        *tf.split(x, [1, -1], axis=1),
        *tf.unstack(x, axis=2)[:2],
        tf.pad(x, [[1, 2], [0, 1], [0, 0]]),
        tf.pad(x, [[0, 0], [2, 2], [1, 1]], "REFLECT"),
        tf.pad(x, [[0, 0], [2, 2], [1, 1]], "SYMMETRIC"),
        tf.fill([tf.size(x), 2], 1.0),
        tf.zeros([tf.rank(x), tf.shape(x)[0]]),
        tf.meshgrid(x[0, :, 0], x[:, 0, 0])[0],
        tf.sequence_mask(tf.range(tf.shape(x)[0]), tf.shape(x)[1]),
        tf.sequence_mask(tf.range(tf.shape(x)[0]) + 1),
    ]


@ARRAYS.graph("float32[b, t, 12]")
def slices(x):
    return [
        x[:, ::2],
        x[:, ::-1],
        x[..., 0],
        x[:, None],
        x[:, 1:-1],
        x[:, -3:],
        x[:, : tf.shape(x)[1] // 2],
        x[tf.shape(x)[0] - 1],
        x[:, 1 : tf.shape(x)[1] - 1 : 2],
        x[..., tf.newaxis, 2:9:3],
        tf.slice(x, [0, 1, 2], [-1, 2, 5]),
        tf.slice(x, [0, 0, 0], [tf.shape(x)[0], 1, -1]),
        tf.strided_slice(x, [0, -1, 0], [1, -4, 12], [1, -1, 5]),
        x[:, tf.shape(x)[1] - 2, 3:],
        x[::3, ::2, ::-5],
    ]


@ARRAYS.graph("float32[b, t, 12]", "int32[b, k]")
def selection(x, i):
    return [
        tf.gather(x, i * 0),
        tf.gather(x, i * 0, axis=1),
        tf.gather(x, i * 0, axis=1, batch_dims=1),
        tf.gather(x, i, axis=2, batch_dims=0),
        tf.gather_nd(x, tf.minimum(i, 0)[:, :2]),
        tf.gather_nd(x, i[:, :, None] * 0, batch_dims=1),
        tf.boolean_mask(x, x[:, :, 0] > 0.5),
        tf.where(x > 0.5),
        tf.where(x > 0.5, x, 0.0),
        tf.scatter_nd(i[:, :, None], x[:, :1, :] * tf.ones([1, tf.shape(i)[1], 1]), [5, 12]),
        tf.tensor_scatter_nd_add(x, i[:, :1] * 0, x),
        tf.tensor_scatter_nd_update(x, [[0]], x[:1]),
        tf.one_hot(i, 5),
        tf.one_hot(i, tf.reduce_max(i) + 1, axis=1),
        tf.dynamic_partition(x, tf.cast(x[:, 0, 0] > 0.5, tf.int32), 2)[0],
        tf.dynamic_stitch([tf.range(tf.shape(x)[0])], [x]),
        tf.batch_to_space(tf.tile(x[:, :, :, None], [4, 1, 1, 1]), [2, 2], [[0, 0], [1, 0]]),
        tf.space_to_batch(tf.pad(x, [[0, 0], [0, tf.shape(x)[1] % 2], [0, 0]])[..., None], [2, 3], [[0, 0], [0, 0]]),
        tf.unravel_index(tf.reshape(i, [-1]), [4, 5]),
        tf.searchsorted(tf.sort(x[:, :, 0]), x[:, :, 1]),
        tf.sets.intersection(i, i).values,
        tf.raw_ops.ListDiff(x=tf.reshape(i, [-1]), y=[1, 2])[0],
        tf.edit_distance(tf.sparse.from_dense(i), tf.sparse.from_dense(i)),
        tf.bitcast(x, tf.int32),
        tf.bitcast(x, tf.uint8),
    ]
