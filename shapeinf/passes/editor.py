"""The editor of an ONNX model: its scopes, its constants, and edits that keep the interface of every scope.

The model is one of onnx-ir, in which a value has its readers in all scopes. A constant is an initializer of a scope, or
of one around it, that no caller can override (from IR version 4 on, an initializer that is no input).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from shapeinf.errors import ModelError
from shapeinf.lattice import Shape
from shapeinf.lattice.dtypes import ONNX_NAMES
from shapeinf.passes.outline import sizes
from shapeinf.passes.report import Change, SkippedChange
from shapeinf.passes.schemas import fits_schema
from shapeinf.passes.types import Types, bodies, scopes, values
from shapeinf.passes.weights import contents, rename_tensor

OVERRIDABLE_SINCE = 4
"""From this IR version on, an initializer that is an input is a default, which a caller may override."""

QUANTIZATION = "quant_parameter_tensor_names"
"""The key in the metadata of a value under which onnx-ir stores its quantization annotation."""


class Skip(Exception):  # noqa: N818  (internal, no error)
    """The reason to skip a node or value. Internal: caught in `passes.editor` and `passes.deduplicate`."""


Edit = Callable[[], None]
"""Edits one node."""
Converter = Callable[["Editor", ir.Node], Edit | None]
"""The edit of a node for a new opset; None where none is needed."""


class Editor:
    """A model that passes edit in place; `changes` and `skipped` are those of the current pass."""

    def __init__(self, model: ir.Model) -> None:
        """`model` is edited in place."""
        self.model = model
        self.name = ""
        self.changes: list[Change] = []
        self.skipped: list[SkippedChange] = []
        self.types = Types.unknown()
        self._names: set[str] = set()
        self._scopes: dict[str, list[ir.Graph]] = {}
        self._parents: dict[ir.Graph, ir.Graph] = {}
        self._functions: set[ir.Graph] = set()
        self._parameters: set[str] = set()

    def start(self, name: str, types: Types) -> None:
        """Begin a pass, with the inferred types of the current model."""
        self.name, self.types = name, types
        self.changes, self.skipped = [], []
        self._functions = {function.graph for function in self.model.functions.values()}
        self._names = {node.name for scope in self.scopes() for node in scope if node.name}
        self._parents = {body: scope for scope in self.scopes() for node in scope for body in bodies(node)}
        self._scopes, self._parameters = {}, set()
        for scope, value in self._values():
            if value.name:
                self._scopes.setdefault(value.name, []).append(scope)
            if QUANTIZATION in value.meta:
                self._parameters.update(value.meta[QUANTIZATION].values())
        self._names |= set(self._scopes)

    # -- scopes ------------------------------------------------------------------------------------------------------

    def scopes(self) -> Iterator[ir.Graph]:
        """See `types.scopes`."""
        return scopes(self.model)

    def is_function(self, scope: ir.Graph) -> bool:
        """Whether a scope is the body of a function, which has no initializers."""
        return scope in self._functions

    def nodes(self, *operators: str) -> list[ir.Node]:
        """The nodes of these operators of ONNX, in all scopes; see `is_operator`.

        Nodes of functions with attributes that each call sets are omitted.
        """
        nodes = (node for scope in self.scopes() for node in scope if self.is_operator(node, *operators))
        return [node for node in nodes if not any(attribute.is_ref() for attribute in node.attributes.values())]

    def is_operator(self, node: ir.Node | None, *operators: str) -> bool:
        """Whether a node has one of these operators of ONNX, fits its schema, and calls no function of the model."""
        if node is None or node.op_type not in operators or node.domain != "":
            return False
        return node.op_identifier() not in self.model.functions and fits_schema(node, self.opset)

    @property
    def opset(self) -> int:
        """The version of ONNX's operators that the main graph imports."""
        imports = self.model.opset_imports
        return imports.get("", imports.get("ai.onnx", 1))

    def _values(self) -> Iterator[tuple[ir.Graph, ir.Value]]:
        for scope in self.scopes():
            for value in values(scope):
                yield scope, value

    def raise_opset(self, version: int) -> None:
        """Set the opset of the model, and of its functions that import ONNX's operators."""
        for imports in (self.model.opset_imports, *(f.opset_imports for f in self.model.functions.values())):
            if {"", "ai.onnx"} & set(imports) or imports is self.model.opset_imports:
                imports.pop("ai.onnx", None)
                imports[""] = version

    # -- values ------------------------------------------------------------------------------------------------------

    def is_constant(self, value: ir.Value | None) -> bool:
        """Whether a value is an initializer that no caller can override."""
        if value is None or not value.is_initializer() or value.const_value is None:
            return False
        return not (value.is_graph_input() and self.model.ir_version >= OVERRIDABLE_SINCE)

    def array(self, value: ir.Value | None) -> npt.NDArray[Any]:
        """The contents of a constant. Raises Skip for any other value, and for contents that cannot be read."""
        if value is None or not self.is_constant(value):
            raise Skip(f"{_label(value)} is not a constant")
        assert value.const_value is not None
        try:
            return contents(value.const_value)
        except ModelError as error:
            raise Skip(str(error)) from error

    def dtype(self, value: ir.Value | None) -> str | None:
        """The inferred element type of a value, or that of a constant; None where it is unknown."""
        if value is not None and value.const_value is not None and self.is_constant(value):
            return ONNX_NAMES.get(int(value.const_value.dtype))
        return self.types.dtype(value)

    def shape(self, value: ir.Value | None) -> Shape:
        """The inferred shape of a value, or that of a constant."""
        if value is not None and value.const_value is not None and self.is_constant(value):
            return Shape(sizes(value.const_value))
        return self.types.shape(value)

    def only_reader(self, value: ir.Value) -> ir.Node:
        """The only reader of a value. Raises Skip for an output, other readers, other scopes, and annotated values."""
        readers = {use.node for use in value.uses()}
        if value.is_graph_output():
            raise Skip(f"{_label(value)} is an output of its graph")
        if len(value.uses()) != 1:
            raise Skip(f"{_label(value)} has {len(value.uses())} readers")
        (reader,) = readers
        producer = value.producer()
        if producer is None or reader.graph is not producer.graph:
            raise Skip(f"{_label(value)} is not read in the scope in which it is produced")
        if self.is_annotated(value):
            raise Skip(f"{_label(value)} has a quantization annotation")
        return reader

    def is_annotated(self, value: ir.Value | None) -> bool:
        """Whether a value has a quantization annotation, or is a parameter of one."""
        return value is not None and (QUANTIZATION in value.meta or value.name in self._parameters)

    def check_visible(self, name: str | None, scope: ir.Graph) -> None:
        """Raise Skip where a scope inside of this one has its own value of this name."""
        for inner in self._scopes.get(name or "", ()):
            around = self._parents.get(inner)
            while around is not None:
                if around is scope:
                    raise Skip(f"an inner scope has another '{name}'")
                around = self._parents.get(around)

    # -- edits -------------------------------------------------------------------------------------------------------

    def new_constant(self, scope: ir.Graph, hint: str, array: npt.NDArray[Any]) -> ir.Value:
        """Add an initializer to a scope, with an unused name that begins with `hint`."""
        tensor = ir.Tensor(
            np.ascontiguousarray(array) if array.ndim else np.asarray(array), name=self.unused_name(hint)
        )
        value = ir.Value(
            name=tensor.name, shape=ir.Shape(array.shape), type=ir.TensorType(tensor.dtype), const_value=tensor
        )
        self.add_initializer(scope, value)
        return value

    def add_initializer(self, scope: ir.Graph, value: ir.Value) -> None:
        """Make a value with contents and an unused name an initializer of a scope.

        Before IR version 4, each initializer must be an input of its graph: it becomes one of the main graph.
        """
        if self.model.ir_version < OVERRIDABLE_SINCE:
            scope = self.model.graph
            scope.inputs.append(value)
        scope.initializers.add(value)

    def unused_name(self, hint: str) -> str:
        """A name that no value and no node of the model has: the hint, or one with a number."""
        name, number = hint, 1
        while name in self._names:
            name, number = f"{hint}_{number}", number + 1
        self._names.add(name)
        return name

    def constant_input(self, node: ir.Node, hint: str, array: npt.NDArray[Any]) -> ir.Value:
        """Add a constant for an input of a node: an initializer; in a function, a Constant node before the node."""
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
        """Add another initializer with the same tensor to the same scope."""
        assert value.graph is not None and value.const_value is not None
        name = self.unused_name(value.name or "constant")
        tensor = rename_tensor(value.const_value, name)
        copy = ir.Value(name=name, shape=value.shape, type=value.type, const_value=tensor)
        self.add_initializer(value.graph, copy)
        return copy

    def replace_by_constant(self, node: ir.Node, tensor: ir.TensorProtocol) -> None:
        """Replace a node by an initializer with the name of its only output, which must be no output of the graph.

        Before IR version 4, the initializer of an inner scope is one of the main graph, and has an unused name. Raises
        Skip where an inner scope has its own value of the name: an initializer is visible in all inner scopes.
        """
        scope, result = node.graph, node.outputs[0]
        assert scope is not None
        stays = self.model.ir_version >= OVERRIDABLE_SINCE or scope is self.model.graph
        if stays:
            self.check_visible(result.name, scope)
        name = result.name if stays else self.unused_name(result.name or "constant")
        value = ir.Value(shape=ir.Shape(sizes(tensor)), type=ir.TensorType(tensor.dtype), doc_string=result.doc_string)
        value.metadata_props.update(result.metadata_props)
        value.meta.update(result.meta)
        for reader, index in result.uses():
            reader.replace_input_with(index, value)
        self.remove(node)
        value.name = name
        value.const_value = rename_tensor(tensor, name or "")
        self.add_initializer(scope, value)

    def set_input(self, node: ir.Node, index: int, value: ir.Value | None) -> None:
        """Replace an input, also one past the end; an old constant that nothing reads any more is removed."""
        old = node.inputs[index] if index < len(node.inputs) else None
        if index >= len(node.inputs):
            node.resize_inputs(index + 1)
        node.replace_input_with(index, value)
        self.drop_unread([old])

    def is_unread(self, value: ir.Value) -> bool:
        """Whether a value is a constant that no node reads, no graph returns and no annotation refers to."""
        if not self.is_constant(value) or value.uses() or value.is_graph_output():
            return False
        return value.name not in self._parameters

    def drop_unread(self, values: Iterable[ir.Value | None]) -> None:
        """Remove those of these values that are unread constants."""
        for value in values:
            if value is None or not self.is_unread(value):
                continue
            scope = value.graph
            assert scope is not None
            del scope.initializers[value.name or ""]
            if value.is_graph_input():
                scope.inputs.remove(value)

    def bypass(self, node: ir.Node, source: ir.Value) -> None:
        """Remove a node of which only the first output is used; its readers read `source` instead.

        Raises what `check_bypass` raises.
        """
        self.check_bypass(node, source)
        self.replace_value(node.outputs[0], source)
        self.remove(node)

    def check_bypass(self, node: ir.Node, source: ir.Value) -> None:
        """Raise Skip where a node cannot be bypassed; see `check_replaceable`."""
        self.check_replaceable(node.outputs[0], source)

    def replace_value(self, result: ir.Value, source: ir.Value) -> None:
        """Make the readers of a node's output read `source`, which gets its name where it is an output of its graph."""
        producer = result.producer()
        assert producer is not None and producer.graph is not None
        if result.is_graph_output():
            self._become_output(source, result, producer.graph)
        elif not source.is_graph_input():
            source.type, source.shape = source.type or result.type, source.shape or result.shape
        for reader, index in result.uses():
            reader.replace_input_with(index, source)

    def check_replaceable(self, result: ir.Value, source: ir.Value) -> None:
        """Raise Skip where no other value can stand for a node's output.

        At an output of the graph: where `source` is an input or another output, a constant, or comes from another
        scope. Elsewhere: where an inner scope has its own value with the name of `source`.
        """
        node = result.producer()
        assert node is not None and node.graph is not None
        scope = node.graph
        if self.is_annotated(result):
            raise Skip(f"{_label(result)} has a quantization annotation")
        if not result.is_graph_output():
            self.check_visible(source.name, source.graph or scope)
            return
        producer = source.producer()
        if producer is None or producer.graph is not scope:
            raise Skip(f"{_label(result)} is an output and {_label(source)} is not produced in its graph")
        if source.is_graph_output():
            raise Skip(f"{_label(result)} and {_label(source)} are both outputs")
        self.check_visible(result.name, scope)

    def _become_output(self, source: ir.Value, result: ir.Value, scope: ir.Graph) -> None:
        """Make a value an output instead of another, with its name, declared type and documentation."""
        name = result.name
        for at, output in enumerate(scope.outputs):
            if output is result:
                scope.outputs[at] = source
        source.name, source.type, source.shape = name, result.type or source.type, result.shape
        source.doc_string = result.doc_string
        source.metadata_props.clear()
        source.metadata_props.update(result.metadata_props)

    def remove(self, node: ir.Node) -> None:
        """Remove a node whose outputs nothing reads, and the constants that only this node reads."""
        scope, inputs = node.graph, list(node.inputs)
        assert scope is not None
        scope.remove(node, safe=True)
        self.drop_unread(inputs)

    def rewrite_nodes(
        self,
        operator: str,
        rewrite: Callable[[Editor, ir.Node], None],
        is_candidate: Callable[[ir.Node], bool] = lambda _: True,
    ) -> None:
        """Rewrite each node of an operator; candidates that `rewrite` raises Skip for are recorded as skipped."""
        for node in self.nodes(operator):
            try:
                rewrite(self, node)
            except Skip as reason:
                if is_candidate(node):
                    self.skip(node, reason)

    # -- report ------------------------------------------------------------------------------------------------------

    def record_change(self, node: ir.Node | ir.Value, text: str) -> None:
        """Record a change of a node or value."""
        self.changes.append(Change(self.name, _label(node), text))

    def skip(self, node: ir.Node | ir.Value, reason: Skip | str) -> None:
        """Record a node or value that the pass skips."""
        self.skipped.append(SkippedChange(self.name, _label(node), str(reason)))


def _label(item: ir.Node | ir.Value | None) -> str:
    """The name of a value, or operator and name of a node (that of its output where it has none)."""
    if item is None:
        return "an absent input"
    if isinstance(item, ir.Value):
        return f"'{item.name}'"
    name = item.name or next((output.name for output in item.outputs if output.name), "")
    return f"{item.op_type} '{name}'"
