"""`infer_shapes`: any model in, a `Result` out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shapeinf.engine.compiled import compile_graph
from shapeinf.engine.garbage import pause_garbage_collection
from shapeinf.engine.session import Session
from shapeinf.errors import ShapeInferenceError
from shapeinf.formats import FormatOptions, load
from shapeinf.graph import Graph
from shapeinf.inputs.options import (
    DEFAULT_OPTIONS,
    DeclaredMode,
    DimRanges,
    InferenceOptions,
    InputSpecs,
    Mode,
    Progress,
)
from shapeinf.inputs.reader import SpecLike
from shapeinf.ops import OpRegistry, default_registry
from shapeinf.result import Result


def infer_shapes(
    model: Any,
    *,
    dims: DimRanges | None = None,
    bind: Mapping[str, int] | None = None,
    inputs: InputSpecs | None = None,
    assume: Iterable[str] | str = (),
    values: Mapping[str, object] | None = None,
    mode: Mode = "best",
    min_dim: int = 1,
    declared: DeclaredMode | None = None,
    format_options: FormatOptions | None = None,
    registry: OpRegistry | None = None,
    progress: Progress | None = None,
) -> Result:
    """Infer the shape of every tensor of a model.

    Args:
        model: a path, bytes, the text of an NNEF document or of a network of PNNX, an `onnx.ModelProto`, an
            `onnx_ir.Model`, a `Graph` or a networkx DiGraph. NNEF may be a document, its folder, or an archive.
        dims: ranges of dims by name: `{"batch": "1..8"}`, `(1, 8)`, an int, or `[Dim("H", multiple_of=32)]`. A
            range that begins below `min_dim` takes precedence over it. An axis without a name is `x.shape[0]`; a size
            that depends on data has its name in displayed shapes, such as `nz.count`.
        bind: values of named dims, a shorter form of `dims`.
        inputs: shapes of inputs in place of the declared ones: text (`"[batch, 3, 224, 224]"`), a list of ints, names
            and None, or `{axis: value}` to change single axes; a value may be a `Dim` or a torch.export `Dim`.
            One text for all is the shape of the only input, or has names: `"ids:1x128 mask:1x128"`.
        assume: relations such as `"past + seq <= 4096"` or `"H % 32 == 0"`; a redundant one is a note (S112).
        values: values of small inputs, on which shapes may depend: `{"sr": 16000}`, lists, arrays; integers may be
            dims as text, and None an unknown element: `{"shape": ["batch", 3, None]}`. The result holds for these
            values only (`Result.assumptions`). They replace the default values of inputs.
        mode: "best" continues after a failing node (its outputs are unknown), "strict" raises the first error.
        min_dim: the least size of a dim that the file or the user names.
        declared: "trust" uses declared types of node outputs where inference has none, "check" only compares them,
            "ignore" does neither. By default declarations of a file are trusted; those of a traced run (PNNX), which
            hold for the sizes of its inputs only, are ignored.
        format_options: options for reading a file of its format, such as `NnefOptions(dialect="tract")`.
        registry: the operators; all installed dialects by default.
        progress: called with (done, total) after every node.

    Raises:
        ModelError: the model cannot be read or is malformed.
        UnknownNameError: a dim or input that the model does not have, an operation to expand that is not compound.
        ShapeError: contradictory inputs and options; in strict mode, also a failing node.
        UnknownOperatorError: in strict mode, an operator without a rule.
    """
    optional = (dims, bind, inputs, values, declared, format_options, registry, progress)
    is_default = assume == () and mode == "best" and min_dim == 1 and min_dim is not True
    if is_default and all(value is None for value in optional):
        return infer(model)  # most calls
    options = InferenceOptions(
        dims=dims,
        bind=bind,
        inputs=inputs,
        assume=assume,
        values=values,
        mode=mode,
        min_dim=min_dim,
        declared=declared,
        format_options=format_options,
        registry=registry,
        progress=progress,
    )
    return infer(model, options)


def infer(
    model: Any, options: InferenceOptions = DEFAULT_OPTIONS, updates: Sequence[Mapping[str, SpecLike]] = ()
) -> Result:
    """`infer_shapes` with its keywords as one record; `updates` are shapes of later calls of `Result.update`."""
    with pause_garbage_collection():
        graph = options.replace_defaults(as_graph(model, options))
        compiled = compile_graph(graph, options.registry or default_registry())
        result = Session(compiled, options, tuple(updates)).run()
    return Result(result)


def as_graph(model: Any, options: InferenceOptions = DEFAULT_OPTIONS) -> Graph:
    """The graph of a model, in any form that `infer_shapes` accepts. Raises ShapeInferenceError for unused options."""
    is_networkx = hasattr(model, "is_directed") and hasattr(model, "nodes")
    if not isinstance(model, Graph) and not is_networkx:
        return load(model, options.format_options)
    if options.format_options is not None:
        raise ShapeInferenceError(f"{options.format_options!r} has no effect: the graph has been read already")
    return model if isinstance(model, Graph) else Graph.from_networkx(model)
