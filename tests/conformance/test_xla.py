"""Layouts against XLA's own parser, its tests and brute force: every section of xla/xla.json.

Invalid layouts that XLA accepts (`strict_ok` is false though `ok` is true) must be rejected. Where a vector holds
XLA's answer and the true one, the true one is expected.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from shapeinf.layout import (
    ArrayType,
    Layout,
    LayoutError,
    PaddedLayout,
    align_layouts,
    byte_size,
    byte_strides,
    compatible,
    data_byte_size,
    deduce_transpose,
    delete_dim,
    descending,
    dims_unmodified_by_reshape,
    drop_degenerate_dims,
    equal,
    has_degenerate_dims,
    indices,
    insert_dim,
    is_effective_scalar,
    is_empty,
    lay_out,
    layouts_equal,
    linear_index,
    move_dim_to_major,
    multi_index,
    next_index,
    parse_type,
    permute_dims,
    physical_byte_size,
    physical_elements,
    reshape_is_bitcast,
    same_dims,
    strides,
    transpose_is_bitcast,
    true_rank,
)
from tests.vectors import need, vectors

FILE = "xla/xla.json"
DATA = vectors(FILE)
NOTES = {"comment", "true_rank_note"}


def cases(section):
    """One test per vector of a section; a single one that is skipped if the file does not exist."""
    params = (DATA or {}).get(section, [None])
    listed = params if isinstance(params, list) else [params]
    return pytest.mark.parametrize("case", [pytest.param(c, id=f"{section}{i}") for i, c in enumerate(listed)])


@pytest.fixture(autouse=True)
def _there():
    need(DATA, FILE)


def array(dims, minor_to_major=None, dtype="f32", **layout):
    order = range(len(dims))[::-1] if minor_to_major is None else minor_to_major
    return ArrayType(dtype, dims, Layout(order, **layout))


def result(array_type):
    return list(array_type.dims), list(array_type.layout.minor_to_major)


def test_every_section_is_tested():
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert set(need(DATA, FILE)) - NOTES <= tested


@cases("text_parse")
def test_text_parse(case):
    if not case["strict_ok"]:
        with pytest.raises(LayoutError):
            parse_type(case["text"])
        return
    parsed = parse_type(case["text"])
    assert str(parsed) == case["print"]
    assert parse_type(str(parsed)) == parsed
    if "dims" in case:
        assert [*parsed.dims] == [None if d in ("?", None) or d < 0 else d for d in case["dims"]]
        assert [*parsed.dynamic] == case["dynamic"]
        assert [*parsed.layout.minor_to_major] == case["minor_to_major"]


@cases("byte_size")
def test_byte_size(case):
    pointer = {"pointer_size": case["pointer_size"]} if "pointer_size" in case else {}
    assert byte_size(parse_type(case["shape"]), **pointer) == case["byte_size_of"]


@cases("linear_index")
def test_linear_index(case):
    layout = array(case["dims"], case["minor_to_major"])
    assert list(strides(layout)) == case["strides_elements"]
    assert linear_index(layout, case["multi_index"]) == case["linear"]
    assert multi_index(layout, case["linear"]) == tuple(case["multi_index"])


@cases("linear_index_errors")
def test_linear_index_errors(case):
    layout = array(case["dims"], case["minor_to_major"])
    with pytest.raises(LayoutError):
        linear_index(layout, case["multi_index"]) if "multi_index" in case else multi_index(layout, case["linear"])


@cases("memory")
def test_memory(case):
    values = [list(row) for row in case["array"]]
    if "padded_dimensions" not in case:
        layout = Layout(case["minor_to_major"])
        assert lay_out(values, layout).tolist() == case["memory"]
        return
    padded = PaddedLayout(case["minor_to_major"], case["padded_dimensions"], case["padding_value"])
    assert padded.lay_out(values).tolist() == case["memory"]
    room = padded.padded(ArrayType("f32", case["dims"]))
    assert physical_elements(room) == case["physical_elements"]
    assert byte_size(room) == physical_byte_size(room) == case["byte_size_f32"]
    if "equivalent_array" in case:
        assert ["".join(row) for row in padded.pad(values)] == case["equivalent_array"]


@cases("padding_errors")
def test_padding_errors(case):
    order = range(len(case["padded_dimensions"]))
    with pytest.raises(LayoutError):
        PaddedLayout(order, case["padded_dimensions"]).padded(ArrayType("f32", case["dims"]))


@cases("true_rank")
def test_true_rank(case):
    layout = array(case["dims"])
    assert true_rank(layout) == case["true_rank_xla"]
    assert sum(d > 1 for d in layout.dims) == case["true_rank_doc_gt1"]
    assert is_effective_scalar(layout) is case["is_effective_scalar"]
    assert has_degenerate_dims(layout) is case["has_degenerate"]


@cases("elements_in")
def test_elements_in(case):
    assert array(case["dims"]).elements == case["elements"]
    assert is_empty(array(case["dims"])) is case["zero_element"]


@cases("dimension_number")
def test_dimension_number(case):
    layout = array([2] * case["rank"])
    if case.get("error"):
        with pytest.raises(LayoutError):
            layout.dimension_number(case["dim"])
    else:
        assert layout.dimension_number(case["dim"]) == case["result"]


@cases("default_layout")
def test_default_layout(case):
    assert list(Layout.descending(case["rank"]).minor_to_major) == case["minor_to_major"]
    assert list(ArrayType("f32", [2] * case["rank"]).layout.minor_to_major) == case["minor_to_major"]


@cases("for_each_index")
def test_for_each_index(case):
    layout = array(case["dims"], case.get("minor_to_major"))
    visited = [list(i) for i in indices(layout, case.get("base"), case.get("count"), case.get("incr"))]
    assert len(visited) == case.get("invocations", len(visited))
    assert visited == case.get("visited", visited)
    assert visited == case.get("order", visited)


@cases("bump_indices")
def test_bump_indices(case):
    layout = array(case["dims"], range(len(case["dims"])))
    for before, after in pairwise(case["sequence"]):
        assert list(next_index(layout, before)) == after
    assert (next_index(layout, case["sequence"][-1]) is not None) is case["then"]


@cases("reshape_is_bitcast")
def test_reshape_is_bitcast(case):
    source, target = array(case["in"], case["in_m2m"]), array(case["out"], case["out_m2m"])
    assert reshape_is_bitcast(source, target) is case["bitcast"]
    assert reshape_is_bitcast(target, source) is case["bitcast"]


@cases("transpose_is_bitcast")
def test_transpose_is_bitcast(case):
    source, target = array(case["in"], case["in_m2m"]), array(case["out"], case["out_m2m"])
    true = case.get("physically_identical", case["xla"])
    assert transpose_is_bitcast(source, target, case["perm"]) is true
    # XLA's result depends on the layout only, not on the sizes
    assert (permute_dims(source, case["perm"]) == target) is case["xla"]


@cases("align_layouts")
def test_align_layouts(case):
    aligned = align_layouts(array(case["in"], case["in_m2m"]), array(case["out"]))
    assert (aligned and list(aligned.layout.minor_to_major)) == case["out_m2m"]


EDITS = {
    "MoveDimToMajor": lambda c: list(move_dim_to_major(Layout(c["m2m"]), c["dim"]).minor_to_major),
    "PrependMajorDimension": lambda c: insert_dim(array(c["dims"], c["m2m"]), 0, c["bound"]),
    "AppendMajorDimension": lambda c: insert_dim(array(c["dims"], c["m2m"]), len(c["dims"]), c["bound"]),
    "AppendMinorDimension": lambda c: insert_dim(array(c["dims"], c["m2m"]), len(c["dims"]), c["bound"], minor=True),
    "InsertDimensionAtIndex": lambda c: insert_dim(array(c["dims"], c["m2m"]), c["index"], c["bound"]),
    "DeleteDimension": lambda c: delete_dim(array(c["dims"], c["m2m"]), c["dim"]),
    "DropDegenerateDimensions": lambda c: drop_degenerate_dims(array(c["dims"], c["m2m"])),
    "PermuteDimensions": lambda c: permute_dims(array(c["dims"], c["m2m"]), c["perm"]),
    "ReorderLogicalDimensions": lambda c: str(permute_dims(parse_type(c["in"]), c["perm"])),
    "MakeShapeWithDescendingLayoutAndSamePhysicalLayout": lambda c: descending(array(c["dims"], c["m2m"])),
    "DeduceTransposeDimensionsForBitcast": lambda c: deduce_transpose(
        array(c["in"], c["in_m2m"]), array(c["out"], c["out_m2m"])
    ),
}


@cases("layout_edits")
def test_layout_edits(case):
    edited = EDITS[case["op"]](case)
    if isinstance(edited, ArrayType):
        assert result(edited) == (case["result_dims"], case["result_m2m"])
    else:
        assert (list(edited) if isinstance(edited, tuple) else edited) == case["result"]


@cases("dimensions_unmodified_by_reshape")
def test_dimensions_unmodified_by_reshape(case):
    pairs = dims_unmodified_by_reshape(array(case["in"]), array(case["out"]))
    assert [list(pair) for pair in pairs] == case["pairs"]


@cases("layout_validation")
def test_layout_validation(case):
    def build():
        order = case.get("m2m", range(len(case["dims"])))
        return ArrayType(case.get("dtype", "f32"), case["dims"], Layout(order, case.get("tiles", ())))

    if case["ok"]:
        assert list(build().dims) == case["dims"]
    else:
        with pytest.raises(LayoutError):
            build()


@cases("layouts_in_shapes_equal")
def test_layouts_in_shapes_equal(case):
    assert layouts_equal(parse_type(case["a"]), parse_type(case["b"])) is case["equal"]


COMPARISONS = {
    "equal": equal,
    "compatible": compatible,
    "same_dimensions": same_dims,
    "ignoring_fp_precision": lambda a, b: compatible(a, b, ignoring=["float precision"]),
    "ignoring_element_type": lambda a, b: compatible(a, b, ignoring=["dtype"]),
    "ignoring_layout": lambda a, b: equal(a, b, ignoring=["layout"]),
}


@cases("compatible")
def test_compatible(case):
    a, b = parse_type(case["a"]), parse_type(case["b"])
    relations = set(case) - {"a", "b", "note", "source"}
    assert {name: COMPARISONS[name](a, b) for name in relations} == {name: case[name] for name in relations}
    assert {name: COMPARISONS[name](b, a) for name in relations} == {name: case[name] for name in relations}


@cases("tiled")
def test_tiled(case):
    layout = parse_type(case["shape"])
    assert list(layout.dims) == case["dims"]
    assert list(layout.layout.minor_to_major) == case["minor_to_major"]
    assert [list(tile) for tile in layout.layout.tiles] == case["tiles"]
    assert layout.element.name == case["dtype"]
    assert layout.layout.element_size_in_bits == case["element_size_in_bits"]
    assert physical_elements(layout) == case["physical_elements"]
    assert physical_byte_size(layout) == case["physical_bytes_brute"]
    assert byte_size(layout) == case["unpadded_bytes"]
    for point in case["points"]:
        assert linear_index(layout, point["index"]) == point["physical_linear"]
        assert multi_index(layout, point["physical_linear"]) == tuple(point["index"])


@cases("tiled_extra")
def test_tiled_extra(case):
    layout = parse_type(case["shape"])
    for key in set(case) - {"shape", "source", "note"}:
        if key == "ArraySize":
            assert physical_byte_size(layout) == case[key]
        elif key == "ArrayDataSize":
            assert data_byte_size(layout) == case[key]
        else:
            index = [int(i) for i in key.removeprefix("LinearIndex_of_").strip("[]").split(",") if i]
            assert linear_index(layout, index) == case[key]


@cases("byte_strides")
def test_byte_strides(case):
    assert list(byte_strides(parse_type(case["shape"]))) == case["strides"]
