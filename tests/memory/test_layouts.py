"""Sizes of tensors with layouts: by hand, by the vectors of XLA, symbolic and at bindings."""

from __future__ import annotations

import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.errors import LayoutError, LayoutSyntaxError, UnknownNameError
from shapeinf.expr import evaluate
from shapeinf.lattice import Shape, TensorType
from shapeinf.lattice.dtypes import ONNX_NAMES
from shapeinf.layout import ArrayType, Layout, parse_type, physical_byte_size
from shapeinf.memory.exports import MemoryExport, memory_document
from shapeinf.memory.layouts import LayoutAssignment
from tests.vectors import vectors

TILED = "{1,0:T(8,128)}"
XLA = vectors("xla/xla.json")


def parsed(text):
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]>\n{text}')


def model(text):
    return infer_shapes(parsed(text))


CHAIN = "g (float[n, 100] x) => (float[n, 100] z) { y = Exp(x)  z = Neg(y) }"


def sizes(memory):
    return {buffer.name: str(buffer.size) for buffer in memory.timeline.buffers}


def test_bytes_count_full_tiles_by_hand():
    """100 columns fill one tile of 128, n rows ceil(n/8) tiles of 8: 8*128*4 = 4096 bytes per tile."""
    memory = model(CHAIN).memory(layouts={"y": TILED, "z": Layout((1, 0), tiles=[(8, 128)])})
    assert sizes(memory) == {"x": "400*n", "y": "4096*((n + 7)//8)", "z": "4096*((n + 7)//8)"}
    assert [str(b.layout) for b in memory.timeline.buffers] == ["None", TILED, TILED]
    assert memory.peak.at(n=9).bytes == 2 * 2 * 4096
    assert memory.peak.over(n=(1, 16)).value == 2 * 2 * 4096
    assert memory.peak.largest("n", limit=5 * 4096).value == 16
    assert memory.plan({"n": 9}).arena == 4 * 4096
    assert memory.verify_plan(memory.plan({"n": 9}), {"n": 9}) == []
    assert str(memory.activations) == "4096*((n + 7)//8)"


def test_without_a_layout_nothing_changes():
    result = model(CHAIN)
    assert result.memory(layouts={}).timeline == result.memory().timeline
    assert result.memory(layouts=lambda name, shape, dtype: None).timeline == result.memory().timeline


def test_a_layout_by_rank_and_by_name():
    result = model("g (float[n, 100] x, float[4, n, 3] w) => (float z) { y = Exp(x)  v = Neg(w)  z = Size(v) }")
    memory = result.memory(layouts={2: TILED, "x": "{0,1}", 3: "{2,1,0:T(8,128)}"})
    assert sizes(memory) == {
        "x": "400*n",
        "w": "16384*((n + 7)//8)",
        "y": "4096*((n + 7)//8)",
        "v": "16384*((n + 7)//8)",
        "z": "8",
    }


def test_a_function_assigns_layouts():
    calls = []

    def layout(name, shape, dtype):
        calls.append((name, str(shape), dtype))
        return TILED if name == "y" else None

    assert sizes(model(CHAIN).memory(layouts=layout))["y"] == "4096*((n + 7)//8)"
    assert sorted(set(calls)) == [(name, "[n, 100]", "float32") for name in "xyz"]


@pytest.mark.parametrize("order", ["file", "least"])
@pytest.mark.parametrize("n", [1, 7, 8, 9, 64])
def test_symbolic_bytes_are_the_bytes_at_every_binding(n, order):
    layouts = {"x": TILED, "y": "{0,1:T(8,128)(2,1)}", "z": "{1,0:L(1024)}"}
    symbolic = model(CHAIN).memory(layouts=layouts, order=order)
    bound = model(CHAIN.replace("n,", f"{n},")).memory(layouts=layouts, order=order)
    expected = {b.name: physical_byte_size(ArrayType("f32", (n, 100), b.layout)) for b in symbolic.timeline.buffers}
    assert {b.name: evaluate(b.size, {"n": n}) for b in symbolic.timeline.buffers} == expected
    assert {b.name: b.size for b in bound.timeline.buffers} == expected
    assert symbolic.peak.at(n=n).bytes == bound.peak.at().bytes


def test_elements_are_packed_only_where_the_layout_packs_them():
    """As XLA stores them: s4 takes a byte without `E(4)`; without a layout, elements are packed as ONNX packs them."""
    result = model("g (int4[n, 4] x) => (int4[n, 4] y) { y = Identity(x) }")
    assert sizes(result.memory()) == {"x": "2*n", "y": "2*n"}
    assert sizes(result.memory(layouts={"x": "{1,0}", "y": "{1,0:E(4)}"})) == {"x": "4*n", "y": "2*n"}


VECTORS = [
    (case["shape"], case.get("physical_bytes_brute", case.get("ArraySize")))
    for section in ("tiled", "tiled_extra")
    for case in (XLA or {}).get(section, [])
    if "physical_bytes_brute" in case or "ArraySize" in case
]
CODES = {name: code for code, name in ONNX_NAMES.items()}


@pytest.mark.parametrize(("text", "expected"), VECTORS or [("f32[3,5]{1,0:T(2,2)}", 96)])
def test_the_bytes_of_the_vectors_of_xla(text, expected):
    """Each vector as the input of a model, with its own sizes and with named dims."""
    array = parse_type(text)
    names = [f"d{i}" for i in range(array.rank)]
    for dims in (array.dims, names):
        x = onnx.helper.make_tensor_value_info("x", CODES[array.dtype], dims)
        y = onnx.helper.make_tensor_value_info("y", CODES[array.dtype], None)
        graph = onnx.helper.make_graph([onnx.helper.make_node("Identity", ["x"], ["y"])], "g", [x], [y])
        memory = infer_shapes(onnx.helper.make_model(graph), min_dim=0).memory(layouts={"x": array.layout})
        assert evaluate(memory.timeline.buffers[0].size, dict(zip(names, array.dims, strict=True))) == expected


