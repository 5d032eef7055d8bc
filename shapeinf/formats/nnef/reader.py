"""NNEF models to `Graph`: the parser, the checker and the evaluator put together, with the other files of the model."""

from __future__ import annotations

import os
from collections.abc import Container
from typing import Literal

import attrs

from shapeinf.errors import ModelError
from shapeinf.formats.nnef.ast import DialectName, Document, Fragment
from shapeinf.formats.nnef.builder import build
from shapeinf.formats.nnef.checker import check
from shapeinf.formats.nnef.evaluator import evaluate
from shapeinf.formats.nnef.library import Library
from shapeinf.formats.nnef.parser import parse
from shapeinf.formats.nnef.problems import NnefError, SourceText
from shapeinf.formats.nnef.source import locate
from shapeinf.graph import Graph
from shapeinf.ops import default_registry

DIALECTS: tuple[DialectName, ...] = ("provisional", "final", "tract")


@attrs.frozen
class NnefModel:
    """What a graph was read from, for writing."""

    document: Document
    source: SourceText


def read(
    model: str | os.PathLike[str] | bytes,
    dialect: DialectName | None = None,
    *,
    expand: Container[str] | Literal["all"] = (),
) -> Graph:
    """Read a document (its text or its path), a folder with `graph.nnef`, or an archive of one.

    Args:
        model: a path, the text of a document, or the bytes of a text or an archive.
        dialect: the dialect, told from the text when it is None.
        expand: the standard compound operations to replace by their bodies.

    Raises:
        NnefError: the model breaks rules of the specification; it lists all problems with their places.
        ModelError: the model cannot be read, or reaches a limit.
    """
    located = locate(model)
    source = located.document
    document = parse(source, dialect)
    library = Library((*declarations(document.dialect), *document.fragments))
    problems = check(document, source, library)
    if problems:
        raise NnefError(problems, source)
    operations = evaluate(document, source, library, expand)
    graph = build(operations, document, source)
    graph.source = located.path
    graph.model = NnefModel(document, source)
    _read_files(graph, operations, located, library)
    return graph


def declarations(dialect: DialectName) -> tuple[Fragment, ...]:
    """The operations of a dialect, from the installed package that has their rules."""
    installed = default_registry().dialects.get("nnef")
    if installed is None or installed.declarations is None:
        raise ModelError("no operations of NNEF are installed: the entry point 'nnef' of shapeinf.opdefs is missing")
    return installed.declarations(dialect)
