"""The nodes of a graph and the declared types of its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import attrs
from attrs import Factory

Kind = Literal["tensor", "sequence", "optional", "map"]

FunctionKey = tuple[str, str, str]
"""Domain, name and overload of a function of a model."""


@attrs.frozen
class DeclaredType:
    """The declared type of a value: dims are ints, names or expressions as text, None where undeclared.

    `of` is the type of the elements of a sequence, an optional or a map, and of the value behind a tensor that is a
    handle; `dtype` of a map is that of its keys. `contents` are the elements of a tensor of integers, where these are
    numbers, names or expressions as dims are; its names may be negative. `strides` are the distances in memory of
    neighbors along each axis, in elements.
    """

    dtype: str | None = None
    dims: tuple[int | str | None, ...] | None = None
    kind: Kind = "tensor"
    of: DeclaredType | None = None
    contents: tuple[int | str | None, ...] | None = None
    strides: tuple[int | str | None, ...] | None = None


@attrs.frozen
class InputContents:
    """An attribute, or an item of an attribute, whose value is the contents of the input at this position."""

    input: int


@attrs.frozen
class InputReference:
    """An argument, or an item of one, that is the input at this position itself, as in a call with named arguments.

    A reader whose nodes have all arguments by name passes inputs so; the `connect` of the dialect replaces them.
    """

    input: int


@attrs.frozen
class FunctionReference:
    """An attribute that is a function of the model, with the attributes that it is called with."""

    function: FunctionKey
    attrs: Mapping[str, object] = Factory(dict)


@attrs.frozen(eq=False)
class NodeKind:
    """Operator, domain and attributes of a node. Readers share one among equal nodes of a file.

    Attributes are ints, floats, strings, tuples of these, `PartialTensor`, `Graph`, `FunctionReference`,
    `DeclaredType`, `InputContents` or `InputReference`. In the body of a function `references` names the
    attributes whose value is an attribute of the function. `repeated` names the attributes that the file sets twice,
    `invalid` those whose element type no value can have.
    """

    op: str
    domain: str = ""
    attrs: Mapping[str, object] = Factory(dict)
    overload: str = ""
    references: Mapping[str, str] = Factory(dict)
    repeated: tuple[str, ...] = ()
    invalid: tuple[str, ...] = ()


class Node(NamedTuple):
    """One operation. The empty name stands for an absent input or output.

    >>> Node.make("Relu", ("x",), ("y",)).op
    'Relu'
    """

    kind: NodeKind
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    name: str = ""

    @classmethod
    def make(
        cls,
        op: str,
        inputs: tuple[str, ...],
        outputs: tuple[str, ...],
        attrs: Mapping[str, object] | None = None,
        name: str = "",
        domain: str = "",
    ) -> Node:
        """A node with a kind of its own."""
        return cls(NodeKind(op, domain, attrs or {}), inputs, outputs, name)

    @property
    def op(self) -> str:
        """The operator."""
        return self.kind.op

    @property
    def domain(self) -> str:
        """The domain of the operator."""
        return self.kind.domain

    @property
    def attrs(self) -> Mapping[str, object]:
        """The attributes that the node sets."""
        return self.kind.attrs
