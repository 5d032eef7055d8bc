"""NNEF models to `Graph`: runs the parser, the checker and the evaluator, and reads the other files of the model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import ModelError, NnefError, UnknownFormatError, UnknownNameError
from shapeinf.formats.nnef.builder import build
from shapeinf.formats.nnef.checking.casting import has_tensor
from shapeinf.formats.nnef.checking.checker import check
from shapeinf.formats.nnef.checking.library import Library
from shapeinf.formats.nnef.evaluation.evaluator import evaluate
from shapeinf.formats.nnef.evaluation.operation import Operation
from shapeinf.formats.nnef.evaluation.values import Tensor
from shapeinf.formats.nnef.files.archive import Folder
from shapeinf.formats.nnef.files.quantization import check_quantization, parse_quantization
from shapeinf.formats.nnef.files.source import locate
from shapeinf.formats.nnef.files.tensors import Variable, attach_files
from shapeinf.formats.nnef.language.ast import Document, Fragment
from shapeinf.formats.nnef.language.diagnostics import SourceText
from shapeinf.formats.nnef.language.parser import FRAGMENTS, OPERATORS, TRACT_EXTENSIONS, parse
from shapeinf.formats.nnef.model import NnefModel
from shapeinf.formats.nnef.options import Expand, NnefOptions
from shapeinf.formats.nnef.versions import VERSIONS, DialectName
from shapeinf.graph import Graph, NodeKind, NodeTable
from shapeinf.ops import Dialect, default_registry
from shapeinf.sharing import build_once

MAX_LISTED_CALLS = 4

_NOT_INSTALLED = "no operations of NNEF are installed: the entry point 'nnef' of shapeinf.opdefs is missing"

EXTENSIONS = frozenset([FRAGMENTS, OPERATORS, *TRACT_EXTENSIONS])
"""The extensions that shapeinf knows."""


def read(model: str | os.PathLike[str] | bytes, options: NnefOptions | None = None) -> Graph:
    """Read a document (its text or its path), a folder with `graph.nnef`, or an archive of one.

    Args:
        model: a path, the text of a document, or the bytes of a text or an archive.
        options: the dialect of the document and the operations to expand.

    Raises:
        UnknownNameError: an operation to expand is not a compound operation.
        NnefError: the model violates rules of the specification; all errors are listed with their positions.
        ModelError: the model cannot be read, or exceeds a limit.
    """
    options = options or NnefOptions()
    if not isinstance(model, (str, os.PathLike, bytes)):
        raise UnknownFormatError(f"a {type(model).__name__} is not an NNEF model: pass a path, a text, or bytes")
    located = locate(model)
    source = located.document
    document, operations, warnings = _parse(source, options)
    graph = build(operations, document, source)
    graph.source = located.path
    graph.file_version = f"version {document.version}" + (
        "" if document.dialect == "final" else f", {document.dialect}"
    )
    graph.model = NnefModel(document, source, operations)
    graph.assumptions = list(_assumptions(document))
    graph.diagnostics += [*_diagnostics(document), *warnings]
    _add_calls(graph, operations, source)
    if isinstance(located.files, Folder):
        graph.files = located.files.read_files
    if located.files is not None:
        quantized = located.quantization is not None
        attach_files(
            graph, _variables(operations), _updated_variables(operations), located.files, source, quantized=quantized
        )
    if located.quantization is not None:
        _quantize(graph, document.dialect, located.quantization)
    return graph


_Parsed = tuple[Document, list[Operation], list[Diagnostic]]
"""A document, its operations, and warnings."""


def _parse(source: SourceText, options: NnefOptions) -> _Parsed:
    """A document with its operations. After an error it is read again, for the positions of all literals."""
    try:
        return _evaluate(source, parse(source, options.dialect, sharing=True), options.expand)
    except NnefError as error:
        if any(diagnostic.code.startswith("N9") for diagnostic in error.diagnostics):
            raise  # reaching a limit takes long: not twice
    return _evaluate(source, parse(source, options.dialect), options.expand)


def _evaluate(source: SourceText, document: Document, expand: Expand) -> _Parsed:
    library = _library(document.dialect)
    warnings: list[Diagnostic] = []
    errors = check(document, source, library, warnings)
    if errors:
        raise NnefError(errors, source.render)
    operations = evaluate(document, source, library, _operations_to_expand(document, library, expand))
    return document, operations, warnings


def _operations_to_expand(document: Document, library: Library, expand: Expand) -> Expand:
    """The operations to expand, apart from those of the document. Raises UnknownNameError for one without a body."""
    if expand == "all":
        return expand
    declared = library.with_fragments(document.fragments)
    for name in expand:
        if name not in declared or declared[name].body is None:
            compounds = [name for name, fragment in declared.items() if fragment.body is not None]
            raise UnknownNameError("compound operation", name, compounds)
    return _operations_without_rules(document.dialect).union(expand)


@build_once
def _library(dialect: DialectName) -> Library:
    """The operations of a dialect; documents may redefine those without rules."""
    return Library(_declarations(dialect), replaceable=_operations_without_rules(dialect))


@build_once
def _operations_without_rules(dialect: DialectName) -> frozenset[str]:
    """The compound operations without a rule, such as layers; their bodies are expanded."""
    installed, version = _installed_dialect(), VERSIONS[dialect]
    compounds = [fragment.name for fragment in _declarations(dialect) if fragment.body is not None]
    return frozenset(name for name in compounds if not installed.has_rule("", name, version))


def _declarations(dialect: DialectName) -> tuple[Fragment, ...]:
    """The declarations of a dialect's operations, from the installed package with their rules."""
    declarations = _installed_dialect().declarations
    if declarations is None:
        raise ModelError(_NOT_INSTALLED)
    return declarations(dialect)


