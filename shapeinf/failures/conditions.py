"""The conditions of nodes as records of a failure: with sizes, legal sizes and the way back to an input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from shapeinf.contract import Contract, Precondition
from shapeinf.contract.reader import PreconditionReader
from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.engine.inference import Inference
from shapeinf.engine.input_symbols import find_symbol, input_symbols
from shapeinf.expr import Dimension
from shapeinf.failures.nodes import GraphNode, neighbors
from shapeinf.failures.report import FailedCondition, NearestSize, NodeMatch
from shapeinf.failures.sizes import RunSizes
from shapeinf.lattice import TensorType
from shapeinf.sharing import cached_property
from shapeinf.solver.budget import Budget

MOST_DIMS = 4
"""The dims of a condition for which legal sizes are searched."""


class Conditions:
    """The conditions of a model, for a run of some sizes."""

    def __init__(self, inference: Inference, sizes: Mapping[str, int], work: int) -> None:
        """`sizes` are those of the dims of the inference; empty where they are not known."""
        self.inference = inference
        self.sizes = sizes
        self.work = work
        self.contract = Contract(inference, work)
        self.labels = input_symbols(inference)

    @cached_property
    def by_node(self) -> Mapping[str, list[Precondition]]:
        """The preconditions of each node, those that another one implies included."""
        listed = [item for p in self.contract.preconditions for item in (p, *p.weaker)]
        merged = _by_node(listed)
        return {**self._unmerged, **merged}

    @cached_property
    def _unmerged(self) -> dict[str, list[Precondition]]:
        """The preconditions as nodes added them, before several of one dim become one, which has a single node."""
        return _by_node(PreconditionReader(self.inference, Budget(self.work)).read_each())

    def violated(self, diagnostic: Diagnostic, match: NodeMatch | None) -> FailedCondition:
        """The condition of a violation: that of the node which does not hold at these sizes."""
        listed = [*self.by_node.get(diagnostic.node, []), *self._unmerged.get(diagnostic.node, [])]
        required = [p for p in listed if p.kind != "assumption"]
        failing = [p for p in required if self._holds(p) is False]
        if not failing and len({p.text for p in required}) == 1 and self._holds(required[0]) is None:
            failing = required[:1]  # in a body, or on data: its only condition
        condition = self._from(failing[0], match) if failing else FailedCondition(match, "", diagnostic.message)
        message = diagnostic.message if failing else condition.message
        return attrs.evolve(
            condition, message=message, operands=diagnostic.operands, nearest=tuple(self._nearest(failing[:1]))
        )

    def remaining(self, precondition: Precondition, match: NodeMatch) -> FailedCondition:
        """A condition that sizes do not decide."""
        return self._from(precondition, match)

    def undecided(self) -> Iterator[Precondition]:
        """The preconditions that are not decided by these sizes."""
        for listed in self.by_node.values():
            yield from (p for p in listed if p.kind != "assumption" and self._holds(p) is None)

    def of_node(self, match: NodeMatch) -> Iterator[FailedCondition]:
        """The conditions that a node requires."""
        seen = set()
        for precondition in self.by_node.get(match.node, []):
            if precondition.kind != "assumption" and precondition.text not in seen:
                seen.add(precondition.text)
                yield self._from(precondition, match)

    def of_neighbors(self, nodes: Iterable[GraphNode]) -> Iterator[FailedCondition]:
        """The conditions of the nodes that read what these compute, or compute what these read."""
        seen: set[str] = set()
        for node in nodes:
            for neighbor in neighbors(node):
                if neighbor.name not in seen:
                    seen.add(neighbor.name)
                    yield from self.of_node(neighbor.as_match("neighbor"))

    def failing_anyway(self, matches: Mapping[str, NodeMatch]) -> list[FailedCondition]:
        """The violations at all sizes, of these nodes."""
        violations = certain_violations(self.inference)
        return [self.violated(d, matches[d.node]) for d in violations if d.node in matches]

    def declared(self, name: str, declared: TensorType, got: TensorType, run: RunSizes) -> Iterator[FailedCondition]:
        """The declared sizes of an input that a run does not have; `got` has the dims of the run."""
        if declared.shape.dims is None or got.shape.dims is None:
            return
        labels = input_symbols(run.inference)
        if len(declared.shape.dims) != len(got.shape.dims):
            text = f"input {name} has rank {len(declared.shape.dims)}"
            yield FailedCondition(None, text, f"the run has rank {len(got.shape.dims)}", input=name)
            return
        for axis, (dim, other) in enumerate(zip(declared.shape.dims, got.shape.dims, strict=True)):
            size = run.sizes.get(labels.get(other, "")) if isinstance(other, Dimension) else None
            if size is not None and isinstance(dim, int) and dim != size:
                label = f"{name}.shape[{axis}]"
                text = f"{label} == {dim}"
                message = f"the file declares this size of the input; the run has {size}"
                nearest = (NearestSize(label, dim, size),)
                yield FailedCondition(None, text, message, {label: size}, nearest=nearest, input=name)

    def equal_names(self, declared: Inference, run: RunSizes) -> Iterator[FailedCondition]:
        """The dims to which a file gives one name, and which have several sizes in a run with open axes."""
        axes: dict[Dimension, list[tuple[str, str, int]]] = {}
        labels = input_symbols(run.inference)
        for name in run.opened:
            stated, opened = declared.input_types.get(name), run.inference.input_types.get(name)
            if isinstance(stated, TensorType) and isinstance(opened, TensorType):
                for dim, other in zip(stated.shape.dims or (), opened.shape.dims or (), strict=False):
                    label = labels.get(other, "") if isinstance(other, Dimension) else ""
                    if isinstance(dim, Dimension) and label in run.sizes:
                        axes.setdefault(dim, []).append((label, name, run.sizes[label]))
        for dim, listed in axes.items():
            if len({size for _, _, size in listed}) > 1:
                text = " == ".join(label for label, _, _ in listed)
                message = f"the file declares the same size for these axes: {dim}"
                sizes = {label: size for label, _, size in listed}
                yield FailedCondition(None, text, message, sizes, input=listed[0][1])

    def _from(self, p: Precondition, match: NodeMatch | None) -> FailedCondition:
        return FailedCondition(
            match,
            p.text,
            p.message,
            {name: self.sizes.get(name) for name in p.symbols},
            chain=p.chain,
            legal=p.legal if p.sizes is not None else "",
            where=p.where,
        )

    def _holds(self, precondition: Precondition) -> bool | None:
        """Whether a precondition holds at these sizes."""
        values = {symbol.name: self._size_of(label) for symbol, label in self.labels.items()}
        known = {name: size for name, size in values.items() if size is not None}
        return precondition.holds(known)

    def _size_of(self, label: str) -> int | None:
        if label in self.sizes:
            return self.sizes[label]
        symbol = find_symbol(self.labels, label)
        return next((n for name, n in self.sizes.items() if find_symbol(self.labels, name) is symbol), None)

    def _nearest(self, failing: list[Precondition]) -> Iterator[NearestSize]:
        """For each dim of a condition, the nearest legal sizes below and above that of the run."""
        for precondition in failing:
            for label in precondition.symbols[:MOST_DIMS]:
                size = self._size_of(label)
                if size is not None:
                    yield from self._nearest_of(label, size)

    def _nearest_of(self, label: str, size: int) -> Iterator[NearestSize]:
        for near in self.contract.nearest(label, {**self.sizes, label: size}, work=self.work):
            yield NearestSize(label, near, size)


def _by_node(preconditions: Iterable[Precondition]) -> dict[str, list[Precondition]]:
    listed: dict[str, list[Precondition]] = {}
    for precondition in preconditions:
        listed.setdefault(precondition.node, []).append(precondition)
    return listed
