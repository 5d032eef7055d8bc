"""NNEF models to `Graph`: the parser, the checker and the evaluator put together, with the other files of the model."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal

from shapeinf.errors import ModelError, UnknownFormatError, UnknownNameError
from shapeinf.formats.nnef.builder import build
from shapeinf.formats.nnef.checking.casting import has_tensor
from shapeinf.formats.nnef.checking.checker import check
from shapeinf.formats.nnef.checking.library import Library
from shapeinf.formats.nnef.evaluation.evaluator import Expand, evaluate
from shapeinf.formats.nnef.evaluation.operation import Operation
from shapeinf.formats.nnef.evaluation.values import Tensor
from shapeinf.formats.nnef.files.quantization import check_quantization, parse_quantization
from shapeinf.formats.nnef.files.source import locate
from shapeinf.formats.nnef.files.tensors import Variable, attach
from shapeinf.formats.nnef.language.ast import DialectName, Document, Fragment
from shapeinf.formats.nnef.language.parser import FRAGMENTS, OPERATORS, TRACT_EXTENSIONS, parse
from shapeinf.formats.nnef.language.problems import NnefError, SourceText
from shapeinf.formats.nnef.model import NnefModel
from shapeinf.formats.nnef.versions import VERSIONS
from shapeinf.graph import Graph, NodeKind, NodeTable, Remark
from shapeinf.ops import default_registry
from shapeinf.sharing import build_once

MAX_CALLS_SHOWN = 4

EXTENSIONS = frozenset([FRAGMENTS, OPERATORS, *TRACT_EXTENSIONS])
"""What is understood after `extension`."""

DIALECTS: tuple[DialectName, ...] = ("provisional", "final", "tract")


def read(
    model: str | os.PathLike[str] | bytes, dialect: str | None = None, *, expand: Collection[str] | Literal["all"] = ()
) -> Graph:
    """Read a document (its text or its path), a folder with `graph.nnef`, or an archive of one.

    Args:
        model: a path, the text of a document, or the bytes of a text or an archive.
        dialect: "provisional", "final" or "tract"; told from the text when it is None.
        expand: standard compound operations to replace by their bodies, or "all".

    Raises:
        UnknownNameError: a dialect that there is not, an operation to expand that is no compound one.
        NnefError: the model breaks rules of the specification; it lists all problems with their places.
        ModelError: the model cannot be read, or reaches a limit.
    """
    if dialect is not None and dialect not in DIALECTS:
        raise UnknownNameError("dialect of NNEF", dialect, DIALECTS)
    if not isinstance(model, (str, os.PathLike, bytes)):
        raise UnknownFormatError(f"a {type(model).__name__} is no NNEF model: give a path, a text, or bytes")
    located = locate(model)
    source = located.document
    document, operations = _understood(source, dialect, expand)
    graph = build(operations, document, source)
    graph.source = located.path
    graph.model = NnefModel(document, source, operations)
    graph.assumptions = list(_assumptions(document))
    graph.remarks += _remarks(document)
    _add_calls(graph, operations, source)
    if located.files is not None:
        quantized = located.quantization is not None
        attach(graph, _variables(operations), _changing(operations), located.files, source, quantized=quantized)
    if located.quantization is not None:
        _quantize(graph, document.dialect, located.quantization)
    return graph


def _understood(
    source: SourceText, dialect: DialectName | None, expand: Collection[str] | Literal["all"]
) -> tuple[Document, list[Operation]]:
    """A document and its operations; where something is wrong, read again with the places of all literals."""
    try:
        return _evaluated(source, parse(source, dialect, sharing=True), expand)
    except NnefError as error:
        if any(problem.code.startswith("N9") for problem in error.problems):
            raise  # a limit takes long enough once
    return _evaluated(source, parse(source, dialect), expand)


def _evaluated(
    source: SourceText, document: Document, expand: Collection[str] | Literal["all"]
) -> tuple[Document, list[Operation]]:
    library = _library(document.dialect)
    problems = check(document, source, library)
    if problems:
        raise NnefError(problems, source)
    return document, evaluate(document, source, library, _replaced(document, library, expand))


def _replaced(document: Document, library: Library, expand: Collection[str] | Literal["all"]) -> Expand:
    """The operations that their bodies replace, besides the document's own. Raises UnknownNameError for one without."""
    if expand == "all":
        return expand
    declared = library.with_fragments(document.fragments)
    for name in expand:
        if name not in declared or declared[name].body is None:
            compounds = [name for name, fragment in declared.items() if fragment.body is not None]
            raise UnknownNameError("compound operation", name, compounds)
    return _without_rules(document.dialect).union(expand)


