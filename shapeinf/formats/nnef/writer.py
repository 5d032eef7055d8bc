"""Writes a document in canonical form, with the inferred shapes in comments after the statements of its graph."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping

from shapeinf.errors import ModelError
from shapeinf.expr import DimSize
from shapeinf.formats.annotation import Annotation, Info
from shapeinf.formats.files import replace_file
from shapeinf.formats.nnef.files.archive import ARCHIVES
from shapeinf.formats.nnef.language.ast import Assignment, names_in
from shapeinf.formats.nnef.language.printer import format_document
from shapeinf.formats.nnef.model import NnefModel
from shapeinf.formats.nnef.rebinding import rebind
from shapeinf.formats.registry import Target
from shapeinf.formats.unknown_names import DimNames, name_unknowns, text_with_names
from shapeinf.graph import Graph


def write(graph: Graph, annotation: Annotation, target: Target) -> None:
    """Write the annotated document to a path or a stream. A file is replaced atomically.

    Raises ModelError for a graph that was not read from an NNEF model, and for a target that is an archive or a folder.
    """
    if not isinstance(graph.model, NnefModel):
        raise ModelError("the graph was not read from an NNEF model: there is nothing to annotate")
    names = name_unknowns(graph, annotation)
    text = annotate(rebind(graph.model, annotation), annotation.tensors, names)
    if not isinstance(target, (str, os.PathLike)):
        target.write(text)
        return
    path = os.fspath(target)
    if path.lower().endswith(ARCHIVES) or os.path.isdir(path):
        raise ModelError(
            "an NNEF model is saved as a document, not an archive or a folder: use a name in .nnef", node=path
        )
    with replace_file(path) as file:
        file.write(text.encode())


def annotate(model: NnefModel, tensors: Mapping[str, Info], unknowns: DimNames) -> str:
    """The text of a document with the shapes of these tensors and these names of unknowns; `?` is an unknown rank."""
    body = model.document.graph.body
    counts = Counter(name.name for assignment in body for name in names_in(assignment.target))
    repeated = {name for name, count in counts.items() if count > 1}
    # In tract's dialect a name may stand for several tensors in turn: operations have the names of tensors.
    outputs = {op.at: op.outputs for op in model.operations if not op.calls} if repeated else {}

    def comment(assignment: Assignment) -> str:
        names = [name.name for name in names_in(assignment.target)]
        if repeated.intersection(names):
            names = list(outputs.get(assignment.value.at, ()))
        shapes = [_shape(name, tensors, unknowns) for name in names]
        return ", ".join(shapes) if any(shapes) else ""

    return format_document(model.document, comment)


def _shape(name: str, tensors: Mapping[str, Info], unknowns: DimNames) -> str:
    info = tensors.get(name)
    if info is not None:
        dims = info.shape.dims
        return "?" if dims is None else f"[{', '.join(_dim(dim, unknowns) for dim in dims)}]"
    # The name of an array of tensors, whose items are numbered.
    items: list[str] = []
    while (item := f"{name}.{len(items)}") in tensors:
        items.append(_shape(item, tensors, unknowns))
    return f"[{', '.join(items)}]" if items else ""


def _dim(dim: DimSize, unknowns: DimNames) -> str:
    text = str(dim) if isinstance(dim, int) else text_with_names(dim, unknowns)
    return "?" if text is None else text
