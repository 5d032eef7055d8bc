"""A pass that changes the meaning of a model is undone, and the report has the reason."""

from __future__ import annotations

import onnx
import onnx_ir as ir
import pytest

from shapeinf.passes import clean, pipeline
from shapeinf.passes.editor import Editor
from tests.passes.judge import check_same, signature
from tests.passes.models import build, feeds

TEXT = """
g (bool p, float[N,3] x, float[N,3] u) => (float[N,3] y, float[N,4] z, float[N,3] r) {
    a = Relu(x)
    y = Neg(a)
    b = Mul(a, a)
    z = Gemm(b, w)
    r = If (p) <
        then_branch = t () => (float[N,3] c) { d = Exp(x) c = Neg(d) },
        else_branch = e () => (float[N,3] f) { f = Abs(x) }
    >
}
"""


def node(editor: Editor, operator: str) -> ir.Node:
    return editor.nodes(operator)[0]


def change_a_shape(editor: Editor) -> None:
    """The sum over the rows of a constant: an output is [N,1]."""
    gemm = node(editor, "Gemm")
    weight = editor.array(gemm.inputs[1])
    editor.set_input(gemm, 1, editor.constant_input(gemm, "sum", weight.sum(axis=1, keepdims=True)))


def change_a_shape_inside(editor: Editor) -> None:
    """A value in the middle has one axis more, and the outputs are as before."""
    scope = editor.model.graph
    mul = node(editor, "Mul")
    axes = editor.constant_input(mul, "axes", ir.tensor([0]).numpy())
    wide = ir.node("Unsqueeze", [mul.inputs[0], axes])
    narrow = ir.node("Squeeze", [mul.outputs[0], axes])
    wide.outputs[0].name, narrow.outputs[0].name = editor.unused_name("wide"), editor.unused_name("narrow")
    scope.insert_before(mul, wide)
    scope.insert_after(mul, narrow)
    gemm = node(editor, "Gemm")
    gemm.replace_input_with(0, narrow.outputs[0])
    for index in range(2):
        mul.replace_input_with(index, wide.outputs[0])


def change_a_type(editor: Editor) -> None:
    relu = node(editor, "Relu")
    cast = ir.node("Cast", [relu.inputs[0]], {"to": 11})
    cast.outputs[0].name = editor.unused_name("double")
    editor.model.graph.insert_before(relu, cast)
    relu.replace_input_with(0, cast.outputs[0])


def change_a_shape_in_a_branch(editor: Editor) -> None:
    exp = node(editor, "Exp")
    shape = ir.node("Shape", [exp.inputs[0]])
    shape.outputs[0].name = editor.unused_name("shape")
    assert exp.graph is not None
    exp.graph.insert_before(exp, shape)
    exp.op_type = "Cast"
    exp.attributes["to"] = ir.AttrInt64("to", 1)
    exp.replace_input_with(0, shape.outputs[0])


def rename_an_output(editor: Editor) -> None:
    editor.model.graph.outputs[0].name = "other"


def swap_outputs(editor: Editor) -> None:
    outputs = editor.model.graph.outputs
    outputs[0], outputs[2] = outputs[2], outputs[0]


def drop_an_output(editor: Editor) -> None:
    editor.model.graph.outputs.pop()


def drop_an_input(editor: Editor) -> None:
    inputs = editor.model.graph.inputs
    inputs.remove(next(value for value in inputs if value.name == "u"))


def give_an_input_a_default(editor: Editor) -> None:
    value = next(value for value in editor.model.graph.inputs if value.name == "u")
    value.const_value = ir.tensor([[1.0, 2.0, 3.0]], name="u")
    editor.model.graph.initializers.add(value)


def declare_a_size(editor: Editor) -> None:
    editor.model.graph.inputs[1].shape = ir.Shape([2, 3])


def make_an_invalid_node(editor: Editor) -> None:
    node(editor, "Relu").op_type = "NoOperator"


def make_an_unknown_attribute(editor: Editor) -> None:
    node(editor, "Relu").attributes["color"] = ir.AttrInt64("color", 1)


def drop_a_required_input(editor: Editor) -> None:
    node(editor, "Mul").replace_input_with(1, None)


def use_an_operator_of_a_later_opset(editor: Editor) -> None:
    node(editor, "Neg").op_type = "Gelu"


def remove_a_constant_that_is_read(editor: Editor) -> None:
    del editor.model.graph.initializers["w"]


def fail(editor: Editor) -> None:
    raise KeyError("a defect of a pass")


WRONG = [
    (change_a_shape, "z"),
    (change_a_shape_inside, "b was"),
    (change_a_type, "float"),
    (change_a_shape_in_a_branch, "d was"),
    (rename_an_output, "interface changed at other, y"),
    (swap_outputs, "order of inputs or outputs"),
    (drop_an_output, "interface changed at r"),
    (drop_an_input, "interface changed at u"),
    (give_an_input_a_default, "interface changed at u"),
    (declare_a_size, "interface changed at x"),
    (make_an_invalid_node, "NoOperator"),
    (make_an_unknown_attribute, "color"),
    (drop_a_required_input, "Mul"),
    (use_an_operator_of_a_later_opset, "Gelu"),
    (remove_a_constant_that_is_read, "w"),
    (fail, "a defect of a pass"),
]


def model() -> onnx.ModelProto:
    return build(TEXT, {"w": [[1.0, 2.0, 3.0, 4.0]] * 3}, edit=as_floats)


def as_floats(model: onnx.ModelProto) -> None:
    tensor = model.graph.initializer[0]
    array = onnx.numpy_helper.to_array(tensor).astype("float32")
    tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))


@pytest.mark.parametrize(("wrong", "reason"), WRONG, ids=lambda item: getattr(item, "__name__", ""))
def test_a_wrong_pass_is_undone(wrong, reason, monkeypatch):
    def run(editor: Editor) -> None:
        editor.record_change(editor.nodes("Relu")[0], "changed")
        wrong(editor)

    monkeypatch.setattr(pipeline, "PASSES", {**pipeline.PASSES, "wrong": run})
    before = model()
    cleaned = clean(before, ["remove_identity", "wrong", "remove_dead"])
    undone = [entry for entry in cleaned.report.passes if entry.outcome == "undone"]
    assert [entry.name for entry in undone] == ["wrong"]
    assert reason in undone[0].reason
    after = cleaned.to_proto()
    assert signature(after) == signature(before)
    check_same(before, after, feeds(before), 0, 0)


def test_later_passes_run_on_what_was_before_a_wrong_one(monkeypatch):
    """A pass that is undone leaves no trace in the scopes, types and names that the next one sees."""

    def run(editor: Editor) -> None:
        editor.record_change(editor.nodes("Relu")[0], "changed")
        editor.new_constant(editor.model.graph, "k", editor.array(editor.model.graph.initializers["w"]))
        rename_an_output(editor)

    monkeypatch.setattr(pipeline, "PASSES", {**pipeline.PASSES, "wrong": run})
    before = build("g (float[N,3] x) => (float[N,3] y) { a = Identity(x) b = Neg(a) y = Relu(b) }", {})
    before.graph.initializer.append(model().graph.initializer[0])
    cleaned = clean(before, ["wrong", "remove_identity", "remove_dead"])
    after = cleaned.to_proto()
    assert {entry.outcome for entry in cleaned.report.passes if entry.name == "wrong"} == {"undone"}
    assert [item.op_type for item in after.graph.node] == ["Neg", "Relu"]
    assert [tensor.name for tensor in after.graph.initializer] == []
    check_same(before, after, feeds(before), 0, 0)
