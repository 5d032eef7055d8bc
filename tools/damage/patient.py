"""A model with observed shapes, and the record of one damage to it; the registry of the kinds of damage."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


@attrs.frozen
class Damage:
    """A damaged model. `labels` are the names that a diagnostic of it may carry: a node or a tensor.

    `input` is the input whose declaration is damaged, if any. `declaration` is True where no node is damaged,
    `misnamed` where a name is misspelled and nothing else is wrong.
    """

    kind: str
    description: str
    model: onnx.ModelProto
    labels: frozenset[str]
    input: str = ""
    declaration: bool = False
    misnamed: bool = False


@attrs.define
class Patient:
    """A model with observed shapes; each damage works on a copy. `runs` caches the results of onnxruntime."""

    model: onnx.ModelProto
    truth: dict[str, Any]
    seed: str
    rng: random.Random = attrs.field(init=False)
    runs: list[dict[str, tuple[int, ...]] | None] = attrs.Factory(list)

    def __attrs_post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    def shapes(self, tensor: str) -> list[list[int]] | None:
        known = self.truth["tensors"].get(tensor) or self.truth["inputs"].get(tensor)
        shapes = known.get("shapes") if known else None
        return shapes if shapes and all(isinstance(s, list) for s in shapes) else None

    def initializer(self, name: str) -> onnx.TensorProto | None:
        return next((tensor for tensor in self.model.graph.initializer if tensor.name == name), None)

    def constant(self, name: str) -> np.ndarray | None:
        """The contents of a constant: an initializer inside of the file, or a Constant node."""
        for tensor in self.model.graph.initializer:
            if tensor.name == name and tensor.data_location != TensorProto.EXTERNAL:
                return numpy_helper.to_array(tensor)
        for node in self.model.graph.node:
            if name in node.output and node.op_type == "Constant":
                tensors = [a.t for a in node.attribute if a.name == "value"]
                return numpy_helper.to_array(tensors[0]) if tensors else None
        return None

    def producer(self, name: str) -> onnx.NodeProto | None:
        return next((node for node in self.model.graph.node if name in node.output), None)

    def nodes(self, *ops: str) -> list[int]:
        """Indices of nodes of these operators, in a random order; of all without any."""
        indices = [
            i
            for i, n in enumerate(self.model.graph.node)
            if not ops or (n.op_type in ops and n.domain in ("", "ai.onnx"))
        ]
        self.rng.shuffle(indices)
        return indices

    def inputs(self) -> list[int]:
        constants = {value.name for value in self.model.graph.initializer}
        indices = [i for i, value in enumerate(self.model.graph.input) if value.name not in constants]
        self.rng.shuffle(indices)
        return indices

    def copy(self) -> onnx.ModelProto:
        return copy.deepcopy(self.model)


Doctor = Callable[[Patient], Iterator[Damage]]
KINDS: dict[str, Doctor] = {}


def damage(kind: Doctor) -> Doctor:
    KINDS[kind.__name__] = kind
    return kind


def labels(node: onnx.NodeProto) -> frozenset[str]:
    return frozenset([node.name, *node.output]) - {""}


def set_constant(model: onnx.ModelProto, node: onnx.NodeProto, position: int, array: np.ndarray) -> None:
    name = f"damaged_{node.name}_{position}"
    model.graph.initializer.append(numpy_helper.from_array(array, name))
    node.input[position] = name


def declared_dims(value: onnx.ValueInfoProto) -> Any:
    return value.type.tensor_type.shape.dim


def set_attribute(p: Patient, i: int, name: str, value: Any) -> onnx.ModelProto:
    model = p.copy()
    node = model.graph.node[i]
    others = [a for a in node.attribute if a.name != name]
    del node.attribute[:]
    node.attribute.extend([*others, helper.make_attribute(name, value)])
    return model


def attribute(node: onnx.NodeProto, name: str) -> Any:
    return next((helper.get_attribute_value(a) for a in node.attribute if a.name == name), None)
