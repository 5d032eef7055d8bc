"""Shapes that a file declares for node outputs: used where inference has none, compared where it has."""

from __future__ import annotations

import onnx
import pytest
from onnx import TensorProto, helper

from shapeinf import ShapeError, infer_shapes
from tests.engine.runtime import shapes

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def value(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def custom(name="y", source="x", **options):
    """A node of an operator without a rule."""
    return helper.make_node("Custom", [source], [name], domain="my", name=f"make_{name}", **options)


def relu(name="y", source="x"):
    return helper.make_node("Relu", [source], [name], name=f"make_{name}")


def model(nodes, x, declared, outputs=(), **others):
    """A model with the input x and others; `declared` are value_info: name, dims, element type."""
    inputs = [value(name, dims) for name, dims in {"x": x, **others}.items()]
    infos = [value(*info) if isinstance(info, tuple) else info for info in declared]
    outs = [value(*output) for output in outputs] or [helper.make_empty_tensor_value_info(nodes[-1].output[0])]
    graph = helper.make_graph(nodes, "g", inputs, outs, value_info=infos)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("my", 1)])


def codes(result):
    return [d.code for d in result.diagnostics]


UNKNOWN = model([custom("a"), relu("y", "a")], ["N", 2], [("a", ["N", 5])])
KNOWN = model([relu("a"), relu("y", "a")], ["N", 2], [("a", ["N", 2])])
WRONG = model([relu("a"), relu("y", "a")], ["N", 2], [("a", ["N", 3])])


# -- trust, check, ignore


def test_trusted_declarations_fill_unknowns():
    assert shapes(infer_shapes(UNKNOWN), "a", "y") == ["float32[N, 5]", "float32[N, 5]"]
    assert codes(infer_shapes(UNKNOWN)) == ["S201"]


@pytest.mark.parametrize("how", ["check", "ignore"])
def test_the_others_fill_nothing(how):
    result = infer_shapes(UNKNOWN, declared=how)
    assert result.tensors["a"].shape.dims is None
    assert result.tensors["a"].dtype is None
    assert codes(result) == ["S201"]


@pytest.mark.parametrize("how", ["trust", "check", "ignore"])
def test_consistent_declarations_have_no_diagnostics(how):
    assert codes(infer_shapes(KNOWN, declared=how)) == []


@pytest.mark.parametrize("how", ["trust", "check"])
def test_a_declaration_never_overwrites_and_is_never_dropped_in_silence(how):
    result = infer_shapes(WRONG, declared=how)
    assert shapes(result, "a", "y") == ["float32[N, 2]", "float32[N, 2]"]
    (warning,) = result.diagnostics
    assert (warning.severity, warning.code, warning.node) == ("warning", "S120", "make_a")
    assert warning.message == "the declared size of a.shape[1] (3) differs from the inferred one (2)"


def test_ignore_does_not_compare():
    assert codes(infer_shapes(WRONG, declared="ignore")) == []


@pytest.mark.parametrize("how", ["trust", "check"])
def test_strict_mode_raises_it(how):
    with pytest.raises(ShapeError, match="declared size of a") as caught:
        infer_shapes(WRONG, declared=how, mode="strict")
    assert (caught.value.code, caught.value.node, caught.value.op) == ("S120", "make_a", "Relu")
    infer_shapes(WRONG, declared="ignore", mode="strict")


@pytest.mark.parametrize(
    ("declared", "code", "message"),
    [
        (("a", ["N", 2, 1]), "S120", "declared rank of a (['N', 2, 1]) differs from the inferred one ([N, 2])"),
        (("a", []), "S120", "declared rank of a ([]) differs from the inferred one ([N, 2])"),
        (("a", ["N", 2], INT64), "S115", "'a' is declared as int64, and the node computes float32"),
    ],
)
def test_ranks_and_element_types_are_compared(declared, code, message):
    wrong = model([relu("a"), relu("y", "a")], ["N", 2], [declared])
    (note,) = infer_shapes(wrong).diagnostics
    assert (note.code, note.severity) == (code, "error" if code == "S115" else "warning")
    assert message in note.message
    with pytest.raises(ShapeError):
        infer_shapes(wrong, mode="strict")


