"""Sizes that a tensor requests: expressions of other sizes, or partly unknown. The expected shapes are the definitions
of the operators in the sizes of the inputs.
"""

import pytest

from opdefs.tf import tf
from shapeinf.lattice import PartialTensor, Shape, ShapeStore
from shapeinf.ops import Call

IMAGE = "n, h, w, c"
CONV = {"strides": (1, 2, 2, 1), "padding": "SAME"}

# operator, inputs (a shape as text, or the requested elements as a list; one element as a tuple), attributes, outputs
# (`?` is a size that is not known)
CASES = [
    ("ResizeBilinear", [IMAGE, ["2*h", "w//3"]], {}, ["n, 2*h, w//3, c"]),
    ("ResizeNearestNeighbor", [IMAGE, ["2*h", None]], {}, ["n, 2*h, ?, c"]),
    ("ResizeBicubic", [IMAGE, [7, "w + 1"]], {}, ["n, 7, w + 1, c"]),
    ("ResizeArea", [IMAGE, [None, None]], {}, ["n, ?, ?, c"]),
    ("ResizeNearestNeighborGrad", [IMAGE, ["h//2", "w//2"]], {}, ["n, h//2, w//2, c"]),
    ("ScaleAndTranslate", [IMAGE, ["2*h", "2*w"], "2", "2"], {}, ["n, 2*h, 2*w, c"]),
    ("QuantizedResizeBilinear", [IMAGE, ["h", "2*w"], "", ""], {}, ["n, h, 2*w, c", "", ""]),
    ("ImageProjectiveTransformV3", [IMAGE, "n, 8", ["w", "h"], ""], {}, ["n, w, h, c"]),
    ("CropAndResize", [IMAGE, "k, 4", "k", ["h//2", 14]], {}, ["k, h//2, 14, c"]),
    ("CropAndResizeGradImage", ["k, 5, 5, c", "k, 4", "k", ["n", "h", "w", None]], {}, ["n, h, w, c"]),
    ("ExtractGlimpse", [IMAGE, ["h", None], "n, 2"], {}, ["n, h, ?, c"]),
    ("Conv2DBackpropInput", [["n", "2*h", "2*w", 5], "3, 3, 5, c", IMAGE], CONV, ["n, 2*h, 2*w, 5"]),
    ("Conv2DBackpropInput", [[None, "2*h", None, 5], "3, 3, 5, c", IMAGE], CONV, ["n, 2*h, ?, 5"]),
    ("Conv2DBackpropInput", [["2*h", "2*w"], "3, 3, 5, c", IMAGE], CONV, ["n, 2*h, 2*w, 5"]),
    ("Conv2DBackpropFilter", [IMAGE, [3, 3, "c", "k"], "n, h, w, k"], CONV, ["3, 3, c, k"]),
    ("DepthwiseConv2dNativeBackpropInput", [["n", "h", "w", None], "3, 3, 5, k", "n, h, w, 5*k"], CONV, ["n, h, w, 5"]),
    ("AvgPoolGrad", [["n", "2*h", "2*w", None], IMAGE], {"ksize": (1, 2, 2, 1), **CONV}, ["n, 2*h, 2*w, ?"]),
    ("TopKV2", ["n, 10*k", ("2*k",)], {}, ["n, 2*k", "n, 2*k"]),
    ("TopKV2", ["n, h", (None,)], {}, ["n, ?", "n, ?"]),
    ("NonMaxSuppressionV4", ["k, 4", "k", ("h",), "", ""], {"pad_to_max_output_size": True}, ["h", ""]),
    (
        "CombinedNonMaxSuppression",
        ["n, k, 1, 4", "n, k, c", (5,), ("h",), "", ""],
        {},
        ["n, h, 4", "n, h", "n, h", "n"],
    ),
    ("FractionalAvgPoolGrad", [["n", "h", "w", "c"], "n, 3, 4, c", "4", "5"], {}, ["n, h, w, c"]),
    (
        "FusedResizeAndPadConv2D",
        [IMAGE, ["2*h", "w"], [[0, 0], [1, 2], ["k", 0], [0, 0]], "3, 3, c, 8"],
        {"strides": (1, 1, 1, 1), "padding": "VALID", "mode": "REFLECT"},
        ["n, 2*h + 1, w + k - 2, 8"],
    ),
]


def symbols(store):
    return {name: store.scope.symbol(name, 3) for name in "nhwck"}


def dims(text, names):
    return [None if d.strip() == "?" else eval(d, {}, names) for d in text.split(",") if d.strip()]


def elements(items, names):
    for item in items:
        if isinstance(item, list):
            yield from elements(item, names)
        else:
            yield eval(item, {}, names) if isinstance(item, str) else item


def tensor(spec, names):
    if isinstance(spec, str):
        return PartialTensor("float32", Shape(dims(spec, names)), None)
    if isinstance(spec, tuple):
        return PartialTensor("int32", Shape(()), list(elements(spec, names)))
    shape = (len(spec), *((len(spec[0]),) if isinstance(spec[0], list) else ()))
    return PartialTensor("int32", Shape(shape), list(elements(spec, names)))


@pytest.mark.parametrize(("op", "inputs", "attributes", "outputs"), CASES)
def test_requested_sizes(op, inputs, attributes, outputs):
    store = ShapeStore()
    names = symbols(store)
    op_def = tf.lookup("", op, 0)
    required = {name: "float32" for name, a in op_def.attributes.items() if a.type == "type" and not a.has_default}
    call = Call(op_def, {**required, **attributes}, 0, (True,) * len(outputs))
    outcome = call.run([tensor(spec, names) for spec in inputs], store, "node")
    for output, expected in zip(outcome.types, outputs, strict=True):
        shape = store.canon_shape(output.shape)
        wanted = dims(expected, names)
        assert len(shape) == len(wanted)
        for size, known in zip(shape, wanted, strict=True):
            assert size.is_anonymous if known is None else store.prove_eq(size, known) is True
