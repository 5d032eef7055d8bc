"""Shape inference of models of onnx-ir, as a pass and as a function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any, TypeVar

import onnx

from shapeinf.compat.messages import copy_message, infer_message
from shapeinf.engine.tensor_info import annotation
from shapeinf.errors import MissingPackageError, UnknownFormatError
from shapeinf.formats.annotation import Info
from shapeinf.formats.objects import model_of_object
from shapeinf.formats.onnx.type_encoding import dim_text, encode_type
from shapeinf.formats.onnx.writer import output_names
from shapeinf.formats.unknown_names import NO_NAMES, DimNames, name_unknowns

try:
    import onnx_ir as ir
except ImportError as error:
    raise MissingPackageError("shapeinf.compat.onnx_ir", "onnx-ir", "clean") from error

from shapeinf.passes.model_files import report_unreadable
from shapeinf.passes.outline import outline
from shapeinf.passes.proto import duplicate
from shapeinf.passes.types import Types, values

__all__ = ["InferShapesPass", "infer_symbolic_shapes"]

ModelT = TypeVar("ModelT")


class InferShapesPass(ir.passes.InPlacePass):
    """A pass that sets the types and shapes of all values, in bodies and functions too."""

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        """The same model; its weights are neither copied nor read. Raises what `infer_shapes` raises."""
        return ir.passes.PassResult(model, _annotate(model))


def infer_symbolic_shapes(model: ModelT, *, inplace: bool = False) -> ModelT:
    """A model with the types and shapes of all values, in bodies and functions too.

    The model is an `onnx_ir.Model`, an `onnx.ModelProto` or a `torch.onnx.ONNXProgram`, and the result is of the same
    kind: a copy, or with `inplace` the argument. Weights are shared with the copy, but for those of a `ModelProto`:
    messages cannot share them.

    Raises UnknownFormatError for another object, and what `infer_shapes` raises, before the model is changed.
    """
    if isinstance(model, onnx.ModelProto):
        message = model if inplace else copy_message(model)
        infer_message(message, name_inputs=True)
        return message
    held = model if isinstance(model, ir.Model) else model_of_object(model)
    if not isinstance(held, ir.Model):
        raise UnknownFormatError(f"a {type(model).__name__} is neither an onnx_ir.Model nor a ModelProto")
    if inplace:
        _annotate(held)
        return model
    annotated: Any = duplicate(held)
    _annotate(annotated)
    if held is model:
        return annotated  # type: ignore[no-any-return]
    program: Any = copy(model)
    program.model = annotated
    return program  # type: ignore[no-any-return]


def _annotate(model: ir.Model) -> bool:
    """Set the types of all values of a model; whether one has changed."""
    with report_unreadable("the model"):
        proto = outline(model)
    types = Types.infer(model, proto)
    assert types.result is not None
    graph, inferred = types.result.graph, annotation(types.result.engine.inference)
    axes = output_names(graph, inferred.tensors)
    names = name_unknowns(graph, inferred, axes)
    in_functions = {value for function in model.functions.values() for value in _values_inside(function.graph)}
    results = set(model.graph.outputs)
    changed = False
    for value, info in types.by_value.items():
        if info.dtype is None or "map" in info.kind or value.is_initializer():  # onnx-ir has no maps
            continue
        own = axes.get(value.name or "", NO_NAMES) if value in results else NO_NAMES
        changed |= _set_type(value, info, own, NO_NAMES if value in in_functions else names)
    return changed


def _values_inside(graph: ir.Graph) -> Iterator[ir.Value]:
    """The values of a graph and of the bodies in it."""
    for scope in (graph, *graph.subgraphs()):
        yield from values(scope)


def _set_type(value: ir.Value, info: Info, axes: Mapping[int, str], names: DimNames) -> bool:
    """Set the type and the shape of a value; whether one of them has changed."""
    type_ = ir.from_proto(onnx.TypeProto.FromString(encode_type(info))).type
    before = value.type, value.shape
    if value.type is None or value.type.dtype != type_.dtype or type(value.type) is not type(type_):
        value.type = type_
    dims = _texts(info, axes, names)
    if dims is not None and value.is_graph_input():
        dims = _declared_or(value.shape, dims)
    if dims is not None and (value.shape is None or list(value.shape) != dims):
        value.shape = ir.Shape(dims, _denotations(value.shape, len(dims)))
    return (value.type, value.shape) != before


def _denotations(shape: ir.Shape | None, rank: int) -> list[str | None] | None:
    """The meanings of axes, such as `DATA_BATCH`, of a shape of this rank."""
    return None if shape is None or len(shape) != rank else [shape.get_denotation(axis) for axis in range(rank)]


def _texts(info: Info, axes: Mapping[int, str], names: DimNames) -> list[int | str | None] | None:
    """The dims of a type in onnx-ir: numbers, texts, and None for a dim without a text; None for an unknown rank."""
    if info.shape.dims is None:
        return None
    known = names if info.kind == "tensor" else NO_NAMES
    texts = [dim if isinstance(dim, int) else dim_text(dim, known) for dim in info.shape.dims]
    return [axes.get(axis, text) for axis, text in enumerate(texts)]


def _declared_or(declared: ir.Shape | None, dims: list[int | str | None]) -> list[int | str | None]:
    """The declared dims of an input, with inferred ones for those that it leaves open."""
    if declared is None or len(declared) != len(dims):
        return dims
    texts = [dim if isinstance(dim, int) else dim.value for dim in declared]
    return [new if old is None else old for old, new in zip(texts, dims, strict=True)]
