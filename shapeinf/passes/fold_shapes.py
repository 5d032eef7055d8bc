"""`fold_shapes`: nodes that compute sizes become constants, or their readers need them no more.

Inference knows the contents of small tensors of integers. Contents that are the same numbers at every size become
initializers; other operands of sizes, such as the target of a Reshape, become constants that mean the same; nodes that
return their input at every size are bypassed. A node that requires something of the sizes is never removed: the result
accepts the sizes that the model accepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

from shapeinf.lattice import Progression, TensorType
from shapeinf.passes.editor import Editor, Skip
from shapeinf.passes.known_values import KnownValues
from shapeinf.passes.no_effect import VIEWS, is_view, source_of
from shapeinf.passes.remove_dead import remove_dead
from shapeinf.passes.shape_operands import expand_target, means_itself, reshape_target, slice_position
from shapeinf.passes.types import bodies

INTEGERS = frozenset(["bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))])
"""The element types whose contents become constants."""

RESHAPE_WITH_OPERAND = 5
"""The first opset in which the target of a Reshape is an operand."""

MAX_BYTES = 1 << 12
"""Larger results stay computed: a file should not grow."""

_PURE = VIEWS | {
    *("Abs", "Add", "Cast", "Exp", "Expand", "Mul", "Neg", "Relu", "Shape", "Sigmoid", "Size", "Sqrt", "Sub"),
    *("Tanh", "Transpose"),
}
"""Operators that fail for no contents of their data: only sizes, which inference knows, make them fail."""


def fold_shapes(editor: Editor) -> None:
    """Remove dead nodes first: what they require of sizes proves nothing."""
    remove_dead(editor)
    if editor.changes:
        return
    folding = Folding(editor, KnownValues.of(editor))
    for scope in list(editor.scopes()):
        for node in reversed(list(scope)):
            if node.graph is not None:
                folding.fold(node)
        folding.share(scope)


class Folding:
    """One run of the pass, with what is known of the values of the model before it."""

    def __init__(self, editor: Editor, known: KnownValues) -> None:
        """`known` is that of the model of `editor`."""
        self.editor = editor
        self.known = known

    def fold(self, node: ir.Node) -> None:
        """Replace a node by a constant or by its input, or its operand by a constant, where that is proved."""
        if len(node.outputs) == 0 or node.outputs[0] not in self.known.types or not self._is_onnx(node):
            return
        if node in self.known.failing:
            return
        try:
            if self._replace_by_constant(node) or self._bypass(node):
                return
            _OPERANDS.get(node.op_type, _nothing)(self, node)
        except Skip as reason:
            self.editor.skip(node, reason)

    def _is_onnx(self, node: ir.Node) -> bool:
        return self.editor.is_operator(node, node.op_type)

    # -- results -----------------------------------------------------------------------------------------------------

    def _replace_by_constant(self, node: ir.Node) -> bool:
        """Replace a node whose contents are numbers at every size by an initializer."""
        (result, *others) = node.outputs
        if others or node.op_type == "Constant" or result.is_graph_output() or not self._is_read(result):
            return False
        array = self.known.array(result)
        if array is None or not is_foldable(array):
            return False
        self.check_removable(node)
        inputs = list(node.inputs)
        self.editor.replace_by_constant(node, ir.Tensor(np.ascontiguousarray(array).reshape(np.shape(array))))
        self.editor.record_change(node, f"is the same at every size: {_text(array)}")
        self.remove_unread(inputs)
        return True

    def _is_read(self, value: ir.Value) -> bool:
        """Whether nodes read a value, none of which a constant shows to be wrong."""
        readers = {use.node for use in value.uses()}
        return bool(readers) and not readers & self.known.failing and not self.editor.is_annotated(value)

    def _bypass(self, node: ir.Node) -> bool:
        """Bypass a node that returns its input at every size."""
        source = source_of(node, self.known)
        if source is None or node in self.known.requiring or any(o.uses() for o in node.outputs[1:]):
            return False
        inputs = [value for value in node.inputs if value is not source]
        self.check_removable(node, keep=source)
        self.editor.bypass(node, source)
        self.editor.record_change(node, "removed: it returns its input at every size")
        self.remove_unread(inputs)
        return True

    def share(self, scope: ir.Graph) -> None:
        """Make the readers of sizes that an earlier node of the scope computes too read that one."""
        first: dict[object, ir.Value] = {}
        for node in list(scope):
            if node.graph is None or len(node.outputs) != 1 or not self._is_onnx(node):
                continue
            value = node.outputs[0]
            key = self._sizes_key(value)
            if key is None or not self._is_read(value):
                continue
            source = first.setdefault(key, value)
            if _is_removed(source):
                first[key] = value
            elif source is not value:
                try:
                    self._replace(node, source)
                except Skip as reason:
                    self.editor.skip(node, reason)

    def _sizes_key(self, value: ir.Value) -> object | None:
        """A key that is equal for values with equal contents at every size; None where contents are not known."""
        known = self.known.types.get(value)
        contents = _contents(known)
        if known is None or known.dtype not in INTEGERS or contents is None:
            return None
        return known.dtype, known.shape.dims, contents

    def _replace(self, node: ir.Node, source: ir.Value) -> None:
        """Make the readers of a node read another value, and remove what nothing reads then."""
        self.check_removable(node)
        inputs = list(node.inputs)
        self.editor.bypass(node, source)
        self.editor.record_change(node, f"is '{source.name}' at every size")
        self.remove_unread(inputs)

    # -- operands ----------------------------------------------------------------------------------------------------

    def replace_operand(self, node: ir.Node, index: int, numbers: Sequence[int], hint: str) -> None:
        """Make an operand a constant. Raises Skip where a node that requires something would be removed."""
        old = node.inputs[index]
        assert old is not None
        dying = self._dying([(node, index)])
        self._check(dying)
        dtype = self.editor.dtype(old) or "int64"
        self.editor.set_input(node, index, self.editor.constant_input(node, hint, np.asarray(numbers, dtype)))
        self.editor.record_change(node, f"its {hint} is {list(numbers)}")
        self.remove_unread([old])

    def become_reshape(self, node: ir.Node, source: ir.Value, numbers: Sequence[int]) -> None:
        """Make a view a Reshape of another value."""
        uses = [(node, index) for index in range(len(node.inputs))]
        self._check(self._dying(uses))
        old = list(node.inputs)
        node.op_type = "Reshape"
        node.attributes.clear()
        node.resize_inputs(2)
        node.replace_input_with(0, source)
        target = self.editor.constant_input(node, "shape", np.asarray(numbers, np.int64))
        node.replace_input_with(1, target)
        self.editor.record_change(node, f"is a Reshape of '{source.name}' to {list(numbers)}")
        self.remove_unread(old)
        self.editor.drop_unread(old)

    @staticmethod
    def scope_of(node: ir.Node) -> ir.Graph:
        """The graph of a node that is not removed."""
        assert isinstance(node.graph, ir.Graph)
        return node.graph

    def is_computed(self, value: ir.Value | None) -> bool:
        """Whether an operand is not a constant yet."""
        return value is not None and not self.editor.is_constant(value) and not _is_constant_node(value.producer())

    # -- removal -----------------------------------------------------------------------------------------------------

    def check_removable(self, node: ir.Node, keep: ir.Value | None = None) -> None:
        """Raise Skip unless a node, and all nodes that nothing else reads then, may be removed."""
        uses = [(node, index) for index, value in enumerate(node.inputs) if value is not keep]
        self._check([node, *self._dying(uses)] if keep is None else self._dying(uses))

    def _check(self, nodes: Iterable[ir.Node]) -> None:
        for node in nodes:
            if node in self.known.requiring:
                raise Skip(f"{node.op_type} '{_name(node)}' requires something of the sizes")
            if node.op_type not in _PURE and not all(self._is_known(output) for output in node.outputs):
                raise Skip(f"{node.op_type} '{_name(node)}' may depend on data")

    def _is_known(self, value: ir.Value) -> bool:
        return not value.name or _contents(self.known.types.get(value)) is not None

    def _dying(self, uses: Iterable[tuple[ir.Node, int]]) -> list[ir.Node]:
        """The nodes that nothing reads once these uses are gone."""
        gone = set(uses)
        dying: list[ir.Node] = []
        pending = [node.inputs[index] for node, index in gone]
        while pending:
            value = pending.pop()
            producer = None if value is None else value.producer()
            if producer is None or producer in dying or not self._is_dead(producer, gone):
                continue
            dying.append(producer)
            gone.update((producer, index) for index in range(len(producer.inputs)))
            pending.extend(producer.inputs)
        return dying

    @staticmethod
    def _is_dead(node: ir.Node, gone: set[tuple[ir.Node, int]]) -> bool:
        """Whether nothing but some uses reads the outputs of a node. Nodes with bodies stay alive."""
        if any(True for _ in bodies(node)):
            return False
        return all(
            not output.is_graph_output() and all((use.node, use.idx) in gone for use in output.uses())
            for output in node.outputs
        )

    def remove_unread(self, values: Iterable[ir.Value | None]) -> None:
        """Remove the nodes that computed these values, where nothing reads them any more."""
        pending = list(values)
        while pending:
            value = pending.pop()
            node = None if value is None else value.producer()
            if node is None or node.graph is None or not self._is_dead(node, set()):
                continue
            inputs = list(node.inputs)
            self.editor.remove(node)
            self.editor.record_change(node, "removed: nothing reads it")
            pending.extend(inputs)


def _contents(known: TensorType | None) -> object | None:
    """All elements of a tensor, or the first one and the steps of a progression; None where an element is unknown."""
    if isinstance(known, Progression):
        return Progression, known.contents
    elements = None if known is None else known.elements
    return None if elements is None or None in elements else elements


def is_foldable(array: Any) -> bool:
    """Whether contents are integers or truths, and few."""
    return array.dtype.name in INTEGERS and array.nbytes <= MAX_BYTES


def _is_removed(value: ir.Value) -> bool:
    producer = value.producer()
    return producer is None or producer.graph is None


def _is_constant_node(node: ir.Node | None) -> bool:
    return node is not None and node.op_type == "Constant" and node.domain == ""


def _name(node: ir.Node) -> str:
    return node.name or next((output.name for output in node.outputs if output.name), "")


def _text(array: Any) -> str:
    return str(array.tolist()) if array.size <= 8 else f"{array.dtype.name}{list(array.shape)}"


def _nothing(_: Folding, __: ir.Node) -> None:
    """Other operators have no operand of sizes that a constant can stand for."""


def _reshape(folding: Folding, node: ir.Node) -> None:
    known = folding.known
    if len(node.inputs) != 2:
        return
    x, target = known.dims(node.inputs[0]), known.elements(node.inputs[1])
    if x is None or target is None:
        return
    if not folding.is_computed(node.inputs[1]):
        _skip_view(folding, node)
        return
    copies = node.attributes.get_int("allowzero", 0) == 0
    if not means_itself(x, target, copies, known.least) or (not copies and 0 in target):
        return
    numbers = reshape_target(x, target, known.least)
    if numbers is not None:
        folding.replace_operand(node, 1, numbers, "shape")
        if not copies:
            node.attributes.pop("allowzero")


def _skip_view(folding: Folding, node: ir.Node) -> None:
    """Make a view of a view that nothing else reads a Reshape of the source of the first one."""
    known, before = folding.known, node.inputs[0]
    view = None if before is None else before.producer()
    if before is None or view is None or {node, view} & known.requiring:
        return
    if not is_view(node, known) or not is_view(view, known) or view.op_type == "Identity":
        return
    source = view.inputs[0]
    x, shape = known.dims(source), known.dims(node.outputs[0])
    numbers = None if x is None or shape is None or 0 in shape else reshape_target(x, shape, known.least)
    if source is None or numbers is None or folding.editor.opset < RESHAPE_WITH_OPERAND:
        return
    folding.editor.only_reader(before)
    folding.editor.check_visible(source.name, source.graph or folding.scope_of(node))
    folding.become_reshape(node, source, numbers)


def _expand(folding: Folding, node: ir.Node) -> None:
    if not folding.is_computed(node.inputs[1]):
        return
    x, target = folding.known.dims(node.inputs[0]), folding.known.elements(node.inputs[1])
    numbers = None if x is None or target is None else expand_target(x, target)
    if numbers is not None:
        folding.replace_operand(node, 1, numbers, "shape")


def _slice(folding: Folding, node: ir.Node) -> None:
    known = folding.known
    x = known.dims(node.inputs[0])
    if x is None or len(node.inputs) < 3:
        return
    parts = [known.elements(value) for value in node.inputs[1:]]
    starts, ends, axes, steps = [*parts, None, None][:4]
    if (len(node.inputs) > 3 and axes is None) or (len(node.inputs) > 4 and steps is None):
        return
    if any(type(step) is not int or step < 1 for step in steps or ()):
        return
    for index, positions in ((1, starts), (2, ends)):
        if positions is None or not folding.is_computed(node.inputs[index]):
            continue
        numbers = _positions(folding, node, index, positions, range(len(positions)) if axes is None else axes)
        if numbers is not None:
            folding.replace_operand(node, index, numbers, "starts" if index == 1 else "ends")


def _positions(
    folding: Folding, node: ir.Node, index: int, positions: Sequence[object], axes: Sequence[object]
) -> list[int] | None:
    x = folding.known.dims(node.inputs[0]) or ()
    last = int(np.iinfo(folding.editor.dtype(node.inputs[index]) or "int64").max)
    if len(axes) != len(positions) or not all(type(a) is int and -len(x) <= a < len(x) for a in axes):
        return None
    numbers = [
        slice_position(x[axis], position, last, folding.known.least)
        for axis, position in zip(axes, positions, strict=True)
        if isinstance(axis, int)
    ]
    known = [number for number in numbers if number is not None]
    return known if len(known) == len(numbers) else None


_OPERANDS = {
    "Expand": _expand,
    "Flatten": _skip_view,
    "Reshape": _reshape,
    "Slice": _slice,
    "Squeeze": _skip_view,
    "Transpose": _skip_view,
    "Unsqueeze": _skip_view,
}
"""What finds a constant operand, by operator."""
