"""Rules of NNEF operations against the shape functions of the `nnef` package, whose known bugs are listed here."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from shapeinf.graph import DeclaredType, Graph, Node, NodeKind

oracle = pytest.importorskip("nnef.shapes")


def inferred(op, shapes, attributes, outputs, declared=None):
    """The shapes of the outputs, None after an error; `declared` replace the real input shapes."""
    names = [f"in{i}" for i in range(len(shapes))]
    declared_types = zip(names, shapes if declared is None else declared, strict=True)
    declared = {name: DeclaredType("float32", shape) for name, shape in declared_types}
    results = tuple(f"out{i}" for i in range(outputs))
    node = Node(NodeKind(op, "", attributes), tuple(names), results, "node")
    result = infer_shapes(Graph("g", "nnef", {"": 1}, names, list(results), [node], declared))
    if any(d.severity == "error" for d in result.diagnostics):
        return None, result
    return [result.tensors[name].shape for name in results], result


def expected(op, shapes, attributes, outputs, gathered):
    """The shapes of the package; None where it rejects the operands."""
    lists = [list(s) for s in shapes]
    plain = {name: _as_lists(value) for name, value in attributes.items()}
    try:
        computed = oracle._StandardShapeFuncs[op](*([lists] if gathered else lists), **plain)
    except (AssertionError, IndexError, TypeError):
        return None
    several = (
        computed
        if isinstance(computed, tuple)
        else computed
        if computed and isinstance(computed[0], list)
        else (computed,)
    )
    shapes = [tuple(s) for s in several]
    return shapes if len(shapes) == outputs else None


def _as_lists(value):
    if isinstance(value, tuple):
        return [v if isinstance(v, tuple) else _as_lists(v) for v in value]
    return value


# -- draws: (op, input shapes, attributes), and more where it matters ------------------------------------------------


def sizes(low=1, high=6, least=0, most=4):
    return st.lists(st.integers(low, high), min_size=least, max_size=most).map(tuple)


def of_length(draw, items, length):
    """A list of this length, sometimes of another."""
    wrong = draw(st.integers(0, 19)) == 0
    length = max(length + draw(st.sampled_from((-1, 1))), 0) if wrong else length
    return tuple(draw(st.lists(items, min_size=length, max_size=length)))


def similar(draw, shape):
    """A shape that mostly broadcasts with this one."""
    dims = [draw(st.sampled_from((d, d, 1))) for d in shape]
    dims += draw(st.sampled_from(((), (), (2,), (1, 3))))
    if draw(st.integers(0, 9)) == 0 and dims:
        dims[0] += 1
    return tuple(dims[: draw(st.integers(0, len(dims)))])


def window(draw, rank):
    """Padding, stride and dilation; each may be missing."""
    pairs = st.tuples(st.integers(-1, 2), st.integers(-1, 2))
    attributes = {}
    for name, items in (("padding", pairs), ("stride", st.integers(0 if draw(st.integers(0, 9)) == 0 else 1, 3))):
        if draw(st.booleans()):
            attributes[name] = of_length(draw, items, rank)
    if draw(st.booleans()):
        attributes["dilation"] = of_length(draw, st.integers(1, 2), rank)
    return attributes


def unary(draw):
    names = "copy neg rcp exp log abs sign floor ceil round sqr sqrt relu sigmoid elu softplus gelu silu selu log2 cast"
    op = draw(st.sampled_from(names.split()))
    return op, [draw(sizes())], {"?": "float32"} if op == "cast" else {}


BINARY = ("add", "sub", "mul", "div", "pow", "min", "max", "lt", "le", "gt", "ge", "eq", "ne", "and", "or")


def binary(draw):
    op = draw(st.sampled_from(BINARY))
    x = draw(sizes())
    return op, [x, similar(draw, x)], {}


def ternary(draw):
    x = draw(sizes())
    return draw(st.sampled_from(("select", "clamp"))), [x, similar(draw, x), similar(draw, x)], {}


POOLS = ("box", "avg_pool", "max_pool", "rms_pool", "argmax_pool", "max_pool_with_index")


def pool(draw):
    x = draw(sizes(high=9))
    attributes = {"size": of_length(draw, st.integers(1, 3), len(x)), **window(draw, len(x))}
    op = draw(st.sampled_from((*POOLS, "debox", "desample")))
    return op, [x, x] if op == "desample" else [x], attributes


def debox_to(draw):
    """With an `output_shape` that mostly fits."""
    wanted = draw(sizes(high=9, least=1, most=3))
    attributes = {"size": tuple(draw(st.integers(1, 2)) for _ in wanted), **window(draw, len(wanted))}
    boxes = expected("box", [wanted], attributes, 1, False)
    x = (
        boxes[0]
        if boxes and min(boxes[0]) > 0 and draw(st.integers(0, 5))
        else draw(sizes(least=len(wanted), most=len(wanted)))
    )
    return "debox", [x], {**attributes, "output_shape": wanted}


def conv(draw):
    rank = draw(st.integers(0, 2))
    groups, each, count = draw(st.integers(0, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 4))
    channels = draw(st.integers(1, 3)) if groups == 0 else groups * each
    transposed = draw(st.booleans())
    w = (channels, count) if transposed else (count * max(groups, 1), 1 if groups == 0 else each)
    x = (draw(st.integers(1, 2)), channels + (draw(st.integers(0, 9)) == 0), *draw(sizes(2, 9, rank, rank)))
    w = (*w, *draw(sizes(1, 3, rank, rank)))
    out_channels = w[1] * (groups or x[1]) if transposed else w[0]
    bias = draw(st.sampled_from(((), (1, out_channels), (1, out_channels), (1, out_channels + 1))))
    return "deconv" if transposed else "conv", [x, w, bias], {"groups": groups, **window(draw, rank)}


def separable(draw):
    rank = draw(st.integers(0, 2))
    channels, times, count = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    x = (draw(st.integers(1, 2)), channels, *draw(sizes(3, 9, rank, rank)))
    kernel, ones = draw(sizes(1, 3, rank, rank)), (1,) * rank
    if draw(st.booleans()):
        shapes = [x, (channels * times, 1, *kernel), (count, channels * times, *ones)]
        return "separable_conv", shapes, window(draw, rank)
    return "separable_deconv", [x, (count, 1, *kernel), (channels, count, *ones)], window(draw, rank)


def reduction(draw):
    kinds = [f"{kind}_reduce" for kind in ("sum", "min", "max", "mean", "argmin", "argmax", "any", "all")]
    op = draw(st.sampled_from((*kinds, "moments", "softmax", "l1_normalization", "l2_normalization")))
    x = draw(sizes(least=1))
    axes = draw(st.lists(st.integers(0 if draw(st.integers(0, 9)) else -1, len(x) - bool(draw(st.integers(0, 9))))))
    return op, [x], {"axes": tuple(axes)}


def local(draw):
    x = draw(sizes(least=1))
    kind = draw(st.sampled_from(("response", "mean", "variance", "contrast")))
    return f"local_{kind}_normalization", [x], {"size": of_length(draw, st.integers(0, 3), len(x))}


def resampling(draw):
    op = draw(st.sampled_from(("nearest_downsample", "area_downsample", "nearest_upsample", "multilinear_upsample")))
    x = draw(sizes(least=2))
    factor = of_length(draw, st.integers(1, 3), len(x) - 2)
    if "down" in op and draw(st.booleans()):
        x = (*x[:2], *(d * f for d, f in zip(x[2:], factor, strict=False)))
    return op, [x], {"factor": factor}


def reshape(draw):
    x = draw(sizes())
    start = draw(st.integers(0, len(x)))
    count = draw(st.sampled_from((-1, -1, draw(st.integers(0, len(x) - start)), len(x))))
    part = list(x[start : None if count == -1 else start + count])
    wanted = draw(st.permutations(part)) if draw(st.booleans()) else part
    wanted = [draw(st.sampled_from((d, d, 0, -1))) for d in wanted] + draw(st.sampled_from(([], [], [1], [-1], [0])))
    return "reshape", [x], {"shape": tuple(wanted), "axis_start": start, "axis_count": count}


def transpose(draw):
    x = draw(sizes())
    axes = draw(st.permutations(range(draw(st.integers(0, len(x))))))
    return "transpose", [x], {"axes": tuple(axes)}


def squeeze(draw):
    x = draw(sizes(1, 2))
    ones = [i for i, d in enumerate(x) if d == 1 or not draw(st.integers(0, 9))]
    return "squeeze", [x], {"axes": tuple(ones[: draw(st.integers(0, 3))])}


def unsqueeze(draw):
    """Sorted axes: the package inserts unsorted ones at wrong positions."""
    x = draw(sizes())
    axes = draw(st.lists(st.integers(0, len(x) + 2), max_size=3, unique=True))
    return "unsqueeze", [x], {"axes": tuple(sorted(axes))}


def joining(draw):
    x = draw(sizes())
    op = draw(st.sampled_from(("concat", "stack", "add_n")))
    if op == "add_n":  # the package does not broadcast here
        return op, [x] * draw(st.integers(1, 4)), {}
    axis = draw(st.integers(0, len(x)))
    other = tuple(d + draw(st.integers(0, 2)) if op == "concat" and i == axis else d for i, d in enumerate(x))
    other = draw(st.sampled_from((other, other, other, (*x, 1), tuple(d + 1 for d in x))))
    return op, [x, other], {"axis": axis}


def split(draw):
    x = draw(sizes(high=8, least=1))
    ratios = draw(st.lists(st.integers(0 if draw(st.integers(0, 9)) == 0 else 1, 3), min_size=1, max_size=3))
    axis = draw(st.integers(0, len(x)))
    if draw(st.booleans()):
        x = tuple(d * sum(ratios) if i == axis else d for i, d in enumerate(x))
    return "split", [x], {"axis": axis, "ratios": tuple(ratios)}, len(ratios)


def unstack(draw):
    x = draw(sizes(high=4, least=1))
    axis = draw(st.integers(0, len(x)))
    count = x[axis] if axis < len(x) and draw(st.integers(0, 9)) else 3
    return "unstack", [x], {"axis": axis}, count


def slice_(draw):
    """Strides that are all 1, or no end of 0: only with such strides the package reads 0 as the end of the axis."""
    x = draw(sizes(high=8, least=1))
    axes = draw(st.lists(st.integers(0, len(x) - 1), unique=True, max_size=len(x)))
    strided = draw(st.booleans())
    ends = st.integers(-9, 9).filter(bool) if strided else st.integers(-9, 9)
    attributes = {
        "axes": tuple(axes),
        "begin": of_length(draw, st.integers(-9, 9), len(axes)),
        "end": of_length(draw, ends, len(axes)),
    }
    if strided:
        attributes["stride"] = of_length(draw, st.integers(-3, 3), len(axes))
    return "slice", [x], attributes


def tile(draw):
    x = draw(sizes())
    return "tile", [x], {"repeats": of_length(draw, st.integers(1, 3), len(x))}


def pad(draw):
    x = draw(sizes())
    return "pad", [x], {"padding": of_length(draw, st.tuples(st.integers(-2, 3), st.integers(-2, 3)), len(x))}


def gather(draw):
    x = draw(sizes(least=1))
    return "gather", [x, draw(sizes(most=3))], {"axis": draw(st.integers(-1, len(x)))}


def matmul(draw):
    lead = draw(sizes(most=2))
    m, k, n = (draw(st.integers(1, 4)) for _ in range(3))
    transposed = {"transposeA": draw(st.booleans()), "transposeB": draw(st.booleans())}
    a = (k, m) if transposed["transposeA"] else (m, k)
    b = (n, k) if transposed["transposeB"] else (k, n)
    other = tuple(draw(st.sampled_from((d, 1, d + 1))) for d in lead)
    return "matmul", [(*lead, *a), (*other, *b)[draw(st.integers(0, 9)) == 0 :]], transposed


def linear(draw):
    """Matrices: the formula allows other ranks, but the package does not."""
    m, k, n = (draw(st.integers(1, 4)) for _ in range(3))
    bias = draw(st.sampled_from(((), (1, n), (1, n + 1)))) if n > 1 else ()
    return "linear", [(m, k), (n, draw(st.sampled_from((k, k, k + 1)))), bias], {}


def regions(draw):
    """Two spatial axes and `batch_index` of rank 1: the specification allows others, but the package does not."""
    x = draw(sizes(least=4, most=4))
    op = draw(st.sampled_from(("avg_roi_pool", "max_roi_pool", "roi_resample", "avg_roi_align", "max_roi_align")))
    attributes = {"output_size": of_length(draw, st.integers(0 if not draw(st.integers(0, 9)) else 1, 4), 2)}
    if op.endswith("align"):
        attributes["sampling_rate"] = of_length(draw, st.integers(1, 3), 2)
    count = draw(st.integers(1, 5))
    return op, [x, (count, draw(st.sampled_from((4, 4, 3)))), (draw(st.sampled_from((count, count, 6))),)], attributes


RANGED = ("min_max_linear_quantize", "zero_point_linear_quantize", "linear_quantize", "logarithmic_quantize")


def ranged(draw):
    """Parameters that broadcast to the input and have no more axes, which the package would ignore."""
    x = draw(sizes(least=1))
    parameter = similar(draw, x)[: len(x)]
    if draw(st.booleans()):
        return "batch_normalization", [x, parameter, parameter, parameter, parameter], {"epsilon": 0.5}
    quantize = {"bits": draw(st.integers(0 if not draw(st.integers(0, 9)) else 1, 8))}
    op = draw(st.sampled_from(RANGED))
    if op == "logarithmic_quantize":
        return op, [x, parameter], quantize
    if op != "linear_quantize":
        quantize.update(signed=True, symmetric=False)
    return op, [x, parameter, parameter], quantize


def copies(draw):
    x, times = draw(sizes()), draw(st.integers(0, 3))
    return draw(st.sampled_from((("copy_n", [x], {"times": times}, max(times, 1)), ("update", [x, x], {}))))


DRAWS = [
    *(unary, binary, ternary, pool, debox_to, conv, separable, reduction, local, resampling, reshape, transpose),
    *(squeeze, unsqueeze, joining, split, unstack, slice_, tile, pad, gather, matmul, linear, regions, ranged, copies),
]


def lenient(op, shapes, attributes, theirs):
    """The reason why the package accepts a case that the specification forbids; or None."""
    axes = attributes.get("axes", ())
    if op == "slice":
        if len(attributes["end"]) != len(axes):
            return "it does not count the ends when all strides are 1"
    elif len(set(axes)) < len(axes):
        return "an axis named twice"
    if op == "squeeze" and any(shapes[0][axis] != 1 for axis in axes):
        return "an axis that is not 1 and vanishes"
    if op.startswith("local_") and not attributes["size"]:
        return "an empty window of a normalization"
    if any(d < 1 for shape in theirs for d in shape):
        return "an extent below 1: of a window that does not fit, of a slice behind the end, of too much cropping"
    return None


@pytest.mark.parametrize("draw_case", DRAWS, ids=lambda draw: draw.__name__.strip("_"))
@given(data=st.data())
def test_rules_match_the_nnef_package(draw_case, data):
    op, shapes, attributes, *count = draw_case(data.draw)
    outputs = count[0] if count else {"max_pool_with_index": 2, "moments": 2}.get(op, 1)
    known = {name: value for name, value in attributes.items() if name != "?"}
    theirs = expected(op, shapes, known, outputs, op in ("concat", "stack", "add_n"))
    ours, _ = inferred(op, shapes, attributes, outputs)
    if ours is None:
        assert theirs is None or lenient(op, shapes, attributes, theirs), (op, shapes, attributes, theirs)
        return
    assert theirs is not None, (op, shapes, attributes, ours)
    assert [shape.dims for shape in ours] == theirs, (op, shapes, attributes)
    named, sizes_of_names = with_names(shapes)
    _check_open(op, shapes, attributes, theirs, named, sizes_of_names)
    _check_open(op, shapes, attributes, theirs, [data.draw(opened(s)) for s in named], sizes_of_names)


def with_names(shapes):
    """The shapes with a name for every extent, and the sizes of the names."""
    named = [tuple(f"in{i}d{axis}" for axis in range(len(shape))) for i, shape in enumerate(shapes)]
    return named, {n: d for names, shape in zip(named, shapes, strict=True) for n, d in zip(names, shape, strict=True)}


def opened(names):
    """A shape with some unknown extents, or of unknown rank."""
    return st.none() | st.tuples(*(st.sampled_from((name, None)) for name in names))


def _check_open(op, shapes, attributes, theirs, declared, named):
    """Check that the result is the same or unknown."""
    ours, result = inferred(op, shapes, attributes, len(theirs), declared)
    assert ours is not None, (op, shapes, attributes, declared, result.diagnostics)
    for shape, real in zip(ours, theirs, strict=True):
        if shape.dims is None:
            assert None in declared, (op, shapes, attributes)
            continue
        assert len(shape) == len(real), (op, shapes, attributes, declared, shape, real)
        for dim, size in zip(shape, real, strict=True):
            assert _may_be(result, dim, size, named), (op, shapes, attributes, declared, shape, real)


def _may_be(result, dim, size, named):
    if isinstance(dim, int) or all(s.name in named for s in dim.symbols()):
        return evaluate(dim, named) == size
    return size in result.interval(dim)
