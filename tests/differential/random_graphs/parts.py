"""Families of nodes that work element by element, move elements, or pick some of them."""

from __future__ import annotations

import numpy as np

from tests.differential.random_graphs.eager import Refused
from tests.differential.random_graphs.net import Net

UNARY = (
    *("Relu", "Neg", "Abs", "Sigmoid", "Tanh", "Exp", "Floor", "Ceil", "Sqrt", "Erf", "Softplus", "Elu", "Selu"),
    *("LeakyRelu", "HardSigmoid", "Identity", "Sign", "Round", "Sin", "Softsign", "Reciprocal", "HardSwish", "Mish"),
)
BINARY = ("Add", "Sub", "Mul", "Div", "Add", "Mul", "Pow", "Max", "Min", "Mod")


def unary(n: Net) -> None:
    n.add(n.draw.choice(UNARY), n.floats())


def unary_of_ints(n: Net) -> None:
    n.add(n.draw.choice(("Neg", "Abs", "Identity", "Sign")), n.ints())


def fitting(n: Net, name: str) -> str:
    """An operand that broadcasts with a tensor: an existing one, or a weight with some of its axes."""
    shape, dtype = n.shape(name), n.values[name].dtype
    if n.draw.random() < 0.6:
        try:
            return n.pick(lambda a: a.dtype == dtype and _broadcast(a.shape, shape))
        except Refused:
            pass
    tail = shape[n.draw.randint(0, len(shape)) :]
    return n.weight(*(size if n.draw.random() < 0.5 else 1 for size in tail), dtype=dtype)


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(x == y or 1 in (x, y) for x, y in zip(a[::-1], b[::-1], strict=False))


def binary(n: Net) -> None:
    x = n.floats()
    pair = [x, fitting(n, x)]
    op = n.draw.choice(BINARY)
    n.add(op, *n.draw.sample(pair, 2), **({"fmod": 1} if op == "Mod" else {}))


def p_relu(n: Net) -> None:
    """Small slopes: by the specification a slope never enlarges the input, but onnxruntime allows it."""
    n.add("PRelu", n.floats(least=1), n.weight(1))


def several(n: Net) -> None:
    x = n.floats()
    n.add(n.draw.choice(("Sum", "Mean", "Max", "Min")), x, fitting(n, x), fitting(n, x))


def compared(n: Net) -> None:
    x = n.floats()
    flags = n.add(n.draw.choice(("Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal")), x, fitting(n, x))
    if n.draw.random() < 0.5:
        flags = n.add("Not", flags)
    if n.draw.random() < 0.7:
        y = fitting(n, x)
        n.add("Where", flags, y, fitting(n, y))


def cast(n: Net) -> None:
    n.add("Cast", n.numbers(), to=n.draw.choice((1, 1, 6, 7, 9, 10, 11, 2, 3)))


def clip(n: Net) -> None:
    if n.opset >= 11:
        n.add("Clip", n.floats(), n.known(0.0, np.float32), "" if n.draw.random() < 0.5 else n.known(6.0, np.float32))
    else:
        n.add("Clip", n.floats(), min=0.0, max=6.0)


def transpose(n: Net) -> None:
    x = n.floats(least=2)
    order = n.draw.sample(range(len(n.shape(x))), len(n.shape(x)))
    n.add("Transpose", x, perm=n.draw.choice((order, order, None)))


def reshape(n: Net) -> None:
    x = n.floats(least=1)
    shape, target, at = n.shape(x), [], 0
    while at < len(shape):
        many = n.draw.choice((1, 1, 2, 3))
        target.append(
            0 if many == 1 and at == len(target) and n.draw.random() < 0.6 else int(np.prod(shape[at : at + many]))
        )
        at += many
        if n.draw.random() < 0.15:
            target.append(1)
    big = [i for i, size in enumerate(target) if size != 0]
    if big and n.draw.random() < 0.85:
        target[n.draw.choice(big)] = -1
    n.add("Reshape", x, n.known(target))


def reshape_by_sizes(n: Net) -> None:
    """A reshape to the sizes of another tensor, or to one of them and -1."""
    x = n.floats(least=1)
    if n.draw.random() < 0.3:
        n.add("Reshape", x, n.add("Shape", n.pick(lambda a: a.size == np.prod(n.shape(x)))))
    else:
        at = n.draw.randrange(len(n.shape(x)))
        size = n.add("Gather", n.add("Shape", x), n.known([at]))
        n.add("Reshape", x, n.add("Concat", *n.draw.sample([size, n.known([-1])], 2), axis=0))


def flatten(n: Net) -> None:
    x = n.floats(least=1)
    n.add("Flatten", x, axis=n.draw.randrange(len(n.shape(x)) + 1))


def squeeze(n: Net) -> None:
    x = n.pick(lambda a: a.dtype.kind == "f" and 1 in a.shape)
    ones = [i for i, size in enumerate(n.shape(x)) if size == 1]
    axes = n.draw.sample(ones, n.draw.randint(1, len(ones)))
    if n.draw.random() < 0.15:
        n.add("Squeeze", x)
    else:
        _with_axes(n, "Squeeze", 13, x, axes)


