"""Forms of einsum, gather and tensordot, datasets inside graphs, and more of ragged tensors."""

from __future__ import annotations

from functools import partial

from tests.differential.tf.graphs.case import Family, tf

FORMS = Family("forms")

EQUATIONS = {
    "attention": ("bqhd,bkhd->bhqk", "float32[b, t, 2, 3]", "float32[b, n, 2, 3]"),
    "projection": ("btc,chd->bthd", "float32[b, t, 12]", "float32[12, 2, 3]"),
    "batches": ("...ij,...jk->...ik", "float32[b, t, n, 4]", "float32[t, 4, k]"),
    "ellipsis_inside": ("a...b,b...->a...", "float32[b, t, 4]", "float32[4, t]"),
    "outer": ("i,j->ij", "float32[n]", "float32[k]"),
    "sum_of_product": ("ij,ij->", "float32[n, k]", "float32[n, k]"),
    "implicit": ("ij,jk", "float32[n, k]", "float32[k, 5]"),
    "three": ("ab,bc,cd->ad", "float32[b, t]", "float32[t, n]", "float32[n, k]"),
    "diagonal": ("ii->i", "float32[n, n]"),
    "trace_of_batch": ("bii->b", "float32[b, n, n]"),
}

for name, (equation, *texts) in EQUATIONS.items():
    FORMS.add(
        f"einsum_{name}", partial(lambda *values, equation: tf.einsum(equation, *values), equation=equation), *texts
    )


@FORMS.graph("float32[b, t, n, 3]", "int32[b, t, k]")
def gather_of_batches(x, i):
    return [
        tf.gather(x, i * 0, axis=2, batch_dims=2),
        tf.gather(x, i * 0, axis=3, batch_dims=2),
        tf.gather(x, i[:, 0] * 0, axis=1, batch_dims=1),
        tf.gather(x, i[:, 0] * 0, axis=-1, batch_dims=-1),
        tf.gather_nd(x, i[..., None] * 0, batch_dims=2),
        tf.gather_nd(x, i[..., :2] * 0),
    ]


@FORMS.graph("float32[b, t, 12]")
def tensordots(x):
    return [
        tf.tensordot(x, x, 0)[0, 0],
        tf.tensordot(x, tf.ones([12, 5, 2]), 1),
        tf.tensordot(x, x, [[0, 2], [0, 2]]),
        tf.tensordot(x, tf.ones([2, 12, 3]), [[-1], [1]]),
    ]


@FORMS.graph("float32[n, 4]")
def dataset(x):
    rows = tf.data.Dataset.from_tensor_slices(x)
    total = rows.map(lambda row: row * 2.0).reduce(tf.zeros([4]), lambda a, b: a + b)
    batch = tf.data.experimental.get_single_element(rows.batch(2, drop_remainder=True).take(1))
    padded = tf.data.experimental.get_single_element(rows.padded_batch(3, [6]).take(1))
    return [total, batch, padded, rows.cardinality()]


@FORMS.graph("float32[n, 4]")
def loop_over_dataset(x):
    total = tf.zeros([4])
    for row in tf.data.Dataset.from_tensor_slices(x).window(2, drop_remainder=True).flat_map(lambda w: w.batch(2)):
        total += tf.reduce_sum(row, 0)
    return total


@FORMS.graph("float32[b, t, 12]")
def nested_structures(x):
    first, second = tf.map_fn(
        lambda row: (row[:1], tf.reduce_sum(row)), x, fn_output_signature=(tf.float32, tf.float32)
    )
    sums, counts = tf.scan(lambda a, row: (a[0] + row, a[1] + 1), x, (tf.zeros([tf.shape(x)[1], 12]), 0))
    return [first, second, sums, counts, tf.scan(lambda a, row: a + row, x, reverse=True)]


@FORMS.graph("float32[n, 3]", "int64[k]")
def ragged_rows(values, ids):
    rows = tf.RaggedTensor.from_value_rowids(values, tf.sort(tf.range(tf.shape(values)[0]) % 3), 4)
    return [
        rows.to_tensor(shape=[None, 5, 3]),
        rows.to_tensor(-1.0),
        tf.reduce_max(rows, 0),
        rows.nrows(),
        rows.nested_row_splits[0],
        tf.ragged.map_flat_values(tf.nn.relu, rows).flat_values,
        rows.with_row_splits_dtype(tf.int32).row_splits,
        tf.RaggedTensor.from_tensor(values, padding=0.0).flat_values,
        tf.ragged.cross([tf.RaggedTensor.from_row_splits(ids, [0, tf.shape(ids, tf.int64)[0]])] * 2).flat_values,
    ]


@FORMS.graph("float32[b, t, 12]")
def map_to_ragged(x):
    spec = tf.RaggedTensorSpec([None, 12], tf.float32, 0)
    rows = tf.map_fn(lambda row: row[: tf.cast(tf.reduce_sum(row), tf.int32) % 3], x, fn_output_signature=spec)
    return [rows.flat_values, rows.row_splits, rows.to_tensor()]
