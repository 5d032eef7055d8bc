"""The cost of one node in one run: the rule of its operator, and the bytes of what it reads and writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from shapeinf.cost.records import Amounts
from shapeinf.engine.compiled import NodeStep, Operation
from shapeinf.engine.inference import Inference
from shapeinf.engine.runs import type_in
from shapeinf.errors import NotKnown
from shapeinf.expr import Dimension, DimSize
from shapeinf.graph import MISSING, UNUSED
from shapeinf.lattice import PartialTensor, Shape, ShapeStore, TensorType, Type
from shapeinf.lattice.dtypes import HANDLES
from shapeinf.memory.sizes import size_of, too_long
from shapeinf.ops import CostContext, OpCost, OpDef
from shapeinf.solver.long_dims import sum_dims


@attrs.frozen
class RunCost:
    """The cost of one run of a node, without its bodies.

    Args:
        amounts: all but the parameters, which no run adds.
        reason: why the node is not counted; empty where it is.
        unknown: whether the reason is something that is not inferred.
        unsized: why its bytes are not counted; empty where they are.
        chooses: whether one of its bodies runs, rather than all.
    """

    amounts: Amounts = Amounts()  # noqa: RUF009  (it is immutable)
    reason: str = ""
    unknown: bool = False
    unsized: str = ""
    chooses: bool = False


class NodeCosts:
    """The costs of nodes; equal calls are computed once."""

    def __init__(self) -> None:
        """Begin with an empty cache."""
        self._done: dict[tuple[object, ...], RunCost] = {}

    def cost_of(self, run: Inference, step: NodeStep) -> RunCost:
        """The cost of a node in a run of its graph."""
        canonical, numbers = run.table.canonical, run.numbers
        inputs = [0 if slot == MISSING else canonical[numbers[slot]] for slot in step.arguments]
        outputs = [0 if slot == UNUSED else canonical[numbers[slot]] for slot in step.outputs]
        key = (step.operation, id(run.undone), *inputs, -1, *outputs)
        cost = self._done.get(key)
        if cost is None:
            store = run.store if run.undone is None else run.undone[1]
            types = [[type_in(run, number) for number in side] for side in (inputs, outputs)]
            cost = _NodeCost(step, store, types[0], types[1]).compute()
            self._done[key] = cost
        if cost.unknown and step.index in run.reasons:
            return attrs.evolve(cost, reason=run.reasons[step.index])
        return cost


@attrs.frozen
class _NodeCost:
    step: NodeStep
    store: ShapeStore
    inputs: Sequence[Type | None]
    outputs: Sequence[Type | None]

    def compute(self) -> RunCost:
        """The cost; for a node that cannot be counted, the reason."""
        operation = self.step.operation
        if operation.op_def is None:
            return RunCost(reason="the operator is not known")
        compiled = self.step.compiled
        kind, graph = operation.kind, compiled.graph
        version = graph.opsets.get(kind.domain, 0)
        rule = compiled.registry.cost_rule(graph.dialect, kind.domain, kind.op, version)
        if rule is None and not moves_nothing(operation.op_def, len(self.outputs)):
            dialect = compiled.registry.dialect(graph.dialect)
            problems = () if dialect is None else dialect.cost_problems
            return RunCost(reason="; ".join(["the operator has no cost rule", *problems]))
        capped = len(self.store.scope.capped)
        try:
            attributes, positions = _operands(operation, self.inputs)
            own = [self.inputs[i] for i in positions]
            context = CostContext(operation.op_def, own, self.outputs, attributes, self.store, version)
            cost = OpCost() if rule is None else rule(context)
            macs, operations = self.store.canon(cost.macs), self.store.canon(cost.operations)
        except NotKnown as unknown:
            return RunCost(reason=unknown.reason, unknown=True)
        except Exception as error:  # the cost of a model never fails, whatever a rule does with hostile attributes
            reason = f"the cost rule of this operator failed: {type(error).__name__}: {error}"
            return RunCost(reason=reason, unknown=True)
        if len(self.store.scope.capped) != capped:
            return RunCost(reason=_too_long([macs, operations]) or "the formula is too long")
        return self._add_bytes(operation.op_def, cost, positions)

    def _add_bytes(self, op_def: OpDef, cost: OpCost, positions: Sequence[int]) -> RunCost:
        counted = RunCost(Amounts(macs=cost.macs, operations=cost.operations), chooses=cost.bodies == "one")
        if moves_nothing(op_def, len(self.outputs)) and not cost.macs and not cost.operations:
            return counted
        try:
            read = [self._read(cost, own, position) for own, position in enumerate(positions)]
            written = [] if op_def.stored else [self._bytes(value) for value in self.outputs if value is not None]
        except NotKnown as unknown:
            return attrs.evolve(counted, unsized=unknown.reason)
        scope = self.store.scope
        moved = {"bytes_read": sum_dims(scope, read), "bytes_written": sum_dims(scope, written)}
        return attrs.evolve(counted, amounts=attrs.evolve(counted.amounts, **moved))

    def _read(self, cost: OpCost, own: int, position: int) -> DimSize:
        value = self.inputs[position]
        if value is None or (cost.reads is not None and own not in cost.reads):
            return 0
        if own in cost.partial and isinstance(value, TensorType):
            return self._bytes(PartialTensor(value.dtype, Shape((cost.partial[own],)), None))
        return self._bytes(value)

    def _bytes(self, value: Type) -> DimSize:
        if isinstance(value, TensorType) and value.dtype in HANDLES:
            return 0  # what it refers to is not copied
        size = size_of(self.store, value)
        if size.bytes is None:
            raise NotKnown(size.cause)
        return size.bytes


def _operands(operation: Operation, inputs: Sequence[Type | None]) -> tuple[Mapping[str, object], Sequence[int]]:
    if operation.call is None:
        return operation.kind.attrs, range(len(inputs))
    return operation.call.operands(inputs)


def moves_nothing(op_def: OpDef, outputs: int) -> bool:
    """Whether an operator computes nothing and moves nothing: views, packed values, stored values."""
    return bool(
        op_def.stored or op_def.container or (outputs and all(index in op_def.views for index in range(outputs)))
    )


def _too_long(amounts: Sequence[DimSize]) -> str:
    symbols = {symbol for amount in amounts if isinstance(amount, Dimension) for symbol in amount.symbols()}
    return too_long(symbols)
