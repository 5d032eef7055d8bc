"""Each check reports its diagnostic on a model with the defect, and nothing on models without."""

from __future__ import annotations

import onnx
import pytest
from onnx import helper

from shapeinf import infer_shapes
from shapeinf.checks import CHECKS, check
from shapeinf.diagnostics import CODES
from shapeinf.errors import UnknownNameError
from tests.checks.models import (
    INT64,
    conflicting_names,
    join_model,
    model,
    node,
    numbers,
    reshape_model,
    skip_model,
    weights,
)


def run_check(proto, **options):
    return check(infer_shapes(proto, declared="check", **options), options.get("dims"))


def relu_model(declared, inner=(), x=("batch", 6)):
    nodes = [node("Relu", "x", "h"), node("Relu", "h", "y")]
    return model(nodes, {"x": list(x)}, {"y": declared}, inner)


def stride_model(stride: int, other: int):
    """Two strided pools of an axis, concatenated: n fits where (n - 1)//stride == (n - 1)//other."""
    pools = [node("MaxPool", "x", y, kernel_shape=[1], strides=[step]) for y, step in (("p", stride), ("q", other))]
    return model([*pools, node("Concat", "p q", "y", axis=1)], {"x": [1, 3, "n"]}, {"y": None})


def window_model(size: int, more: int = 0):
    """Rows and columns cut into windows: after padding by `more`, both must be multiples of the size."""
    numbered = {"rows": 0, "columns": 1, "size": size, "channels": 8}
    sizes = [numbers("pads", 0, 0, 0, more, more, 0), *(numbers(name, n) for name, n in numbered.items())]
    parts = [
        node("Pad", "x pads", "padded"),
        node("Shape", "padded", "shape"),
        node("Gather", "shape rows", "h"),
        node("Gather", "shape columns", "w"),
        node("Div", "h size", "down"),
        node("Div", "w size", "across"),
        node("Concat", "down size across size channels", "cut", axis=0),
        node("Reshape", "padded cut", "y", allowzero=1),
    ]
    return model(parts, {"x": ["H", "W", 8]}, {"y": None}, (), sizes)


def exchange_model(op, **attributes):
    """x [batch, 3, h, w], its rows and columns exchanged after a window, and added to itself."""
    parts = [
        node(op, "x", "p", **attributes),
        node("Transpose", "p", "t", perm=[0, 1, 3, 2]),
        node("Concat", "p t", "y", axis=1),
    ]
    return model(parts, {"x": ["batch", 3, "h", "w"]}, {"y": None})


def cache_model():
    """Tokens [batch, seq] and their mask [batch, seq, total], where 8 tokens went before: total is seq + 8."""
    parts = [
        node("Concat", "past tokens", "all", axis=1),
        node("Transpose", "all", "turned", perm=[0, 2, 1]),
        node("MatMul", "tokens turned", "scores"),
        node("Concat", "scores mask", "y", axis=0),
    ]
    inputs = {"past": ["batch", 8, 4], "tokens": ["batch", "seq", 4], "mask": ["batch", "seq", "total"]}
    return model(parts, inputs, {"y": [None, "seq", "total"]})


