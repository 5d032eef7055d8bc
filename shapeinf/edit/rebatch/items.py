"""Whether the items of a batch stay separate, because each node preserves the batch axis.

Shapes alone do not decide this: `[3, batch, 4]` may become `[batch, 12]` with parts of several items in each item. So
each rule runs again with a symbol for every axis of its inputs. An output axis that is one of these symbols is
preserved. For an axis that is computed from several symbols, the items stay separate only if they are contiguous in
memory before and after the node: if the axis is the first one.
"""

from __future__ import annotations

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.errors import ModelError, NotKnown, ShapeError
from shapeinf.expr import Dim, Dimension
from shapeinf.graph import MISSING, UNUSED
from shapeinf.lattice import PartialTensor, Shape, ShapeStore, TensorType, Type, dims_in


def mixing_node(inference: Inference, symbol: Dimension) -> NodeStep | None:
    """The first node that may mix items of the batch; None where they stay separate everywhere."""
    contiguous: set[int] = set()
    compiled = inference.compiled
    for name in compiled.graph.inputs:
        slot = compiled.slots[name]
        if _axes(inference.type_of(slot), symbol) == [0]:
            contiguous.add(slot)
    for step in compiled.steps:
        if step.operation.op_def is not None and step.operation.op_def.container:
            continue  # the same values
        holders = [s for s in step.inputs if s != MISSING and _axes(inference.type_of(s), symbol)]
        counts = [s for s in step.inputs if s != MISSING and _contents_have(inference.type_of(s), symbol)]
        if not holders and not counts:
            continue
        if step.operation.call is None or step.operation.bodies:
            return step
        if not _keeps_separate(inference, step, symbol, holders, contiguous):
            return step
    return None


def _keeps_separate(
    inference: Inference, step: NodeStep, symbol: Dimension, holders: list[int], contiguous: set[int]
) -> bool:
    """Whether a node leaves the items separate; adds its outputs with contiguous items to `contiguous`."""
    outputs, batch = _run_with_symbols(inference, step, symbol)
    for position, slot in enumerate(step.outputs):
        if slot == UNUSED:
            continue
        computed = inference.type_of(slot)
        axes = _axes(computed, symbol)
        if not axes:
            if holders and (not isinstance(computed, TensorType) or computed.elements is None):
                return False  # a reduction, a selection, or a sequence
            continue
        if len(axes) > 1 or outputs is None:
            return False
        axis = axes[0]
        assert isinstance(computed, TensorType)
        is_batch = computed.shape[axis] is symbol
        output = outputs[position]
        dim = output.shape[axis] if isinstance(output, TensorType) and output.shape.dims is not None else None
        preserved = dim in batch if isinstance(dim, Dimension) else False
        if not preserved and holders and not (axis == 0 and contiguous.issuperset(holders)):
            return False
        if axis == 0 and (is_batch or contiguous.issuperset(holders)):
            contiguous.add(slot)
    return True


def _run_with_symbols(
    inference: Inference, step: NodeStep, symbol: Dimension
) -> tuple[list[Type] | None, set[Dimension]]:
    """The outputs of a rule with a symbol for each axis of its inputs (None: it fails), and those of batch axes."""
    assert step.operation.call is not None
    store = inference.store.copy()
    batch: set[Dimension] = set()
    marks: dict[Dim, Dimension] = {}
    inputs: list[Type | None] = []
    for position, slot in enumerate(step.arguments):
        type_ = None if slot == MISSING else inference.type_of(slot)
        reads = step.operation.call.reads(position) and isinstance(type_, TensorType) and type_.elements is not None
        if isinstance(type_, TensorType) and type_.shape.dims is not None and not reads:
            dims = [_mark(store, d, f"{slot}.{axis}", symbol, marks, batch) for axis, d in enumerate(type_.shape.dims)]
            type_ = PartialTensor(type_.dtype, Shape(dims), None)
        inputs.append(type_)
    try:
        types = list(step.operation.call.run(inputs, store, step.site).types)
    except (ShapeError, ModelError, NotKnown, ArithmeticError, ValueError, TypeError, IndexError):
        return None, batch
    return [_canonical(store, type_) for type_ in types], {
        s for b in batch if isinstance(s := store.canon(b), Dimension)
    }


def _mark(
    store: ShapeStore, dim: Dim, site: str, symbol: Dimension, marks: dict[Dim, Dimension], batch: set[Dimension]
) -> Dim:
    """The symbol for an axis, the same for all axes that are the batch; sizes of 1 stay, since they broadcast."""
    if dim == 1:
        return dim
    known = marks if dim is symbol else {}
    mark = known.get(dim) or store.scope.fresh(f"probe.{site}", 0 if dim == 0 else 2)
    if isinstance(dim, Dimension) and symbol in dim.symbols():
        batch.add(mark)
    if dim is symbol:
        marks[dim] = mark
    return mark


def _canonical(store: ShapeStore, type_: Type) -> Type:
    if not isinstance(type_, TensorType) or type_.shape.dims is None:
        return type_
    return PartialTensor(type_.dtype, Shape(map(store.canon, type_.shape.dims)), None)


def _axes(type_: Type | None, symbol: Dimension) -> list[int]:
    """The axes whose size depends on the batch."""
    dims = type_.shape.dims or () if isinstance(type_, TensorType) else ()
    return [axis for axis, d in enumerate(dims) if isinstance(d, Dimension) and symbol in d.symbols()]


def _contents_have(type_: Type | None, symbol: Dimension) -> bool:
    elements = type_.elements or () if isinstance(type_, TensorType) else ()
    return any(symbol in d.symbols() for e in elements for d in dims_in(e))
