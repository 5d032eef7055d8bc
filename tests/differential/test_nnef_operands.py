"""Every size of every operand of an NNEF operation changed, against the `nnef` package."""

import pytest

from shapeinf.ops import default_registry
from tests.differential.test_nnef_rules import expected, inferred

oracle = pytest.importorskip("nnef.shapes")

QUANTIZE = {"bits": 8, "signed": True, "symmetric": False}
REGIONS = {"output_size": (3, 3)}
IMAGE = (2, 4, 8, 9)
PARAMETERS = ((1, 4), (1, 4), (1, 4), (1, 4))

CASES = [
    *((op, ((2, 3, 4), (2, 3)), {}) for op in ("add", "sub", "mul", "div", "pow", "min", "max")),
    *((op, ((2, 3, 4), (2, 3)), {}) for op in ("lt", "gt", "le", "ge", "eq", "ne", "and", "or")),
    *((op, ((2, 3, 4), (2, 3), (1, 3)), {}) for op in ("select", "clamp")),
    ("prelu", ((2, 3, 4), (1, 3)), {}),
    ("batch_normalization", (IMAGE, *PARAMETERS), {"epsilon": 0.1}),
    ("matmul", ((2, 3, 4), (2, 4, 5)), {}),
    ("linear", ((2, 3), (4, 3), (1, 4)), {}),
    ("conv", (IMAGE, (6, 2, 3, 3), (1, 6)), {"groups": 2}),
    ("deconv", (IMAGE, (4, 3, 3, 3), (1, 6)), {"groups": 2}),
    ("separable_conv", (IMAGE, (8, 1, 3, 3), (5, 8, 1, 1), (1, 5)), {}),
    ("separable_deconv", (IMAGE, (8, 1, 3, 3), (4, 8, 1, 1), (1, 8)), {}),
    ("desample", (IMAGE, IMAGE), {"size": (1, 1, 2, 2), "stride": (1, 1, 2, 2)}),
    ("gather", ((2, 3, 4), (5,)), {"axis": 1}),
    ("concat", ((2, 3, 4), (2, 5, 4)), {"axis": 1}),
    ("stack", ((2, 3), (2, 3)), {"axis": 1}),
    ("add_n", ((2, 3), (2, 3)), {}),
    ("update", ((2, 3), (2, 3)), {}),
    ("linear_quantize", (IMAGE, (1, 4), (1, 4)), {"bits": 8}),
    ("logarithmic_quantize", (IMAGE, (1, 4)), {"bits": 8}),
    ("min_max_linear_quantize", (IMAGE, (1, 4), (1, 4)), QUANTIZE),
    ("zero_point_linear_quantize", (IMAGE, (1, 4), (1, 4)), QUANTIZE),
]

REGION_CASES = [
    *((op, (IMAGE, (5, 4), (5,)), REGIONS) for op in ("avg_roi_pool", "max_roi_pool")),
    ("roi_resample", (IMAGE, (5, 4), (5,)), {**REGIONS, "method": "symmetric"}),
    *(
        (op, (IMAGE, (5, 4), (5,)), {**REGIONS, "sampling_rate": (2, 2), "resize_method": "symmetric"})
        for op in ("avg_roi_align", "max_roi_align")
    ),
]

INTENDED = {
    ("prelu", 0): "by its compound both operands broadcast",
    ("add_n", 0): "by its compound operands broadcast",
    ("add_n", 1): "by its compound operands broadcast",
    ("linear", 1): "by its compound the bias broadcasts",
    ("linear", 2): "by its compound the bias broadcasts; axes are aligned at the front",
    ("conv", 2): "a bias may be singular",
    ("deconv", 2): "a bias may be singular",
    ("separable_conv", 0): "each channel has as many filters; the package does not check it",
    ("separable_conv", 2): "filters have the rank of the input; the package does not check it",
    ("separable_conv", 3): "a bias may be singular",
    ("separable_deconv", 1): "filters have the rank of the input; the package does not check it",
    ("separable_deconv", 2): "filters have the rank of the input; the package does not check it",
    ("separable_deconv", 3): "a bias may be singular",
}
"""Operands (operation and index) where the package differs from the specification."""

