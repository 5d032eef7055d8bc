"""`infer_shapes`: any model in, a `Result` out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from shapeinf.engine.compiled import compile_graph
from shapeinf.engine.garbage import pause_garbage_collection
from shapeinf.engine.session import Session
from shapeinf.formats import load
from shapeinf.graph import Graph
from shapeinf.inputs.named_dims import NamedDim
from shapeinf.inputs.options import DEFAULT_OPTIONS, DeclaredMode, InferenceOptions, Mode, Progress
from shapeinf.inputs.reader import RangeLike, SpecLike
from shapeinf.ops import OpRegistry, default_registry
from shapeinf.result import Result


def infer_shapes(
    model: Any,
    *,
    dims: Mapping[str, RangeLike] | Iterable[NamedDim] | None = None,
    bind: Mapping[str, int] | None = None,
    inputs: Mapping[str, SpecLike] | Sequence[SpecLike] | str | None = None,
    assume: Iterable[str] | str = (),
    mode: Mode = "best",
    min_dim: int = 1,
    declared: DeclaredMode = "trust",
    dialect: str | None = None,
    expand: Collection[str] | Literal["all"] = (),
    registry: OpRegistry | None = None,
    progress: Progress | None = None,
) -> Result:
    """Infer the shape of every tensor of a model.

    Args:
        model: a path, bytes, the text of an NNEF document, an `onnx.ModelProto`, an `onnx_ir.Model`, a `Graph` or a
            networkx DiGraph. An NNEF model may be a document, its folder, or an archive.
        dims: ranges of named dims: `{"batch": "1..8"}`, `(1, 8)`, an int, or `[NamedDim("H", multiple_of=32)]`. A range
            that begins below `min_dim` goes before it.
        bind: values of named dims, a shorter form of `dims`.
        inputs: shapes of inputs in place of the declared ones: text (`"[batch, 3, 224, 224]"`), a list with ints,
            names and None, or `{axis: value}` to change some axes only; a value is also a `NamedDim` or a torch.export
            `Dim`. A text alone is for the only input, or holds names: `"ids:1x128 mask:1x128"`.
        assume: relations such as `"past + seq <= 4096"` or `"H % 32 == 0"`; what says nothing new is a note (S112).
        mode: "best" goes on after a bad node (its outputs are unknown), "strict" raises the first error.
        min_dim: the least size of a dim that the file or the user names.
        declared: "trust" lets declared shapes of node outputs fill what inference leaves unknown, "check" only
            compares them, "ignore" does neither.
        dialect: "provisional", "final" or "tract" for an NNEF document that does not tell.
        expand: compound operations of NNEF, or "all", to replace by their bodies; they have rules of their own.
        registry: the operators; all installed dialects by default.
        progress: called with (done, total) after every node.

    Raises:
        ModelError: the model cannot be read or is malformed.
        UnknownNameError: a dim or input that the model does not have, an operation to expand that is no compound.
        ShapeError: in strict mode, a broken law; in both modes, what the user says contradicts itself.
        UnknownOperatorError: in strict mode, an operator without a rule.
    """
    options = InferenceOptions(
        dims=dims,
        bind=bind,
        inputs=inputs,
        assume=assume,
        mode=mode,
        min_dim=min_dim,
        declared=declared,
        dialect=dialect,
        expand=expand,
        registry=registry,
        progress=progress,
    )
    return infer(model, options)


def infer(model: Any, options: InferenceOptions = DEFAULT_OPTIONS) -> Result:
    """`infer_shapes` with its options as one record."""
    with pause_garbage_collection():
        program = compile_graph(as_graph(model, options), options.registry or default_registry())
        made = Session(program, options).run()
    return Result(*made)


def as_graph(model: Any, options: InferenceOptions = DEFAULT_OPTIONS) -> Graph:
    """The graph of whatever `infer_shapes` takes as a model."""
    if isinstance(model, Graph):
        return model
    if hasattr(model, "is_directed") and hasattr(model, "nodes"):
        return Graph.from_networkx(model)
    return load(model, options.dialect, options.expand)
