"""`fold_constants`: nodes that compute small constants from constants become constants.

Elements that are only moved are moved here. The contents of other results are those of inference; floats are folded
where every runtime has the same bits: results of a single operation that IEEE 754 defines, in float32 and float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir

from shapeinf.passes.editor import Editor, Skip
from shapeinf.passes.fold_shapes import INTEGERS, MAX_BYTES
from shapeinf.passes.known_values import KnownValues
from shapeinf.passes.moves import move
from shapeinf.passes.numbers import FLOATS
from shapeinf.passes.outline import MAX_CONTENTS

_EXACT = frozenset(["Abs", "Add", "ConstantOfShape", "Div", "Expand", "Mul", "Neg", "Sub", "Where"])
"""Operators whose results runtimes round alike, once."""


def fold_constants(editor: Editor) -> None:
    """Fold in order, so that a folded node is a constant for the next one."""
    known = KnownValues.of(editor)
    for scope in list(editor.scopes()):
        for node in list(scope):
            if _is_candidate(editor, node, known):
                try:
                    _fold(editor, node, known)
                except Skip as reason:
                    editor.skip(node, reason)


def _is_candidate(editor: Editor, node: ir.Node, known: KnownValues) -> bool:
    """Whether a node has inputs, all of which are small constants, and an output of a known shape."""
    if len(node.outputs) != 1 or not node.inputs or not editor.is_operator(node, node.op_type):
        return False
    result = node.outputs[0]
    if result.is_graph_output() or node in known.requiring or editor.is_annotated(result):
        return False
    if any(use.node in known.failing for use in result.uses()):
        return False
    dims = known.dims(result)
    if dims is None or not all(isinstance(size, int) for size in dims):
        return False
    return all(value is None or _is_small(editor, value) for value in node.inputs)


def _is_small(editor: Editor, value: ir.Value) -> bool:
    if not editor.is_constant(value) or value.const_value is None or value.const_value.nbytes > MAX_CONTENTS:
        return False
    return editor.dtype(value) in (*INTEGERS, *FLOATS)


def _fold(editor: Editor, node: ir.Node, known: KnownValues) -> None:
    result = node.outputs[0]
    inputs = [None if value is None else editor.array(value) for value in node.inputs]
    shape = tuple(size for size in known.dims(result) or () if isinstance(size, int))
    array: Any = move(node, inputs, shape)
    if array is None:
        array = known.array(result)
        if array is None:
            return
        if array.dtype.name not in INTEGERS:
            _check_exact(node, array, inputs)
    if array.nbytes > MAX_BYTES + sum(item.nbytes for item in inputs if item is not None):
        raise Skip("the result is larger than what it is computed from")
    editor.replace_by_constant(node, ir.Tensor(np.ascontiguousarray(array).reshape(np.shape(array))))
    editor.record_change(node, f"computed: {array.dtype.name}{list(array.shape)}")


def _check_exact(node: ir.Node, array: Any, inputs: list[Any]) -> None:
    """Raise Skip for floats that runtimes may compute differently. Contents do not have the sign of a zero."""
    if node.op_type not in _EXACT or array.dtype.name not in ("float32", "float64"):
        raise Skip(f"runtimes may round {node.op_type} in {array.dtype.name} differently")
    least = np.finfo(array.dtype).smallest_normal
    for item in (array, *(item for item in inputs if item is not None and item.dtype.name in FLOATS)):
        if not np.isfinite(item).all() or (np.abs(item) < least).any():
            raise Skip("a number is 0, smaller than normal numbers, or not finite")
