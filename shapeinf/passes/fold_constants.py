"""`fold_constants`: nodes that compute small constants from constants become constants.

The contents are those of inference. Floats are folded where every runtime has the same bits: elements that are moved
or chosen, and results that need no rounding, or a single one, of operations that IEEE 754 defines.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir

from shapeinf.passes.editor import Editor, Skip
from shapeinf.passes.fold_shapes import INTEGERS, MAX_BYTES
from shapeinf.passes.known_values import KnownValues
from shapeinf.passes.numbers import FLOATS

_MOVES = frozenset(
    ["Concat", "ConstantOfShape", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Reshape"]
    + ["Slice", "Squeeze", "Tile", "Transpose", "Unsqueeze", "Where"]
)
"""Operators whose results are elements of their inputs or attributes."""

_EXACT = frozenset(["Add", "Sub", "Mul", "Div", "Neg", "Abs"])
"""Operators with a single rounding."""


def fold_constants(editor: Editor) -> None:
    """Fold in order, so that a folded node is a constant for the next one."""
    known = KnownValues.infer(editor.model)
    for scope in list(editor.scopes()):
        if editor.is_function(scope):
            continue
        for node in list(scope):
            if _is_candidate(editor, node, known):
                try:
                    _fold(editor, node, known)
                except Skip as reason:
                    editor.skip(node, reason)


def _is_candidate(editor: Editor, node: ir.Node, known: KnownValues) -> bool:
    if len(node.outputs) != 1 or node.op_type == "Constant" or not editor.is_operator(node, node.op_type):
        return False
    if node.outputs[0].is_graph_output() or node in known.requiring or known.array(node.outputs[0]) is None:
        return False
    return all(value is None or editor.is_constant(value) for value in node.inputs)


def _fold(editor: Editor, node: ir.Node, known: KnownValues) -> None:
    array: Any = known.array(node.outputs[0])
    inputs = [editor.array(value) for value in node.inputs if value is not None]
    if array.nbytes > MAX_BYTES + sum(item.nbytes for item in inputs):
        raise Skip("the result is larger than what it is computed from")
    if array.dtype.name not in INTEGERS:
        array = _exact_floats(node, array, inputs)
    editor.replace_by_constant(node, ir.Tensor(np.ascontiguousarray(array).reshape(np.shape(array))))
    editor.record_change(node, f"computed: {array.dtype.name}{list(array.shape)}")


def _exact_floats(node: ir.Node, array: Any, inputs: list[Any]) -> Any:
    """Floats that all runtimes compute alike. Raises Skip for others: contents have no sign of zero."""
    if array.dtype.name not in FLOATS:
        raise Skip(f"a result of {array.dtype.name} is not folded")
    for item in inputs:
        if item.dtype.name in FLOATS and not _is_plain(item):
            raise Skip("an input has a negative zero, or is not finite")
    if node.op_type in _MOVES:
        return array + array.dtype.type(0)  # a zero is positive
    if node.op_type not in _EXACT or array.dtype.name not in ("float32", "float64"):
        raise Skip(f"runtimes may round {node.op_type} in {array.dtype.name} differently")
    least = np.finfo(array.dtype).smallest_normal
    if not np.isfinite(array).all() or (np.abs(array) < least).any():
        raise Skip("a result is 0, smaller than normal numbers, or not finite")
    return array


def _is_plain(array: Any) -> bool:
    wide = array.astype(np.float64)
    return bool(np.isfinite(wide).all() and not np.signbit(wide[wide == 0]).any())
