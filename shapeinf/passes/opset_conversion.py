"""Edits of nodes for a higher opset: attributes that became inputs, operators that were replaced.

`CONVERTERS` has every change of an operator between opset 6 and 18 after which an unchanged node is invalid or has
another meaning (ONNX's Changelog.md). A converter returns the edit, or None where the node stays as it is; it raises
Skip where the node has no equivalent in the new opset.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import onnx.defs
import onnx_ir as ir

from shapeinf.lattice.types import numpy_dtype
from shapeinf.passes.editor import Converter, Edit, Editor, Skip
from shapeinf.passes.opset_7_conversion import CONVERTERS_7
from shapeinf.passes.schemas import fits_schema

FIRST, LAST = 6, 18
"""The lowest opset that may rise, and the highest one."""


@cache
def versions(operator: str) -> tuple[int, ...]:
    """The opsets in which an operator of ONNX changed, in order."""
    history = onnx.defs.get_all_schemas_with_history()
    return tuple(sorted({s.since_version for s in history if s.name == operator and s.domain == ""}))


def edits(editor: Editor, node: ir.Node, target: int) -> list[Edit]:
    """The edits of a node for a rise to opset `target`. Raises Skip where its meaning would change."""
    crossed = [version for version in versions(node.op_type) if editor.opset < version <= target]
    converters = [CONVERTERS[node.op_type, version] for version in crossed if (node.op_type, version) in CONVERTERS]
    if converters and not fits_schema(node, editor.opset):
        raise Skip(f"a {node.op_type} does not fit its schema")
    planned = [convert(editor, node) for convert in converters]
    return [edit for edit in planned if edit is not None]


def conversion_opset(node: ir.Node) -> int | None:
    """The opset in which attributes of a node became inputs, or its operator was replaced; None for other nodes."""
    version = CONVERTED_IN.get(node.op_type)
    if node.op_type == "Resize":
        return version
    attributes = _REPLACED_ATTRIBUTES.get(node.op_type, ("axes",))
    return version if node.op_type == "Upsample" or any(name in node.attributes for name in attributes) else None


_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")
CONVERTED_IN: Mapping[str, int] = {
    "Slice": 10,
    "Clip": 11,
    "Pad": 11,
    "Dropout": 12,
    "Squeeze": 13,
    "Unsqueeze": 13,
    "Split": 13,
    "ReduceSum": 13,
    **{f"Reduce{name}": 18 for name in _REDUCTIONS},
    "BatchNormalization": 9,
    "Upsample": 11,
    "Resize": 11,
}
"""The opset from which on each operator has other inputs, or another operator replaces it."""

_REPLACED_ATTRIBUTES = {
    "Slice": ("starts",),
    "Clip": ("min", "max"),
    "Pad": ("pads",),
    "Dropout": ("ratio",),
    "Split": ("split",),
    "BatchNormalization": ("spatial",),
}
"""The attributes that each operator no longer has then; `axes` where none are listed."""


# -- converters ----------------------------------------------------------------------------------------------------


def _to_inputs(*names: str) -> Converter:
    """A converter that makes attributes of integers inputs, in this order after the first; the last may be absent."""

    def convert(editor: Editor, node: ir.Node) -> Edit | None:
        if names[0] not in node.attributes:
            return None

        def edit() -> None:
            for index, name in enumerate(names, 1):
                if name in node.attributes:
                    values = np.array(node.attributes.pop(name).as_ints(), np.int64)
                    editor.set_input(node, index, editor.constant_input(node, name, values))

        return edit

    return convert


def _count_to_input(editor: Editor, node: ir.Node) -> Edit:
    def edit() -> None:
        count = np.array([node.attributes.pop("k").as_int()], np.int64)
        editor.set_input(node, 1, editor.constant_input(node, "k", count))

    return edit


def _numbers_to_inputs(editor: Editor, node: ir.Node, names: tuple[str, ...], first: int) -> Edit | None:
    """The edit that makes attributes of numbers scalar inputs, of the element type of the data, from `first` on."""
    if not any(name in node.attributes for name in names):
        return None
    dtype = numpy_dtype(editor.dtype(node.inputs[0]))
    if dtype is None:
        raise Skip(f"the element type of the input of {node.op_type} is unknown")

    def edit() -> None:
        for index, name in enumerate(names, first):
            if name in node.attributes:
                number = np.asarray(node.attributes.pop(name).as_float()).astype(dtype)
                editor.set_input(node, index, editor.constant_input(node, name, number))

    return edit


def _clip(editor: Editor, node: ir.Node) -> Edit | None:
    """In both opsets, an absent bound is that of the element type."""
    return _numbers_to_inputs(editor, node, ("min", "max"), 1)


def _pad(editor: Editor, node: ir.Node) -> Edit | None:
    pads = _to_inputs("pads")(editor, node)
    value = _numbers_to_inputs(editor, node, ("value",), 2)

    def edit() -> None:
        for step in (pads, value):
            if step is not None:
                step()

    return edit


def _dropout_ratio(editor: Editor, node: ir.Node) -> Edit:
    mask = _dropout_mask(editor, node)

    def edit() -> None:
        if mask is not None:
            mask()
        if "ratio" in node.attributes:
            ratio = np.asarray(node.attributes.pop("ratio").as_float(), np.float32)
            editor.set_input(node, 1, editor.constant_input(node, "ratio", ratio))

    return edit


def _dropout_mask(editor: Editor, node: ir.Node) -> Edit | None:
    if len(node.outputs) < 2:
        return None
    if node.outputs[1].uses() or node.outputs[1].is_graph_output():
        raise Skip("the mask of Dropout has another element type from opset 10 on, and other values from 12 on")

    def edit() -> None:
        node.resize_outputs(1)

    return edit


def _batch_norm_spatial(editor: Editor, node: ir.Node) -> Edit | None:
    if not node.attributes.get_int("spatial", 1):
        raise Skip("BatchNormalization with spatial=0 has no equivalent from opset 9 on")

    def edit() -> None:
        node.attributes.pop("spatial", None)

    return edit


def _batch_norm_outputs(editor: Editor, node: ir.Node) -> None:
    if sum(bool(output.name) for output in node.outputs) > 1:
        raise Skip("BatchNormalization in training has other outputs from opset 14 on")


def _softmax(editor: Editor, node: ir.Node) -> Edit:
    """Before opset 13, all axes from `axis` on are flattened: the same as `axis` alone only if it is the last one."""
    shape = editor.shape(node.inputs[0])
    axis = node.attributes.get_int("axis", 1)
    if axis != -1 and (shape.dims is None or axis % max(len(shape.dims), 1) != len(shape.dims) - 1):
        raise Skip(f"{node.op_type} flattens the axes from {axis} on, which it does not from opset 13 on")

    def edit() -> None:
        node.attributes["axis"] = ir.AttrInt64("axis", -1)

    return edit


def _set_text(name: str, text: str) -> Converter:
    def convert(editor: Editor, node: ir.Node) -> Edit:
        def edit() -> None:
            node.attributes[name] = ir.AttrString(name, text)

        return edit

    return convert


def _rename(operator: str) -> Converter:
    def convert(editor: Editor, node: ir.Node) -> Edit:
        def edit() -> None:
            node.op_type = operator

        return edit

    return convert


def _refuse(reason: str) -> Converter:
    def convert(editor: Editor, node: ir.Node) -> None:
        raise Skip(reason)

    return convert


def _conv_transpose(editor: Editor, node: ir.Node) -> None:
    if "output_shape" in node.attributes or node.attributes.get_string("auto_pad", "NOTSET").startswith("SAME"):
        raise Skip("ConvTranspose with an output shape or SAME pads differently from opset 11 on")


def _split_equally(editor: Editor, node: ir.Node) -> Edit | None:
    if "split" in node.attributes or (len(node.inputs) > 1 and node.inputs[1] is not None):
        return None

    def edit() -> None:
        node.attributes["num_outputs"] = ir.AttrInt64("num_outputs", len(node.outputs))

    return edit


def _scales_to_input(editor: Editor, node: ir.Node) -> Edit:
    def edit() -> None:
        scales = np.array(node.attributes.pop("scales").as_floats(), np.float32)
        editor.set_input(node, 1, editor.constant_input(node, "scales", scales))

    return edit


def _to_resize(editor: Editor, node: ir.Node) -> Edit:
    """Upsample and Resize of opset 10 have asymmetric coordinates, and nearest rounds down.

    Opset 10 does not specify how nearest rounds where an axis shrinks, and runtimes differ: such a node stays.
    """
    mode = node.attributes.get_string("mode", "nearest")
    scales = node.inputs[1] if len(node.inputs) > 1 else None
    if mode == "nearest" and editor.is_constant(scales) and (editor.array(scales) < 1).any():
        raise Skip("Resize of opset 10 does not specify how nearest rounds where an axis shrinks")

    def edit() -> None:
        factors = node.inputs[1]  # after the edit for opset 9
        roi = editor.constant_input(node, "roi", np.zeros(0, np.float32))
        node.op_type = "Resize"
        node.attributes["mode"] = ir.AttrString("mode", "linear" if mode == "bilinear" else mode)
        node.attributes["coordinate_transformation_mode"] = ir.AttrString(
            "coordinate_transformation_mode", "asymmetric"
        )
        node.attributes["nearest_mode"] = ir.AttrString("nearest_mode", "floor")
        node.resize_inputs(3)
        node.replace_input_with(1, roi)
        node.replace_input_with(2, factors)

    return edit


def _resize_modes(editor: Editor, node: ir.Node) -> None:
    if node.attributes.get_string("coordinate_transformation_mode", "") == "tf_half_pixel_for_nn":
        raise Skip("Resize does not have the mode tf_half_pixel_for_nn from opset 13 on")


def _resize_inputs(editor: Editor, node: ir.Node) -> None:
    if sum(value is not None for value in node.inputs[2:4]) > 1:
        raise Skip("Resize has scales and sizes, of which one may be present from opset 18 on")


CONVERTERS: Mapping[tuple[str, int], Converter] = {
    **CONVERTERS_7,
    ("Slice", 10): _to_inputs("starts", "ends", "axes"),
    ("TopK", 10): _count_to_input,
    ("Clip", 11): _clip,
    ("Pad", 11): _pad,
    ("Dropout", 10): _dropout_mask,
    ("Dropout", 12): _dropout_ratio,
    ("Squeeze", 13): _to_inputs("axes"),
    ("Unsqueeze", 13): _to_inputs("axes"),
    ("Split", 13): _to_inputs("split"),
    ("Split", 18): _split_equally,
    ("ReduceSum", 13): _to_inputs("axes"),
    **{(f"Reduce{name}", 18): _to_inputs("axes") for name in _REDUCTIONS},
    ("BatchNormalization", 9): _batch_norm_spatial,
    ("BatchNormalization", 14): _batch_norm_outputs,
    ("Upsample", 9): _scales_to_input,
    ("Upsample", 10): _to_resize,
    ("Resize", 11): _to_resize,
    ("Resize", 13): _resize_modes,
    ("Resize", 18): _resize_inputs,
    **{(name, 13): _softmax for name in ("Softmax", "LogSoftmax", "Hardmax")},
    ("RoiAlign", 16): _set_text("coordinate_transformation_mode", "output_half_pixel"),
    ("Scatter", 11): _rename("ScatterElements"),
    ("Scan", 9): _refuse("Scan has no batch axis from opset 9 on"),
    ("OneHot", 11): _refuse("negative indices of OneHot have another meaning from opset 11 on"),
    ("ConvTranspose", 11): _conv_transpose,
}
"""The converter of each change, by operator and opset."""
