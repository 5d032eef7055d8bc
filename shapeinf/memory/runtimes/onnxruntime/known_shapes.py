"""What a session of onnxruntime knows of shapes when it plans buffers: less than the shapes that shapeinf infers.

A session merges declarations with an inference that visits each node once, reads the contents of initializers only,
and names no unknown dim. For the operators of the onnx package that is `onnx.shape_inference`; the rules of shapeinf,
applied to one node at a time, serve the other operators, and all of them where onnx does not read the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.graph import MISSING, UNUSED, DeclaredType
from shapeinf.lattice import PartialTensor, TensorType, Type
from shapeinf.memory.runtimes.kernels import RuntimeKernels
from shapeinf.memory.runtimes.onnxruntime.node_inference import NodeInference, PlannerShape, PlannerType, planner_shape
from shapeinf.memory.runtimes.onnxruntime.onnx_inference import OnnxRules, inferred_model, value_shapes
from shapeinf.sharing import cached_property

if TYPE_CHECKING:
    import onnx


class KnownShapes:
    """The shapes that a session knows of the values of one graph; a blank dim (None) equals no other one."""

    def __init__(
        self,
        inference: Inference,
        proto: onnx.GraphProto | None,
        onnx_rules: OnnxRules | None,
        outer: Mapping[str, PlannerShape],
        kernels: RuntimeKernels,
    ) -> None:
        """`kernels` say what a session infers of its own operators.

        `proto` is the graph with the shapes that onnx infers, `outer` has those of the outer values that it reads.
        """
        self.inference = inference
        self.compiled = inference.compiled
        self.proto = proto
        self.onnx_rules = onnx_rules
        self.kernels = kernels
        self.contents: dict[str, PartialTensor]
        """The contents that a session knows of computed values: those of constants, and some whole numbers."""
        self.shapes: dict[str, PlannerShape] = dict(outer)
        graph = self.compiled.graph
        self.contents = self._stored_contents()
        for name, constant in graph.constants.items():
            self.shapes[name] = planner_shape(constant.shape)
        for name, declared in graph.declared.items():
            self._merge(name, _declared_shape(graph.planned.get(name, declared)))
        if proto is not None:
            for name, shape in value_shapes(proto):
                self._merge(name, shape)
        self._visit_nodes()

    @classmethod
    def of_model(cls, inference: Inference, kernels: RuntimeKernels) -> KnownShapes:
        """The shapes of the values of a model."""
        model = inferred_model(inference.compiled.graph)
        return cls(inference, model and model.graph, None if model is None else OnnxRules(model), {}, kernels)

    def of_body(self, step: NodeStep, name: str, body: Inference) -> KnownShapes:
        """The shapes of the values of a body (the attribute `name`) of a node of this graph."""
        node = self._proto_of(step.index)
        proto = (
            None if node is None else next((a.g for a in node.attribute if a.name == name and a.HasField("g")), None)
        )
        outer = {value: self.shapes.get(value) for value in body.compiled.graph.free_names()}
        return KnownShapes(body, proto, self.onnx_rules, outer, self.kernels)

    def find(self, slot: int) -> PlannerShape:
        """The shape of a value; None for an unknown rank."""
        return self.shapes.get(self.compiled.names[slot])

    def _merge(self, name: str, shape: PlannerShape) -> None:
        """Add what another source knows of a shape: a number wins, then the name that is there."""
        known = self.shapes.get(name)
        if known is None:
            self.shapes[name] = shape
        elif shape is not None and len(known) == len(shape):
            self.shapes[name] = tuple(
                [b if isinstance(b, int) or a is None else a for a, b in zip(known, shape, strict=True)]
            )

    def _stored_contents(self) -> dict[str, PartialTensor]:
        """The contents of the nodes that are constants, which a session stores as initializers."""
        known = {}
        for key, _, outputs, _ in self.compiled.rows:
            op_def = self.compiled.operations[key].op_def
            if op_def is None or not op_def.stored:
                continue
            for slot in outputs:
                value = None if slot == UNUSED else self._inferred(slot)
                if isinstance(value, PartialTensor):
                    known[self.compiled.names[slot]] = value
        return known

    def _visit_nodes(self) -> None:
        """Infer the outputs of one node after the other."""
        rules = NodeInference(self.compiled)
        for index in range(len(self.compiled.rows)):
            step = self.compiled.step(index)
            types = [None if slot == MISSING else self._type(slot) for slot in step.arguments]
            self._propagate_contents(step, types, rules)
            outputs = [(position, slot) for position, slot in enumerate(step.outputs) if slot != UNUSED]
            if all(_is_complete(self.find(slot)) for _, slot in outputs):
                continue
            shapes = self._infer(step, types, rules)
            kind = step.operation.kind
            for position, slot in outputs:
                shape = shapes.get(position)
                if self.kernels.is_sized_by_machine(kind.domain, kind.op):
                    shape = self._with_inferred_numbers(shape, slot)
                self._merge(self.compiled.names[slot], shape)

    def _with_inferred_numbers(self, shape: PlannerShape, slot: int) -> PlannerShape:
        """The shape with the numbers that other nodes determine, such as the padded channels of the next weight."""
        inferred = self._inferred(slot)
        dims = inferred.shape.dims if isinstance(inferred, TensorType) else None
        if shape is None or dims is None:
            return shape
        return tuple([b if a is None and isinstance(b, int) else a for a, b in zip(shape, dims, strict=True)])

    def _infer(
        self, step: NodeStep, types: Sequence[PlannerType | None], rules: NodeInference
    ) -> Mapping[int, PlannerShape]:
        """The shapes of the outputs of a node: by onnx where it has the operator."""
        like = self.kernels.find_inferred_like(step.operation.kind.domain, step.operation.kind.op)
        node = self._proto_of(step.index)
        shapes = None if node is None or self.onnx_rules is None else self.onnx_rules.infer(node, types, like)
        if shapes is None or (like and len(step.outputs) > 1):
            return {**rules.infer(step, types, "" if shapes else like), **(shapes or {})}
        return shapes

    def _propagate_contents(self, step: NodeStep, types: Sequence[PlannerType | None], rules: NodeInference) -> None:
        """Compute the contents of an output that a session computes, where they follow from numbers."""
        kind = step.operation.kind
        if self.kernels.has_contents_inferred(kind.domain, kind.op):
            contents = rules.contents(step, types)
            if contents is not None:
                self.contents[self.compiled.names[step.outputs[0]]] = contents

    def _type(self, slot: int) -> PlannerType:
        """What a rule may know of a value: its element type, its shape here, and the contents of an initializer."""
        value = self._inferred(slot)
        dtype = value.dtype if isinstance(value, TensorType) else None
        name = self.compiled.names[slot]
        return PlannerType(dtype, self.find(slot), self.compiled.graph.constants.get(name) or self.contents.get(name))

    def _inferred(self, slot: int) -> Type | None:
        table = self.inference.table
        return table.types[table.canonical[self.inference.numbers[slot]]]

    def _proto_of(self, index: int) -> onnx.NodeProto | None:
        """The node of a row."""
        if self.proto is None:
            return None
        node: onnx.NodeProto = self.proto.node[self._positions[index]]
        return node

    @cached_property
    def _positions(self) -> Mapping[int, int]:
        """For each row the index of its node in the file."""
        return {row: position for position, row in enumerate(self.compiled.file_order)}


def _declared_shape(declared: DeclaredType) -> PlannerShape:
    return None if declared.kind != "tensor" or declared.dims is None else tuple([d or None for d in declared.dims])


def _is_complete(shape: PlannerShape) -> bool:
    return shape is not None and None not in shape
