"""An ONNX model that passes edit: its scopes, its constants, and edits that keep the interface of every scope.

The graph is that of onnx-ir, whose values know their readers in all scopes. Constant means an initializer of the scope
or of one around it that no caller can override (IR version 4 and later: one that is no input).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx.defs
import onnx_ir as ir

from shapeinf.errors import ModelError
from shapeinf.lattice import Shape
from shapeinf.lattice.dtypes import ONNX_NAMES
from shapeinf.passes.report import Change, Left
from shapeinf.passes.skeleton import sizes
from shapeinf.passes.types import Types
from shapeinf.passes.weights import contents

OVERRIDABLE_SINCE = 4
"""The IR version from which on an initializer that is an input is a default, which a caller may replace."""


MAX_OPSET = 1 << 31
"""Versions from here on are none: the onnx package takes 32 bits."""


class Leave(Exception):  # noqa: N818  (a decision, not an error)
    """A pass leaves a place alone; the text is the reason."""


class Editor:
    """A model with the passes' edits; `changes` and `left` are those since the last `start`."""

    def __init__(self, model: ir.Model) -> None:
        """`model` is edited in place."""
        self.model = model
        self.name = ""
        self.changes: list[Change] = []
        self.left: list[Left] = []
        self.types = Types.unknown()
        self._names: set[str] = set()

    def start(self, name: str, types: Types) -> None:
        """Begin a pass, with what inference says about the model as it is."""
        self.name, self.types = name, types
        self.changes, self.left = [], []
        self._names = {value.name for value in self._values() if value.name}
        self._names |= {node.name for scope in self.scopes() for node in scope if node.name}

    # -- scopes ------------------------------------------------------------------------------------------------------

    def scopes(self) -> Iterator[ir.Graph]:
        """The main graph, its subgraphs, then each function with its subgraphs."""
        for root in (self.model.graph, *(function.graph for function in self.model.functions.values())):
            yield root
            yield from root.subgraphs()

    def is_function(self, scope: ir.Graph) -> bool:
        """Whether a scope is the body of a function, which has no initializers."""
        return any(scope is function.graph for function in self.model.functions.values())

    def nodes(self, *operators: str) -> list[ir.Node]:
        """The nodes of ONNX's own operators of these names, in all scopes.

        Not those in functions with attributes that each call sets, and none with more or fewer inputs and outputs than
        the operator has.
        """
        nodes = (node for scope in self.scopes() for node in scope if self.is_operator(node, *operators))
        return [
            node
            for node in nodes
            if not any(attribute.is_ref() for attribute in node.attributes.values()) and self._is_complete(node)
        ]

    def _is_complete(self, node: ir.Node) -> bool:
        if not 0 < self.opset < MAX_OPSET:
            return False
        schema = onnx.defs.get_schema(node.op_type, self.opset, "")
        return (
            schema.min_input <= len(node.inputs) <= schema.max_input
            and schema.min_output <= len(node.outputs) <= schema.max_output
        )

    def is_operator(self, node: ir.Node | None, *operators: str) -> bool:
        """Whether a node is one of these operators of ONNX, and no function of the model."""
        if node is None or node.op_type not in operators or node.domain not in ("", "ai.onnx"):
            return False
        return node.op_identifier() not in self.model.functions

    @property
    def opset(self) -> int:
        """The version of ONNX's operators; functions with another one are none that the passes know."""
        imports = self.model.opset_imports
        return imports.get("", imports.get("ai.onnx", 1))

    def _values(self) -> Iterator[ir.Value]:
        for scope in self.scopes():
            yield from scope.inputs
            yield from scope.initializers.values()
            for node in scope:
                yield from node.outputs

    def raise_opset(self, version: int) -> None:
        """Set the opset of the model and its functions."""
        for imports in (self.model.opset_imports, *(f.opset_imports for f in self.model.functions.values())):
            imports.pop("ai.onnx", None)
            imports[""] = version

    # -- values ------------------------------------------------------------------------------------------------------

    def is_constant(self, value: ir.Value | None) -> bool:
        """Whether a value is an initializer that no caller can override."""
        if value is None or not value.is_initializer() or value.const_value is None:
            return False
        return not (value.is_graph_input() and self.model.ir_version >= OVERRIDABLE_SINCE)

    def array(self, value: ir.Value | None) -> npt.NDArray[Any]:
        """The contents of a constant. Raises Leave for any other value, and for contents that cannot be read."""
        if value is None or not self.is_constant(value):
            raise Leave(f"{_label(value)} is no constant")
        assert value.const_value is not None
        try:
            return contents(value.const_value)
        except ModelError as error:
            raise Leave(str(error)) from error

    def dtype(self, value: ir.Value | None) -> str | None:
        """The inferred element type of a value, or that of a constant; None where it is unknown."""
        if value is not None and value.const_value is not None and value.is_initializer():
            return ONNX_NAMES.get(int(value.const_value.dtype))
        return self.types.dtype(value)

    def shape(self, value: ir.Value | None) -> Shape:
        """The inferred shape of a value, or that of a constant."""
        if value is not None and value.const_value is not None and value.is_initializer():
            return Shape(sizes(value.const_value))
        return self.types.shape(value)

    def reader(self, value: ir.Value) -> ir.Node:
        """The only reader of a value, in the scope that it is produced in. Raises Leave where there is no such."""
        readers = {use.node for use in value.uses()}
        if value.is_graph_output():
            raise Leave(f"{_label(value)} is an output of its graph")
        if len(value.uses()) != 1:
            raise Leave(f"{_label(value)} has {len(value.uses())} readers")
        (reader,) = readers
        producer = value.producer()
        if producer is None or reader.graph is not producer.graph:
            raise Leave(f"{_label(value)} is read in another scope than the one that it is produced in")
        return reader

    # -- edits -------------------------------------------------------------------------------------------------------

    def new_constant(self, scope: ir.Graph, hint: str, array: npt.NDArray[Any]) -> ir.Value:
        """A new initializer of a scope, under an unused name."""
        tensor = ir.Tensor(
            np.ascontiguousarray(array) if array.ndim else np.asarray(array), name=self.unused_name(hint)
        )
        value = ir.Value(
            name=tensor.name, shape=ir.Shape(array.shape), type=ir.TensorType(tensor.dtype), const_value=tensor
        )
        self.add_initializer(scope, value)
        return value

    def add_initializer(self, scope: ir.Graph, value: ir.Value) -> None:
        """Make a value with contents, whose name no other has, an initializer of a scope.

        Before IR version 4 it is one of the main graph, and an input: each initializer has to be an input of its graph.
        """
        if self.model.ir_version < OVERRIDABLE_SINCE:
            scope = self.model.graph
            scope.inputs.append(value)
        scope.initializers.add(value)

    def unused_name(self, hint: str) -> str:
        """A name that no value and no node of the model has."""
        name, number = hint, 1
        while name in self._names:
            name, number = f"{hint}_{number}", number + 1
        self._names.add(name)
        return name

    def constant_input(self, node: ir.Node, hint: str, array: npt.NDArray[Any]) -> ir.Value:
        """A new constant for an input of a node: an initializer, or in a function a Constant node before it."""
        scope = node.graph
        assert scope is not None
        base = node.outputs[0].name or node.op_type
        if not self.is_function(scope):
            return self.new_constant(scope, f"{base}_{hint}", array)
        constant = ir.node("Constant", [], {"value": ir.Tensor(array)})
        constant.outputs[0].name = self.unused_name(f"{base}_{hint}")
        scope.insert_before(node, constant)
        return constant.outputs[0]

    def copy_constant(self, value: ir.Value) -> ir.Value:
        """A further initializer with the same tensor, in the same scope."""
        assert value.graph is not None and value.const_value is not None
        name = self.unused_name(value.name or "constant")
        source = value.const_value
        shape = ir.Shape(sizes(source))
        tensor: ir.TensorProtocol
        if isinstance(source, ir.ExternalTensor):
            where = (source.location, source.offset, source.length, source.dtype)
            tensor = ir.ExternalTensor(*where, shape=shape, name=name, base_dir=source.base_dir)
        elif isinstance(source, ir.StringTensor):
            tensor = ir.StringTensor(source.string_data(), shape=shape, name=name)
        else:
            tensor = ir.LazyTensor(partial(_identity, source), source.dtype, shape, name=name)
        copy = ir.Value(name=name, shape=value.shape, type=value.type, const_value=tensor)
        self.add_initializer(value.graph, copy)
        return copy

    def replace_by_constant(self, node: ir.Node, tensor: ir.TensorProtocol) -> None:
        """Remove a node of one output, which is none of its graph, and give its name to an initializer.

        The initializer has another name where it lies in another scope, in which the name may be one already.
        """
        scope, result = node.graph, node.outputs[0]
        assert scope is not None
        stays = self.model.ir_version >= OVERRIDABLE_SINCE or scope is self.model.graph
        name = result.name if stays else self.unused_name(result.name or "constant")
        value = ir.Value(shape=ir.Shape(sizes(tensor)), type=ir.TensorType(tensor.dtype))
        for reader, index in result.uses():
            reader.replace_input_with(index, value)
        self.remove(node)
        result.name = None
        value.name = tensor.name = name
        value.const_value = tensor
        self.add_initializer(scope, value)

    def set_input(self, node: ir.Node, index: int, value: ir.Value | None) -> None:
        """Replace an input, also one past the end; the old one goes when nothing reads it any more."""
        old = node.inputs[index] if index < len(node.inputs) else None
        if index >= len(node.inputs):
            node.resize_inputs(index + 1)
        node.replace_input_with(index, value)
        self.drop_unread([old])

    def drop_unread(self, values: Iterable[ir.Value | None]) -> None:
        """Remove the constants among these that nothing reads and that are no outputs."""
        for value in values:
            if value is None or not self.is_constant(value) or value.uses() or value.is_graph_output():
                continue
            scope = value.graph
            assert scope is not None
            del scope.initializers[value.name or ""]
            if value.is_graph_input():
                scope.inputs.remove(value)

    def bypass(self, node: ir.Node, source: ir.Value) -> None:
        """Remove a node of which only the first output is used, whose readers read `source` instead.

        Where the output is one of its graph, the producer of `source` takes its name. Raises Leave where that cannot
        be: `source` is an input or an output of a graph, a constant, or comes from another scope.
        """
        result, scope = node.outputs[0], node.graph
        assert scope is not None
        if result.is_graph_output():
            producer = source.producer()
            if producer is None or producer.graph is not scope:
                raise Leave(f"{_label(result)} is an output and {_label(source)} is not produced in its graph")
            if source.is_graph_output():
                raise Leave(f"{_label(result)} and {_label(source)} are outputs both")
            self._become_output(source, result, scope)
        for reader, index in result.uses():
            reader.replace_input_with(index, source)
        self.remove(node)

    def _become_output(self, source: ir.Value, result: ir.Value, scope: ir.Graph) -> None:
        """Put a value at the places of an output, with its name and its declared type."""
        name = result.name
        result.name = None
        for at, output in enumerate(scope.outputs):
            if output is result:
                scope.outputs[at] = source
        source.name, source.type, source.shape = name, result.type or source.type, result.shape

    def remove(self, node: ir.Node) -> None:
        """Remove a node whose outputs nothing reads, and the constants that only it has read."""
        scope, inputs = node.graph, list(node.inputs)
        assert scope is not None
        scope.remove(node, safe=True)
        self.drop_unread(inputs)

    # -- report ------------------------------------------------------------------------------------------------------

    def changed(self, node: ir.Node | ir.Value, text: str) -> None:
        """Record a change."""
        self.changes.append(Change(self.name, _label(node), text))

    def leave(self, node: ir.Node | ir.Value, reason: Leave | str) -> None:
        """Record a place that a pass looks for, and leaves alone."""
        self.left.append(Left(self.name, _label(node), str(reason)))


def _identity(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    return tensor


def _label(item: ir.Node | ir.Value | None) -> str:
    """The name of a value, or operator and name of a node (that of its output where it has none)."""
    if item is None:
        return "an absent input"
    if isinstance(item, ir.Value):
        return f"'{item.name}'"
    name = item.name or next((output.name for output in item.outputs if output.name), "")
    return f"{item.op_type} '{name}'"
