"""Kinds of steps of random programs: each adds a few nodes, most of them arithmetic on shapes."""

from __future__ import annotations

import numpy as np


class NoOperandError(Exception):
    """The program has no value of the drawn type yet."""


KINDS = []
"""Functions of a `Pool`; each returns nodes (operator, operands, attributes), where `@0` is the output of the first."""

BINARY = ("AddV2", "Sub", "Mul", "FloorDiv", "FloorMod", "Maximum", "Minimum")


class Pool:
    """The values of a program so far, drawn by type: `values` are TensorFlow's at the first binding."""

    def __init__(self, random, values):
        self.random, self.values = random, values

    def draw(self, dtype, ranks=range(6)):
        names = [n for n, t in self.values.items() if t.dtype.name == dtype and len(t.shape) in ranks]
        if not names:
            raise NoOperandError
        return self.random.choice(names)

    def floats(self):
        return self.draw("float32")

    def vector(self):
        return self.draw("int32", (1,))

    def scalar(self):
        return self.draw("int32", (0,))

    def integer(self):
        return self.draw("int32", (0, 1))

    def either(self):
        """A tensor of floats or a vector of integers."""
        return self.choice([self.floats, self.vector])()

    def choice(self, items):
        return self.random.choice(items)

    def rank(self, name):
        return len(self.values[name].shape)

    def small(self):
        return self.choice((-2, -1, 0, 1, 2, 3))


def ints(*values):
    return np.array(values, np.int32)


def kind(times=1):
    """Register a kind that is drawn `times` times as often as others."""

    def register(function):
        KINDS.extend([function] * times)
        return function

    return register


@kind(3)
def shape(pool):
    return [("Shape", (pool.floats(),), {})]


@kind(4)
def element(pool):
    index = pool.small()
    return [("StridedSlice", (pool.vector(), ints(index), ints(index + 1), ints(1)), {"shrink_axis_mask": 1})]


@kind(2)
def part(pool):
    masks = {"begin_mask": pool.choice((0, 1)), "end_mask": pool.choice((0, 1))}
    step = ints(pool.choice((1, 1, 2, -1)))
    return [("StridedSlice", (pool.vector(), ints(pool.small()), ints(pool.small()), step), masks)]


@kind(2)
def strided_slice(pool):
    count = pool.choice((1, 2, 3))
    nodes, ends = [], []
    for _ in range(2):
        items = [pool.scalar() if pool.choice((0, 0, 1)) else pool.small() for _ in range(count)]
        if any(isinstance(item, str) for item in items):
            ends.append(f"@{len(nodes)}")
            nodes.append(("Pack", (items,), {}))
        else:
            ends.append(ints(*items))
    steps = ints(*(pool.choice((1, 1, 1, 2, -1)) for _ in range(count)))
    masks = {
        "begin_mask": pool.choice(range(8)),
        "end_mask": pool.choice(range(8)),
        "ellipsis_mask": pool.choice((0, 0, 0, 1, 2)),
        "new_axis_mask": pool.choice((0, 0, 0, 1, 2)),
        "shrink_axis_mask": pool.choice((0, 0, 1, 2)),
    }
    return [*nodes, ("StridedSlice", (pool.floats(), *ends, steps), masks)]


@kind(2)
def pack(pool):
    items = [pool.choice((pool.scalar(), pool.scalar(), 1, 2, -1)) for _ in range(pool.choice((1, 2, 3)))]
    return [("Pack", (items,), {})]


@kind()
def concat(pool):
    return [("ConcatV2", ([pool.vector(), pool.choice((pool.vector(), ints(1), ints(-1)))], 0), {})]


@kind()
def concat_floats(pool):
    return [("ConcatV2", ([pool.floats(), pool.floats()], pool.choice((0, 1, -1))), {})]


@kind()
def gather(pool):
    return [("GatherV2", (pool.vector(), pool.choice((ints(0), ints(1, 0), ints(0, 0), 0)), 0), {})]


@kind()
def gather_floats(pool):
    return [("GatherV2", (pool.floats(), pool.choice((ints(0), ints(0, 0, 0), 0)), pool.choice((0, 1, -1))), {})]


@kind()
def reduce_vector(pool):
    op = pool.choice(("Prod", "Prod", "Sum", "Max", "Min"))
    return [(op, (pool.vector(), ints(0)), {"keep_dims": pool.choice((False, False, True))})]


@kind()
def reduce(pool):
    axes = pool.choice((ints(0), ints(-1), ints(0, -1), 0))
    return [(pool.choice(("Sum", "Max", "Mean")), (pool.floats(), axes), {"keep_dims": pool.choice((False, True))})]


@kind(4)
def arithmetic(pool):
    operands = [pool.integer(), pool.choice((pool.integer(), 1, 2, 3, -1))]
    pool.random.shuffle(operands)
    return [(pool.choice(BINARY), tuple(operands), {})]


@kind()
def sum_of_floats(pool):
    return [("AddV2", (pool.floats(), pool.floats()), {})]


@kind(3)
def reshape(pool):
    return [("Reshape", (pool.either(), pool.choice((pool.vector(), ints(-1), ints(1, -1), ints(-1, 2)))), {})]


@kind()
def reshape_by_batch(pool):
    tensor = pool.floats()
    first = ("StridedSlice", ("@0", ints(0), ints(1), ints(1)), {"shrink_axis_mask": 1})
    return [("Shape", (tensor,), {}), first, ("Pack", (["@1", -1],), {}), ("Reshape", (tensor, "@2"), {})]


