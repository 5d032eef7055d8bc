"""A TensorFlow model annotated with inferred shapes: its own bytes, with `_output_shapes` on its nodes.

Source: `tensorflow/core/common_runtime/graph_constructor.cc`, which merges this attribute with the shapes that it
infers, and `GraphDef` as Python writes it with `add_shapes=True`. A dim that is no number is written as -1.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from shapeinf.errors import ModelError
from shapeinf.formats.annotation import Annotation, Info, inferred_functions
from shapeinf.formats.files import replace_file
from shapeinf.formats.protobuf.pieces import Piece, piece_bytes
from shapeinf.formats.protobuf.wire import Buffer, DamagedError
from shapeinf.formats.read_files import files_of
from shapeinf.formats.registry import Target
from shapeinf.formats.tf.printing import print_text
from shapeinf.formats.tf.rewriting import Rewriter, ShapeEdits
from shapeinf.formats.tf.source import OpenMessage, open_message
from shapeinf.graph import Graph
from shapeinf.lattice import Shape
from shapeinf.lattice.dtypes import HANDLES

TEXT_ENDINGS = (".pbtxt", ".prototxt", ".textproto")
BINARY_ENDINGS = (".pb", ".meta")
SAVED_MODEL = "saved_model"
MISDECLARED = {
    "Eig": (1,),
    "FractionalMaxPool": (1, 2),
    "FractionalAvgPool": (1, 2),
    "FusedBatchNormGrad": (3, 4),
    "FusedBatchNormGradV2": (3, 4),
    "FusedBatchNormGradV3": (3, 4),
}
"""Outputs whose shape functions in TensorFlow differ from the kernels: it would refuse the correct shapes."""


def write(graph: Graph, annotation: Annotation, target: Target) -> None:
    """Write the message that `graph` was read from. A file is replaced atomically.

    A SavedModel is written into the folder `target` (only its message, not its variables and assets), unless `target`
    has the suffix of a file. The suffix of `target` decides between text and binary form; without one the form stays.

    Raises ModelError for a graph that was not read from a file of TensorFlow's own forms, for a file that has changed
    since, for constants that are no nodes, and for assumptions, which the format cannot express.
    """
    missing = next((name for name in annotation.constants if name not in graph.constants), None)
    if missing is not None:
        raise ModelError("its contents cannot be rewritten", node=missing)
    if annotation.assumptions:
        raise ModelError(f"a TensorFlow graph cannot express {annotation.assumptions[0]}")
    with open_message(graph) as message:
        try:
            pieces = _pieces(message, collect_edits(graph, annotation))
        except (DamagedError, IndexError) as error:
            raise ModelError("the file has changed since it was read", node=graph.source) from error
        _save(message, pieces, target, files_of(graph).check)


def _pieces(message: OpenMessage, edits: ShapeEdits) -> list[Piece]:
    """The edited copy of a message."""
    rewriter, end = Rewriter(message.buffer, edits), len(message.buffer)
    if message.model.kind == "GraphDef":
        return rewriter.graph_def(0, end)
    if message.model.kind == "MetaGraphDef":
        return rewriter.meta_graph(0, end)
    return rewriter.saved_model(0, end, message.model.graph)


def _save(message: OpenMessage, pieces: Sequence[Piece], target: Target, check: Callable[[], None]) -> None:
    """Write the pieces, unless `check` raises when they are copied."""
    buffer, kind, is_text = message.buffer, message.model.kind, message.is_text
    if not isinstance(target, (str, os.PathLike)):
        if not is_text:
            raise ModelError("a binary model cannot be written to a stream of text: use a path")
        target.write(_print(buffer, pieces, kind, "<stream>"))
        return
    path, is_text = _path(os.fspath(target), kind, is_text)
    if is_text:
        text = _print(buffer, pieces, kind, path)
        with replace_file(path, check) as file:
            file.write(text.encode())
        return
    with replace_file(path, check) as file:
        file.writelines(piece_bytes(buffer, pieces))


def _print(buffer: Buffer, pieces: Sequence[Piece], kind: str, where: str) -> str:
    try:
        return print_text(b"".join(map(bytes, piece_bytes(buffer, pieces))), kind)
    except ModelError as error:
        raise ModelError(error.cause, node=where) from error


def _path(target: str, kind: str, is_text: bool) -> tuple[str, bool]:
    """The path of the message to write, and whether it is written in text form."""
    ending = os.path.splitext(target)[1].lower()
    if ending in (*TEXT_ENDINGS, *BINARY_ENDINGS) and not os.path.isdir(target):
        return target, ending in TEXT_ENDINGS
    if kind != "SavedModel":
        return target, is_text
    os.makedirs(target, exist_ok=True)
    return os.path.join(target, f"{SAVED_MODEL}.pbtxt" if is_text else f"{SAVED_MODEL}.pb"), is_text


def collect_edits(graph: Graph, annotation: Annotation) -> ShapeEdits:
    """The shapes that an annotation changes in a file."""
    inferred = inferred_functions(graph, annotation)
    functions = {
        key[1]: shapes
        for key, body in graph.functions.items()
        if key in inferred and (shapes := _node_shapes(body, annotation.functions[key], ()))
    }
    tensors = annotation.tensors
    outputs = {name: tensors[name].shape for name in graph.outputs if name in tensors}
    inputs = {name: info.shape for name, info in annotation.inputs.items() if info.shape.dims is not None}
    return ShapeEdits(
        _node_shapes(graph, tensors, graph.inputs),
        frozenset(map(_node_name, graph.inputs)),
        functions,
        {_node_name(name): shape for name, shape in inputs.items()},
        inputs,
        {name: shape for name, shape in outputs.items() if shape.dims is not None},
        {_node_name(name): tensor for name, tensor in annotation.constants.items()},
    )


def _node_shapes(graph: Graph, tensors: Mapping[str, Info], inputs: Sequence[str]) -> dict[str, list[Shape]]:
    """The shapes of the outputs of nodes, by node, if any of them is known; `inputs` are values of input nodes."""
    names: dict[str, Sequence[str]] = {_node_name(name): (name,) for name in (*inputs, *graph.constants)}
    shapes = {node: [_written_shape(tensors.get(value)) for value in values] for node, values in names.items()}
    for node in graph.nodes:
        shapes[node.name] = [_written_shape(tensors.get(value)) for value in node.outputs]
        for index in MISDECLARED.get(node.op, ()):
            shapes[node.name][index : index + 1] = [Shape.unknown()]
    return {node: known for node, known in shapes.items() if any(shape.dims is not None for shape in known)}


def _written_shape(info: Info | None) -> Shape:
    """The shape to write; unknown for handles, some of which TensorFlow declares as vectors of two elements."""
    return Shape.unknown() if info is None or info.dtype in HANDLES else info.shape


def _node_name(value: str) -> str:
    """The node of a value `node:k`."""
    return value.rpartition(":")[0]
