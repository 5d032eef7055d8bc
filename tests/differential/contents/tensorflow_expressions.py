"""Expressions between a size and a shape, as written in TensorFlow: sizes computed from those of another tensor.

`python -m tests.differential.contents.tensorflow_expressions` traces all of them into one graph over an input `x` of
unknown sizes, runs it in TensorFlow, and records the graph with the sizes of each result at the sizes of `SIZES`. The
test needs no TensorFlow.
"""

from __future__ import annotations

import base64
import json
import sys
import zlib
from pathlib import Path

RECORDED = Path(__file__).parent / "tensorflow_expressions.json"
SIZES = ((7, 3), (48, 5), (49, 2), (161, 4), (343, 6), (640, 9))
"""Sizes of `x`; 49 and 343 are powers of 7."""

ARITHMETIC = """
add: n + m
product of sizes: n * m
floor division: n // 4
negated floor division: -(-n // 4)
remainder: n % 32
padding to a multiple: (32 - n % 32) % 32
truncated division: tf.truncatediv(n, 3)
truncated remainder: tf.truncatemod(n, 5)
power: tf.pow(m, 2)
square: tf.square(m)
squared difference: tf.math.squared_difference(n, m)
absolute: tf.abs(m - n)
sign: tf.sign(n - m) + 3
negative: 1000 - n
maximum: tf.maximum(n, 100)
minimum: tf.minimum(n, 100)
clip: tf.clip_by_value(n, 10, 200)
sum of all: tf.reduce_sum(s)
product of all: tf.reduce_prod(s)
largest: tf.reduce_max(s)
smallest: tf.reduce_min(s)
mean of sizes: tf.reduce_mean(s)
mean as float: tf.cast(tf.reduce_mean(tf.cast(s, tf.float32)), tf.int32)
add_n: tf.add_n([n, m, n])
running sum: tf.cumsum(s)[1]
exclusive reverse running sum: tf.cumsum(s, exclusive=True, reverse=True)[0]
running product: tf.math.cumprod(s)[-1]
dot: tf.tensordot(s, tf.constant([2, 3]), 1)
matrix: tf.linalg.matvec(tf.constant([[1, 0], [1, 2]]), s)[1]
matmul: tf.matmul([[n, m]], tf.constant([[1, 0], [3, 1]]))[0, 0]
batch matmul: tf.matmul([[[n, m]]], tf.constant([[[2], [1]]]))[0, 0, 0]
einsum: tf.einsum('i,i->', s, tf.constant([1, 10]))
outer: tf.einsum('i,j->ij', s, s)[0, 1]
float matmul: tf.cast(tf.matmul(tf.cast([[n, m]], tf.float32), tf.constant([[0.5], [2.0]]))[0, 0], tf.int32)
""".strip().splitlines()

BITS = """
left shift: tf.bitwise.left_shift(m, 3)
right shift: tf.bitwise.right_shift(n, 2)
low bits: tf.bitwise.bitwise_and(n, 15)
without low bits: tf.bitwise.bitwise_and(n + 31, ~31)
or: tf.bitwise.bitwise_or(n, 8)
xor: tf.bitwise.bitwise_xor(n, 5)
invert: -tf.bitwise.invert(n)
bits set: tf.cast(tf.raw_ops.PopulationCount(x=n), tf.int32)
""".strip().splitlines()