CASES = {
    "C101 a constant of sizes": (reshape_model(4, 2, 3), ("C101", "make_h", "batch", "can only be 4")),
    "C101 a product": (
        model([node("Reshape", "x s", "y")], {"x": ["a", "b"]}, {"y": None}, constants=[numbers("s", 4, 6)]),
        ("C101", "make_y", "a*b (x.shape[0], x.shape[1])", "can only be 24"),
    ),
    "C101 a sum": (
        model(
            [node("Concat", "x z", "h", axis=0), node("Reshape", "h s", "y")],
            {"x": ["a", 6], "z": ["b", 6]},
            {"y": None},
            constants=[numbers("s", 10, 6)],
        ),
        ("C101", "make_y", "a + b (x.shape[0], z.shape[0])", "can only be 10"),
    ),
    "C101 a size or 1": (join_model("Add", "batch", 5), ("C101", "make_y", "batch (x.shape[0])", "can only be 5 or 1")),
    "C101 a product that is one of its factors": (
        model(
            [node("Reshape", "x s", "h"), node("Add", "x h", "y")],
            {"x": ["b", "s"]},
            {"y": None},
            (),
            [numbers("s", 1, -1)],
        ),
        ("C101", "make_y", "b and s (x.shape[0], x.shape[1])", "from 2 on are legal"),
    ),
    "C101 a few sizes": (
        model(
            [node("AveragePool", "x", "p", kernel_shape=[8], strides=[8]), node("MatMul", "p w", "y")],
            {"x": [1, 3, "n"]},
            {"y": None},
            constants=[weights("w", 14, 5)],
        ),
        ("C101", "make_y", "n (x.shape[2])", "can only be 112 to 119"),
    ),
    "C101 one of two sizes": (stride_model(2, 4), ("C101", "make_y", "n (x.shape[2])", "can only be 2 or 1")),
    "C101 only small sizes": (
        stride_model(4, 5),
        ("C101", "make_y", "sizes of n (x.shape[2]) from 32 on are legal"),
    ),
    "C101 no large sizes": (stride_model(8, 9), ("C101", "make_y", "sizes of n (x.shape[2]) from 512 on are legal")),
    "C102 always": (join_model("Concat", "batch", "total", axis=1), ("C102", "make_y", "batch", "and total")),
    "C102 unless one is 1": (
        join_model("Add", "batch", "total"),
        ("C102", "make_y", "total", "unless one of them is 1"),
    ),
    "C104": (conflicting_names("k", "k"), ("C104", "make_b", "x.shape[1] must be 4", "z.shape[1] must be 5")),
    "C103": (
        model(
            [node("Relu", "x", "p"), node("Concat", "x x", "q", axis=1), node("Concat", "p q", "y", axis=1)],
            {"x": ["batch", 6]},
            {"y": None},
            {"p": ["batch", "width"], "q": ["batch", "width"]},
        ),
        ("C103", "make_q", "which is 12", "width is 6 in p.shape[1]"),
    ),
    "C105 a size of another axis": (
        exchange_model("MaxPool", kernel_shape=[2, 2], strides=[2, 2]),
        ("C105", "make_y", "h (x.shape[2]) and w (x.shape[3]) must fit each other"),
    ),
    "C105 a multiple of a product": (
        model([node("Reshape", "x s", "y")], {"x": ["b", "s"]}, {"y": None}, (), [numbers("s", -1, 33)]),
        ("C105", "make_y", "b (x.shape[0]) and s (x.shape[1])", "b*s % 33 == 0"),
    ),
    "C110 a size": (relu_model(["batch", 6], {"h": ["batch", 7]}), ("C110", "make_h", "declared as 7", "computes 6")),
    "C110 a rank": (relu_model(["batch", 6], {"h": ["batch"]}), ("C110", "make_h", "1 axes", "[batch, 6]")),
    "C110 a number for a name": (
        relu_model(["batch", 6], {"h": [4, 6]}),
        ("C110", "make_h", "declared as 4", "computes batch"),
    ),
    "C111 a number for a name": (relu_model([1, 6]), ("C111", "make_y", "declared as 1", "computes batch")),
    "C111 a name for its double": (
        model([node("Concat", "x x", "y", axis=0)], {"x": ["batch", 6]}, {"y": ["batch", 6]}),
        ("C111", "make_y", "declared as batch", "computes 2*batch"),
    ),
    "C111 a name for a number": (
        model([node("ReduceSum", "x axes", "y")], {"x": ["batch", 6]}, {"y": ["batch", 6]}, (), [numbers("axes", 0)]),
        ("C111", "make_y", "declared as batch", "computes 1"),
    ),
    "C111 a batch for a size of the same input": (
        model(
            [
                node("Transpose", "x", "t", perm=[2, 1, 0]),
                node("MaxPool", "t", "p", kernel_shape=[1], strides=[2]),
                node("MaxPool", "x", "q", kernel_shape=[1], strides=[2]),
                node("Transpose", "q", "y", perm=[2, 1, 0]),
            ],
            {"x": ["batch", 6, "w"]},
            {"p": None, "y": ["batch", 6, "w"]},
        ),
        ("C111", "make_y", "declared as batch", "computes (w + 1)//2"),
    ),
    "C112": (
        model(
            [node("Concat", "p x", "y", axis=0), node("Relu", "m", "z")],
            {"p": ["past", 6], "x": ["seq", 6], "m": ["total"]},
            {"y": ["total", 6], "z": ["total"]},
        ),
        ("C112", "make_y", "declared as total", "computes"),
    ),
    "C120 a slip": (join_model("Concat", "batch", "batsh", axis=1), ("C120", "z", "'batch'", "'batsh'")),
    "C120 a blank": (
        join_model("Concat", "batch", "batch _size", axis=1),
        ("C120", "z", "contains a blank", "'batch_size'"),
    ),
}


