"""`TensorFlowContext`: inputs, outputs and handles by index or name, as in TensorFlow's C++ `InferenceContext`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opdefs.tf.context.contents import Array, ContentsContext
from shapeinf.errors import ShapeError
from shapeinf.lattice import HandleType, Shape, ShapeStore, TensorType, Type
from shapeinf.ops import ArgDef, OpDef

HandleData = list[tuple[Shape, str]]
"""Shapes and element types of the values that a resource or variant handle refers to; `INVALID` is an unknown type."""

INVALID = "INVALID"


class TensorFlowContext(ContentsContext):
    """One call of a rule in TensorFlow's vocabulary: its shape functions port with their names and error texts."""

    def __init__(
        self,
        op_def: OpDef,
        inputs: Sequence[Type | None],
        attributes: Mapping[str, object],
        store: ShapeStore,
        node_name: str = "",
        version: int = 0,
        num_outputs: int = 1,
        *,
        input_tensors: Sequence[Array | None] | None = None,
        input_tensors_as_shapes: Sequence[Shape | None] | None = None,
        input_handles: Sequence[HandleData | None] = (),
    ) -> None:
        """`node_name` is used in sources of constraints and in new unknowns.

        `input_tensors` and `input_tensors_as_shapes` replace the contents of `inputs`.
        """
        super().__init__(op_def, inputs, attributes, store, node_name, version, num_outputs)
        if input_tensors is not None:
            self.input_tensors = input_tensors
        if input_tensors_as_shapes is not None:
            self.input_tensors_as_shapes = input_tensors_as_shapes
        if input_handles:
            self._handles = {("input", i): h for i, h in enumerate(input_handles) if h is not None}

    # Few rules use these tables: they are created on their first write.

    _inputs: dict[int, Shape] | None = None
    _outputs: dict[int, Shape] | None = None
    _handles: dict[tuple[str, int], HandleData] | None = None

    # -- inputs, outputs, attributes ---------------------------------------------------------------------------------

    @property
    def num_inputs(self) -> int:
        """The number of inputs."""
        return len(self.types)

    def input(self, which: int | str) -> Shape:
        """The shape of an input, in canonical form."""
        index = which if isinstance(which, int) else self._index(which, self.op_def.inputs, "input")
        if self._inputs is not None and index in self._inputs:
            return self.store.canon_shape(self._inputs[index])
        tensor = self.types[index]
        if not isinstance(tensor, TensorType):
            raise ShapeError(f"input {index} is not a tensor")
        return self.store.canon_shape(tensor.shape)

    def output(self, which: int | str) -> Shape:
        """The shape that is set for an output; unknown before it is set."""
        index = which if isinstance(which, int) else self._index(which, self.op_def.outputs, "output")
        shape = None if self._outputs is None else self._outputs.get(index)
        if shape is None:
            shape = self.unknown_shape()
            self._set_output(index, shape)
        return shape

    def _set_output(self, index: int, shape: Shape) -> None:
        if self._outputs is None:
            self._outputs = {}
        self._outputs[index] = shape

    def set_output(self, which: int | str, shape: Shape | Sequence[Shape]) -> None:
        """Set one output by index, or all outputs of a name."""
        if isinstance(which, int):
            assert isinstance(shape, Shape)
            self._set_output(which, shape)
            return
        start, size = self._range(which, self.op_def.outputs, "output")
        shapes = [shape] if isinstance(shape, Shape) else list(shape)
        if len(shapes) != size:
            raise ShapeError(f"Must provide exactly {size} shapes.")
        for index, output in enumerate(shapes, start):
            self._set_output(index, output)

    def expand_outputs(self, count: int) -> None:
        """Set a larger number of outputs. Raises ShapeError for a smaller one."""
        if count < self.num_outputs:
            raise ShapeError("Trying to reduce number of outputs of op.")
        self.num_outputs = count

    def attr(self, name: str) -> Any:
        """An attribute, or its default. Raises ShapeError where it has neither."""
        if name in self.attributes:
            return self.attributes[name]
        defined = self.op_def.attributes.get(name)
        if defined is not None and defined.has_default:
            return defined.default
        raise ShapeError(f"No attr named '{name}' in NodeDef: {self.op_def.name}")

    def _index(self, name: str, args: Sequence[ArgDef], kind: str) -> int:
        return self._range(name, args, kind)[0]

    def _range(self, name: str, args: Sequence[ArgDef], kind: str) -> tuple[int, int]:
        """The index of the first value of a named argument, and the number of its values."""
        start = 0
        for arg in args:
            size = 1
            if arg.number_attr is not None:
                size = int(self.attr(arg.number_attr))
            elif arg.type_list_attr is not None:
                size = len(self.attr(arg.type_list_attr))
            if arg.name == name:
                return start, size
            start += size
        raise ShapeError(f"Unknown {kind} name: {name}")

    # -- inputs that change: loops drawn as back edges ---------------------------------------------------------------

    def merge_input(self, index: int, shape: Shape) -> bool:
        """Merge the shape of an input with another one; False, and nothing changed, when they contradict."""
        before = self.store.copy()
        try:
            self._set_input(index, self.merge(self.input(index), shape))
        except ShapeError:
            self.store.reset(before)
            return False
        return True

    def relax_input(self, index: int, shape: Shape) -> bool:
        """Relax the shape of an input by another one; whether that changed it."""
        old = self.input(index)
        relaxed = self.relax(old, shape)
        self._set_input(index, relaxed)
        return relaxed is not old

    def _set_input(self, index: int, shape: Shape) -> None:
        if self._inputs is None:
            self._inputs = {}
        self._inputs[index] = shape

    # -- handles -----------------------------------------------------------------------------------------------------

    def input_handle(self, index: int) -> HandleData | None:
        """Shapes and dtypes behind an input handle."""
        stored = self._handle("input", index)
        handle = self.types[index] if stored is None and index < len(self.types) else None
        if not isinstance(handle, HandleType) or handle.values is None:
            return stored
        return [(value.shape, value.dtype or INVALID) for value in handle.values]

    def output_handle(self, index: int) -> HandleData | None:
        """Shapes and dtypes behind an output handle."""
        return self._handle("output", index)

    def _handle(self, side: str, index: int) -> HandleData | None:
        return None if self._handles is None else self._handles.get((side, index))

    def _set_handle(self, side: str, index: int, data: HandleData) -> None:
        if self._handles is None:
            self._handles = {}
        self._handles[side, index] = data

    def collect_outputs(self) -> Sequence[Shape | HandleType]:
        """The shapes that the rule set; a handle where it set handle data as well."""
        self.created_unknowns = True  # perhaps in the scope or the store, and not by a method of the context
        return [self._output_type(i) for i in range(self.num_outputs)]

    def _output_type(self, index: int) -> Shape | HandleType:
        data = self.output_handle(index)
        if data is None:
            return self.output(index)
        values = [TensorType(None if dtype == INVALID else dtype, shape) for shape, dtype in data]
        return HandleType(None, self.output(index), values)

    def set_input_handle(self, index: int, data: HandleData) -> None:
        """Set the shapes and dtypes behind an input handle."""
        self._set_handle("input", index, data)

    def set_output_handle(self, index: int, data: HandleData) -> None:
        """Set the shapes and dtypes behind an output handle."""
        self._set_handle("output", index, data)

    def merge_input_handle_shapes_and_types(self, index: int, data: HandleData) -> bool:
        """Merge the shapes and dtypes behind an input handle; whether anything changed."""
        return self._merge_handle("input", index, data)

    def merge_output_handle_shapes_and_types(self, index: int, data: HandleData) -> bool:
        """Merge the shapes and dtypes behind an output handle; whether anything changed."""
        return self._merge_handle("output", index, data)

    def relax_input_handle_shapes_and_merge_types(self, index: int, data: HandleData) -> bool:
        """Relax the shapes and merge the dtypes behind an input handle; False when the dtypes disagree."""
        return self._relax_handle("input", index, data)

    def relax_output_handle_shapes_and_merge_types(self, index: int, data: HandleData) -> bool:
        """Relax the shapes and merge the dtypes behind an output handle; False when the dtypes disagree."""
        return self._relax_handle("output", index, data)

    def _merge_handle(self, side: str, index: int, data: HandleData) -> bool:
        old = self._handle(side, index)
        if old is None:
            self._set_handle(side, index, list(data))
            return True
        if not _types_agree(old, data):
            return False
        changed = False
        merged = []
        for (shape, dtype), (other, other_dtype) in zip(old, data, strict=True):
            new = self._merge_or_keep(shape, other)
            changed |= _is_more_specific(shape, new) or dtype != other_dtype
            merged.append((new, other_dtype))
        if changed:
            self._set_handle(side, index, merged)
        return changed

    def _merge_or_keep(self, shape: Shape, other: Shape) -> Shape:
        """The merged shape; the old one where the two contradict, as in TensorFlow."""
        before = self.store.copy()
        try:
            return self.merge(shape, other)
        except ShapeError:
            self.store.reset(before)
            return shape

    def _relax_handle(self, side: str, index: int, data: HandleData) -> bool:
        old = self._handle(side, index)
        if old is None:
            self._set_handle(side, index, list(data))
            return True
        if not _types_agree(old, data):
            return False
        pairs = zip(old, data, strict=True)
        self._set_handle(side, index, [(self.relax(s, other), dtype) for (s, _), (other, dtype) in pairs])
        return True


def _types_agree(old: HandleData, new: HandleData) -> bool:
    """Equal length, and equal dtypes where the old one is known."""
    if len(old) != len(new):
        return False
    return all(a in (b, INVALID) for (_, a), (_, b) in zip(old, new, strict=True))


def _is_more_specific(old: Shape, new: Shape) -> bool:
    """Whether the new shape has a known rank or size where the old one has not."""
    if old.dims is None or new.dims is None:
        return new.dims is not None
    return any(isinstance(n, int) and not isinstance(o, int) for o, n in zip(old.dims, new.dims, strict=True))
