"""The use of declared types that a tool recorded in a *traced* run of the model (PNNX).

They hold for the sizes of the inputs in that run, so that an inference uses them only as far as its inputs agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.inference import Inference
from shapeinf.expr import Dimension, DimSize
from shapeinf.graph import DeclaredType, Graph
from shapeinf.inputs.options import DeclaredMode
from shapeinf.inputs.reader import input_names
from shapeinf.lattice import ShapeStore, TensorType, Type


class Usage(NamedTuple):
    """How declarations of node outputs are used.

    Args:
        fill: what they complete in inferred types: "types" are element types and ranks, "all" also sizes.
        compare: whether a difference from the inferred type is reported.
        open_sizes: whether a declared size is added as a constraint on an unknown size.
    """

    fill: Literal["nothing", "types", "all"]
    compare: bool
    open_sizes: bool


def declaration_usage(inference: Inference, mode: DeclaredMode) -> Usage:
    """How an inference whose inputs are set uses the declarations of its graph in a mode.

    Sizes of a traced run fill only shapes of unknown rank: a size that a rule leaves unknown depends on data. Where the
    inputs may have other sizes than in that run, its sizes are not used at all, since any size may depend on them.
    Element types and ranks are used as long as those of the inputs are the traced ones.
    """
    trust = mode == "trust"
    graph = inference.compiled.graph
    if mode == "ignore":
        return Usage("nothing", False, False)
    if not graph.traced:
        return Usage("all" if trust else "nothing", True, trust)
    if not _have_traced_types(inference):
        return Usage("nothing", False, False)
    fill: Literal["all", "types"] = "all" if has_traced_sizes(inference) else "types"
    return Usage(fill if trust else "nothing", includes_traced_sizes(inference), False)


def describe_usage(graph: Graph, mode: DeclaredMode, usage: Usage) -> Iterator[Diagnostic]:
    """A note (S121) where the mode requests a use of traced declarations that is not possible; else nothing."""
    if not graph.traced or mode == "ignore" or not _declares_outputs(graph):
        return
    reason = "they hold for the sizes of the inputs in a traced run, and the inputs have, or may have, others"
    if mode == "trust" and usage.fill != "all":
        rest = "only element types and ranks are used" if usage.fill == "types" else "nothing else is used either"
        yield Diagnostic("note", "S121", f"declared sizes are not used: {reason}; {rest}")
    elif not usage.compare:
        yield Diagnostic("note", "S121", f"declared types are not compared with the inferred ones: {reason}")


def includes_traced_sizes(inference: Inference) -> bool:
    """Whether the shapes of the inputs include those of the traced run; True for a graph that is not traced.

    They do where each known size is the traced one, and all other sizes are free symbols: of at least 1, without
    constraints, and the same symbol only for axes of the same name in the file.
    """
    if not inference.compiled.graph.traced:
        return True
    store, names = inference.initial_store, dict[DimSize, str]()
    if not _have_traced_types(inference) or any(True for _ in store.constraints()):
        return False
    for axis, dim, declared in _input_sizes(inference):
        if isinstance(declared, int):
            if dim != declared:
                return False
        elif not _is_free(store, dim) or names.setdefault(dim, declared or axis) != (declared or axis):
            return False
    return True


def has_traced_sizes(inference: Inference) -> bool:
    """Whether the inputs have exactly the sizes of the traced run; True for a graph that is not traced."""
    if not inference.compiled.graph.traced:
        return True
    return includes_traced_sizes(inference) and all(isinstance(dim, int) for _, dim, _ in _input_sizes(inference))


def _is_free(store: ShapeStore, dim: DimSize) -> bool:
    """Whether a dim is a symbol that may have any size from 1 on."""
    if not isinstance(dim, Dimension) or not dim.is_symbol:
        return False
    bounds = store.interval(dim)
    return bounds.hi is None and (bounds.lo is None or bounds.lo <= 1)


def _have_traced_types(inference: Inference) -> bool:
    """Whether the inputs have the declared element types and ranks."""
    return all(_has_type(declared, value) for _, declared, value in _inputs(inference))


def _has_type(declared: DeclaredType, value: Type | None) -> bool:
    if not isinstance(value, TensorType):
        return value is None
    rank = None if declared.dims is None else len(declared.dims)
    return (declared.dtype, rank) == (value.dtype, value.shape.rank)


def _input_sizes(inference: Inference) -> Iterator[tuple[str, DimSize, int | str | None]]:
    """For each axis of the inputs its label, its size and its declared size; without inputs of another rank."""
    for name, declared, value in _inputs(inference):
        dims = value.shape.dims if isinstance(value, TensorType) else None
        if declared.dims is not None and dims is not None and len(dims) == len(declared.dims):
            for axis, (dim, size) in enumerate(zip(dims, declared.dims, strict=True)):
                yield f"{name}[{axis}]", inference.initial_store.canon(dim), size


def _inputs(inference: Inference) -> Iterator[tuple[str, DeclaredType, Type | None]]:
    """For each input its name, its declared type, and its type before any node has run."""
    graph = inference.compiled.graph
    for name in input_names(graph):
        yield name, graph.declared.get(name, DeclaredType()), inference.input_types.get(name)


def _declares_outputs(graph: Graph) -> bool:
    """Whether a graph declares the type of a node output."""
    sources = {*graph.inputs, *graph.constants}
    return any(name not in sources for name in graph.declared)
