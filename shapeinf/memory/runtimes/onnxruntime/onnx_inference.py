"""What the onnx package infers of shapes, as a session of onnxruntime does: no computed contents, no invented names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from shapeinf.formats.read_files import files_of, open_source
from shapeinf.graph import Graph
from shapeinf.lattice.dtypes import ONNX_CODES
from shapeinf.memory.runtimes.onnxruntime.node_inference import PlannerShape, PlannerType
from shapeinf.packages import require_package

if TYPE_CHECKING:
    import onnx

MAX_FILE = 1 << 30
"""Bytes of the largest file that is read again for its inference by the onnx package."""
MAX_CONTENTS = 1 << 13
"""Bytes of the largest initializer whose contents may decide shapes; the copy has no larger ones."""


def inferred_model(graph: Graph) -> onnx.ModelProto | None:
    """The model of a graph, with the shapes that the onnx package infers where nodes have bodies.

    None where the model cannot be read with onnx. Raises MissingPackageError where onnx is not installed: without what
    onnx infers, a session would seem to know more shapes than it does, and to need less memory.
    """
    require_package("onnx", "the memory of onnxruntime")
    model = _read_model(graph)
    if model is None:
        return None
    _drop_contents(model.graph)
    return _with_inferred_shapes(model) if len(list(_graphs(model.graph))) > 1 else model


def _with_inferred_shapes(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with the shapes that onnx infers; single nodes with bodies cannot be inferred."""
    from onnx import shape_inference

    declared = _names_of_dims(model.graph)
    try:
        model = shape_inference.infer_shapes(model, data_prop=False)
    except Exception:
        return model
    _blank_new_names(model.graph, declared)
    return model


def value_shapes(graph: onnx.GraphProto) -> Iterator[tuple[str, PlannerShape]]:
    """The names and shapes of the values of a graph."""
    for value in (*graph.input, *graph.value_info, *graph.output):
        yield value.name, _shape_of(value.type)


class OnnxRules:
    """The rules of the onnx package for single nodes of a model."""

    def __init__(self, model: onnx.ModelProto) -> None:
        """Of the versions that the model imports."""
        self._versions = {entry.domain: entry.version for entry in model.opset_import}
        self._imports = list(model.opset_import)
        self._ir_version = model.ir_version

    def infer(
        self, node: onnx.NodeProto, types: Sequence[PlannerType | None], like: str = ""
    ) -> Mapping[int, PlannerShape] | None:
        """The shapes of the outputs of a node, by position; none where its rule fails, and for a node with bodies.

        `like` is the operator of the default domain whose rule applies. None for an operator that onnx does not have.
        """
        from onnx import shape_inference

        domain, op = ("", like) if like else (node.domain, node.op_type)
        schema = _schema(op, self._versions.get(domain, 1), domain)
        if schema is None:
            return None
        node = _renamed(node, schema) if like else node
        if any(attribute.HasField("g") for attribute in node.attribute):
            return {}
        known = {name: value for name, value in zip(node.input, types, strict=False) if value is not None}
        contents = {name: _tensor(name, value) for name, value in known.items() if _has_contents(value)}
        try:
            outputs = shape_inference.infer_node_outputs(
                schema,
                node,
                {name: _type_proto(value) for name, value in known.items()},
                contents,
                opset_imports=self._imports,
                ir_version=self._ir_version,
            )
        except Exception:
            return {}
        return {i: _shape_of(outputs[name]) for i, name in enumerate(node.output) if name in outputs}


def _read_model(graph: Graph) -> onnx.ModelProto | None:
    """The protobuf of a graph, without external data; None for a large file, and for a graph in memory."""
    import onnx

    if isinstance(graph.model, onnx.ModelProto):
        copy = onnx.ModelProto()
        copy.CopyFrom(graph.model)
        return copy
    if isinstance(graph.model, bytes):
        return onnx.load_model_from_string(graph.model)
    files = files_of(graph)
    if (graph.format or graph.dialect) != "onnx" or graph.model is not None or not (files.path or files.data):
        return None
    with open_source(graph) as buffer:
        return onnx.load_model_from_string(buffer[:]) if len(buffer) <= MAX_FILE else None


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """A graph and those inside of its nodes."""
    stack = [graph]
    while stack:
        graph = stack.pop()
        yield graph
        stack.extend(a.g for node in graph.node for a in node.attribute if a.HasField("g"))


def _drop_contents(graph: onnx.GraphProto) -> None:
    """Remove the contents of large initializers, which take time to copy."""
    for inner in _graphs(graph):
        for tensor in inner.initializer:
            if len(tensor.raw_data) > MAX_CONTENTS:
                tensor.ClearField("raw_data")


def _names_of_dims(graph: onnx.GraphProto) -> set[str]:
    return {
        dim
        for inner in _graphs(graph)
        for _, shape in value_shapes(inner)
        for dim in shape or ()
        if isinstance(dim, str)
    }


def _blank_new_names(graph: onnx.GraphProto, declared: set[str]) -> None:
    """Blank the dims whose names onnx invented, one for each unknown dim."""
    for inner in _graphs(graph):
        for value in (*inner.input, *inner.value_info, *inner.output):
            for dim in value.type.tensor_type.shape.dim:
                if dim.dim_param and dim.dim_param not in declared:
                    dim.ClearField("dim_param")


def _shape_of(value: onnx.TypeProto) -> PlannerShape:
    tensor = value.tensor_type
    if not value.HasField("tensor_type") or not tensor.HasField("shape"):
        return None
    return tuple([d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in tensor.shape.dim])


@cache
def _schema(op: str, version: int, domain: str) -> onnx.defs.OpSchema | None:
    from onnx import defs

    try:
        return defs.get_schema(op, version, domain)
    except defs.SchemaError:
        return None


def _renamed(node: onnx.NodeProto, schema: onnx.defs.OpSchema) -> onnx.NodeProto:
    """The node as one of another operator, without the inputs and attributes that this one does not have."""
    from onnx import helper

    renamed = helper.make_node(schema.name, node.input[: schema.max_input], node.output[: schema.max_output])
    renamed.attribute.extend(attribute for attribute in node.attribute if attribute.name in schema.attributes)
    return renamed


def _type_proto(value: PlannerType) -> onnx.TypeProto:
    from onnx import helper

    code = ONNX_CODES.get(value.dtype or "", 0)
    return helper.make_tensor_type_proto(code, value.shape)


def _has_contents(value: PlannerType) -> bool:
    return value.constant is not None and value.constant.array() is not None


def _tensor(name: str, value: PlannerType) -> onnx.TensorProto:
    from onnx import numpy_helper

    assert value.constant is not None
    array = value.constant.array()
    assert array is not None
    return numpy_helper.from_array(array, name)
