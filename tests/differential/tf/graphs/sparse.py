"""Sparse and ragged tensors."""

from __future__ import annotations

from tests.differential.tf.graphs.case import Family, tf

SPARSE = Family("sparse")


@SPARSE.graph("float32[n, k]")
def sparse(x):
    s = tf.sparse.from_dense(tf.cast(x > 0.5, tf.float32) * x)
    return [
        s.values,
        s.indices,
        tf.sparse.to_dense(s),
        tf.sparse.reduce_sum(s, 1),
        tf.sparse.concat(0, [s, s]).values,
        tf.sparse.slice(s, [0, 0], [2, 2]).values,
        tf.sparse.transpose(s).indices,
        tf.sparse.sparse_dense_matmul(s, tf.transpose(x)),
        tf.sparse.reshape(s, [-1]).indices,
        tf.sparse.split(s, 2, 1)[0].dense_shape,
        tf.sparse.fill_empty_rows(s, 0.0)[0].values,
        tf.sparse.softmax(s).values,
        tf.sparse.add(s, s).values,
        tf.sparse.maximum(s, s).values,
        tf.sparse.expand_dims(s, 1).indices,
        tf.sparse.retain(s, s.values > 0.5).values,
        tf.sparse.segment_sum(x, [0, 1], [0, 0]),
        tf.sparse.to_indicator(tf.sparse.from_dense(tf.cast(x, tf.int64)), 6),
    ]


@SPARSE.graph("float32[n, 4]", "int64[b]")
def ragged(v, lengths):
    r = tf.RaggedTensor.from_row_lengths(
        v, tf.concat([tf.zeros([tf.shape(lengths)[0] - 1], tf.int64), [tf.shape(v, tf.int64)[0]]], 0)
    )
    return [
        r.values,
        r.row_splits,
        r.to_tensor(),
        r.row_lengths(),
        tf.reduce_sum(r, 1),
        tf.concat([r, r], 0).values,
        r[:, :1].values,
        tf.ragged.boolean_mask(r, r[:, :, 0] > 0.5).flat_values,
        r.to_sparse().indices,
        tf.gather(r, [0]).flat_values,
        r.bounding_shape(),
        tf.ragged.range(lengths).flat_values,
        tf.ragged.stack([r, r]).flat_values,
        tf.map_fn(lambda t: tf.reduce_sum(t), r.flat_values),
    ]
