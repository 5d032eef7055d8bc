"""Every operation of NNEF with one operand or list changed, against the `nnef` package.

Each operation of the library has a case here, or is listed as one without a shape function in the package. For all of
them the same is changed: each extent of each operand, its rank, and the length of each list.
"""

import numpy as np
import pytest

from opdefs.nnef.library import LAYERS, library
from opdefs.nnef.schemas import op_def
from tests.differential.test_nnef_rules import expected, inferred, lenient, oracle

X = (2, 4, 6, 8)
WINDOW = {"size": (1, 1, 2, 2), "padding": ((0, 0),) * 4, "stride": (1, 1, 2, 2), "dilation": (1, 1, 1, 1)}
SLIDING = {"padding": ((1, 1), (0, 0)), "stride": (2, 1), "dilation": (1, 1)}
SAME = {"size": (1, 1, 1, 1), "padding": ((0, 0),) * 4, "stride": (1, 1, 1, 1), "dilation": (1, 1, 1, 1)}
REGIONS = [X, (5, 4), (5,)]
RATES = {"output_size": (3, 3), "sampling_rate": (2, 2)}
PER_CHANNEL = (1, 4)

CASES = {
    "conv": ([X, (6, 4, 3, 3), (1, 6)], SLIDING),
    "deconv": ([X, (4, 6, 3, 3), (1, 6)], {**SLIDING, "output_shape": (2, 6, 11, 10)}),
    "separable_conv": ([X, (8, 1, 3, 3), (6, 8, 1, 1), (1, 6)], SLIDING),
    "separable_deconv": ([X, (8, 1, 3, 3), (4, 8, 1, 1), (1, 8)], {**SLIDING, "output_shape": (2, 8, 11, 10)}),
    **{op: ([X], WINDOW) for op in ("box", "max_pool", "avg_pool", "rms_pool", "argmax_pool", "max_pool_with_index")},
    "debox": ([X], {**WINDOW, "output_shape": (2, 4, 12, 16)}),
    "sample": ([X, X], SAME),
    "desample": ([X, X], {**SAME, "output_shape": X}),
    **{op: ([X], {"factor": (2, 4)}) for op in ("nearest_downsample", "area_downsample", "nearest_upsample")},
    "multilinear_upsample": ([X], {"factor": (2, 4)}),
    **{
        f"{kind}_reduce": ([X], {"axes": (0, 2)})
        for kind in ("sum", "max", "min", "mean", "argmax", "argmin", "any", "all")
    },
    **{op: ([X], {"axes": (0, 2)}) for op in ("moments", "softmax", "l1_normalization", "l2_normalization")},
    **{
        f"local_{kind}_normalization": ([X], {"size": (1, 3, 1, 1)})
        for kind in ("response", "mean", "variance", "contrast")
    },
    "batch_normalization": ([X, PER_CHANNEL, PER_CHANNEL, PER_CHANNEL, PER_CHANNEL], {"epsilon": 0.5}),
    "reshape": ([X], {"shape": (8, 6, 8), "axis_start": 0, "axis_count": -1}),
    "transpose": ([X], {"axes": (0, 2, 3, 1)}),
    "squeeze": ([(2, 1, 6, 1)], {"axes": (1, 3)}),
    "unsqueeze": ([X], {"axes": (0, 3)}),
    "concat": ([X, X], {"axis": 1}),
    "stack": ([X, X], {"axis": 1}),
    "add_n": ([X, X], {}),
    "split": ([X], {"axis": 3, "ratios": (1, 3)}),
    "unstack": ([X], {"axis": 0}),
    "slice": ([X], {"axes": (1, 2), "begin": (1, 0), "end": (3, 4), "stride": (1, 2)}),
    "tile": ([X], {"repeats": (1, 2, 1, 3)}),
    "pad": ([X], {"padding": ((0, 0), (1, 1), (0, 2), (3, 0))}),
    "gather": ([X, (5, 7)], {"axis": 1}),
    "matmul": ([(2, 3, 4), (2, 4, 5)], {}),
    "linear": ([(3, 4), (5, 4), (1, 5)], {}),
    **{op: (REGIONS, {"output_size": (3, 3)}) for op in ("avg_roi_pool", "max_roi_pool", "roi_resample")},
    **{op: (REGIONS, RATES) for op in ("avg_roi_align", "max_roi_align")},
    "min_max_linear_quantize": ([X, PER_CHANNEL, PER_CHANNEL], {"bits": 8, "signed": True, "symmetric": False}),
    "zero_point_linear_quantize": ([X, PER_CHANNEL, PER_CHANNEL], {"bits": 8, "signed": True, "symmetric": False}),
    "linear_quantize": ([X, PER_CHANNEL, PER_CHANNEL], {"bits": 8}),
    "logarithmic_quantize": ([X, PER_CHANNEL], {"bits": 8}),
    "copy_n": ([X], {"times": 2}),
    "update": ([X, X], {}),
    "cast": ([X], {"?": "float32"}),
}
OUTPUTS = {"max_pool_with_index": 2, "moments": 2, "split": 2, "unstack": 2, "copy_n": 2}
PARAMETERS = {"alpha": 0.5, "epsilon": 0.5}
"""The attributes of element-wise operations."""