SINGLE = {"sample": "the package wants an index of the input's shape, the specification one of the output's"}
"""Operations that are not tested here, and the reason."""


def changed(shapes):
    """The index of an operand and the shapes with one size of it changed."""
    for i, shape in enumerate(shapes):
        for other in _changes(shape):
            yield i, (*shapes[:i], other, *shapes[i + 1 :])


def _changes(shape):
    for axis, size in enumerate(shape):
        rest = shape[axis + 1 :]
        yield from ((*shape[:axis], n, *rest) for n in {size + 1, size - 1, 1, 2 * size} - {0, size})
        yield (*shape[:axis], *rest)
    yield (1, *shape)
    yield (*shape, 1)


def ours(op, shapes, attributes):
    computed, _ = inferred(op, shapes, attributes, 1)
    return computed and [shape.dims for shape in computed]


@pytest.mark.parametrize(("op", "shapes", "attributes"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_changed_operands_match_the_package(op, shapes, attributes):
    gathered = op in ("concat", "stack", "add_n")
    assert ours(op, shapes, attributes) == expected(op, shapes, attributes, 1, gathered) != None  # noqa: E711
    for index, broken in changed(shapes):
        if (op, index) not in INTENDED:
            assert ours(op, broken, attributes) == expected(op, broken, attributes, 1, gathered), broken


@pytest.mark.parametrize(("op", "shapes", "attributes"), REGION_CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_changed_regions_match_the_package(op, shapes, attributes):
    """By the specification batch indices are [R, 1], which the package rejects; shapeinf accepts both forms."""
    for _, broken in changed(shapes):
        theirs = expected(op, broken, attributes, 1, False)
        assert ours(op, broken, attributes) == (theirs if broken[2] != (5, 1) else [(5, 4, 3, 3)]), broken


def test_every_operation_of_two_operands_is_changed():
    lookup = default_registry().dialect("nnef").lookup
    taken = {op for op in oracle._StandardShapeFuncs if (op_def := lookup("", op, 1)) and _two(op_def.inputs)}
    assert taken == {op for op, *_ in (*CASES, *REGION_CASES)} | set(SINGLE)


def _two(inputs):
    return len(inputs) > 1 or any(i.variadic for i in inputs)


LAYERS = {
    "conv": ((2, 4, 8, 9), (6, 2, 3, 3), {"groups": 2}, 6),
    "deconv": ((2, 4, 8, 9), (4, 3, 3, 3), {"groups": 2}, 6),
}


@pytest.mark.parametrize("op", LAYERS)
@pytest.mark.parametrize("bias", [(), (1,), (1, 1), "right", "short", "long", "batch", (1, 1, 6), (1, 1, 1, 6), (6, 1)])
def test_a_bias_has_one_item_a_channel_or_one(op, bias):
    """Section 4.2.1 of the specification: of shape [1, channels], or a single value; singular axes may be left out."""
    x, filters, attributes, channels = LAYERS[op]
    named = {"right": (1, channels), "short": (1, channels - 1), "long": (1, channels + 1), "batch": (2, channels)}
    shape = named.get(bias, bias)
    fits = all(size == 1 for size in shape) or shape == (1, channels)
    outputs, _ = inferred(op, [x, filters, shape], attributes, 1)
    assert (outputs is not None) == fits
    declared = [x, filters, ("b0", "b1")[: len(shape)] if len(shape) < 3 else shape]
    outputs, result = inferred(op, [x, filters, shape], attributes, 1, declared)
    if len(shape) < 3:
        assert outputs is not None and not result.diagnostics
        assert [str(size) for size in result.tensors["in2"].shape][-1:] == ["b0", "b1"][len(shape) - 1 : len(shape)]