@pytest.mark.parametrize(("proto", "wanted"), CASES.values(), ids=list(CASES))
def test_each_check_reports_the_right_subject(proto, wanted) -> None:
    code, subject, *texts = wanted
    (first, *_) = [f for f in run_check(proto) if f.code == code]
    assert first.subject == subject
    assert all(text in first.message for text in texts), first.message
    assert (first.severity,) == CODES[code].severities


@pytest.mark.parametrize(
    "proto",
    [
        reshape_model(-1, 2, 3),
        join_model("Add", "batch", "batch"),
        join_model("Add", "batch", 1),
        join_model("Concat", None, None, axis=1),
        conflicting_names(4, 5),
        relu_model(["batch", 6], {"h": ["batch", 6]}),
        relu_model(["batch", None], {"h": ["unk__0", 6]}),
        relu_model(["anything", 6]),
        skip_model(),
        window_model(12),
        window_model(40),
        window_model(100),
        window_model(40, 3),
        cache_model(),
    ],
)
def test_silence_where_nothing_is_wrong(proto) -> None:
    assert [f for f in run_check(proto) if f.fails] == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Concath_dim_1", "Concatc_dim_1"),  # as torch numbers the outputs of two nodes
        ("Reshapeout_dim_0", "Reshapeout_dim_1"),
        ("DynamicDimension.0", "DynamicDimension.1"),  # Paddle
        ("H", "h"),
        ("seq_1", "seq_2"),
    ],
)
def test_generated_names_and_short_ones_are_no_misspellings(first, second) -> None:
    diagnostics = run_check(join_model("Concat", first, second, axis=0))
    assert [d for d in diagnostics if d.code in ("C120", "S110")] == []


@pytest.mark.parametrize(
    ("name", "noted"),
    [
        ("DynamicDimension.0", False),
        ("p2o.DynamicDimension.12", False),
        ("unk:0", False),
        ("batch-size", True),
        ("a b", True),
        (".5", True),
        ("2", True),
        ("-1", True),
    ],
)
def test_dotted_names_of_exporters_are_no_news(name, noted) -> None:
    assert [d.code for d in run_check(join_model("Concat", name, "n", axis=0))].count("S110") == noted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "stirct"}, "no mode is named 'stirct'; did you mean 'strict'?"),
        ({"declared": "chekc"}, "did you mean 'check'"),
        ({"declared": True}, "available: 'check', 'ignore', 'trust'"),
    ],
)
def test_modes_are_checked_in_python(options, message) -> None:
    with pytest.raises(UnknownNameError) as caught:
        infer_shapes(join_model("Add", "n", "n"), **options)
    assert message in str(caught.value)


def test_unnamed_axes_have_no_name_to_be_wrong() -> None:
    assert [f.code for f in run_check(join_model("Concat", "unk__1", "unk__2", axis=1))] == []


