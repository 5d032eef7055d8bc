"""Computes the Cast of a constant, and removes a Cast to the type that the tensor has.

Numbers are converted as ONNX's Cast does. Conversions whose result runtimes may differ in are left alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from shapeinf.lattice.dtypes import KINDS, ONNX_NAMES
from shapeinf.lattice.types import numpy_dtype
from shapeinf.passes.editor import Editor, Leave
from shapeinf.passes.numbers import FLOATS, nearest

_WIDTHS = frozenset(["bool", *FLOATS, *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))])


def fold_cast(editor: Editor) -> None:
    """Fold every Cast of a constant, and bypass those that change no type."""
    for node in editor.nodes("Cast"):
        try:
            _fold(editor, node)
        except Leave as reason:
            source = node.inputs[0]
            if source is None or source.is_initializer() or editor.dtype(source) == _target(node):
                editor.leave(node, reason)


def _target(node: ir.Node) -> str | None:
    return ONNX_NAMES.get(node.attributes.get_int("to", 0))


def _fold(editor: Editor, node: ir.Node) -> None:
    source, result = node.inputs[0], node.outputs[0]
    target = _target(node)
    if source is None or target is None:
        raise Leave("its target type is unknown")
    if editor.dtype(source) == target:
        editor.bypass(node, source)
        editor.record_change(node, f"removed: {target} already")
        return
    array = editor.array(source)
    if result.is_graph_output():
        raise Leave("its result is an output")
    tensor = ir.Tensor(cast(array, target))
    editor.replace_by_constant(node, tensor)
    editor.record_change(node, f"computed: {target}")


def cast(array: npt.NDArray[Any], target: str) -> npt.NDArray[Any]:
    """An array converted as ONNX's Cast does. Raises Leave where the specification leaves the result open."""
    source = array.dtype.name
    if source not in _WIDTHS or target not in _WIDTHS:
        raise Leave(f"{source} to {target} is not computed here")
    if target == "bool":
        return np.asarray(array != 0)
    if source in FLOATS and KINDS[target] == "integer":
        return _to_integer(array.astype(np.float64), target)
    if target not in FLOATS:
        return array.astype(target)
    return _to_float(array, target)


def _to_integer(numbers: npt.NDArray[np.float64], target: str) -> npt.NDArray[Any]:
    limits = np.iinfo(target)
    truncated = np.trunc(numbers)
    inside = (truncated >= float(limits.min)) & (truncated < float(limits.max) + (limits.bits < 64))
    if not inside.all():
        raise Leave(f"a number does not fit {target}")
    return truncated.astype(target)


def _to_float(array: npt.NDArray[Any], target: str) -> npt.NDArray[Any]:
    kind = numpy_dtype(target)
    assert kind is not None
    wide = array.astype(np.float64)
    if target in ("float32", "float64"):
        with np.errstate(over="ignore"):
            return array.astype(kind)
    once = nearest(kind, wide)
    with np.errstate(over="ignore"):
        twice = nearest(kind, array.astype(np.float32).astype(np.float64))
    if once.tobytes() != twice.tobytes():  # runtimes convert by way of float32
        raise Leave(f"a number is rounded differently to {target} by way of float32")
    return once