def unsqueeze(n: Net) -> None:
    x = n.floats()
    if len(n.shape(x)) > 4:
        raise Refused("enough axes")
    count = n.draw.choice((1, 1, 2))
    _with_axes(n, "Unsqueeze", 13, x, sorted(n.draw.sample(range(len(n.shape(x)) + count), count)))


def _with_axes(n: Net, op: str, since: int, x: str, axes: list[int], **attributes: int) -> None:
    """A node whose axes are an input since an opset, and an attribute before it."""
    if n.opset >= since:
        n.add(op, x, n.known(axes), **attributes)
    else:
        n.add(op, x, axes=axes, **attributes)


def expand(n: Net) -> None:
    x = n.floats()
    shape = [n.draw.choice((2, 3)) if size == 1 else size for size in n.shape(x)]
    if n.draw.random() < 0.5:
        n.add("Expand", x, n.known([n.draw.choice((1, 1, size)) for size in shape]))
    else:
        n.add("Expand", x, n.add("Shape", fitting(n, x)))


def tile(n: Net) -> None:
    x = n.floats(least=1)
    n.add("Tile", x, n.known([n.draw.choice((1, 1, 2, 3)) for _ in n.shape(x)]))


def slice_(n: Net) -> None:
    x = n.pick(lambda a: a.ndim > 0 and a.dtype.kind in "fi")
    axes = n.some_axes(x)
    starts = [n.draw.choice((0, 0, 1, -1, -2, 2)) for _ in axes]
    ends = [n.draw.choice((2**63 - 1, 2**31 - 1, 10**9, 3, 2, -1, -2, 5)) for _ in axes]
    if n.opset < 10:
        n.add("Slice", x, starts=starts, ends=ends, axes=axes)
        return
    steps = [n.draw.choice((1, 1, 1, 2, 3, -1)) for _ in axes]
    for i, step in enumerate(steps):
        if step < 0:
            starts[i], ends[i] = -1, n.draw.choice((-(2**31), -(10**9), 0, 1, -3))
    n.add("Slice", x, n.known(starts), n.known(ends), n.known(axes), n.known(steps))


def slice_by_size(n: Net) -> None:
    """A slice up to, or from, the length of another tensor."""
    x, axis = n.floats(least=1), 0
    axis = n.axis(x)
    sizes = n.add("Gather", n.add("Shape", n.floats(least=1)), n.known([0]))
    ends = [sizes, n.known([2**31])] if n.draw.random() < 0.3 else [n.known([n.draw.choice((0, 1))]), sizes]
    n.add("Slice", x, *ends, n.known([axis]))


def concat(n: Net) -> None:
    x = n.pick(lambda a: a.ndim > 0 and a.dtype.kind in "fi")
    axis, shape, dtype = n.axis(x), n.shape(x), n.values[x].dtype
    at = axis % len(shape)
    rest = shape[:at] + shape[at + 1 :]

    def fits(a: np.ndarray) -> bool:
        return a.dtype == dtype and a.ndim == len(shape) and a.shape[:at] + a.shape[at + 1 :] == rest

    n.add("Concat", *(n.pick(fits) for _ in range(n.draw.choice((2, 2, 3)))), axis=axis)


def split(n: Net) -> None:
    x = n.floats(least=1)
    axis = n.axis(x)
    size = n.shape(x)[axis]
    count = n.draw.choice((1, 2, 2, 3))
    if n.draw.random() < 0.5:
        if n.opset >= 18:
            n.split("Split", count, x, axis=axis, num_outputs=count)
        elif size % count == 0:
            n.split("Split", count, x, axis=axis)
        return
    first = n.draw.randint(0, size)
    if n.opset >= 13:
        n.split("Split", 2, x, n.known([first, size - first]), axis=axis)
    else:
        n.split("Split", 2, x, axis=axis, split=[first, size - first])


def pad(n: Net) -> None:
    x = n.floats(least=1)
    rank = len(n.shape(x))
    mode = n.draw.choice(("constant", "constant", "edge", "reflect"))
    pads = [n.draw.choice((0, 0, 1, 2, *((-1,) if mode == "constant" else ()))) for _ in range(2 * rank)]
    if n.opset >= 11:
        n.add("Pad", x, n.known(pads), mode=mode)
    else:
        n.add("Pad", x, pads=pads, mode=mode)


def gather(n: Net) -> None:
    x = n.pick(lambda a: a.ndim > 0 and a.dtype.kind in "fi" and a.size > 0)
    axis = n.axis(x)
    if n.zeros and n.draw.random() < 0.4:
        n.add("Gather", x, n.draw.choice(sorted(n.zeros)), axis=axis)
    else:
        size = n.shape(x)[axis]
        indices = n.draw.choice((0, [0, -1], [[0, 1 % size]], [size - 1], [0, 0, 0]))
        n.add("Gather", x, n.known(indices), axis=axis)