FLOATS = """
real division: tf.cast(n / 3, tf.int32)
half: tf.cast(f * 0.5, tf.int32)
ceil: tf.cast(tf.math.ceil(f / 4.0), tf.int32)
floor: tf.cast(tf.math.floor(f / 2.5), tf.int32)
round: tf.cast(tf.round(f / 8.0), tf.int32)
rint: tf.cast(tf.math.rint(f * 0.75), tf.int32)
floor division of floats: tf.cast(f // 5.0, tf.int32)
remainder of floats: tf.cast(tf.math.floormod(f, 6.0), tf.int32)
square root: tf.cast(tf.math.ceil(tf.sqrt(f)), tf.int32)
reciprocal: tf.cast(tf.math.reciprocal(1.0 / f) + 0.5, tf.int32)
inverse root: tf.cast(100.0 * tf.math.rsqrt(f), tf.int32)
exponential: tf.cast(tf.exp(tf.cast(m, tf.float32)), tf.int32)
exponential minus one: tf.cast(tf.math.expm1(tf.cast(m, tf.float32)), tf.int32)
logarithm: tf.cast(tf.math.log(f) * 10.0, tf.int32)
logarithm of one more: tf.cast(tf.math.log1p(f) * 10.0, tf.int32)
next power of two: tf.cast(tf.pow(2.0, tf.math.ceil(tf.math.log(f) / tf.math.log(2.0))), tf.int32)
float power: tf.cast(tf.pow(f, 0.8), tf.int32)
hyperbolic tangent: tf.cast(tf.tanh(f / 100.0) * 50.0, tf.int32)
sine: tf.cast(10.0 + 10.0 * tf.sin(f), tf.int32)
cosine: tf.cast(10.0 + 10.0 * tf.cos(f), tf.int32)
arctangent: tf.cast(tf.atan(f) * 20.0, tf.int32)
sigmoid: tf.cast(tf.sigmoid(f / 100.0) * 50.0, tf.int32)
softplus: tf.cast(tf.math.softplus(tf.cast(m, tf.float32)), tf.int32)
error function: tf.cast(tf.math.erf(f / 500.0) * 50.0, tf.int32)
quotient without NaN: tf.cast(tf.math.divide_no_nan(f, 4.0), tf.int32)
quotient by zero: tf.cast(tf.math.divide_no_nan(f, 0.0), tf.int32) + 3
product without NaN: tf.cast(tf.math.multiply_no_nan(f, 2.0), tf.int32)
norm: tf.cast(tf.norm(tf.cast(s, tf.float32)), tf.int32)
mean of floats: tf.cast(tf.reduce_mean([f, 10.0, 3.5]), tf.int32)
double: tf.cast(tf.cast(n, tf.float64) * 1.5, tf.int32)
half precision: tf.cast(tf.cast(m, tf.float16) * 3.0, tf.int32)
linspace: tf.cast(tf.linspace(0.0, f - 1.0, 3)[-1], tf.int32)
is finite: tf.where(tf.math.is_finite(f), n, 1)
is nan: tf.where(tf.math.is_nan(f), 1, n)
""".strip().splitlines()

CHOICES = """
where: tf.where(n > 100, n, 100)
cond of numbers: tf.where(tf.equal(n % 2, 0), n // 2, (n + 1) // 2)
greater as int: tf.cast(n > 50, tf.int32) + 1
not equal: tf.cast(tf.not_equal(n, 49), tf.int32) + 1
logical and: tf.cast(tf.logical_and(n > 10, m < 5), tf.int32) + 1
logical not: tf.cast(tf.logical_not(n > 10), tf.int32) + 1
any: tf.cast(tf.reduce_any(s > 100), tf.int32) + 1
all: tf.cast(tf.reduce_all(s > 4), tf.int32) + 1
arg max: tf.argmax(s, output_type=tf.int32) + 1
arg min: tf.argmin(s, output_type=tf.int32) + 1
sorted: tf.sort([n, m, 100])[1]
sorted descending: tf.sort([n, m, 100], direction='DESCENDING')[0]
order: tf.argsort([n, m, 100])[0] + 1
largest two: tf.math.top_k([n, m, 100], 2).values[1]
position of largest: tf.math.top_k([n, m, 100], 1).indices[0] + 1
search: tf.searchsorted([10, 50, 200, 500], [n])[0] + 1
search after: tf.searchsorted([10, 49, 343, 500], [n], side='right')[0] + 1
bucket: tf.raw_ops.Bucketize(input=n, boundaries=[10.0, 100.0, 500.0]) + 1
unique: tf.shape(tf.unique([n, 49, m, 49]).y)[0]
unique counts: tf.unique_with_counts([n, 49, m, 49]).count[1]
set difference: tf.shape(tf.raw_ops.ListDiff(x=[n, m, 7], y=[7]).out)[0] + 1
where positions: tf.shape(tf.where([n > 10, m > 4, True]))[0]
boolean mask: tf.boolean_mask([n, m, 5], [True, False, True])[0]
number of true: tf.math.count_nonzero([n - 49, m, 0], dtype=tf.int32) + 1
bincount: tf.math.bincount([n % 4, m % 4, 1], minlength=4, maxlength=4)[1] + 1
histogram of sizes: tf.math.bincount([n % 4, 1, 1], weights=[n, m, 2], minlength=4, maxlength=4)[1] + 1
""".strip().splitlines()

