"""The graph of a PNNX network."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import LimitError, ModelError, UnknownFormatError
from shapeinf.formats.files import check_path, open_regular
from shapeinf.formats.pnnx.codes import WRONG_COUNT
from shapeinf.formats.pnnx.document import ARGUMENT, CONSTANT, INPUT, OUTPUT, TUPLE, WEIGHT, Document, Operator, parse
from shapeinf.formats.pnnx.sniffing import is_companion, is_ncnn, is_network_text, network_hint, weights_path
from shapeinf.formats.pnnx.values import TensorText
from shapeinf.formats.pnnx.weights import defer_contents
from shapeinf.graph import DeclaredType, Graph, InputContents, Node, NodeKind
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.texts import format_count

MAX_BYTES = 1 << 25
"""Bytes of a network, some 150,000 operators."""


def read(model: Any) -> Graph:
    """Read a path, the bytes of a file or its text.

    Raises ModelError for a malformed network, UnknownFormatError for a file of ncnn or another file that PNNX writes,
    LimitError past a limit.
    """
    if isinstance(model, bytes):
        return build(_parse(_decode(model, "<bytes>"), "<bytes>"))
    if isinstance(model, str) and is_network_text(model):
        return build(_parse(model, "<text>"))
    if not isinstance(model, (str, os.PathLike)):
        raise UnknownFormatError(f"a {type(model).__name__} is not a network of PNNX: pass a path, a text, or bytes")
    path = check_path(model)
    if is_companion(path):
        raise UnknownFormatError(f"is not a network: {network_hint(path)}", node=path)
    graph = build(_parse(_decode(_read_file(path), path), path, path), weights_path(path))
    graph.source = path
    return graph


def _read_file(path: str) -> bytes:
    try:
        with open_regular(path, pipe=True) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", node=path) from error
    return data


def _decode(data: bytes, source: str) -> str:
    if len(data) > MAX_BYTES:
        raise LimitError(f"has more than {MAX_BYTES} bytes", node=source)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ModelError("the line is not UTF-8", node=f"{source}:{line}") from error


def _parse(text: str, source: str, path: str = "") -> Document:
    """The document of a text; `path` is its file, for the hint where it is a network of ncnn."""
    if len(text) > MAX_BYTES:
        raise LimitError(f"has more than {MAX_BYTES} characters", node=source)
    if is_network_text(text) and is_ncnn(text.split("\n")[2:]):
        raise UnknownFormatError(f"is a network of ncnn: {network_hint(path)}", node=source)
    return parse(text, source)


def build(document: Document, weights: str | None = None) -> Graph:
    """The graph of a document; `weights` is the path of the archive with its constants, which may be missing.

    Raises ModelError for an input, output or constant that is malformed.
    """
    builder = _fill_builder(document)
    graph = builder.graph
    graph.outputs = list(_items(graph.outputs, builder.tuples))
    count = document.count_blobs()
    if document.blobs != count:
        message = f"the second line states {document.blobs} blobs, the file has {count}"
        graph.diagnostics.append(Diagnostic("warning", WRONG_COUNT, message))
    if weights is not None and os.path.isfile(weights):
        graph.files = defer_contents(graph, builder.members, weights).files
        graph.external = bool(graph.unread)
    return graph


def weight_files(document: Document) -> dict[str, str]:
    """The names of the files in the archive of weights, by the constants of the network."""
    return _fill_builder(document).members


def _fill_builder(document: Document) -> _Builder:
    builder = _Builder(document)
    for operator in document.operators:
        builder.add(operator)
    return builder


class _Builder:
    """Builds the graph of a document; equal operators share their `NodeKind`."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.nodes: list[Node] = []
        self.graph = Graph(dialect="pnnx", opsets={"": 1}, nodes=self.nodes, traced=True, model=document)
        self.tuples: dict[str, tuple[str, ...]] = {}
        self.members: dict[str, str] = {}
        """The names of files in the archive of weights, by the names of the constants."""
        self._blobs = {blob for operator in document.operators for blob in operator.outputs}
        self._kinds: dict[object, NodeKind] = {}

    def add(self, operator: Operator) -> None:
        """Add the next operator of the file."""
        for blob, declared in operator.types.items():
            self.graph.declared.setdefault(blob, DeclaredType(declared.dtype, declared.dims))
        if operator.type == INPUT:
            self._check(operator, inputs=0, outputs=1)
            self.graph.inputs += operator.outputs
            if operator.name not in self._blobs:
                self.graph.aliases[operator.name] = operator.outputs[0]
        elif operator.type == OUTPUT:
            self._check(operator, inputs=None, outputs=0)
            self.graph.outputs += operator.inputs
        elif operator.type == CONSTANT:
            self._check(operator, inputs=0, outputs=1, weights=1)
            weight, tensor = next(iter(operator.weights.items()))
            self._add_constant(operator, operator.outputs[0], weight, tensor)
        else:
            if operator.type == TUPLE and len(operator.outputs) == 1:
                self.tuples[operator.outputs[0]] = operator.inputs
            self._add_node(operator)

    def _check(self, operator: Operator, inputs: int | None, outputs: int, weights: int = 0) -> None:
        """Raise ModelError unless the operator has these numbers of blobs and weights; None allows any number."""
        for number, count, noun in (
            (inputs, len(operator.inputs), "input"),
            (outputs, len(operator.outputs), "output"),
            (weights, len(operator.weights), "weight"),
        ):
            if number not in (None, count):
                message = f"{operator.type} has {format_count(number, noun)}, not {count}"
                raise ModelError(message, node=self.document.location(operator))

    def _add_constant(self, operator: Operator, name: str, weight: str, tensor: TensorText) -> None:
        sizes = [size for size in tensor.dims if isinstance(size, int)]
        if len(sizes) != len(tensor.dims):
            message = f"{WEIGHT}{weight}: all sizes of a weight are numbers"
            raise ModelError(message, node=self.document.location(operator))
        self.graph.constants[name] = PartialTensor(tensor.dtype, Shape(sizes), None)
        self.members[name] = f"{operator.name}.{weight}"

    def _add_node(self, operator: Operator) -> None:
        """Add the node of an operator: weights are further inputs, and named arguments refer to inputs."""
        weights = []
        for weight, tensor in operator.weights.items():
            name = self._weight_name(operator, weight)
            self._add_constant(operator, name, weight, tensor)
            weights.append(name)
        kind = self._kind(operator)
        self.nodes.append(Node(kind, (*operator.inputs, *weights), operator.outputs, operator.name))
        self.graph.locations[operator.name] = self.document.location(operator)

    def _weight_name(self, operator: Operator, weight: str) -> str:
        """The name of the constant of a weight, different from those of all blobs and other weights."""
        name = f"{operator.name}.{weight}"
        while name in self._blobs or name in self.graph.constants:
            name = f"{WEIGHT}{name}"
        return name

    def _kind(self, operator: Operator) -> NodeKind:
        positions = _positions(operator)
        parameters = tuple([text for text in operator.written if text[0] not in (ARGUMENT, WEIGHT)])
        key = operator.type, parameters, tuple(positions.items())
        if key not in self._kinds:
            references = {name: InputContents(at) for name, at in positions.items()}
            self._kinds[key] = NodeKind(operator.type, "", {**operator.parameters, **references})
        return self._kinds[key]


def _positions(operator: Operator) -> dict[str, int]:
    """The positions of the inputs that are named arguments or weights, by name."""
    positions = dict(operator.arguments)
    for number, weight in enumerate(operator.weights):
        positions[weight] = len(operator.inputs) + number
    return positions


def _items(names: Iterable[str], tuples: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """The names in order, each once, with a tuple replaced by its items."""
    seen: set[str] = set()
    pending = [iter(names)]
    while pending:
        name = next(pending[-1], None)
        if name is None:
            pending.pop()
        elif name not in seen:
            seen.add(name)
            if name in tuples:
                pending.append(iter(tuples[name]))
            else:
                yield name
