"""Nodes with arrays for all inputs: the published cases of `onnx`, and our tables of cases."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.differential import single_node
from tests.differential.microsoft_attention_cases import ATTENTION_CASES
from tests.differential.microsoft_cases import CASES
from tests.differential.microsoft_definition_cases import DEFINITION_CASES
from tests.differential.microsoft_operand_cases import OPERAND_CASES
from tests.differential.microsoft_search_cases import SEARCH_CASES
from tests.differential.operands.onnx_cases import ONNX_CASES

NO_CONTENTS = "fdeg"
"""The kinds of numpy types, those of floats, on whose contents no shape depends; others are constants of the model."""

OLDEST = {"": 7}
"""The first opset of a domain that onnxruntime supports."""


@attrs.frozen(eq=False)
class Node:
    """A node and its inputs; `types` are declared element types of outputs.

    `opened`: inputs whose contents decide shapes are inputs of the model too, instead of its constants.
    """

    name: str
    proto: onnx.NodeProto
    opsets: tuple[tuple[str, int], ...]
    arrays: tuple[np.ndarray | None, ...]
    types: tuple[tuple[str, int], ...] = ()
    oracles: tuple[str, ...] = ("onnxruntime", "reference")
    opened: bool = False

    @property
    def op(self) -> str:
        """The operator with its domain."""
        return f"{self.proto.domain}.{self.proto.op_type}" if self.proto.domain else self.proto.op_type

    @property
    def version(self) -> int:
        """The opset of the operator's domain."""
        return dict(self.opsets)[self.proto.domain]

    def with_array(self, index: int, array: np.ndarray) -> Node:
        """The node with another array for one input."""
        return attrs.evolve(self, arrays=(*self.arrays[:index], array, *self.arrays[index + 1 :]))

    def feeds(self) -> dict[str, np.ndarray]:
        """The arrays for a run, by the names of the model's inputs."""
        return {f"i{k}": a for k, a in enumerate(self.arrays) if a is not None and not self._is_constant(k)}

    def _is_constant(self, index: int) -> bool:
        array = self.arrays[index]
        if self.opened:
            return False
        first = next(k for k, a in enumerate(self.arrays) if a is not None)
        return array is not None and index != first and array.dtype.kind not in NO_CONTENTS

    def model(self, *, named: bool = False) -> onnx.ModelProto:
        """The model, with static inputs or with `named` dims, and outputs without declared shapes."""
        inputs, constants = [], []
        for k, array in enumerate(self.arrays):
            if array is None:
                continue
            if self._is_constant(k):
                constants.append(numpy_helper.from_array(array, f"i{k}"))
                continue
            dims = [f"i{k}d{axis}" for axis in range(array.ndim)] if named else list(array.shape)
            inputs.append(helper.make_tensor_value_info(f"i{k}", single_node.onnx_type(array.dtype), dims))
        node = onnx.NodeProto()
        node.CopyFrom(self.proto)
        del node.input[:]
        node.input.extend("" if a is None else f"i{k}" for k, a in enumerate(self.arrays))
        outputs = [helper.make_empty_tensor_value_info(o) for o in node.output if o]
        for output in outputs:
            if output.name in dict(self.types):
                output.type.tensor_type.elem_type = dict(self.types)[output.name]
        graph = helper.make_graph([node], "g", inputs, outputs, constants)
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid(d, v) for d, v in self.opsets])
        proto.ir_version = 10
        return proto

    def sizes(self) -> dict[str, int]:
        """The sizes for the named dims of the model."""
        return {f"{name}d{axis}": n for name, a in self.feeds().items() for axis, n in enumerate(a.shape)}


def key(node: Node) -> Any:
    """A key that is equal for nodes that differ only in contents of floats."""
    arrays = tuple(
        None if a is None else (a.shape, a.dtype.str, a.tobytes() if a.dtype.kind in "iub" and a.size < 64 else b"")
        for a in node.arrays
    )
    attributes = tuple(a.SerializeToString() for a in sorted(node.proto.attribute, key=lambda a: a.name))
    return node.op, node.opsets, arrays, attributes, tuple(map(bool, node.proto.output))


@functools.cache
def every_node() -> tuple[Node, ...]:
    """All nodes, without duplicates."""
    return tuple({key(node): node for node in (*_published(), *_earlier(), *_from_tables())}.values())


@functools.cache
def nodes() -> tuple[Node, ...]:
    """All nodes with two inputs or more, without duplicates."""
    return tuple(filter(_has_two_inputs, every_node()))


def _has_two_inputs(node: Node) -> bool:
    return sum(a is not None for a in node.arrays) > 1


@functools.cache
def _published() -> tuple[Node, ...]:
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [c for kind in ("node", "simple", "pytorch-operator") for c in load_model_tests(kind=kind)]
    return tuple(node for case in cases if case.model is not None for node in _from_case(case))


def _from_case(case: Any) -> Iterator[Node]:
    model, data = case.model, case.data_sets[0][0]
    if len(model.graph.node) != 1 or not all(isinstance(a, np.ndarray | np.generic) for a in data):
        return
    proto = model.graph.node[0]
    arrays = {i.name: np.asarray(a) for i, a in zip(model.graph.input, data, strict=False)}
    arrays |= {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    if all(not name or name in arrays for name in proto.input):
        opsets = tuple((o.domain, o.version) for o in model.opset_import)
        yield Node(case.name, proto, opsets, tuple(arrays.get(name) for name in proto.input))


def _earlier() -> Iterator[Node]:
    """The published nodes at each earlier version of their operator that has all of their attributes and inputs."""
    for node in _published():
        for schema in _versions(node.proto.domain, node.proto.op_type):
            if OLDEST.get(schema.domain, 1) <= schema.since_version < node.version and _conforms(node, schema):
                version = schema.since_version
                opsets = tuple((d, version if d == schema.domain else v) for d, v in node.opsets)
                yield attrs.evolve(node, name=f"{node.name}@{version}", opsets=opsets)


def _conforms(node: Node, schema: onnx.defs.OpSchema) -> bool:
    fits = schema.min_input <= len(node.arrays) <= schema.max_input
    return fits and all(a.name in schema.attributes for a in node.proto.attribute)


@functools.cache
def _versions(domain: str, op: str) -> list[onnx.defs.OpSchema]:
    schemas = onnx.defs.get_all_schemas_with_history()
    return sorted((s for s in schemas if (s.domain, s.name) == (domain, op)), key=lambda s: s.since_version)


def _from_tables() -> Iterator[Node]:
    run = (*CASES, *ATTENTION_CASES, *OPERAND_CASES, *SEARCH_CASES, *ONNX_CASES)
    for case, oracles in (*((c, ("onnxruntime",)) for c in run), *((c, ("inference",)) for c in DEFINITION_CASES)):
        arrays = case.arrays()
        model = single_node.model_of(case, arrays)[0]
        opsets = (*((o.domain, o.version) for o in model.opset_import), ("ai.onnx.ml", 3))
        types = tuple((o.name, o.type.tensor_type.elem_type) for o in model.graph.output if o.type.WhichOneof("value"))
        yield Node(str(case), model.graph.node[0], opsets, tuple(arrays), types, oracles)