PLACES = """
gather: tf.gather(s, [1, 0])[0]
gather nd: tf.gather_nd([[n, m], [1, 2]], [[0, 0], [1, 1]])[0]
batched gather: tf.gather([[n, m], [m, n]], [[1], [0]], batch_dims=1)[0, 0]
slice: s[:1][0]
strided slice: tf.concat([s, [4, 5]], 0)[::2][1]
reverse: tf.reverse(s, [0])[0]
reverse sequence: tf.reverse_sequence([[n, m, 4]], [2], seq_axis=1)[0, 0]
roll: tf.roll([n, m, 4], 1, 0)[1]
transposed: tf.transpose([[n, m], [1, 2]])[1, 0]
stack: tf.stack([n, 4])[0]
unstack: tf.unstack(s, 2)[1]
split: tf.split(s, 2)[0][0]
concat: tf.concat([s, [7]], 0)[2] * m
expand: tf.expand_dims(n, 0)[0]
squeeze: tf.squeeze([[n]])
tile: tf.tile([n], [3])[2]
repeat: tf.repeat([n, m], [1, 2])[2]
pad: tf.pad([n], [[1, 1]], constant_values=4)[1]
one hot: tf.reduce_sum(tf.one_hot(1, 2, dtype=tf.int32) * s)
fill: tf.fill([2], n)[1]
range: tf.range(n, n + 10, 3)[2]
meshgrid: tf.meshgrid(tf.range(3), [n, m])[1][1, 0]
broadcast: tf.broadcast_to(n, [2, 2])[1, 1]
zeros like: tf.zeros_like(s)[0] + 4
diagonal: tf.linalg.diag(s)[1, 1]
diagonal part: tf.linalg.diag_part([[n, 1], [2, m]])[0]
set diagonal: tf.linalg.set_diag([[1, 2], [3, 4]], s)[0, 0]
band part: tf.reduce_sum(tf.linalg.band_part([[n, 1], [2, m]], 0, -1))
trace: tf.linalg.trace([[n, 1], [2, m]])
tensor scatter: tf.tensor_scatter_nd_update(s, [[1]], [9])[1] * n
tensor scatter add: tf.tensor_scatter_nd_add(s, [[0], [0]], [9, 1])[0]
tensor scatter max: tf.tensor_scatter_nd_max(s, [[0]], [100])[0]
scatter: tf.scatter_nd([[1], [1]], s, [3])[1]
segment sum: tf.math.segment_sum([n, m, 3], [0, 0, 1])[0]
segment max: tf.math.segment_max([n, m, 3], [0, 0, 1])[0]
segment mean: tf.math.segment_mean([n, m, 3], [0, 0, 1])[0]
unsorted segment sum: tf.math.unsorted_segment_sum([n, m, 3], [1, 0, 1], 2)[1]
unsorted segment max: tf.math.unsorted_segment_max([n, m, 3], [1, 0, 1], 2)[1]
inverse permutation: tf.gather(s, tf.math.invert_permutation([1, 0]))[0]
dynamic partition: tf.dynamic_partition([n, m, 3], [0, 1, 0], 2)[0][1] * n
dynamic stitch: tf.dynamic_stitch([[0], [1]], [[n], [m]])[0]
bitcast: tf.bitcast(tf.bitcast(n, tf.float32), tf.int32)
unravel: tf.unravel_index(n, [100, 100])[1] + 1
size: tf.size(x) // m
rank: tf.rank(x)
broadcast shapes: tf.broadcast_dynamic_shape(s, [n, 1])[0]
""".strip().splitlines()

