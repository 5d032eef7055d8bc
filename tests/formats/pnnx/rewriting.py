"""A network written with the types that its own file has: every byte comes back."""

from __future__ import annotations

from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.expr import Scope
from shapeinf.formats.annotation import Annotation
from shapeinf.formats.pnnx.reader import read
from shapeinf.formats.pnnx.writer import annotate
from shapeinf.lattice import Shape


def rewrite(model):
    """The text of a network, given the types that it declares; an unknown size is a symbol of its own."""
    graph, scope = read(model), Scope()
    types = {
        blob: TensorInfo(declared.dtype, Shape([scope.fresh("size") if d is None else d for d in declared.dims]))
        for blob, declared in graph.declared.items()
    }
    return annotate(graph.model, Annotation(types))
