"""A network annotated with inferred types of its blobs, in the columns that PNNX writes.

Operators, parameters and the names of blobs stay. The `.bin` file with the weights is not copied.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from shapeinf.errors import ModelError
from shapeinf.expr import Dimension, DimSize, axis_label
from shapeinf.formats.annotation import Annotation, Info
from shapeinf.formats.files import replace_file
from shapeinf.formats.pnnx.document import EXPRESSION, INPUT, MAX_RANK, TYPE, Document, Operator
from shapeinf.formats.pnnx.sniffing import MAGIC
from shapeinf.formats.pnnx.values import MAX_INT, TensorText, format_tensor, is_writable
from shapeinf.formats.registry import Target
from shapeinf.formats.unknown_names import NO_NAMES, DimNames, name_unknowns, text_with_names
from shapeinf.graph import Graph

_EXPRESSIONS = "pnnx.Expression"
_LISTS = frozenset({"pnnx.SliceIndexes", "prim::ListConstruct", "aten::size", "Tensor.size"})
"""The operators whose values may be lists of numbers: a file has no types of these."""


def write(graph: Graph, annotation: Annotation, target: Target) -> None:
    """Write the annotated network to a path or a stream. A file is replaced atomically.

    Raises ModelError for a graph that was not read from a network of PNNX, and for types that a file cannot express.
    """
    if not isinstance(graph.model, Document):
        raise ModelError("the graph was not read from a network of PNNX: there is nothing to annotate")
    text = annotate(graph.model, annotation, _names_inside(graph, annotation))
    if not isinstance(target, (str, os.PathLike)):
        target.write(text)
        return
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise ModelError(f"a name has the character {text[error.start]!r}, which is not UTF-8") from error
    with replace_file(os.fspath(target)) as file:
        file.write(data)


def _names_inside(graph: Graph, annotation: Annotation) -> DimNames:
    """The names of unknowns that arise inside: an open axis of an input stays `?`, as PNNX writes it."""
    infos = (annotation.tensors[name] for name in graph.inputs if name in annotation.tensors)
    open_axes = frozenset[Dimension]().union(*(info.shape.symbols() for info in infos))
    return {dim: name for dim, name in name_unknowns(graph, annotation).items() if dim not in open_axes}


def annotate(document: Document, annotation: Annotation, names: DimNames = NO_NAMES) -> str:
    """The text of a network with these types, and these names of unknowns.

    Inputs get their inferred sizes too: types in PNNX are those of a traced run, no declarations. Raises ModelError for
    constants with other contents, for assumptions, and for an input whose size has no text.
    """
    _check(document, annotation)
    types = _Types(document, annotation, names)
    counts = f"{len(document.operators)} {document.count_blobs()}"
    lines = [_line(operator, types.texts(operator)) for operator in document.operators]
    return "\n".join([MAGIC, counts, *lines, ""])


def _check(document: Document, annotation: Annotation) -> None:
    if annotation.constants:
        name = next(iter(annotation.constants))
        raise ModelError("a .param file does not have the contents of constants: they cannot be rewritten", node=name)
    if annotation.assumptions:
        raise ModelError(f"a .param file cannot express the assumption {annotation.assumptions[0]!r}")
    inputs = {blob for operator in document.operators if operator.type == INPUT for blob in operator.outputs}
    unknown = next((name for name in annotation.inputs if name not in inputs), None)
    if unknown is not None:
        raise ModelError("its shape cannot be written: no operator of the file has it as an output", node=unknown)


def _line(operator: Operator, types: Iterator[str]) -> str:
    head = f"{operator.type:<24} {operator.name:<24} {len(operator.inputs)} {len(operator.outputs)}"
    return " ".join([head, *operator.inputs, *operator.outputs, *operator.written, *types])


class _Types:
    """The texts of the types of blobs; a scalar, a blob of unknown rank and one that is no tensor have none."""

    def __init__(self, document: Document, annotation: Annotation, names: DimNames) -> None:
        self._names = names
        self._texts: dict[str, str | None] = {}
        types = {blob: type_ for operator in document.operators for blob, type_ in operator.types.items()}
        self._declared = {blob: _text(blob, type_) for blob, type_ in types.items()}
        for operator in document.operators:
            for blob in operator.outputs:
                self._texts[blob] = None if _is_list(operator) else self._text(blob, annotation)

    def texts(self, operator: Operator) -> Iterator[str]:
        """The types of the inputs and outputs of an operator, in order.

        Older files do not repeat all types: a type that does not change is not repeated either.
        """
        for blob in (*operator.inputs, *operator.outputs):
            text = self._texts[blob]
            if text is not None and (blob in operator.types or text != self._declared.get(blob)):
                yield text

    def _text(self, blob: str, annotation: Annotation) -> str | None:
        requested = annotation.inputs.get(blob)
        if requested is not None:
            return _text_of_request(blob, requested)
        info = annotation.tensors.get(blob)
        if info is None or info.kind != "tensor":
            return None
        dims = tuple([_format_dim(dim, self._names) for dim in info.shape.dims or ()])
        return _text(blob, TensorText(info.dtype, dims))


def _is_list(operator: Operator) -> bool:
    """Whether an operator's value is a list of numbers."""
    expression = operator.parameters.get(EXPRESSION)
    if operator.type == _EXPRESSIONS:
        return isinstance(expression, str) and expression.startswith("[")
    return operator.type in _LISTS


def _text(blob: str, tensor: TensorText) -> str | None:
    """The field with the type of a blob; None for a type that has no text, such as that of a scalar."""
    if not 0 < len(tensor.dims) <= MAX_RANK or "=" in blob:
        return None
    dims = tuple([dim if not isinstance(dim, str) or is_writable(dim) else None for dim in tensor.dims])
    return f"{TYPE}{blob}={format_tensor(TensorText(tensor.dtype, dims))}"


def _format_dim(dim: DimSize, names: DimNames = NO_NAMES) -> int | str | None:
    """A size that a file can express: a number, an expression of named sizes, or None for an unknown size."""
    if isinstance(dim, int):
        return dim if dim <= MAX_INT else None
    text = text_with_names(dim, names)
    return text if text is None or is_writable(text) else None


def _text_of_request(blob: str, info: Info) -> str | None:
    """The field with the new type of an input. Raises ModelError for a size that a file cannot express."""
    for axis, dim in enumerate(info.shape.dims or ()):
        if _format_dim(dim) is None and not (isinstance(dim, Dimension) and dim.is_anonymous):
            raise ModelError(f"a .param file cannot express the size {dim}", node=axis_label(blob, axis))
    return _text(blob, TensorText(info.dtype, tuple([_format_dim(dim) for dim in info.shape.dims or ()])))
