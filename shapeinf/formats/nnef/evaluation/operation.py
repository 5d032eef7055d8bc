"""Operations, the flat form of a document, each with the position of its invocation."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from shapeinf.formats.nnef.evaluation.values import Value
from shapeinf.formats.nnef.language.types import INTEGER, LOGICAL, SCALAR, STRING, Primitive

PRIMITIVES: dict[str | None, Primitive] = {p.name: p for p in (INTEGER, SCALAR, LOGICAL, STRING)}
"""The types that a type argument may name."""

AXIS = "shape_of_axis"
"""An operation that only shapeinf has: the extent of the axis `axis` of a tensor, as a tensor of rank 0.

One with the attribute `known` has no consumer: an expression used this extent, so the graph is valid for no other.
"""

EXTENT = "extent_of_text"
"""An operation that only shapeinf has: the extent whose name or expression is its input, as a tensor of rank 0."""


@attrs.define(eq=False)
class Operation:
    """One operation of the graph.

    Args:
        op: the operation, as declared.
        inputs: its tensors in the order of the declaration, then the items of its arrays of tensors, then the tensors
            in its attributes. A literal is an input itself, None stands for an omitted tensor.
        attributes: all other parameters, with defaults; equal operations share them. An item that is known only at
            run time is `InputContents` of an input.
        outputs: the names of its results; the items of an array one by one.
        type_argument: the type argument, if no tensor among the inputs determines it.
        at: the offset of the invocation, in the innermost fragment that the document declares.
        calls: the offsets of the invocations around it, innermost first; the middle of long chains is omitted.
    """

    op: str
    inputs: tuple[Value | None, ...]
    attributes: Mapping[str, object]
    outputs: tuple[str, ...]
    type_argument: Primitive | None
    at: int
    calls: tuple[int, ...] = ()