TEXTS = """
to string and back: tf.strings.to_number(tf.strings.as_string(n), tf.int32)
length of digits: tf.strings.length(tf.strings.as_string(n))
joined digits: tf.strings.to_number(tf.strings.join([tf.strings.as_string(m), '1']), tf.int32)
part of digits: tf.strings.to_number(tf.strings.substr(tf.strings.as_string(n + 100), 0, 2), tf.int32)
split text: tf.strings.to_number(tf.strings.split(['3,4'], ',').values[1], tf.int32) * m
lower: tf.where(tf.equal(tf.strings.lower('AB'), 'ab'), n, 1)
strip: tf.strings.to_number(tf.strings.strip(' 12 '), tf.int32) + m
reduce join: tf.strings.to_number(tf.strings.reduce_join(tf.strings.as_string([m, 2])), tf.int32)
""".strip().splitlines()

EXPRESSIONS = dict(line.split(": ", 1) for line in (*ARITHMETIC, *BITS, *FLOATS, *CHOICES, *PLACES, *TEXTS))

SHAPES = {
    "reshape": "tf.reshape(x, [m, -1])",
    "zeros of a shape": "tf.zeros(tf.concat([s[:1], [4], s[1:] * 2], 0))",
    "frames": "tf.signal.frame(tf.zeros([n]), 4, 2)",
    "resize": "tf.image.resize(tf.zeros([1, n, m, 1]), tf.cast(tf.cast(s, tf.float32) * 0.5, tf.int32))",
    "sequence mask": "tf.sequence_mask([m, 3], n)",
    "pad to a multiple": "tf.pad(x, [[0, (32 - n % 32) % 32], [0, 0]])",
    "ragged range": "tf.ragged.range([m, 2]).values",
}
"""Shapes that are not a vector of one computed size."""

UNKNOWN = {}
"""Expressions whose size is unknown by nature, with the reason."""


def graph():
    """The serialized graph of all expressions: an output `NAME:0` for each, numbered by position."""
    import tensorflow as tf

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32, name="x")])
    def compute(x):
        s = tf.shape(x)
        scope = {"tf": tf, "x": x, "s": s, "n": s[0], "m": s[1], "f": tf.cast(s[0], tf.float32)}
        sizes = {name: eval(text, scope) for name, text in EXPRESSIONS.items()}
        results = {name: tf.zeros([size], tf.uint8) for name, size in sizes.items()}
        results |= {name: eval(text, scope) for name, text in SHAPES.items()}
        return [tf.identity(result, name=f"result{i}") for i, result in enumerate(results.values())]

    return compute.get_concrete_function().graph.as_graph_def()


def record():
    """The graph, and for each expression its sizes at the sizes of SIZES."""
    import numpy as np
    import tensorflow as tf

    model = graph()
    names = [*EXPRESSIONS, *SHAPES]
    results = {name: [] for name in names}
    options = tf.compat.v1.ConfigProto()
    with tf.Graph().as_default() as runnable, tf.compat.v1.Session(graph=runnable, config=options) as session:
        tf.import_graph_def(model, name="")
        for sizes in SIZES:
            fetches = [f"result{i}:0" for i in range(len(names))]
            for name, array in zip(names, session.run(fetches, {"x:0": np.zeros(sizes, np.float32)}), strict=True):
                results[name].append(list(array.shape))
    data = base64.b64encode(zlib.compress(model.SerializeToString(deterministic=True), 9)).decode()
    return {"graph": data, "results": results}


def recorded():
    """The serialized graph and the recorded sizes by name."""
    stored = json.loads(RECORDED.read_text(encoding="utf8"))
    return zlib.decompress(base64.b64decode(stored["graph"])), stored["results"]


def main():
    stored = record()
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(sizes)}" for name, sizes in stored["results"].items())
    text = f'{{\n "graph": {json.dumps(stored["graph"])},\n "results": {{\n{lines}\n }}\n}}\n'
    RECORDED.write_text(text, encoding="utf8")
    print(len(stored["results"]), len(text))


if __name__ == "__main__":
    sys.exit(main())