def test_outputs_are_declarations_as_well():
    wrong = model([relu()], ["N", 2], [], [("y", ["N", 3])])
    assert codes(infer_shapes(wrong)) == ["S120"]
    assert shapes(infer_shapes(model([custom()], ["N", 2], [], [("y", ["N", 3])])), "y") == ["float32[N, 3]"]


# -- what a declared name means


def test_a_name_of_an_input_is_that_dim():
    assert shapes(infer_shapes(UNKNOWN, bind={"N": 7}), "y") == ["float32[7, 5]"]


def test_a_new_name_is_the_same_unknown_everywhere():
    both = model(
        [custom("a"), custom("b"), helper.make_node("MatMul", ["a", "b"], ["y"])],
        ["N", 2],
        [("a", ["N", "inner"]), ("b", ["inner", "out"])],
    )
    result = infer_shapes(both)
    assert shapes(result, "a", "b", "y") == ["float32[N, inner]", "float32[inner, out]", "float32[N, out]"]


def test_a_declared_expression_is_an_expression():
    result = infer_shapes(model([custom()], ["N", 2], [("y", ["2*N + 1", "N//2"])]), bind={"N": 5})
    assert shapes(result, "y") == ["float32[11, 2]"]


@pytest.mark.parametrize("text", ["20*N//M", "floor(20*N/M)", "N % M"])
def test_a_declared_quotient_by_0_is_no_size(text):
    """An exported decoder divides by its batch, of which an inference at 0 is one step of a search for legal sizes."""
    result = infer_shapes(model([relu()], ["N", 2], [("y", [text, 2])], w=["M"]))
    assert list(result.contract.solve("M", range(3))) == [0, 1, 2]
    unknown = infer_shapes(model([custom()], ["N", 2], [("y", [text, 2])], w=["M"]), bind={"M": 0}, min_dim=0)
    first, second = unknown.tensors["y"].shape
    assert (first.is_anonymous, second) == (True, 2)


def test_an_input_of_a_quotient_by_0_is_illegal():
    contract = infer_shapes(model([relu("y", "z")], ["N", 2], [], w=["M"], z=["N//M"])).contract
    assert list(contract.solve("M", range(3))) == [1, 2]
    assert contract.check(N=3, M=0).reasons == ("a size is 3 divided by 0",)
    with pytest.raises(ShapeError, match="a size is N divided by 0"):
        infer_shapes(model([relu("y", "z")], ["N", 2], [], w=["M"], z=["N//M"]), bind={"M": 0}, min_dim=0)


def test_names_that_onnx_generates_are_ignored():
    """`unk__0` of one run of onnx is not `unk__0` of another."""
    nodes = [custom("a"), custom("b"), helper.make_node("Add", ["a", "b"], ["y"])]
    result = infer_shapes(model(nodes, ["N", 2], [("a", ["unk__0"]), ("b", ["unk__0"])]))
    assert result.tensors["a"].shape.rank == 1


def test_a_name_for_a_known_size_is_no_contradiction():
    """Exporters invent names freely: a name for the size 2 is no difference."""
    result = infer_shapes(model([relu("a"), relu("y", "a")], ["N", 2], [("a", ["rows", "cols"])]))
    assert shapes(result, "a", "y") == ["float32[N, 2]", "float32[N, 2]"]
    assert codes(result) == []


def test_a_dim_without_a_declaration_stays_unknown():
    result = infer_shapes(model([custom()], ["N", 2], [("y", ["N", None])]))
    rows, columns = result.tensors["y"].shape
    assert (str(rows), columns.is_anonymous) == ("N", True)


def test_a_declared_size_of_0_is_a_size():
    assert shapes(infer_shapes(model([custom()], ["N", 2], [("y", [0, "N"])])), "y") == ["float32[0, N]"]