def test_causes_come_before_their_consequences() -> None:
    """The declaration of a later node is wrong because of an earlier one; notes come last."""
    nodes = [node("Concat", "x x", "h", axis=0), node("Add", "h b", "y"), node("Concat", "p q", "t", axis=0)]
    inputs = {"x": ["batch", 6], "b": [8, 6], "p": ["past", 1], "q": ["seq", 1], "m": ["total"]}
    proto = model(nodes, inputs, {"t": ["total", 1], "y": [9, 6]}, {"h": ["batch", 6]})
    assert [(f.code, f.subject) for f in run_check(proto)] == [
        ("C110", "make_h"),
        ("C101", "make_y"),
        ("C111", "make_y"),
        ("C112", "make_t"),
    ]


def transpose_model(inner=None, **attributes):
    """x [batch, seq, 6] through a Transpose and a Relu into a product with [6, 5], added to the product of x itself."""
    nodes = [node("Transpose", "x", "t", **attributes), node("Relu", "t", "r"), node("MatMul", "r w", "a")]
    nodes += [node("MatMul", "x w", "b"), node("Add", "a b", "y")]
    outputs = {"y": ["batch", "seq", 5]}
    return model(nodes, {"x": ["batch", "seq", 6]}, outputs, inner or {}, constants=[weights("w", 6, 5)])


@pytest.mark.parametrize(
    ("proto", "code", "subject", "message"),
    [
        (transpose_model(perm=[0, 2, 1]), "C114", "make_t", "perm [0, 1, 2] instead of [0, 2, 1]"),
        (
            transpose_model({"r": ["batch", "seq", 6], "t": ["batch", "seq", 6]}, perm=[0, 2, 1]),
            "C110",
            "make_t",
            "declared as",
        ),
        (transpose_model({"t": ["batch", 7, 6]}, perm=[0, 1, 2]), "C110", "make_t", "declared as 7"),
    ],
)
def test_diagnostics_downstream_name_their_cause(proto, code, subject, message) -> None:
    first, *rest = run_check(proto)
    assert (first.code, first.subject) == (code, subject)
    assert message in first.message
    assert {f.cause for f in rest if f.fails and f.subject != subject} <= {subject}


def test_sizes_of_several_axes_are_repaired_together() -> None:
    """[1, seq] expanded to [5, 7] implies seq == 7; other numbers do not."""
    nodes = [node("Unsqueeze", "r zero", "u"), node("Expand", "u sizes", "e"), node("Unsqueeze", "e zero", "p")]
    nodes += [node("Unsqueeze", "x zero", "q"), node("Concat", "p q", "y", axis=0)]
    constants = [numbers("sizes", 5, 7), numbers("zero", 0)]
    first, *rest = run_check(model(nodes, {"r": ["seq"], "x": ["batch", "seq"]}, {"y": None}, constants=constants))
    assert (first.code, first.subject) == ("C114", "make_e")
    assert "other sizes instead of [5, 7]" in first.message
    assert {f.cause for f in rest if f.fails} == {"make_e"}


def test_an_ambiguous_repair_names_the_alternatives() -> None:
    """Without the second product, an input of [batch, 6, seq] would do as well."""
    nodes = [node("Transpose", "x", "t", perm=[0, 2, 1]), node("MatMul", "t w", "y")]
    proto = model(nodes, {"x": ["batch", "seq", 6]}, {"y": ["batch", "seq", 5]}, constants=[weights("w", 6, 5)])
    first, *rest = run_check(proto)
    assert first.code == "C114"
    assert {first.subject, *first.message.split("change of ")[1].split(", ")} == {"x", "make_t"}
    assert {f.cause for f in rest} == {""}


DOUBLED = model([node("Concat", "x x", "y", axis=0)], {"x": ["batch", 1024]}, {"y": None})


