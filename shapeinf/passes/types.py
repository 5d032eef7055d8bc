"""The inferred types of the values of an onnx-ir model, in all scopes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs
import onnx
import onnx_ir as ir

from shapeinf.api import infer_shapes
from shapeinf.engine.tensor_info import annotation
from shapeinf.formats.annotation import Annotation, Info
from shapeinf.lattice import Shape
from shapeinf.result import Result

Path = tuple[str, ...]
"""The name of a value, after the outputs and the attribute of each node whose body it is in."""

_NOTHING: Mapping[str, Info] = {}


@attrs.frozen
class Types:
    """The inferred types by value and by path, and the inference."""

    by_value: Mapping[ir.Value, Info]
    by_path: Mapping[Path, Info]
    result: Result | None = None
    derived: dict[type, object] = attrs.field(factory=dict, repr=False, eq=False)
    """What passes infer of the same model besides, by its class."""

    @classmethod
    def unknown(cls) -> Types:
        """No types."""
        return cls({}, {})

    @classmethod
    def infer(cls, model: ir.Model, proto: onnx.ModelProto) -> Types:
        """The types of a model, inferred from its outline. Raises what `infer_shapes` raises."""
        result = infer_shapes(proto)
        annotated = annotation(result.engine.inference)
        types = list(_graph_types(model.graph, annotated, ()))
        for key, function in model.functions.items():
            infos = annotated.functions.get(key, _NOTHING)
            known = (value for value in values(function.graph) if value.name in infos)
            types += [(value, (*key, value.name or ""), infos[value.name or ""]) for value in known]
        return cls({v: info for v, _, info in types}, {path: info for _, path, info in types}, result)

    def shape(self, value: ir.Value | None) -> Shape:
        """The inferred shape of a value; of unknown rank for None, and for what is no tensor."""
        info = None if value is None else self.by_value.get(value)
        return Shape.unknown() if info is None or info.kind != "tensor" else info.shape

    def dtype(self, value: ir.Value | None) -> str | None:
        """The inferred element type of a value; None where it is unknown, and for what is no tensor."""
        info = None if value is None else self.by_value.get(value)
        return None if info is None or info.kind != "tensor" else info.dtype


def scopes(model: ir.Model) -> Iterator[ir.Graph]:
    """The main graph, its subgraphs, then each function with its subgraphs."""
    for root in (model.graph, *(function.graph for function in model.functions.values())):
        yield root
        yield from root.subgraphs()


def values(scope: ir.Graph) -> Iterator[ir.Value]:
    """The inputs, initializers and outputs of nodes of a scope; a default is both an input and an initializer."""
    yield from scope.inputs
    yield from scope.initializers.values()
    for node in scope:
        yield from node.outputs


def _graph_types(graph: ir.Graph, annotated: Annotation, path: Path) -> Iterator[tuple[ir.Value, Path, Info]]:
    for value in values(graph):
        if value.name in annotated.tensors:
            yield value, (*path, value.name or ""), annotated.tensors[value.name or ""]
    for node in graph:
        outputs = tuple(output.name or "" for output in node.outputs)
        bodies = annotated.bodies.get(outputs, {})
        for name, attribute in node.attributes.items():
            if name in bodies and attribute.type == ir.AttributeType.GRAPH:
                yield from _graph_types(attribute.as_graph(), bodies[name], (*path, *outputs, name))


def bodies(node: ir.Node) -> Iterator[ir.Graph]:
    """The graphs in the attributes of a node."""
    for attribute in node.attributes.values():
        if attribute.is_ref():
            continue
        if attribute.type == ir.AttributeType.GRAPH:
            yield attribute.as_graph()
        elif attribute.type == ir.AttributeType.GRAPHS:
            yield from attribute.as_graphs()
