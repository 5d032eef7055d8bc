"""The flat form of a document: operations in order, each with the position of its invocation."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from shapeinf.formats.nnef.evaluation.values import Value
from shapeinf.formats.nnef.language.types import INTEGER, LOGICAL, SCALAR, STRING, Primitive

PRIMITIVES: dict[str | None, Primitive] = {p.name: p for p in (INTEGER, SCALAR, LOGICAL, STRING)}
"""The types that a type argument may name."""

AXIS = "shape_of_axis"
"""An operation of our own: the extent of the axis `axis` of a tensor, as a tensor of rank 0.

With the attribute `known` nothing reads it: an expression made use of this extent, so the graph holds for no other.
"""

EXTENT = "extent_of_text"
"""An operation of our own: the extent that a text names (a constant, its only input), as a tensor of rank 0."""


@attrs.define(eq=False)
class Operation:
    """One operation of the graph.

    Args:
        op: the operation, as declared.
        inputs: its tensors in the order of the declaration, then the items of its arrays of tensors, then the tensors
            that its attributes consist of. A literal stands for itself, None for an omitted one.
        attributes: all other parameters, with defaults; shared among equal operations. Items that are known
            at run time only are `InputContents` an input.
        outputs: the names of its results; the items of an array one by one.
        type_argument: the type of `?` in its declaration, where no tensor among the inputs determines it.
        at: the offset of the invocation, in the innermost fragment that the document itself declares.
        calls: the offsets of the invocations around that, innermost first; long chains lack their middle.
    """

    op: str
    inputs: tuple[Value | None, ...]
    attributes: Mapping[str, object]
    outputs: tuple[str, ...]
    type_argument: Primitive | None
    at: int
    calls: tuple[int, ...] = ()