def test_a_negative_declared_size_is_no_size():
    """Some exporters write -1 for unknown."""
    result = infer_shapes(model([custom()], ["N", 2], [("y", [-1, 4])]))
    first, second = result.tensors["y"].shape
    assert (first.is_anonymous, second) == (True, 4)


def test_two_names_of_inputs_that_a_declaration_would_equate_are_not_equated():
    """a is [N], and the file declares [M]. M may have the same size: that is no error, and no constraint."""
    odd = model([relu("a"), relu("y", "a")], ["N"], [("a", ["M"])], x1=["M"])
    result = infer_shapes(odd)
    assert shapes(result, "a", "x1") == ["float32[N]", "float32[M]"]
    assert codes(result) == []
    assert codes(infer_shapes(odd, bind={"N": 3, "M": 4})) == ["S120"]


# -- declarations as constraints


def test_a_trusted_size_of_a_data_dependent_dim():
    nodes = [helper.make_node("NonZero", ["x"], ["a"], name="nz"), helper.make_node("Transpose", ["a"], ["y"])]
    counted = model(nodes, ["N", 2], [("a", [2, 7], INT64)])
    assert shapes(infer_shapes(counted), "y") == ["int64[7, 2]"]
    assert infer_shapes(counted, declared="check").tensors["y"].shape[0].is_anonymous
    named = model(nodes, ["N", 2], [("a", [2, "count"], INT64)])
    assert shapes(infer_shapes(named), "a", "y") == ["int64[2, count]", "int64[count, 2]"]


def test_an_impossible_declaration_is_reported():
    """NonZero of [3, 2] has at most 6 columns."""
    nodes = [helper.make_node("NonZero", ["x"], ["y"], name="nz")]
    result = infer_shapes(model(nodes, [3, 2], [], [("y", [2, 7], INT64)]))
    assert codes(result) == ["S120"]
    assert str(result.interval(result.tensors["y"].shape[1])) == "0..6"


def test_a_declaration_that_a_later_node_contradicts_is_an_error_there():
    """A product of [N, 5] and [4, 8] cannot be."""
    nodes = [custom("a"), helper.make_node("MatMul", ["a", "x1"], ["y"], name="product")]
    wrong = model(nodes, ["N", 2], [("a", ["N", 5])], x1=[4, 8])
    errors = [d for d in infer_shapes(wrong).diagnostics if d.severity == "error"]
    assert [(d.code, d.node) for d in errors] == [("S101", "product")]


def test_a_declared_constraint_has_its_source():
    nodes = [helper.make_node("NonZero", ["x"], ["y"], name="nz")]
    result = infer_shapes(model(nodes, ["N", 2], [], [("y", [2, 3], INT64)]))
    (source,) = [s for s in result.engine.store.sources.values() if "declares" in s.reason]
    assert (source.node, source.reason) == ("y", "the file declares y")


def test_a_declared_rank_is_known_before_the_nodes_that_need_it():
    """Flatten of an unknown rank is unknown without the declaration."""
    nodes = [custom("a"), helper.make_node("Flatten", ["a"], ["y"], axis=2)]
    result = infer_shapes(model(nodes, ["N", 2], [("a", ["N", 3, 4, 5])]))
    assert shapes(result, "y") == ["float32[3*N, 20]"]


def test_later_constraints_reach_a_declared_name():
    """The product determines the size that the file calls k, in each declaration with this name."""
    nodes = [custom("a"), helper.make_node("MatMul", ["a", "x1"], ["y"])]
    result = infer_shapes(model(nodes, ["N", 2], [("a", ["N", "k"])], x1=[4, 8]))
    assert shapes(result, "a", "y") == ["float32[N, 4]", "float32[N, 8]"]


# -- other types


