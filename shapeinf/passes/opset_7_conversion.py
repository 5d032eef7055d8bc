"""Edits of nodes for opset 7, from which on operators broadcast as numpy does, and the attributes of modes are gone."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from shapeinf.passes.editor import Converter, Edit, Editor, Skip

BROADCASTING = ("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor")


def _remove(node: ir.Node, *names: str) -> Edit:
    """The edit that removes attributes."""

    def edit() -> None:
        for name in names:
            node.attributes.pop(name, None)

    return edit


def _broadcast(editor: Editor, node: ir.Node) -> Edit:
    """Before opset 7, the second operand has the axes of the first from `axis` on, or its last ones."""
    plain = _remove(node, "broadcast", "axis")
    if not node.attributes.get_int("broadcast", 0) or "axis" not in node.attributes:
        return plain
    missing = _axes_behind(editor, node, node.attributes.get_int("axis", 0))
    return _with_axes_of_size_1(editor, node, missing, plain) if missing else plain


def _axes_behind(editor: Editor, node: ir.Node, first: int) -> int:
    """The number of axes of the first operand behind those of the second, whose first axis is `first`."""
    a, b = (editor.shape(value) for value in node.inputs)
    if b.dims is not None and all(d == 1 for d in b.dims):
        return 0
    if a.dims is None or b.dims is None:
        raise Skip(f"a {node.op_type} broadcasts from axis {first} on, and the rank of an operand is unknown")
    behind = len(a.dims) - len(b.dims) - (first if first >= 0 else first + len(a.dims))
    if behind < 0:
        raise Skip(f"the second operand of a {node.op_type} has axes that the first lacks")
    return behind


def _with_axes_of_size_1(editor: Editor, node: ir.Node, count: int, edit: Edit) -> Edit:
    """The edit, after `count` axes of size 1 are added to the second operand. Raises Skip if it is no constant."""
    array = editor.array(node.inputs[1])
    hint = node.inputs[1].name if node.inputs[1] is not None else None

    def add_axes() -> None:
        aligned = array.reshape((*array.shape, *(1,) * count))
        editor.set_input(node, 1, editor.constant_input(node, hint or "operand", aligned))
        edit()

    return add_axes


def _prelu(editor: Editor, node: ir.Node) -> Edit | None:
    """Before opset 7, a slope of several elements has one for each channel, of which the axis is 1."""
    x, slope = (editor.shape(value) for value in node.inputs)
    if slope.dims is not None and all(d == 1 for d in slope.dims):
        return None
    if x.dims is None or slope.dims is None or len(slope.dims) != 1 or len(x.dims) < 2:
        raise Skip("PRelu has a slope per channel before opset 7, and a rank is unknown or the slope is not a vector")
    missing = len(x.dims) - 2
    return _with_axes_of_size_1(editor, node, missing, _remove(node)) if missing else None


def _inference_only(editor: Editor, node: ir.Node) -> Edit:
    """`is_test` is gone: both operators infer."""
    if not node.attributes.get_int("is_test", 0):
        raise Skip(f"{node.op_type} trains before opset 7 unless is_test is set")
    return _remove(node, "is_test")


def _sequence_output(editor: Editor, node: ir.Node) -> Edit:
    """Without `output_sequence`, the first output may be missing; from opset 7 on it is where it has a name."""
    if node.outputs and node.outputs[0].name and not node.attributes.get_int("output_sequence", 0):
        raise Skip(f"{node.op_type} has no first output before opset 7 unless output_sequence is set")
    return _remove(node, "output_sequence")


def _gemm(editor: Editor, node: ir.Node) -> Edit:
    """C broadcasts as numpy does in both opsets."""
    return _remove(node, "broadcast")


def _upsample(editor: Editor, node: ir.Node) -> None:
    raise Skip("Upsample has scales for two axes before opset 7")


CONVERTERS_7: Mapping[tuple[str, int], Converter] = {
    **{(name, 7): _broadcast for name in BROADCASTING},
    **{(name, 7): _sequence_output for name in ("GRU", "LSTM", "RNN")},
    ("BatchNormalization", 7): _inference_only,
    ("Dropout", 7): _inference_only,
    ("Gemm", 7): _gemm,
    ("PRelu", 7): _prelu,
    ("Upsample", 7): _upsample,
}
"""The converter of each change in opset 7."""
