"""The data of a model in other files: which are missing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from mmap import ACCESS_READ, mmap

from shapeinf.errors import ModelError
from shapeinf.formats.onnx.external_tensors import DataFolder, ExternalTensor, external_tensors
from shapeinf.formats.registry import MissingData
from shapeinf.graph import Graph


def missing_data(graph: Graph) -> Iterator[MissingData]:
    """The tensors whose data are not in the files next to the model; those of one file and reason together.

    A model without a path has no folder to look in, and one in text form is not searched.
    """
    missing: dict[tuple[str, str], list[str]] = {}
    for tensor, reason in _missing_tensors(graph):
        missing.setdefault((tensor.location, reason), []).append(tensor.name)
    for (file, reason), names in missing.items():
        yield MissingData(file, reason, tuple(names))


def _missing_tensors(graph: Graph) -> Iterator[tuple[ExternalTensor, str]]:
    if not graph.external or graph.source is None or graph.model is not None:
        return
    folder = DataFolder(os.path.dirname(os.path.abspath(graph.source)))
    with open(graph.source, "rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as mapped:
        for tensor in external_tensors(mapped):
            try:
                tensor.part(folder.file(tensor))
            except ModelError as error:
                yield tensor, error.cause