def _installed_dialect() -> Dialect:
    installed = default_registry().dialect("nnef")
    if installed is None:
        raise ModelError(_NOT_INSTALLED)
    return installed


def _assumptions(document: Document) -> Iterator[str]:
    """The assertions about symbols in a document of tract, except those of single scenarios (`name:`)."""
    for extension in document.extensions:
        word, _, relation = extension.text.partition(" ")
        if word == "tract_assert" and ":" not in relation:
            yield relation.strip()


def _diagnostics(document: Document) -> Iterator[Diagnostic]:
    """Deviations from the specification that do not prevent reading."""
    for extension in document.extensions:
        name = extension.text.partition(" ")[0]
        if name not in EXTENSIONS:
            yield Diagnostic("warning", "N206", f"the unknown extension {name!r} is ignored")
    for fragment in document.fragments if document.dialect == "final" else ():
        if not any(has_tensor(result.type) for result in fragment.results):
            message = "since 1.0.1 all results of fragments are tensors"
            yield Diagnostic("warning", "N307", f"the fragment {fragment.name!r} has no tensor result: {message}")


def _add_calls(graph: Graph, operations: Sequence[Operation], source: SourceText) -> None:
    """Add the locations of calls to those of operations in fragments."""
    for op in operations:
        if op.calls and op.outputs and op.outputs[0] in graph.locations:
            lines = (":".join(map(str, source.position(at))) for at in op.calls[:MAX_LISTED_CALLS])
            graph.locations[op.outputs[0]] += "".join(f", called at {line}" for line in lines)


def _variables(operations: Sequence[Operation]) -> Iterator[Variable]:
    for op in operations:
        if op.op == "variable":
            yield Variable(op.outputs[0], str(op.attributes["label"]), op.at, op.calls)


def _updated_variables(operations: Sequence[Operation]) -> frozenset[str]:
    """The variables that `update` operations change: their files have only the initial values."""
    names: set[str] = set()
    for op in operations:
        target = op.inputs[0] if op.op == "update" else None
        if isinstance(target, Tensor):
            names.add(target.name)
    return frozenset(names)


def _quantize(graph: Graph, dialect: DialectName, source: SourceText) -> None:
    """Check the quantization file. Parameters that must broadcast to their tensors become nodes without outputs."""
    entries = parse_quantization(source, dialect)
    outputs = (name for node in graph.nodes for name in node.outputs)
    names = {*graph.inputs, *graph.constants, *outputs}
    tensors = check_quantization(entries, source, _library(dialect), names, exact=dialect == "final")
    for parameter in tensors:
        shape: Any = parameter.shape
        while dialect == "provisional" and shape[-1:] == (1,):  # ranks are open there
            shape = shape[:-1]
        name = f"quantization of {parameter.tensor} ({parameter.parameter})"
        kind = NodeKind("quantized_by", "", {"parameter": parameter.parameter, "shape": shape})
        assert isinstance(graph.nodes, NodeTable)
        graph.nodes.add(kind, (parameter.tensor,), (), name)
        line, column = source.position(parameter.at)
        graph.locations[name] = f"{source.name}:{line}:{column}"