@build_once
def _library(dialect: DialectName) -> Library:
    """The operations of a dialect; those without rules are no more than fragments, which documents may replace."""
    return Library(_declarations(dialect), replaceable=_without_rules(dialect))


@build_once
def _without_rules(dialect: DialectName) -> frozenset[str]:
    """The compound operations that nobody has a rule for, such as layers: their bodies say what they do."""
    registry, version = default_registry(), VERSIONS[dialect]
    compounds = [fragment.name for fragment in _declarations(dialect) if fragment.body is not None]
    found = ((name, registry.lookup("nnef", "", name, version)) for name in compounds)
    return frozenset(name for name, op_def in found if op_def is None or op_def.rule is None)


def _declarations(dialect: DialectName) -> tuple[Fragment, ...]:
    """The operations of a dialect, from the installed package that has their rules."""
    installed = default_registry().dialect("nnef")
    if installed is None or installed.declarations is None:
        raise ModelError("no operations of NNEF are installed: the entry point 'nnef' of shapeinf.opdefs is missing")
    return installed.declarations(dialect)


def _assumptions(document: Document) -> Iterator[str]:
    """What tract's documents assert of their symbols; with a name and `:` it is for one scenario of several."""
    for extension in document.extensions:
        word, _, relation = extension.text.partition(" ")
        if word == "tract_assert" and ":" not in relation:
            yield relation.strip()


def _remarks(document: Document) -> Iterator[Remark]:
    """What a reader can live with, but the specification does not have."""
    for extension in document.extensions:
        name = extension.text.partition(" ")[0]
        if name not in EXTENSIONS:
            yield Remark("warning", "N206", f"the extension {name!r} is not known here: nothing is made of it")
    for fragment in document.fragments if document.dialect == "final" else ():
        if not any(has_tensor(result.type) for result in fragment.results):
            message = "since 1.0.1 all results of fragments are tensors"
            yield Remark("warning", "N307", f"the fragment {fragment.name!r} gives no tensor: {message}")


def _add_calls(graph: Graph, operations: Sequence[Operation], source: SourceText) -> None:
    """Say of operations in fragments where these are called."""
    for op in operations:
        if op.calls and op.outputs and op.outputs[0] in graph.locations:
            lines = (":".join(map(str, source.position(at))) for at in op.calls[:MAX_CALLS_SHOWN])
            graph.locations[op.outputs[0]] += "".join(f", called at {line}" for line in lines)


def _variables(operations: Sequence[Operation]) -> Iterator[Variable]:
    for op in operations:
        if op.op == "variable":
            yield Variable(op.outputs[0], str(op.attributes["label"]), op.at, op.calls)


def _changing(operations: Sequence[Operation]) -> frozenset[str]:
    """The variables that a run of the graph updates: what their files have is only where they start."""
    found: set[str] = set()
    for op in operations:
        target = op.inputs[0] if op.op == "update" else None
        if isinstance(target, Tensor):
            found.add(target.name)
    return frozenset(found)


def _quantize(graph: Graph, dialect: DialectName, source: SourceText) -> None:
    """Check the quantization file; what has to broadcast is left to the rule of a node without outputs."""
    entries = parse_quantization(source, dialect)
    made = (name for node in graph.nodes for name in node.outputs)
    names = {*graph.inputs, *graph.constants, *made}
    tensors = check_quantization(entries, source, _library(dialect), names, exact=dialect == "final")
    for one in tensors:
        shape: Any = one.shape
        while dialect == "provisional" and shape[-1:] == (1,):  # ranks are open there
            shape = shape[:-1]
        name = f"quantization of {one.tensor} ({one.parameter})"
        kind = NodeKind("quantized_by", "", {"parameter": one.parameter, "shape": shape})
        assert isinstance(graph.nodes, NodeTable)
        graph.nodes.add(kind, (one.tensor.encode(),), (), name)
        line, column = source.position(one.at)
        graph.locations[name] = f"{source.name}:{line}:{column}"
