"""Nodes that return one of their inputs, element for element, at every size."""

from __future__ import annotations

from collections.abc import Callable

import onnx_ir as ir

from shapeinf.passes.known_values import KnownValues

VIEWS = frozenset(["Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"])
"""Operators whose output has the elements of the first input in the same order."""

MAX_VIEWS = 64
"""The most views in a row that are followed."""


def is_view(node: ir.Node, known: KnownValues) -> bool:
    """Whether the output of a node has the elements of its first input in the same order."""
    if node.domain != "" or not node.inputs:
        return False
    return node.op_type in VIEWS or (node.op_type == "Transpose" and _moves_units(node, known))


def _moves_units(node: ir.Node, known: KnownValues) -> bool:
    """Whether a Transpose leaves the axes in order, apart from those of size 1."""
    x, perm = known.dims(node.inputs[0]), node.attributes.get_ints("perm", None)
    if x is None or perm is None or sorted(perm) != list(range(len(x))):
        return False
    others = [axis for axis in perm if x[axis] != 1]
    return others == sorted(others)


def source_of(node: ir.Node, known: KnownValues) -> ir.Value | None:
    """The value that a node returns, of the same shape; it is an input, or what an input is a view of."""
    if is_view(node, known):
        return _viewed(node, known)
    returned = _RETURNED.get(node.op_type)
    return None if returned is None else returned(node, known)


def _viewed(node: ir.Node, known: KnownValues) -> ir.Value | None:
    """The furthest value with the shape of the output of a view that nothing but views lies between."""
    shape = known.dims(node.outputs[0])
    furthest = None
    view: ir.Node | None = node
    for _ in range(MAX_VIEWS):
        if view is None or not is_view(view, known) or view in known.requiring:
            break
        source = view.inputs[0]
        if source is None or view.graph is not node.graph:
            break
        if shape is not None and known.dims(source) == shape:
            furthest = source
        view = source.producer()
    return furthest


def _keeps_shape(node: ir.Node, known: KnownValues, index: int = 0) -> ir.Value | None:
    """An input, where the output has its shape."""
    source = node.inputs[index]
    shape = known.dims(source)
    return source if shape is not None and shape == known.dims(node.outputs[0]) else None


def _expand(node: ir.Node, known: KnownValues) -> ir.Value | None:
    return _keeps_shape(node, known)


def _slice(node: ir.Node, known: KnownValues) -> ir.Value | None:
    """A part of the size of the whole is the whole, unless it is reversed."""
    if len(node.inputs) > 4 and node.inputs[4] is not None:
        steps = known.elements(node.inputs[4])
        if steps is None or any(step != 1 for step in steps):
            return None
    return _keeps_shape(node, known)


def _concat(node: ir.Node, known: KnownValues) -> ir.Value | None:
    return node.inputs[0] if len(node.inputs) == 1 else None


def _pad(node: ir.Node, known: KnownValues) -> ir.Value | None:
    pads = known.elements(node.inputs[1]) if len(node.inputs) > 1 else None
    return _keeps_shape(node, known) if pads is not None and all(pad == 0 for pad in pads) else None


def _where(node: ir.Node, known: KnownValues) -> ir.Value | None:
    """The operand that a condition chooses everywhere."""
    truths = known.elements(node.inputs[0])
    if truths and all(truth is True for truth in truths):
        return _keeps_shape(node, known, 1)
    return _keeps_shape(node, known, 2) if truths and all(truth is False for truth in truths) else None


def _product(node: ir.Node, known: KnownValues) -> ir.Value | None:
    """The other factor of a product with 1. No float changes: what is rounded is a float already."""
    for index, other in ((0, 1), (1, 0)):
        if _is_all(node, known, other, 1):
            return _keeps_shape(node, known, index)
    return None


def _quotient(node: ir.Node, known: KnownValues) -> ir.Value | None:
    return _keeps_shape(node, known) if _is_all(node, known, 1, 1) else None


def _sum(node: ir.Node, known: KnownValues) -> ir.Value | None:
    """The other addend of a sum of integers with 0. A sum of floats may change the sign of a zero."""
    if (known.types[node.outputs[0]].dtype or "float").startswith(("float", "bfloat", "complex")):
        return None
    for index, other in ((0, 1), (1, 0)):
        if _is_all(node, known, other, 0):
            return _keeps_shape(node, known, index)
    return None


def _difference(node: ir.Node, known: KnownValues) -> ir.Value | None:
    integers = not (known.types[node.outputs[0]].dtype or "float").startswith(("float", "bfloat", "complex"))
    return _keeps_shape(node, known) if integers and _is_all(node, known, 1, 0) else None


def _is_all(node: ir.Node, known: KnownValues, index: int, number: int) -> bool:
    """Whether every element of an input is a number."""
    elements = known.elements(node.inputs[index])
    return bool(elements) and all(element == number for element in elements or ())


_RETURNED: dict[str, Callable[[ir.Node, KnownValues], ir.Value | None]] = {
    "Add": _sum,
    "Concat": _concat,
    "Div": _quotient,
    "Expand": _expand,
    "Mul": _product,
    "Pad": _pad,
    "Slice": _slice,
    "Sub": _difference,
    "Tile": _expand,
    "Where": _where,
}
"""What finds the input that a node returns, by operator."""
