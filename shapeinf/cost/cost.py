"""`Cost`: the cost of a model, symbolically and at sizes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from threading import RLock

import attrs

from shapeinf.cost.pickled import PickledCost, cost_html, cost_text
from shapeinf.cost.records import FIELDS, MOVED, Amounts, Branches, CostGroup, CostTable, NodeCost, Uncounted, values_of
from shapeinf.cost.walk import count
from shapeinf.engine.cases import Cases
from shapeinf.engine.garbage import pause_garbage_collection
from shapeinf.engine.inference import Inference
from shapeinf.expr import Dimension, DimSize, maximum
from shapeinf.inputs.reader import as_sizes
from shapeinf.lattice import ShapeStore
from shapeinf.memory.peak.query import SizeQuery, merge_specs
from shapeinf.memory.sizes import too_long
from shapeinf.pickling import Reduced, reduce_record
from shapeinf.sharing import cached_property, synchronized
from shapeinf.solver.budget import WORK, Budget
from shapeinf.solver.elimination import Elimination
from shapeinf.solver.long_dims import canonical_form


@attrs.frozen(slots=False)
class CostAt(CostTable):
    """The cost at sizes of all dims: all amounts are ints.

    A node that counts with upper bounds, because sizes depend on data, is `bounded`; one without a bound is in
    `uncounted`.
    """

    sizes: Mapping[str, int] = attrs.Factory(dict)

    def __repr__(self) -> str:
        """The sums."""
        return cost_text("CostAt", self)

    def _repr_html_(self) -> str:
        """The sums, in all and by operator."""
        return cost_html("CostAt", self)


@synchronized
class Cost:
    """The cost of a model: the amounts of every node as dims, and their sums.

    `Result.cost` creates it. A node of a body or function has its path as its name and counts all of its runs. Nodes
    that cannot be counted are in `uncounted` with the reason, and in no sum but that of the parameters.
    """

    def __init__(self, inference: Inference, *, work: int = WORK) -> None:
        """`work` is the budget of each query, in steps that are the same on every machine."""
        self.inference = inference
        self.work = work
        self._cases = Cases(inference)

    @property
    def _lock(self) -> RLock:
        return self.inference.store.scope.lock

    @property
    def store(self) -> ShapeStore:
        """The constraints on the symbols in the amounts."""
        return self.inference.store

    @cached_property
    def table(self) -> CostTable:
        """The costs of all nodes."""
        with pause_garbage_collection():
            return count(self.inference)

    @property
    def nodes(self) -> tuple[NodeCost, ...]:
        """The counted nodes, in the order of the graph."""
        return self.table.nodes

    @property
    def uncounted(self) -> tuple[Uncounted, ...]:
        """The nodes that are not counted, with reasons."""
        return self.table.uncounted

    @property
    def branches(self) -> tuple[Branches, ...]:
        """The costs of the branches of each node that counts the maximum of them."""
        return self.table.branches

    @property
    def total(self) -> Amounts:
        """The sums over all nodes."""
        return self.table.total

    @property
    def macs(self) -> DimSize:
        """The multiply-accumulates of all nodes."""
        return self.table.total.macs

    @property
    def by_operator(self) -> dict[str, CostGroup]:
        """The sums by operator."""
        return self.table.by_operator

    def by_module(self, depth: int = 1) -> dict[str, CostGroup]:
        """The sums by the first `depth` modules in the names of nodes."""
        return self.table.by_module(depth)

    @property
    def labels(self) -> Mapping[Dimension, str]:
        """The symbols of the inputs, with the names that users bind them by."""
        return self._cases.labels

    def __repr__(self) -> str:
        """The sums."""
        return cost_text("Cost", self.table)

    def _repr_html_(self) -> str:
        """The sums, in all and by operator."""
        with self._lock:
            return cost_html("Cost", self.table)

    def __copy__(self) -> Cost:
        """Itself: queries do not change it."""
        return self

    def __deepcopy__(self, memo: object) -> Cost:
        """Itself."""
        return self

    def __reduce__(self) -> Reduced:
        """A pickle has the amounts of all nodes."""
        return reduce_record(PickledCost(self.table.nodes, self.table.uncounted, self.table.branches))

    def format(self, amount: DimSize, most: int | None = None) -> str:
        """An amount as text, with labels for the symbols of inputs; of a longer sum the first `most` terms."""
        return self._query.format(canonical_form(self.store, amount), most)

    def at(self, sizes: Mapping[str, int] | None = None, /, **more: int) -> CostAt:
        """The cost at these sizes; names that are no identifiers go into the mapping.

        Raises UnknownNameError for an unknown dim, MissingSizeError for a dim without a size, and Contradiction, which
        names the constraint, for a size with which the model does not run.
        """
        sizes = as_sizes(merge_specs(sizes, more))
        inference = self._cases.inference_for(sizes)
        if inference is not self.inference:
            return Cost(inference, work=self.work).at(sizes)
        store = self._query.bind(sizes)
        bounded = self._bounded_table
        values = self._values(bounded, store)
        evaluated = {amounts: tuple([values[d] for d in amounts]) for amounts in set(map(values_of, bounded.nodes))}
        return CostAt(
            tuple([_with_amounts(node, evaluated[values_of(node)], node.bounded) for node in bounded.nodes]),
            tuple([attrs.evolve(item, parameters=values[item.parameters]) for item in bounded.uncounted]),
            tuple([_evaluate_branches(item, values) for item in bounded.branches]),
            sizes,
        )

    @cached_property
    def _query(self) -> SizeQuery:
        return SizeQuery(self.store, self.labels)

    @cached_property
    def _bounded_table(self) -> CostTable:
        """The costs with upper bounds for amounts that depend on data."""
        elimination = Elimination(self.store, self._query.is_bindable, Budget(self.work))
        nodes: list[NodeCost] = []
        uncounted = list(self.uncounted)
        known: dict[tuple[DimSize, ...], _Bounds] = {}
        for node in self.nodes:
            amounts = values_of(node)
            bounds = known.get(amounts)
            if bounds is None:
                bounds = known[amounts] = _bounds_of(amounts, elimination)
            bounded = node.bounded or bounds.is_upper
            nodes.append(node if bounds.amounts == amounts else _with_amounts(node, bounds.amounts, bounded))
            if bounds.reasons:
                amount = "bytes" if bounds.reasons.keys() <= MOVED else "rest"
                uncounted.append(Uncounted(node.name, node.op, next(iter(bounds.reasons.values())), amount))
        branches = [item for item in self.branches if all(_stays(a, elimination) for a in item.branches.values())]
        return CostTable(tuple(nodes), tuple(uncounted), tuple(branches))

    def _values(self, table: CostTable, store: ShapeStore) -> dict[DimSize, int]:
        """The value of every amount of a table, each computed once."""
        amounts = [*table.nodes, *(a for item in table.branches for a in item.branches.values())]
        dims = dict.fromkeys(itertools.chain.from_iterable(dict.fromkeys(map(values_of, amounts))))
        dims.update(dict.fromkeys(item.parameters for item in table.uncounted))
        return dict(zip(dims, self._query.evaluate(dims, store), strict=True))


@attrs.frozen
class _Bounds:
    """The amounts of a node without symbols that depend on data.

    Args:
        amounts: upper bounds; lower bounds of the amounts that have no upper bound.
        reasons: by name of such an amount, why it has none.
        is_upper: whether there are upper bounds that may not be reached.
    """

    amounts: tuple[DimSize, ...]
    reasons: Mapping[str, str]
    is_upper: bool


def _bounds_of(amounts: tuple[DimSize, ...], elimination: Elimination) -> _Bounds:
    """The bounds of the amounts of a node: what is known of an amount is counted, whatever is not known of others."""
    bounds: list[DimSize] = []
    reasons: dict[str, str] = {}
    is_upper = False
    for name, amount in zip(FIELDS, amounts, strict=True):
        exact = isinstance(amount, int) or elimination.is_retained(canonical_form(elimination.store, amount))
        bound = amount if exact else elimination.upper(amount)
        if bound is None:
            symbols = elimination.unbounded_symbols(amount)
            listed = ", ".join(map(str, symbols)) or str(amount)
            reasons[name] = too_long(symbols) or f"{listed} {'have' if len(symbols) > 1 else 'has'} no upper bound"
            bound = maximum(elimination.lower(amount) or 0, 0)
        elif not exact:
            is_upper = True
        bounds.append(bound)
    return _Bounds(tuple(bounds), reasons, is_upper)


def _stays(amounts: Amounts, elimination: Elimination) -> bool:
    return all(elimination.is_retained(canonical_form(elimination.store, getattr(amounts, name))) for name in FIELDS)


def _with_amounts(node: NodeCost, amounts: tuple[DimSize, ...], bounded: bool) -> NodeCost:
    """The cost of a node with other amounts, those of `FIELDS`."""
    macs, operations, bytes_read, bytes_written, parameters = amounts
    return NodeCost(
        name=node.name,
        op=node.op,
        module=node.module,
        bounded=bounded,
        macs=macs,
        operations=operations,
        bytes_read=bytes_read,
        bytes_written=bytes_written,
        parameters=parameters,
    )


def _evaluate_branches(item: Branches, values: Mapping[DimSize, int]) -> Branches:
    evaluated = {
        label: Amounts(**{name: values[getattr(amounts, name)] for name in FIELDS})
        for label, amounts in item.branches.items()
    }
    return Branches(item.node, item.op, evaluated)