@pytest.mark.parametrize(
    ("hi", "expected"),
    [
        (2**18, []),  # 2^29 elements, 2^31 bytes: one byte too many
        (2**20, [("warning", "elements, more than 2^31 - 1")]),
        (2**52, [("error", "bytes, more than 2^63 - 1")]),
    ],
)
def test_volumes_are_counted_at_the_upper_bounds(hi, expected) -> None:
    diagnostics = [f for f in run_check(DOUBLED, dims={"batch": (1, hi)}) if f.code == "C130"]
    assert [(f.severity, f.message.partition(" at ")[0].split(" ", 4)[4]) for f in diagnostics if f.fails] == expected
    assert [f.node for f in diagnostics][:1] == ["make_y"]


def test_bytes_past_32_bits_are_only_a_note() -> None:
    """2 * 2^18 * 1024 float32 are 2^31 bytes, one more than 2^31 - 1."""
    (note,) = run_check(DOUBLED, dims={"batch": (1, 2**18)})
    assert (note.severity, note.code) == ("note", "C130")
    assert "2147483648 bytes" in note.message
    assert run_check(DOUBLED, dims={"batch": (1, 2**18 - 1)}) == []


@pytest.mark.parametrize(("element", "code"), [("int8", "error"), ("int4", "warning")])
def test_elements_of_half_a_byte_are_counted_two_a_byte(element, code) -> None:
    """2^63 elements are 2^63 bytes, one more than an int64 holds; of int4 they are half as many."""
    graph = f"g ({element}[n, 2048] x) => ({element}[n, 2048] y) {{ y = Identity(x) }}"
    proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {graph}')
    assert {f.severity for f in run_check(proto, dims={"n": (1, 2**52)}) if f.code == "C130"} == {code}


def test_symbols_without_a_bound_are_silent() -> None:
    assert run_check(DOUBLED) == []


def test_the_node_that_loses_the_upper_bound() -> None:
    """A range whose end depends on data has any length; nodes that depend on it are not reported again."""
    proto = model([node("ConstantOfShape", "n", "y"), node("Relu", "y", "z")], {"n": [1]}, {"z": None})
    proto.graph.input[0].type.tensor_type.elem_type = INT64
    notes = [f for f in run_check(proto) if f.code == "C140"]
    assert [(f.severity, f.node) for f in notes] == [("note", "make_y")]


def test_every_code_has_a_title() -> None:
    assert CHECKS.keys() <= CODES.keys()
    assert all(entry.code == code and entry.title for code, entry in CODES.items())


def mask_model():
    """The columns 0..past+seq-1 of a mask [batch, total], for a past [batch, past] and tokens [batch, seq]."""
    nodes = [
        node("Shape", "p", "past", start=1, end=2),
        node("Shape", "t", "seq", start=1, end=2),
        node("Add", "past seq", "sum"),
        node("Squeeze", "sum", "end"),
        node("Range", "zero end one", "columns"),
        node("Gather", "mask columns", "y", axis=1),
    ]
    inputs = {"mask": ["batch", "total"], "p": ["batch", "past"], "t": ["batch", "seq"]}
    scalars = [helper.make_tensor(name, INT64, [], [value]) for name, value in (("zero", 0), ("one", 1))]
    return model(nodes, inputs, {"y": None}, constants=scalars)


@pytest.mark.parametrize("dims", [None, {"batch": (1, 8)}, {"batch": (1, 8), "seq": (1, 512)}, {"past": (1, 64)}])
def test_an_order_of_sizes_that_nothing_states_is_no_diagnostic(dims) -> None:
    """The mask must be as long as both together: one such set of sizes is among those that are tested."""
    assert [d for d in run_check(mask_model(), dims=dims) if d.fails] == []
    bounded = {**(dims or {}), "total": (1, 2), "past": (3, 64)}
    assert any(d.fails for d in run_check(mask_model(), dims=bounded))


def test_what_the_reader_warns_of_needs_no_repair():
    """The only failure is one of the file, and of no node."""
    document = b"version 1.0; extension KHR_of_tomorrow; graph g(x) -> (y) { x = external(shape=[2, 3]); y = relu(x); }"
    assert [diagnostic.code for diagnostic in check(infer_shapes(document))] == ["N206"]
