"""`fold_cast`: the Cast of a constant becomes a constant; a Cast to the type of its input is removed.

Numbers are converted as ONNX specifies. A Cast that runtimes may compute differently stays unchanged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from shapeinf.lattice.dtypes import KINDS, ONNX_NAMES
from shapeinf.lattice.types import numpy_dtype
from shapeinf.passes.editor import Editor, Skip
from shapeinf.passes.numbers import FLOATS, round_once

_WIDTHS = frozenset(["bool", *FLOATS, *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))])


def fold_cast(editor: Editor) -> None:
    """Fold every Cast of a constant, and bypass those that change no type."""

    def is_candidate(node: ir.Node) -> bool:
        source = node.inputs[0]
        return source is None or source.is_initializer() or editor.dtype(source) == _target(node)

    editor.rewrite_nodes("Cast", _fold, is_candidate)


def _target(node: ir.Node) -> str | None:
    return ONNX_NAMES.get(node.attributes.get_int("to", 0))


def _fold(editor: Editor, node: ir.Node) -> None:
    source, result = node.inputs[0], node.outputs[0]
    target = _target(node)
    if source is None or target is None:
        raise Skip("its target type is unknown")
    if editor.dtype(source) == target:
        editor.bypass(node, source)
        editor.record_change(node, f"removed: {target} already")
        return
    array = editor.array(source)
    if result.is_graph_output():
        raise Skip("its result is an output")
    tensor = ir.Tensor(cast(array, target))
    editor.replace_by_constant(node, tensor)
    editor.record_change(node, f"computed: {target}")


def cast(array: npt.NDArray[Any], target: str) -> npt.NDArray[Any]:
    """An array converted as ONNX's Cast does. Raises Skip where the result is not specified, or runtimes differ."""
    source = array.dtype.name
    if source not in _WIDTHS or target not in _WIDTHS:
        raise Skip(f"a Cast of {source} to {target} is not folded")
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
        raise Skip(f"a number does not fit into {target}")
    return truncated.astype(target)


def _to_float(array: npt.NDArray[Any], target: str) -> npt.NDArray[Any]:
    kind = numpy_dtype(target)
    assert kind is not None
    wide = array.astype(np.float64)
    if target in ("float32", "float64"):
        with np.errstate(over="ignore"):
            return array.astype(kind)
    once = round_once(kind, wide)
    with np.errstate(over="ignore"):
        twice = round_once(kind, array.astype(np.float32).astype(np.float64))
    if once.tobytes() != twice.tobytes():  # runtimes convert by way of float32
        raise Skip(f"a number is rounded differently to {target} by way of float32")
    return once