@kind()
def tile(pool):
    return [("Tile", (pool.floats(), pool.choice((pool.vector(), ints(1), ints(2, 1), ints(2, 1, 3)))), {})]


@kind()
def tile_of_vector(pool):
    return [("Tile", (pool.vector(), ints(2)), {})]


@kind()
def transpose(pool):
    tensor = pool.floats()
    axes = list(range(pool.rank(tensor)))
    pool.random.shuffle(axes)
    return [("Transpose", (tensor, ints(*axes)), {})]


@kind()
def expand(pool):
    return [("ExpandDims", (pool.choice((pool.either, pool.scalar))(), pool.choice((0, 1, -1))), {})]


@kind()
def squeeze(pool):
    return [("Squeeze", (pool.either(),), {"squeeze_dims": pool.choice(([], [0], [-1]))})]


@kind()
def slice_(pool):
    tensor = pool.either()
    axes = range(pool.rank(tensor))
    begin = ints(*(pool.choice((0, 0, 1)) for _ in axes))
    return [("Slice", (tensor, begin, ints(*(pool.choice((-1, -1, 1, 2)) for _ in axes))), {})]


@kind()
def fill(pool):
    return [("Fill", (pool.vector(), pool.choice((1.0, 3))), {})]


@kind()
def pad(pool):
    tensor = pool.either()
    sizes = ints(*((pool.choice((0, 1)), pool.choice((0, 2))) for _ in range(pool.rank(tensor))))
    sizes = sizes.reshape(-1, 2)
    return [pool.choice((("Pad", (tensor, sizes), {}), ("MirrorPad", (tensor, sizes), {"mode": "SYMMETRIC"})))]


@kind()
def pad_by_size(pool):
    tensor = pool.floats()
    rows = ["@0"] * pool.rank(tensor)
    return [("Pack", ([pool.scalar(), pool.choice((0, 1))],), {}), ("Pack", (rows,), {}), ("Pad", (tensor, "@1"), {})]


@kind()
def broadcast(pool):
    return [("BroadcastTo", (pool.either(), pool.vector()), {})]


@kind()
def broadcast_of_shapes(pool):
    return [("BroadcastArgs", (pool.vector(), pool.choice((pool.vector(), ints(2), ints(1, 1)))), {})]


@kind()
def axes_of_gradients(pool):
    return [("BroadcastGradientArgs", (pool.vector(), pool.vector()), {})]


@kind()
def interval(pool):
    return [("Range", (pool.choice((0, 0, 1)), pool.scalar(), pool.choice((1, 1, 2))), {})]


@kind()
def size_or_rank(pool):
    return [(pool.choice(("Size", "Rank")), (pool.either(),), {})]


@kind()
def unpack(pool):
    vector = pool.vector()
    count = int(pool.values[vector].shape[0])
    if not count:  # eager TensorFlow does not run a node without outputs, so its kernel checks nothing
        raise NoOperandError
    return [("Unpack", (vector,), {"num": count})]


@kind()
def split(pool):
    return [("Split", (pool.choice((0, -1)), pool.either()), {"num_split": pool.choice((1, 2))})]


@kind()
def split_by_sizes(pool):
    return [("SplitV", (pool.floats(), ints(1, -1), pool.choice((0, -1))), {"num_split": 2})]


@kind()
def reverse(pool):
    return [("ReverseV2", (pool.either(), ints(0)), {})]


@kind()
def comparison(pool):
    op = pool.choice(("Less", "Greater", "Equal", "GreaterEqual"))
    return [(op, (pool.integer(), pool.choice((1, 2, pool.integer()))), {})]


@kind()
def select(pool):
    condition = pool.draw("bool")
    return [("SelectV2", (condition, pool.choice((pool.integer(), 1)), pool.integer()), {})]


@kind()
def where(pool):
    return [("Where", (pool.draw("bool"),), {})]


@kind()
def scale(pool):
    factor = (pool.choice(("Mul", "RealDiv", "AddV2")), ("@0", pool.choice((2.0, 0.5, 4.0))), {})
    rounded = (pool.choice(("Floor", "Ceil", "Identity")), ("@1",), {})
    return [("Cast", (pool.integer(),), {"DstT": "float32"}), factor, rounded, ("Cast", ("@2",), {"DstT": "int32"})]


@kind()
def one_hot(pool):
    return [("OneHot", (pool.integer(), pool.choice((3, pool.scalar())), pool.choice((1, 1.0)), 0), {})]


@kind()
def sets(pool):
    other = pool.choice((pool.vector(), ints(1)))
    return [pool.choice((("Unique", (pool.vector(),), {}), ("ListDiff", (pool.vector(), other), {})))]


@kind()
def offsets(pool):
    return [("ConcatOffset", (0, [pool.vector(), pool.vector()]), {})]


@kind()
def stitch(pool):
    vector, other = pool.vector(), pool.choice((pool.vector(), ints(0)))
    return [("DynamicStitch", ([vector, other], [vector, pool.vector()]), {})]


@kind()
def partition(pool):
    return [("DynamicPartition", (pool.vector(), pool.vector()), {"num_partitions": 3})]


@kind()
def scatter(pool):
    return [("Pack", ([pool.scalar()],), {}), ("ScatterNd", (ints(0).reshape(1, 1), ints(5), "@0"), {})]


@kind()
def cumulative(pool):
    masks = {"exclusive": pool.choice((False, True)), "reverse": pool.choice((False, True))}
    return [("Cumsum", (pool.vector(), 0), masks)]


@kind()
def invert(pool):
    return [("InvertPermutation", (pool.vector(),), {})]
