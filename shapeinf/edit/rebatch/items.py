"""Whether the items along an axis stay separate: whether each node computes an item of its outputs from one item.

Every tensor with items has one axis of them, whose size is a multiple of the number of items: the parts of an item
follow one another. Shapes show where the axis is: the rule of a node runs again with a symbol for it. They do not show
what the operator does along it (a softmax keeps its size); that is the operator's axis rule. A view has the same
elements in the same order, so its items stay where as many elements precede each item as before.

Values that depend on the number of items alone, such as a part of a shape, may be sizes, but not data. Nor may numbers
that depend on the index of their item; they may be positions from which the own item is selected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

import attrs

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.errors import ModelError, NotKnown, ShapeError
from shapeinf.expr import Dimension, DimSize, substitute
from shapeinf.graph import MISSING, UNUSED
from shapeinf.lattice import MapType, PartialTensor, Progression, SequenceType, Shape, TensorType, Type, dims_in
from shapeinf.ops import InputUse
from shapeinf.ops.axes import ITEM_DATA, UNKNOWN_POSITIONS, AxisContext, AxisUse, Columns, contents_positions

_UNDECIDED = (NotKnown, ArithmeticError, ValueError, TypeError, IndexError)
"""What a rule raises that cannot tell."""


@attrs.frozen
class Mixing:
    """A node that may combine items: why, and whether it moves windows over the axis as over those of an image."""

    step: NodeStep
    reason: str
    spatial: bool = False
    where: int | None = None
    """The index of the node at which the items are combined, if it is another one."""

    @property
    def index(self) -> int:
        """The index of the node up to which the items are separate."""
        return self.step.index if self.where is None else self.where

    def __str__(self) -> str:
        """The operator and the node with the reason."""
        return f"{self.step.operation.kind.op} {self.step.node_name} may mix the items of the batch: {self.reason}"


@attrs.frozen
class _Numbered:
    """A value that depends on the indices of its items: how, and the node that numbered them."""

    columns: Columns
    origin: NodeStep


@attrs.frozen
class _Known:
    """What is known of values, by slot.

    `counts` depend on the number of items without displaying it; `sequences` have an element for each item.
    """

    counts: set[int] = attrs.Factory(set)
    sequences: set[int] = attrs.Factory(set)
    numbered: dict[int, _Numbered] = attrs.Factory(dict)


def find_mixing(inference: Inference, symbol: Dimension) -> Mixing | None:
    """The first node that may combine items, whose number is `symbol`; None where they stay separate everywhere."""
    known, compiled = _Known(), inference.compiled
    mixing = _mixing_node(inference, symbol, known)
    if mixing is not None:
        return mixing
    for name in compiled.graph.outputs:
        numbered = known.numbered.get(compiled.slots[name])
        if numbered is not None:
            text = f"it numbers them, and the output {name} depends on the numbers"
            return Mixing(numbered.origin, text, where=compiled.producers[compiled.slots[name]])
    return None


def _mixing_node(inference: Inference, symbol: Dimension, known: _Known) -> Mixing | None:
    """The first node of a graph that may combine items; adds to what is known of its values."""
    for step in inference.compiled.steps:
        op_def = step.operation.op_def
        if op_def is not None and op_def.container:  # the same values
            _note_container(step, known)
            continue
        called = op_def.calls if op_def is not None else None
        function = inference.children.get(step.index, {}).get(called or "")
        try:
            if function is not None:
                mixing = _mixing_call(step, function, symbol, known)
                if mixing is not None:
                    return attrs.evolve(mixing, where=step.index)
                continue
            items = _NodeItems(inference, step, symbol, known)
            items.check()
            items.note_positions()
        except _MixedItemsError as error:
            return Mixing(step, error.reason, error.spatial)
    return None


def _mixing_call(step: NodeStep, function: Inference, symbol: Dimension, known: _Known) -> Mixing | None:
    """The first node of a function that may combine items; adds what is known of the outputs of its call."""
    compiled, inner = function.compiled, _Known()
    inputs = [compiled.slots[name] for name in compiled.graph.inputs]
    outputs = [compiled.slots[name] for name in compiled.graph.outputs]
    _copy_known(known, inner, zip(step.arguments, inputs, strict=False))
    mixing = _mixing_node(function, symbol, inner)
    _copy_known(inner, known, zip(outputs, step.outputs, strict=False))
    return mixing


def _copy_known(source: _Known, target: _Known, slots: Iterable[tuple[int, int]]) -> None:
    """Note what is known of values as known of others."""
    for slot, other in slots:
        if slot in source.counts:
            target.counts.add(other)
        if slot in source.sequences:
            target.sequences.add(other)
        if slot in source.numbered:
            target.numbered[other] = source.numbered[slot]


def _note_container(step: NodeStep, known: _Known) -> None:
    outputs = [slot for slot in step.outputs if slot != UNUSED]
    if not known.counts.isdisjoint(step.inputs):
        known.counts.update(outputs)
    numbered = next((known.numbered[slot] for slot in step.inputs if slot in known.numbered), None)
    if numbered is not None:
        known.numbered.update(dict.fromkeys(outputs, _Numbered(UNKNOWN_POSITIONS, numbered.origin)))


def is_view_of_items(inference: Inference, step: NodeStep, symbol: Dimension) -> bool:
    """Whether the outputs of a node that are views have each item where its input has it; True for other nodes."""
    items = _NodeItems(inference, step, symbol, _Known())
    try:
        for index, slot in enumerate(step.outputs):
            source = items.viewed_input(index)
            output = None if slot == UNUSED else inference.type_of(slot)
            if source in items.axes and isinstance(output, TensorType):
                items.check_view(source, output)
    except _MixedItemsError:
        return False
    return True


class _MixedItemsError(Exception):
    """Items may be combined. Internal: caught in `edit.rebatch.items`."""

    def __init__(self, reason: str, spatial: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.spatial = spatial


class _NodeItems:
    """The items of the inputs and outputs of one node.

    `check` and `note_positions` add to what is known of values.
    """

    def __init__(self, inference: Inference, step: NodeStep, symbol: Dimension, known: _Known) -> None:
        self.inference = inference
        self.step = step
        self.symbol = symbol
        self.known = known
        slots = step.arguments
        self.types = [None if slot == MISSING else inference.type_of(slot) for slot in slots]
        self.axes = {i: axes for i, type_ in enumerate(self.types) if (axes := self._axes(type_))}
        """The axes of items by position of the input."""
        self.numbers = [i for i, slot in enumerate(slots) if slot in known.counts or self._has_number(self.types[i])]
        """The positions of the inputs whose contents depend on the number of items."""

    def check(self) -> None:
        """Raise _MixedItemsError where items may be combined."""
        containers = map(self._is_container_of_items, self._all_inputs())
        if any(containers) or not self.known.sequences.isdisjoint(self.step.inputs):
            raise _MixedItemsError("it reads a sequence of them")
        if not self.axes and not self.numbers and not self._captures_items():
            return
        if self.step.operation.call is None or self.step.operation.bodies:
            raise _MixedItemsError("it runs a graph of its own")
        outputs = [
            (k, slot, self.inference.type_of(slot)) for k, slot in enumerate(self.step.outputs) if slot != UNUSED
        ]
        with_items = [(k, type_) for k, _, type_ in outputs if isinstance(type_, TensorType) and self._axes(type_)]
        self._check_outputs_without_items(outputs)
        for index, type_ in with_items:
            self._check_output(index, type_)

    def note_positions(self) -> None:
        """Note the outputs that depend on the indices of their items."""
        own = [self.known.numbered[slot] for slot in self.step.arguments if slot in self.known.numbered]
        for index, slot in enumerate(self.step.outputs):
            type_ = None if slot == UNUSED else self.inference.type_of(slot)
            axes = self._axes(type_)
            if not isinstance(type_, TensorType) or not axes or not (own or isinstance(type_, Progression)):
                continue
            columns = self._output_positions(index, type_, axes)
            if any(position.step != 0 for position in columns):
                self.known.numbered[slot] = _Numbered(columns, own[0].origin if own else self.step)

    def _output_positions(self, index: int, type_: TensorType, axes: Sequence[int]) -> Columns:
        """The positions in an output, by its contents or by the position rule of the operator."""
        if isinstance(type_, Progression):
            return (contents_positions(type_, self.symbol, axes[0]),)
        if type_.elements is not None and None not in type_.elements:
            return ITEM_DATA
        rule = self.step.compiled.registry.position_rule(*self._rule_key())
        if rule is None or index or self.step.operation.call is None:
            return UNKNOWN_POSITIONS
        try:
            return rule(self._context()[0])
        except _UNDECIDED:
            return UNKNOWN_POSITIONS

    def _rule_key(self) -> tuple[str, str, str, int]:
        """The dialect, the domain, the operator and its version."""
        kind, graph = self.step.operation.kind, self.step.compiled.graph
        return graph.dialect, kind.domain, kind.op, graph.opsets.get(kind.domain, 0)

    def _context(self) -> tuple[AxisContext, list[int]]:
        """The call for rules, and the positions of the node's inputs by those of the operator's. Raises NotKnown."""
        operation = self.step.operation
        assert operation.call is not None and operation.op_def is not None
        types = [None if slot == UNUSED else self.inference.type_of(slot) for slot in self.step.outputs]
        attributes, positions = operation.call.operands(self.types)
        numbered = self.known.numbered
        own = {k: self.step.arguments[i] for k, i in enumerate(positions)}
        context = AxisContext(
            *(operation.op_def, [self.types[i] for i in positions], types, attributes),
            *(self.inference.store, self._rule_key()[-1]),
            number=self.symbol,
            axes={k: self.axes[i] for k, i in enumerate(positions) if i in self.axes},
            positions={k: numbered[slot].columns for k, slot in own.items() if slot in numbered},
        )
        return context, list(positions)

    def _check_outputs_without_items(self, outputs: Sequence[tuple[int, int, Type | None]]) -> None:
        """An output without the axis has the sizes of its inputs as contents, or combines all items."""
        compiled = self.inference.compiled
        for _, slot, type_ in outputs:
            if isinstance(type_, TensorType) and self._axes(type_):
                continue
            if len(outputs) > 1 and not compiled.consumers[slot] and compiled.names[slot] not in compiled.graph.outputs:
                continue  # nothing reads it
            if self.axes and self._is_sequence_of_maps(type_):
                for position, axes in self.axes.items():
                    self._use(position, axes[0])
                self.known.sequences.add(slot)
                continue
            known = isinstance(type_, TensorType) and type_.elements is not None and None not in type_.elements
            if self.axes and not known:
                for position, axes in self.axes.items():
                    self._use(position, axes[0])
                raise _MixedItemsError(f"{self._describe_input()} is not in its output")
            if not known:
                self.known.counts.add(slot)

    def _check_output(self, index: int, output: TensorType) -> None:
        axes = self._axes(output)
        if len(axes) > 1 or any(len(own) > 1 for own in self.axes.values()):
            raise _MixedItemsError("the size is that of two axes")
        (axis,) = axes
        source = self.viewed_input(index)
        if source is not None and source in self.axes:
            self.check_view(source, output)
            return
        known = isinstance(output, Progression)
        uses = {} if known else {i: self._use(i, own[0]) for i, own in self.axes.items()}
        if not self._is_multiple(output.shape[axis]):
            raise _MixedItemsError(f"axis {axis} of its output has {output.shape[axis]} items")
        if known:
            return  # see note_positions
        probe = _Probe(self, uses)
        if any(probe.is_data(i, index, axis) for i in self.numbers if not self._is_shape(i, output, axis)):
            raise _MixedItemsError("it computes with the number of items")
        if not self.axes:
            for position in self.numbers:
                self._use(position, axis, created=True)
            return
        if not probe.keeps(index, axis):
            raise _MixedItemsError(f"{self._describe_input()} is not an axis of its output")
        marked = [(i, self.axes[i][0]) for i in probe.marks]
        if self.numbers and not all(self._is_same_axis(i, own, output, axis) for i, own in marked):
            raise _MixedItemsError(f"{self._describe_input()} becomes axis {axis}")

    def viewed_input(self, index: int) -> int | None:
        """The position of the input that an output is a view of."""
        op_def = self.step.operation.op_def
        return None if op_def is None else op_def.views.get(index)

    def check_view(self, source: int, output: TensorType) -> None:
        """The elements before each item are as many as before, and a first axis of items stays the first.

        `[batch, 6]` may become `[1, 6*batch]` without a loss, but then a constant 1 stands for the batch. Raises
        _MixedItemsError.
        """
        if len(axes := self._axes(output)) != 1 or len(self.axes[source]) != 1:
            raise _MixedItemsError("the size is that of two axes")
        (axis,), type_ = axes, self.types[source]
        assert isinstance(type_, TensorType)
        store, (own,) = self.inference.store, self.axes[source]
        before, after = prod(type_.shape.require()[:own]), prod(output.shape.require()[:axis])
        if not self._is_multiple(output.shape[axis]):
            raise _MixedItemsError(f"axis {axis} of its output has {output.shape[axis]} items")
        moved = axis > 0 and before == 1 and output.shape[axis] != type_.shape[own]
        if moved or store.canon(before) != store.canon(after) or not self._is_multiple(type_.shape[own]):
            raise _MixedItemsError(f"{self._describe_input(source)} becomes axis {axis} with parts of several items")

    def _use(self, position: int, axis: int, *, created: bool = False) -> AxisUse:
        """What the operator does along an axis. Raises _MixedItemsError unless it keeps the items separate."""
        operation = self.step.operation
        rule = self.step.compiled.registry.axis_rule(*self._rule_key())
        where = f"axis {axis} of its output" if created else self._describe_input(position)
        if rule is None or operation.op_def is None or operation.call is None:
            raise _MixedItemsError(f"the operator has no axis rule for {where}")
        try:
            context, positions = self._context()
            use = rule(context, positions.index(position), axis)
        except _UNDECIDED:
            use = AxisUse.MIXED
        if use in (AxisUse.MIXED, AxisUse.SPATIAL):
            verb = "moves windows over" if use is AxisUse.SPATIAL else "does not compute item by item along"
            raise _MixedItemsError(f"it {verb} {where}", use is AxisUse.SPATIAL)
        return use

    def _is_shape(self, position: int, output: TensorType, axis: int) -> bool:
        """Whether an input is the requested shape of an output, such as that of an Expand: no operand of arithmetic."""
        op_def, type_ = self.step.operation.op_def, self.types[position]
        params = () if op_def is None or op_def.rule is None else op_def.rule.params
        elements = type_.elements or () if isinstance(type_, TensorType) else ()
        if position >= len(params) or params[position].use is not InputUse.VALUE:
            return False
        return len(elements) == len(output.shape) and elements[axis] == output.shape[axis]

    def _is_same_axis(self, position: int, own: int, output: TensorType, axis: int) -> bool:
        """Whether an axis of an input is that of the output, counted from the front or from the end."""
        type_ = self.types[position]
        assert isinstance(type_, TensorType)
        return own == axis or len(type_.shape) - own == len(output.shape) - axis

    def _describe_input(self, position: int | None = None) -> str:
        """`axis 0 of x`."""
        at = next(iter(self.axes), 0) if position is None else position
        axis = self.axes[at][0] if at in self.axes else 0
        name = self.inference.compiled.names[self.step.arguments[at]]
        return f"axis {axis} of {name}"

    def _axes(self, type_: Type | None) -> list[int]:
        """The axes whose size depends on the number of items."""
        dims = type_.shape.dims or () if isinstance(type_, TensorType) else ()
        return [axis for axis, d in enumerate(dims) if isinstance(d, Dimension) and self.symbol in d.symbols()]

    def _has_number(self, type_: Type | None) -> bool:
        """Whether the number of items is in the contents of a tensor, or of the tensors of a sequence."""
        elements = [e for tensor in _tensors_in(type_) for e in tensor.elements or ()]
        return any(self.symbol in d.symbols() for e in elements for d in dims_in(e))

    def _is_multiple(self, dim: DimSize) -> bool:
        """Whether a size is the number of items times a number that does not depend on it."""
        factor = substitute(dim, {self.symbol: 1})
        store = self.inference.store
        return store.canon(factor * self.symbol) == store.canon(dim)

    def _all_inputs(self) -> list[Type | None]:
        return [None if slot == MISSING else self.inference.type_of(slot) for slot in self.step.inputs]

    def _captures_items(self) -> bool:
        captured = self.step.inputs[len(self.step.arguments) :]
        types = [(slot, self.inference.type_of(slot)) for slot in captured if slot != MISSING]
        return any(slot in self.known.counts or self._axes(t) or self._has_number(t) for slot, t in types)

    def _is_sequence_of_maps(self, type_: Type | None) -> bool:
        """Whether a value is a sequence of maps, one for each item."""
        if not isinstance(type_, SequenceType) or not isinstance(type_.element, MapType):
            return False
        return type_.kind == "sequence" and isinstance(type_.length, Dimension) and self._is_multiple(type_.length)

    def _is_container_of_items(self, type_: Type | None) -> bool:
        """Whether a value is a sequence of tensors with items."""
        return not isinstance(type_, TensorType) and any(map(self._axes, _tensors_in(type_)))


class _Probe:
    """The rule of a node with a symbol of its own for the axis of items of each input: the outputs display it.

    Aligned inputs with the same number of items have the same symbol. Contents have that of the first input.
    """

    def __init__(self, items: _NodeItems, uses: Mapping[int, AxisUse]) -> None:
        self.items = items
        self.store = items.inference.store.copy()
        self.marks: dict[int, Dimension] = {}
        shared: dict[DimSize, Dimension] = {}
        for position, (axis,) in items.axes.items():
            if uses[position] is AxisUse.MATCHED:
                continue
            type_ = items.types[position]
            assert isinstance(type_, TensorType)
            dim = type_.shape[axis]
            known = shared.get(dim) if uses[position] is AxisUse.ALIGNED else None
            mark = self.marks[position] = known or self.store.scope.fresh(f"probe.{position}", 2)
            shared.setdefault(dim, mark)
        self.number = shared.get(items.symbol)
        self.inputs = [self._marked(position, type_) for position, type_ in enumerate(items.types)]
        self.outputs = self._run(self.inputs)

    def _marked(self, position: int, type_: Type | None) -> Type | None:
        if not isinstance(type_, TensorType) or type_.shape.dims is None:
            return type_
        if position in self.marks:
            dims = list(type_.shape.dims)
            dims[self.items.axes[position][0]] = self.marks[position]
            return PartialTensor(type_.dtype, Shape(dims), None)
        if type_.elements is None or self.number is None:
            return type_
        values: dict[Dimension, DimSize] = {self.items.symbol: self.number}
        elements = [substitute(e, values) if isinstance(e, Dimension) else e for e in type_.elements]
        return PartialTensor(type_.dtype, type_.shape, elements)

    def _run(self, inputs: Sequence[Type | None]) -> list[Type] | None:
        """The outputs of the rule; None where it fails."""
        call, step = self.items.step.operation.call, self.items.step
        assert call is not None
        try:
            return list(call.run(inputs, self.store, step.node_name).types)
        except (ShapeError, ModelError, NotKnown, ArithmeticError, ValueError, TypeError, IndexError):
            return None

    def _dim(self, outputs: Sequence[Type] | None, index: int, axis: int) -> DimSize | None:
        output = outputs[index] if outputs is not None and index < len(outputs) else None
        if not isinstance(output, TensorType) or output.shape.dims is None or axis >= len(output.shape.dims):
            return None
        return self.store.canon(output.shape[axis])

    def keeps(self, index: int, axis: int) -> bool:
        """Whether the size of this axis of an output is that of the items of every input."""
        dim = self._dim(self.outputs, index, axis)
        return all(self.store.canon(mark) is dim for mark in self.marks.values())

    def is_data(self, position: int, index: int, axis: int) -> bool:
        """Whether an input is not read as a size: this axis of an output has its size without the contents too."""
        type_ = self.items.types[position]
        if not isinstance(type_, TensorType):
            return False
        inputs = list(self.inputs)
        inputs[position] = PartialTensor(type_.dtype, type_.shape, None)
        dim = self._dim(self._run(inputs), index, axis)
        expected = self._dim(self.outputs, index, axis)
        return dim is not None and dim == expected


def _tensors_in(type_: Type | None) -> list[TensorType]:
    """A tensor, or the tensors of a sequence."""
    if isinstance(type_, TensorType):
        return [type_]
    if isinstance(type_, SequenceType):
        parts = [type_.element] if type_.items is None else type_.items
        return [tensor for part in parts for tensor in _tensors_in(part)]
    return []
