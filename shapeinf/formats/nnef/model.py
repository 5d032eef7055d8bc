"""The document of a graph, which the writer needs."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from shapeinf.formats.nnef.evaluation.operation import Operation
from shapeinf.formats.nnef.language.ast import Document
from shapeinf.formats.nnef.language.diagnostics import SourceText


@attrs.frozen(eq=False)
class NnefModel:
    """A document, its text, and its operations after evaluation."""

    document: Document
    source: SourceText
    operations: Sequence[Operation] = attrs.field(repr=False)
