"""Edits shapes in TensorFlow's messages: annotations of nodes, and shapes of placeholders and signatures.

All other bytes stay, and weights are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import attrs

from shapeinf.errors import ModelError
from shapeinf.expr import DimSize
from shapeinf.formats.protobuf.pieces import Piece, edit_message, encode_bytes, message_pieces
from shapeinf.formats.protobuf.wire import BYTES, VARINT, Buffer, encode_tag, encode_varint, fields
from shapeinf.lattice import PartialTensor, Shape, numpy_dtype
from shapeinf.lattice.dtypes import DTYPES

OUTPUT_SHAPES = "_output_shapes"
PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"})
"""The operators of inputs with a declared shape."""

_CODES = {dtype.name: dtype.tf[1] for dtype in DTYPES if dtype.tf is not None}
_UNKNOWN_SIZE = encode_tag(1, VARINT) + encode_varint((1 << 64) - 1)
_UNKNOWN_RANK = encode_tag(3, VARINT) + b"\1"


@attrs.frozen
class ShapeEdits:
    """The edits of a file.

    Args:
        outputs: the shapes of all outputs of a node, by the node's name.
        inputs: the nodes that are inputs: placeholders, or any nodes whose values are inputs of a signature.
        functions: the same for the nodes of a function, by the name of the function.
        placeholders: the new declared shapes of graph inputs, by the node's name.
        signature_inputs: the new shapes of values that are inputs of signatures, by the value (`x:0`).
        signature_outputs: those of values that are outputs of signatures.
        constants: the new contents of constants, by the node's name.
    """

    outputs: Mapping[str, Sequence[Shape]]
    inputs: frozenset[str] = frozenset()
    functions: Mapping[str, Mapping[str, Sequence[Shape]]] = attrs.Factory(dict)
    placeholders: Mapping[str, Shape] = attrs.Factory(dict)
    signature_inputs: Mapping[str, Shape] = attrs.Factory(dict)
    signature_outputs: Mapping[str, Shape] = attrs.Factory(dict)
    constants: Mapping[str, PartialTensor] = attrs.Factory(dict)


class Rewriter:
    """Edits the messages of one file."""

    def __init__(self, buffer: Buffer, edits: ShapeEdits) -> None:
        """`buffer` is the binary form of the file."""
        self.buffer = buffer
        self.edits = edits
        self._shapes: dict[Shape, bytes] = {}

    def graph_def(self, pos: int, end: int) -> list[Piece]:
        """A GraphDef: its nodes, and those of its functions."""

        def edit(number: int, kind: int, start: int, stop: int) -> list[Piece] | None:
            if (number, kind) == (1, BYTES):
                return self._node(1, start, stop, self.edits.outputs, top=True)
            return message_pieces(2, self._library(start, stop)) if (number, kind) == (2, BYTES) else None

        return edit_message(self.buffer, pos, end, edit)

    def meta_graph(self, pos: int, end: int) -> list[Piece]:
        """A MetaGraphDef: its graph and its signatures."""

        def edit(number: int, kind: int, start: int, stop: int) -> list[Piece] | None:
            if (number, kind) == (2, BYTES):
                return message_pieces(2, self.graph_def(start, stop))
            return message_pieces(5, self._signature(start, stop)) if (number, kind) == (5, BYTES) else None

        return edit_message(self.buffer, pos, end, edit)

    def saved_model(self, pos: int, end: int, graph: tuple[int, int]) -> list[Piece]:
        """A SavedModel: the meta graph around the GraphDef that was read."""

        def edit(number: int, kind: int, start: int, stop: int) -> list[Piece] | None:
            is_read = (number, kind) == (2, BYTES) and start <= graph[0] and graph[1] <= stop
            return message_pieces(2, self.meta_graph(start, stop)) if is_read else None

        return edit_message(self.buffer, pos, end, edit)

    def _library(self, pos: int, end: int) -> list[Piece]:
        """A FunctionDefLibrary."""

        def edit(number: int, kind: int, start: int, stop: int) -> list[Piece] | None:
            return self._function(start, stop) if (number, kind) == (1, BYTES) else None

        return edit_message(self.buffer, pos, end, edit) if self.edits.functions else [(pos, end)]

    def _function(self, pos: int, end: int) -> list[Piece] | None:
        """A FunctionDef with annotated nodes; None for one that does not change."""
        signature = self._last(pos, end, 1)
        outputs = self.edits.functions.get(self._text(*signature, 1)) if signature is not None else None
        if not outputs:
            return None

        def edit(number: int, kind: int, start: int, stop: int) -> list[Piece] | None:
            return self._node(3, start, stop, outputs) if (number, kind) == (3, BYTES) else None

        return message_pieces(1, edit_message(self.buffer, pos, end, edit))

    def _node(
        self, number: int, pos: int, end: int, outputs: Mapping[str, Sequence[Shape]], *, top: bool = False
    ) -> list[Piece] | None:
        """A NodeDef, as a field of this number, with new attributes; None for one that does not change.

        Nodes of the graph itself (`top`) may be placeholders and constants that change.
        """
        name = self._text(pos, end, 1)
        if top and name in self.edits.inputs and self._text(pos, end, 2) not in PLACEHOLDERS:
            if name in self.edits.placeholders:
                raise ModelError("its shape cannot be declared: it is an input, but no placeholder", node=name)
            return None
        attributes: dict[str, bytes] = {}
        if name in outputs:
            shapes = b"".join(encode_bytes(7, self._encode(shape)) for shape in outputs[name])
            attributes[OUTPUT_SHAPES] = encode_bytes(1, shapes)
        if top and name in self.edits.placeholders:
            attributes["shape"] = encode_bytes(7, self._encode(self.edits.placeholders[name]))
        if top and name in self.edits.constants:
            attributes["value"] = encode_bytes(8, encode_tensor(self.edits.constants[name]))
        if not attributes:
            return None

        def edit(number: int, kind: int, start: int, stop: int) -> list[Piece] | None:
            is_replaced = (number, kind) == (5, BYTES) and self._text(start, stop, 1) in attributes
            return [] if is_replaced else None

        entries = [encode_bytes(1, key.encode()) + encode_bytes(2, value) for key, value in attributes.items()]
        pieces = edit_message(self.buffer, pos, end, edit)
        return message_pieces(number, [*pieces, *(encode_bytes(5, entry) for entry in entries)])

    def _signature(self, pos: int, end: int) -> list[Piece]:
        """An entry of the signatures: a SignatureDef with other shapes of its inputs and outputs."""
        shapes = {1: self.edits.signature_inputs, 2: self.edits.signature_outputs}

        def edit(number: int, kind: int, start: int, stop: int) -> list[Piece] | None:
            if number not in shapes or kind != BYTES:
                return None
            change = partial(self._tensor_info, shapes=shapes[number])
            return message_pieces(number, self._entry(start, stop, change))

        return self._entry(pos, end, partial(edit_message, self.buffer, edit=edit))

    def _entry(self, pos: int, end: int, change: Callable[[int, int], list[Piece]]) -> list[Piece]:
        """An entry of a map with a new value: `change` is called with the start and the end of the value."""

        def edit(number: int, kind: int, start: int, stop: int) -> list[Piece] | None:
            return message_pieces(2, change(start, stop)) if (number, kind) == (2, BYTES) else None

        return edit_message(self.buffer, pos, end, edit)

    def _tensor_info(self, pos: int, end: int, shapes: Mapping[str, Shape]) -> list[Piece]:
        """A TensorInfo with another shape."""
        name = self._text(pos, end, 1)
        shape = shapes.get(name if ":" in name else f"{name}:0")
        if shape is None:
            return [(pos, end)]

        def edit(number: int, kind: int, start: int, stop: int) -> list[Piece] | None:
            return [] if (number, kind) == (3, BYTES) else None

        return [*edit_message(self.buffer, pos, end, edit), encode_bytes(3, self._encode(shape))]

    def _encode(self, shape: Shape) -> bytes:
        encoded = self._shapes.get(shape)
        if encoded is None:
            encoded = self._shapes[shape] = encode_shape(shape)
        return encoded

    def _last(self, pos: int, end: int, field: int) -> tuple[int, int] | None:
        """The range of the value of a field; of several the last one counts."""
        spans = [(start, stop) for number, kind, start, stop in fields(self.buffer, pos, end) if number == field]
        return spans[-1] if spans else None

    def _text(self, pos: int, end: int, field: int) -> str:
        """The value of a text field; empty if it is absent."""
        span = next(
            (
                (start, stop)
                for number, kind, start, stop in fields(self.buffer, pos, end)
                if (number, kind) == (field, BYTES)
            ),
            (0, 0),
        )
        return self.buffer[slice(*span)].decode("utf-8", "replace")


def encode_tensor(tensor: PartialTensor) -> bytes:
    """The TensorProto of a tensor whose contents are known."""
    import numpy as np

    array = np.array(tensor.elements, numpy_dtype(tensor.dtype))
    data = array.astype(array.dtype.newbyteorder("<")).tobytes()
    code = encode_tag(1, VARINT) + encode_varint(_CODES[tensor.dtype or ""])
    return code + encode_bytes(2, encode_shape(tensor.shape)) + encode_bytes(4, data)


def encode_shape(shape: Shape) -> bytes:
    """The TensorShapeProto of a shape: an unknown or symbolic size is -1.

    >>> encode_shape(Shape((2, 0))).hex(" "), encode_shape(Shape.unknown()).hex(" ")
    ('12 02 08 02 12 00', '18 01')
    """
    return _UNKNOWN_RANK if shape.dims is None else b"".join(encode_bytes(2, _encode_dim(dim)) for dim in shape.dims)


def _encode_dim(dim: DimSize) -> bytes:
    if not isinstance(dim, int):
        return _UNKNOWN_SIZE
    return encode_tag(1, VARINT) + encode_varint(dim) if dim else b""