def test_declared_sequences_and_optionals_of_unknown_nodes():
    sequence = helper.make_tensor_sequence_value_info("a", FLOAT, ["N", 3])
    nodes = [custom("a"), helper.make_node("ConcatFromSequence", ["a"], ["y"], axis=1)]
    result = infer_shapes(model(nodes, ["N", 2], [sequence]))
    assert shapes(result, "a") == ["sequence(float32[N, 3])"]
    assert str(result.tensors["y"].shape[0]) == "N"
    assert infer_shapes(model(nodes, ["N", 2], [sequence]), declared="check").tensors["a"].kind == "tensor"


@pytest.mark.parametrize("how", ["trust", "check"])
def test_another_kind_of_value_is_reported(how):
    sequence = helper.make_tensor_sequence_value_info("a", FLOAT, ["N", 3])
    result = infer_shapes(model([relu("a"), relu("y", "a")], ["N", 2], [sequence]), declared=how)
    assert codes(result) == ["S115"]
    assert shapes(result, "y") == ["float32[N, 2]"]


# -- where declarations stand


def test_declarations_inside_of_bodies_and_functions():
    """The nodes of both branches have types only by the declarations of their graph."""
    branch = helper.make_graph(
        [custom("p"), relu("q", "p")], "branch", [], [value("q", None)], value_info=[value("p", ["N", 5])]
    )
    other = helper.make_graph([custom("r")], "other", [], [value("r", ["N", 5])])
    node = helper.make_node("If", ["x1"], ["y"], then_branch=branch, else_branch=other)
    both = model([node], ["N", 2], [], x1=[])
    both.graph.input[1].type.tensor_type.elem_type = TensorProto.BOOL
    assert shapes(infer_shapes(both), "y") == ["float32[N, 5]"]


def test_an_update_compares_again():
    result = infer_shapes(model([relu()], ["N", 2], [], [("y", [3, 2])]))
    assert codes(result.update({"x": [3, 2]})) == []
    assert codes(result.update({"x": [4, 2]})) == ["S120"]


@pytest.mark.parametrize(
    "how",
    ["check", "trust"],
)
def test_an_update_keeps_the_way_of_comparing(how):
    """Updates keep the `declared` option of the first run."""
    nodes = [custom("a"), helper.make_node("MatMul", ["x", "x1"], ["y"])]
    result = infer_shapes(model(nodes, ["N", "K"], [("a", [3, 3])], x1=[4, 8]), declared=how)
    updated = result.update({"x": [2, 4]})
    assert (updated.tensors["a"].shape.dims is None) == (how == "check")


def test_declarations_of_a_functions_values():
    call = helper.make_node("F", ["x"], ["y"], domain="my")
    body = [custom("b", "p"), relu("q", "b")]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("my", 1)]
    outer = model([call], ["N", 2], [])
    outer.functions.append(
        helper.make_function("my", "F", ["p"], ["q"], body, opsets, value_info=[value("b", ["N", 5])])
    )
    assert infer_shapes(outer).tensors["y"].shape.rank == 2


def test_an_input_of_declared_size_0_has_size_0():
    result = infer_shapes(model([relu()], [0, "N", 2], []))
    assert shapes(result, "x", "y") == ["float32[0, N, 2]", "float32[0, N, 2]"]


def test_a_saved_model_has_the_contract_of_its_source(tmp_path):
    """The names that a file has for sizes that depend on data require nothing, also where a node has that name."""
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2, 3, 4] x, bool c) => (float[?, ?, ?] y, int64[?, ?] z) {
            y = If (c) <then_branch: graph = t () => (float[?, ?, ?] yt) {
                repeats = Constant <value: tensor = int64[3] {1, 2, 1}> ()
                yt = Tile (x, repeats)
            }, else_branch: graph = e () => (float[?, ?, ?] ye) { ye = Relu (x) }>
            z = NonZero(x)
        }""")
    result = infer_shapes(model)
    for _ in range(2):
        result.save(tmp_path / "saved.onnx")
        result = infer_shapes(tmp_path / "saved.onnx")
        assert shapes(result, "y", "z") == ["float32[2, y_0_1, 4]", "int64[3, z_count]"]
        assert result.contract.preconditions == ()
