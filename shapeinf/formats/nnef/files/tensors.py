"""Compares the tensor files of variables with their declarations, and defers the reading of small ones.

Source: NNEF 1.0.5, 5 "Container Organization": the file of a variable is its label and `.dat`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Literal

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import ModelError, NnefError
from shapeinf.formats.nnef.files.archive import TENSOR, Entry, ModelFiles, is_unsafe
from shapeinf.formats.nnef.files.dat import Header, has_small_contents, read_contents, read_header
from shapeinf.formats.nnef.language.diagnostics import MAX_DIAGNOSTICS, SourceText
from shapeinf.formats.nnef.versions import DialectName
from shapeinf.graph import Graph
from shapeinf.lattice import PartialTensor

_ITEMS = {
    "float32": ("float", "quantized", "quantized unsigned"),
    "int64": ("signed", "unsigned"),
    "bool": ("bool", "unsigned"),  # before 1.0.3 there was no code for logical items
    "string": ("other",),
}
"""The kinds of items of each element type."""

_BEFORE_1_0_3 = ("signed", "unsigned")
"""The kinds of items of quantized scalars in older files, whose parameters are in the quantization file."""


@attrs.frozen
class Variable:
    """A variable of the graph: its name, its label, and the offset of its declaration."""

    name: str
    label: str
    at: int
    calls: tuple[int, ...] = ()


def attach_files(
    graph: Graph,
    variables: Iterable[Variable],
    changing: frozenset[str],
    files: ModelFiles,
    source: SourceText,
    *,
    quantized: bool,
) -> None:
    """Compare each variable with its file, and defer the reading of the small ones that are not in `changing`.

    `quantized`: the model has a quantization file. Missing files are one diagnostic, since shapes do not need them.
    Raises NnefError with all errors of the other files.
    """
    dialect: DialectName = graph.model.document.dialect
    errors: list[Diagnostic] = []
    missing: list[str] = []
    count = 0
    for variable in variables:
        count += 1
        # Labels of tract's exporters may start with `/`, which is not in the paths of its archives.
        path = (variable.label.lstrip("/") if dialect == "tract" else variable.label) + TENSOR
        try:
            entry = _entry(files, path, variable.label)
            if entry is None:
                missing.append(path)
                continue
            header = read_header(entry.head, entry.size, path)
        except ModelError as error:
            errors.append(source.error("N701", str(error), variable.at, variable.calls))
        else:
            message = _difference(header, graph.constants[variable.name], path, dialect, quantized=quantized)
            if message is None:
                _enter_contents(graph, variable.name, header, entry, dialect, variable.name in changing)
            else:
                errors.append(source.error("N702", message, variable.at, variable.calls))
        if len(errors) >= MAX_DIAGNOSTICS:
            break
    if errors:
        raise NnefError(errors, source.render)
    if missing:
        graph.diagnostics.append(_missing_files(missing, count))


def _missing_files(paths: Sequence[str], count: int) -> Diagnostic:
    """The diagnostic for the missing tensor files of a model that has `count` variables."""
    listed = f"{paths[0]!r}" if len(paths) == 1 else f"{len(paths)} of {count} tensor files, {paths[0]!r} first"
    # A document without any tensors is usual; one that lacks some of them is not.
    severity: Literal["warning", "note"] = "note" if len(paths) == count else "warning"
    return Diagnostic(severity, "N703", f"the model lacks {listed}")


def _entry(files: ModelFiles, path: str, label: str) -> Entry | None:
    if is_unsafe(path):
        raise ModelError(f"the label {label!r} is not a simple path inside the model")
    return files.entry(path)


def _difference(
    header: Header, declared: PartialTensor, path: str, dialect: DialectName, *, quantized: bool
) -> str | None:
    """The message for a file that differs from its declaration; None if it does not."""
    dims, stored = declared.shape.require(), header.dims
    # Ranks are not fixed in the provisional dialect: trailing 1s are ignored.
    open_rank = dialect == "provisional"
    if tuple(dims) != stored and not (open_rank and _strip_unit_dims(dims) == _strip_unit_dims(stored)):
        return f"the variable is declared as {list(dims)}, but its file {path!r} has the shape {list(stored)}"
    kinds = _ITEMS.get(declared.dtype or "")
    if kinds is None or dialect != "final" or header.kind in kinds:
        return None
    if quantized and declared.dtype == "float32" and header.kind in _BEFORE_1_0_3:
        return None
    return f"the variable is declared with {declared.dtype} items, but its file {path!r} has {header.kind} items"


def _strip_unit_dims(dims: Iterable[object]) -> tuple[object, ...]:
    stripped = list(dims)
    while stripped and stripped[-1] == 1:
        stripped.pop()
    return tuple(stripped)


def _enter_contents(graph: Graph, name: str, header: Header, entry: Entry, dialect: DialectName, changes: bool) -> None:
    constant = graph.constants[name]
    if dialect == "tract" and header.dtype is not None:
        # tract uses the element type of the file, not that of the document.
        constant = graph.constants[name] = PartialTensor(header.dtype, constant.shape, None)
    if has_small_contents(header) and not changes:
        graph.unread[name] = partial(_contents, header, entry, constant)


def _contents(header: Header, entry: Entry, declared: PartialTensor) -> PartialTensor:
    tensor = read_contents(header, entry.read(), declared.dtype)
    return PartialTensor(tensor.dtype, declared.shape, tensor.elements)