@pytest.mark.parametrize(
    ("layouts", "error", "text"),
    [
        ({"yy": TILED}, UnknownNameError, "no tensor is named 'yy'; did you mean 'y'"),
        ({"y": "{0}"}, LayoutError, r"layout \{0\} of 'y' has 1 dims, but the tensor has 2"),
        (lambda name, shape, dtype: "{0}", LayoutError, "has 1 dims, but the tensor has 2"),
        ({3: TILED}, LayoutError, "has 2 dims, but is assigned to tensors of rank 3"),
        ({"y": "{1,0:T(8,128}"}, LayoutSyntaxError, r"expected '\)'"),
        ({"y": "{1,0"}, LayoutSyntaxError, "expected '}'"),
        ({"y": 8}, LayoutError, "must be a Layout or its text"),
        ({None: TILED}, LayoutError, "by the name of a tensor or by rank, not by None"),
        ({True: "{0}"}, LayoutError, "not by True"),
        ("{1,0}", LayoutError, "must be a mapping or a function"),
    ],
)
def test_invalid_layouts_are_refused(layouts, error, text):
    with pytest.raises(error, match=text):
        model(CHAIN).memory(layouts=layouts)


def test_tensors_without_a_known_size_keep_their_cause():
    result = model("g (string[n] s, float x) => (string[n] t) { t = Identity(s) }")
    memory = result.memory(layouts={"s": "{0:T(8)}"})
    assert {b.name: b.cause for b in memory.unsized} == dict.fromkeys("st", "strings have no fixed size")


@pytest.mark.parametrize(
    ("tensor", "layout", "text"),
    [
        (TensorType("float6e2m3", Shape((4,))), "{0}", "of 'x': no element type is named 'float6e2m3'"),
        (TensorType("float32", Shape((2**40, 2**40))), "{1,0}", "of 'x': the bytes of the array pass 63 bits"),
        (TensorType("float32", Shape((4,))), "{0:SC(0:8)}", "of 'x': a split at 8 is outside of a dim of 4"),
    ],
)
def test_arrays_that_no_memory_holds_are_refused_by_name(tensor, layout, text):
    with pytest.raises(LayoutError, match=text):
        LayoutAssignment({"x": layout}).layout_of("x", tensor)


def test_a_view_shares_storage_only_where_it_is_a_bitcast():
    """[n, 24] and [n, 4, 6] row-major are the same memory; tiles of the first are not those of the second."""
    text = "g (float[n, 4, 6] x) => (float[n, 24] z) { a = Exp(x)  b = Flatten(a)  z = Neg(b) }"
    result = model(text)

    def shared(layouts):
        memory = result.memory(aliases=True, layouts=layouts)
        return [b.values for b in memory.timeline.buffers if len(b.values) > 1]

    assert shared(None) == shared({"b": "{1,0}"}) == shared({"a": "{2,1,0}"}) == [("a", "b")]
    assert shared({"b": TILED}) == shared({"b": "{0,1}"}) == shared({"a": "{2,1,0:T(8,128)}"}) == []


def test_a_result_overwrites_only_an_input_of_the_same_layout():
    text = "g (float[n, 128] x) => (float[n, 128] z) { a = Exp(x)  b = Neg(a)  z = MatMul(b, b) }"
    result = model(text.replace("128", "n"))

    def shared(layouts):
        memory = result.memory(in_place=True, layouts=layouts)
        return [b.values for b in memory.timeline.buffers if len(b.values) > 1]

    assert shared(None) == shared({"a": "{0,1}", "b": "{0,1}"}) == shared({2: TILED}) == [("a", "b")]
    assert shared({"b": "{0,1}"}) == shared({"a": TILED}) == []


def test_a_broadcast_result_of_equal_physical_size_is_not_written_in_place():
    """[1, 128] and [8, 128] take one tile each, but not the same elements."""
    text = "g (float[1, 128] x, float[8, 128] w) => (float[8, 128] z) { a = Exp(x)  b = Add(a, w)  z = Neg(b) }"
    memory = model(text).memory(in_place=True, layouts={2: TILED})
    assert {b.size for b in memory.timeline.buffers} == {4096}
    assert [b.values for b in memory.timeline.buffers if len(b.values) > 1] == []


def test_bodies_and_loops_take_layouts_by_path():
    text = """g (int64 k, bool c, float[n, 100] x) => (float[n, 100] y) {
        y = Loop(k, c, x) <body = b (int64 i, bool d, float[n, 100] s) => (bool e, float[n, 100] t)
            { e = Identity(d)  t = Exp(s) }> }"""
    memory = model(text).memory(layouts={"y/t": TILED})
    assert sizes(memory)["y/t"] == "4096*((n + 7)//8)" and sizes(memory)["y/s"] == "400*n"


def test_smaller_dims_than_assumed_keep_the_layouts():
    memory = model(CHAIN).memory(layouts={2: TILED})
    assert memory.peak.at(n=0).bytes == 0


def test_json_names_the_layout():
    memory = model(CHAIN).memory(layouts={"y": TILED})
    tensors = memory_document(MemoryExport("m", memory.peak)).tensors
    assert [(t.name, t.layout, t.bytes) for t in tensors] == [
        ("x", None, "400*n"),
        ("y", TILED, "4096*((n + 7)//8)"),
        ("z", None, "400*n"),
    ]