def gather_elements(n: Net) -> None:
    x = n.floats(least=1)
    shape = [n.draw.choice((size, max(1, size - 1))) for size in n.shape(x)]
    n.add("GatherElements", x, n.constant(np.zeros(shape, np.int64)), axis=n.axis(x))


def gather_nd(n: Net) -> None:
    x = n.floats(least=2)
    n.add("GatherND", x, n.constant(np.zeros((3, n.draw.randint(1, len(n.shape(x)))), np.int64)))


def scatter(n: Net) -> None:
    x = n.floats(least=1)
    if n.draw.random() < 0.5:
        axis, shape = n.axis(x), n.shape(x)
        op = "ScatterElements" if n.opset >= 11 else "Scatter"
        n.add(op, x, n.constant(np.zeros(shape, np.int64)), n.like(x), axis=axis)
    else:
        width = n.draw.randint(1, len(n.shape(x)))
        indices = n.constant(np.zeros((2, width), np.int64))
        n.add("ScatterND", x, indices, n.weight(2, *n.shape(x)[width:]))


def one_hot(n: Net) -> None:
    n.add("OneHot", n.ints(), n.known([n.draw.choice((2, 5))]), n.known([0, 1], np.float32), axis=-1)


def trilu(n: Net) -> None:
    n.add("Trilu", n.floats(least=2), upper=n.draw.randrange(2))


def eye_like(n: Net) -> None:
    n.add("EyeLike", n.floats(rank=2))


def cum_sum(n: Net) -> None:
    x = n.floats(least=1)
    n.add("CumSum", x, n.known(n.axis(x)))


def depth_to_space(n: Net) -> None:
    n.add(n.draw.choice(("DepthToSpace", "SpaceToDepth")), n.floats(rank=4), blocksize=2)


def reduced(n: Net) -> None:
    x = n.floats()
    op = n.draw.choice(("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSumExp", "SumSquare"))
    since, keep = (13 if op == "Sum" else 18), n.draw.randrange(2)
    if n.draw.random() < 0.2 or not n.shape(x):
        n.add(f"Reduce{op}", x, keepdims=keep)
    else:
        _with_axes(n, f"Reduce{op}", since, x, n.some_axes(x), keepdims=keep)


def arg_extreme(n: Net) -> None:
    x = n.floats(least=1)
    n.add(n.draw.choice(("ArgMax", "ArgMin")), x, axis=n.axis(x), keepdims=n.draw.randrange(2))


def top_k(n: Net) -> None:
    x = n.floats(least=1)
    axis, k = n.axis(x), n.draw.choice((1, 1, 2))
    if n.opset >= 10:
        n.split("TopK", 2, x, n.known([k]), axis=axis)
    else:
        n.split("TopK", 2, x, axis=axis, k=k)


def non_zero(n: Net) -> None:
    n.add("NonZero", n.numbers())


def compress(n: Net) -> None:
    """By a computed condition, or one that is not longer than any axis, which onnxruntime would accept."""
    x = n.floats(least=1)
    if n.draw.random() < 0.4:
        flags = n.add("Greater", n.add("Reshape", x, n.known([-1])), n.known(0.0, np.float32))
        n.add("Compress", x, flags)
    else:
        n.add("Compress", x, n.constant(np.array([n.draw.random() < 0.6])), axis=n.axis(x))


def unique(n: Net) -> None:
    x = n.floats(least=1)
    n.split("Unique", n.draw.choice((1, 2, 4)), x, axis=n.draw.choice((None, n.axis(x))), sorted=n.draw.randrange(2))


def suppression(n: Net) -> None:
    scores = n.floats(rank=3)
    batch, _, count = n.shape(scores)
    limit, threshold = n.known([n.draw.choice((0, 1, 3))]), n.known([0.5], np.float32)
    n.add("NonMaxSuppression", n.weight(batch, count, 4), scores, limit, threshold)


def dropped(n: Net) -> None:
    n.split("Dropout", n.draw.choice((1, 2)), n.floats())


def counted(n: Net) -> None:
    """A range up to a size."""
    size = n.add("Gather", n.add("Shape", n.floats(least=1)), n.known(0))
    n.add("Range", n.known(0), size, n.known(n.draw.choice((1, 2))))


def filled(n: Net) -> None:
    n.add("ConstantOfShape", n.add("Shape", n.floats()))


FAMILIES = (
    *(unary, unary, binary, binary, p_relu, several, unary_of_ints, compared, cast, clip, transpose, reshape, reshape),
    *(reshape_by_sizes, flatten, squeeze, unsqueeze, expand, tile, slice_, slice_, slice_by_size, concat, concat),
    *(split, pad, gather, gather_elements, gather_nd, scatter, one_hot, trilu, eye_like, cum_sum, depth_to_space),
    *(reduced, reduced, arg_extreme, top_k, non_zero, compress, unique, suppression, dropped, counted, filled),
)
