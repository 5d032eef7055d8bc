"""Whether the items of a batch stay apart: the axis is carried from node to node, and never cut in other pieces.

Shapes alone do not tell: `[3, batch, 4]` may become `[batch, 12]` with every item made of parts of others. So each rule
runs again with a symbol for every axis of its inputs. An axis of an output that is one of these symbols is carried. One
that is calculated from several is not, and then the items stay apart only where they lie one after the other in memory,
before and after: where the axis is the first one.
"""

from __future__ import annotations

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.errors import ModelError, NotKnown, ShapeError
from shapeinf.expr import Dim, Dimension
from shapeinf.graph import MISSING, UNUSED
from shapeinf.lattice import PartialTensor, Shape, ShapeStore, TensorType, Type, dims_in


def mixing_node(inference: Inference, symbol: Dimension) -> NodeStep | None:
    """The first node after which the items may be mixed; None where they stay apart everywhere."""
    in_order: set[int] = set()
    program = inference.compiled
    for name in program.graph.inputs:
        slot = program.slots[name]
        if _axes(inference.current(slot), symbol) == [0]:
            in_order.add(slot)
    for step in program.steps:
        holders = [s for s in step.inputs if s != MISSING and _axes(inference.current(s), symbol)]
        counts = [s for s in step.inputs if s != MISSING and _in_contents(inference.current(s), symbol)]
        if not holders and not counts:
            continue
        if step.operation.call is None or step.operation.bodies:
            return step
        if not _apart(inference, step, symbol, holders, in_order):
            return step
    return None


def _apart(inference: Inference, step: NodeStep, symbol: Dimension, holders: list[int], in_order: set[int]) -> bool:
    """Whether a node keeps the items apart; enters its outputs with the items one after the other."""
    found, batch = _probed(inference, step, symbol)
    for position, slot in enumerate(step.outputs):
        if slot == UNUSED:
            continue
        made = inference.current(slot)
        axes = _axes(made, symbol)
        if not axes:
            if holders and (not isinstance(made, TensorType) or made.elements is None):
                return False  # all items have become one, or one was taken, or they are in a sequence
            continue
        if len(axes) > 1 or found is None:
            return False
        axis = axes[0]
        assert isinstance(made, TensorType)
        whole = made.shape[axis] is symbol
        probe = found[position]
        dim = probe.shape[axis] if isinstance(probe, TensorType) and probe.shape.dims is not None else None
        carried = dim in batch if isinstance(dim, Dimension) else False
        if not carried and holders and not (axis == 0 and all(one in in_order for one in holders)):
            return False
        if axis == 0 and (whole or all(one in in_order for one in holders)):
            in_order.add(slot)
    return True


def _probed(inference: Inference, step: NodeStep, symbol: Dimension) -> tuple[list[Type] | None, set[Dimension]]:
    """The outputs of a rule for a symbol in place of each axis, and the symbols that stand for the batch."""
    assert step.operation.call is not None
    store = inference.store.copy()
    batch: set[Dimension] = set()
    marks: dict[Dim, Dimension] = {}
    inputs: list[Type | None] = []
    for position, slot in enumerate(step.arguments):
        found = None if slot == MISSING else inference.current(slot)
        reads = step.operation.call.reads(position) and isinstance(found, TensorType) and found.elements is not None
        if isinstance(found, TensorType) and found.shape.dims is not None and not reads:
            dims = [_mark(store, d, f"{slot}.{axis}", symbol, marks, batch) for axis, d in enumerate(found.shape.dims)]
            found = PartialTensor(found.dtype, Shape(dims), None)
        inputs.append(found)
    try:
        types = list(step.operation.call.run(inputs, store, step.site).types)
    except (ShapeError, ModelError, NotKnown, ArithmeticError, ValueError, TypeError, IndexError):
        return None, batch
    return [_canonical(store, one) for one in types], {s for b in batch if isinstance(s := store.canon(b), Dimension)}


def _mark(
    store: ShapeStore, dim: Dim, site: str, symbol: Dimension, marks: dict[Dim, Dimension], batch: set[Dimension]
) -> Dim:
    """A symbol in place of an axis: one for all axes that are the whole batch; sizes of 1 stay, for broadcasting."""
    if dim == 1:
        return dim
    known = marks if dim is symbol else {}
    mark = known.get(dim) or store.scope.fresh(f"probe.{site}", 0 if dim == 0 else 2)
    if isinstance(dim, Dimension) and symbol in dim.symbols():
        batch.add(mark)
    if dim is symbol:
        marks[dim] = mark
    return mark


def _canonical(store: ShapeStore, found: Type) -> Type:
    if not isinstance(found, TensorType) or found.shape.dims is None:
        return found
    return PartialTensor(found.dtype, Shape(map(store.canon, found.shape.dims)), None)


def _axes(found: Type | None, symbol: Dimension) -> list[int]:
    """The axes whose size depends on the batch."""
    dims = found.shape.dims or () if isinstance(found, TensorType) else ()
    return [axis for axis, d in enumerate(dims) if isinstance(d, Dimension) and symbol in d.symbols()]


def _in_contents(found: Type | None, symbol: Dimension) -> bool:
    elements = found.elements or () if isinstance(found, TensorType) else ()
    return any(symbol in d.symbols() for e in elements for d in dims_in(e))