SOURCES = {"external", "variable", "constant"}
"""Operations without operands."""
UNKNOWN_TO_THE_PACKAGE = LAYERS
"""Operations without a shape function in the package."""


def base(fragment):
    """A valid case of an operation."""
    case = CASES.get(fragment.name)
    if case is not None:
        return case
    definition = op_def(fragment)
    attributes = {name: PARAMETERS[name] for name, attr in definition.attributes.items() if attr.required}
    return [X] * len(definition.inputs), attributes


FRAGMENTS = [
    fragment
    for fragment in library("final")
    if fragment.name not in SOURCES and fragment.name not in UNKNOWN_TO_THE_PACKAGE
]


def variants(shapes, attributes):
    """The case, and variants with a changed extent, rank, length of a list, or item of a list of axes."""
    yield shapes, attributes
    for index, shape in enumerate(shapes):
        others = [(*shape, 2), (*shape, 1), shape[:-1]]
        for axis, size in enumerate(shape):
            others += [(*shape[:axis], other, *shape[axis + 1 :]) for other in {size + 1, 1} - {size}]
        for other in others:
            yield [*shapes[:index], other, *shapes[index + 1 :]], attributes
    for name, value in attributes.items():
        if isinstance(value, tuple):
            others = [value[:-1], (*value, value[-1])]
            if name == "axes":
                others += [(9, *value[1:]), (-1, *value[1:]), (value[-1], *value[1:])]
            for other in others:
                yield shapes, {**attributes, name: other}


def test_the_library_is_covered():
    known = set(oracle._StandardShapeFuncs)
    assert {fragment.name for fragment in FRAGMENTS} <= known
    assert not UNKNOWN_TO_THE_PACKAGE & known
    assert set(CASES) <= {fragment.name for fragment in FRAGMENTS}


def too_strict(op, shapes, ours):
    """The reason why the package rejects a case that the specification allows; or None."""
    if op.endswith("conv") and all(d == 1 for d in shapes[-1]):
        return "one bias for all channels"
    if op.endswith(("_pool", "_align", "_resample")) and shapes[2] == (5, 1):
        return "batch_index of rank 2, as in the specification"
    return "broadcasting, as in the formula" if by_formula(op, shapes) == ours else None


def by_formula(op, shapes):
    """The shape of an operation whose formula is a sum or a product, by numpy; None for other operations."""
    try:
        if op == "linear":
            shapes = [np.matmul(np.empty(shapes[0]), np.empty(shapes[1]).T).shape, shapes[2]]
        elif op not in ("prelu", "add_n"):
            return None
        rank = max(map(len, shapes))
        return [np.broadcast_shapes(*((*shape, *(1,) * (rank - len(shape))) for shape in shapes))]
    except ValueError:
        return None


def too_lenient(op, shapes, attributes, theirs):
    """The reason why the package accepts a case that the specification forbids; or None."""
    if op == "slice" and len(set(attributes["axes"])) < len(attributes["axes"]):
        return "an axis named twice"
    if op == "separable_conv" and shapes[1][0] % shapes[0][1]:
        return "planes that are not a multiple of the channels"
    if op.startswith("separable") and len(shapes[2]) != len(shapes[0]):
        return "a filter of another rank"
    return lenient(op, shapes, attributes, theirs)


def is_unchecked(op, shapes):
    """The reason why the package returns another shape, which ignores operands that enlarge the result; or None."""
    return "the axes of alpha behind those of x" if op == "prelu" and len(shapes[1]) > len(shapes[0]) else None


@pytest.mark.parametrize("fragment", FRAGMENTS, ids=lambda fragment: fragment.name)
def test_wrong_operands_and_lists(fragment):
    op = fragment.name
    outputs = OUTPUTS.get(op, 1)
    first = None
    for shapes, attributes in variants(*base(fragment)):
        known = {name: value for name, value in attributes.items() if name != "?"}
        theirs = expected(op, shapes, known, outputs, op in ("concat", "stack", "add_n"))
        ours, result = inferred(op, shapes, attributes, outputs)
        if first is None:
            first = theirs
            assert theirs is not None and ours is not None, (op, shapes, attributes, result.diagnostics)
        case = (op, shapes, attributes, theirs, ours, [d.message for d in result.diagnostics])
        if ours is None:
            assert theirs is None or too_lenient(op, shapes, attributes, theirs), case
        elif theirs is None:
            assert too_strict(op, shapes, [shape.dims for shape in ours]), case
        else:
            assert [shape.dims for shape in ours] == theirs or is_unchecked(op, shapes), case
