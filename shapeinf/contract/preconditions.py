"""`Precondition`: a condition on the sizes of inputs, with the node that requires it and the way back to an input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import attrs

from shapeinf.constraints.records import Clause, any_holds
from shapeinf.contract.few_sizes import few_sizes, sizes_text
from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.engine.runs import walk_runs
from shapeinf.expr import Dimension, DimSize
from shapeinf.graph import MISSING
from shapeinf.lattice import ShapeStore, TensorType
from shapeinf.solver.budget import Budget

if TYPE_CHECKING:
    from shapeinf.explain.points import Point

Kind = Literal["value", "equality", "divisibility", "range", "relation", "alternative", "guard", "assumption"]
"""A `guard` matters only where a body runs, or depends on data. An `assumption` is no requirement: where it does not
hold, the graph may run, but with other shapes than the inferred ones."""

_UNDECIDED: tuple[Kind, ...] = ("value", "guard", "assumption")
"""The kinds for which no legal sizes are listed."""


@attrs.frozen(eq=False)
class Precondition:
    """One condition under which the graph runs.

    Args:
        kind: its kind, see `Kind`.
        text: the condition, with the names of the dims of inputs; an axis without a name is `input.shape[axis]`.
        symbols: the names of these dims; empty where it depends on data alone.
        node: the name of the node that requires it; empty where none does.
        op: the operator of that node.
        message: the requirement of the operator, in words.
        location: the position of the node in a source text; empty for formats without one.
        terms: the dims of the condition; for a range its dim, followed by those of the equation that it is read from.
        clauses: the condition as expressions, of which one must be 0 (or at least 0); empty in a body, and for one that
            exists in words only.
        least: the lower bound, for a range that has one.
        weaker: for a range, the weaker bounds that other nodes require of the same dim, the tightest last.
        where: the body of a loop or branch, for a condition that matters only where that runs; else empty.
        sizes: the legal sizes of its only symbol, where they are few; else None.
    """

    kind: Kind
    text: str
    symbols: tuple[str, ...]
    node: str
    op: str
    message: str
    location: str
    terms: tuple[DimSize, ...]
    _chain: Callable[[str, Sequence[DimSize]], tuple[str, ...]] = attrs.field(repr=False)
    clauses: tuple[Clause, ...] = attrs.field(default=(), repr=False)
    least: int | None = attrs.field(default=None, repr=False)
    weaker: tuple[Precondition, ...] = attrs.field(default=(), repr=False)
    where: str = ""
    sizes: tuple[int, ...] | None = None

    def holds(self, sizes: Mapping[str, int]) -> bool | None:
        """Whether it holds for these sizes of its symbols, by name; None for one without clauses."""
        return any_holds(self.clauses, sizes) if self.clauses else None

    def is_implied_by(self, store: ShapeStore) -> bool:
        """Whether the constraints of a store imply one of its clauses."""
        return any(map(store.proves, self.clauses))

    @property
    def bound(self) -> int | None:
        """The bound of one dim: the lower one where `least` is set, else the upper one; None for other conditions."""
        clause = self.clauses[0] if len(self.clauses) == 1 else None
        if clause is None or clause.zero:
            return None
        most = clause.expression + self.terms[0] if self.least is None else self.least
        return most if isinstance(most, int) else None

    @property
    def legal(self) -> str:
        """The condition as text, with few solutions as a list: `height is 32, 64 or 96`."""
        listed = self.sizes is not None and self.kind in ("equality", "relation", "alternative")
        return sizes_text(self.symbols[0], self.sizes or ()) if listed else self.text

    def with_sizes(self, store: ShapeStore, budget: Budget) -> Precondition:
        """The precondition with `sizes` set, if its only symbol has few legal sizes within the bounds of a store."""
        symbols = self.free_symbols
        if len(symbols) != 1 or len(self.symbols) != 1 or not self.clauses or self.kind in _UNDECIDED:
            return self
        sizes = few_sizes(next(iter(symbols)), self.clauses, store, budget)
        return self if sizes is None else attrs.evolve(self, sizes=sizes)

    @property
    def free_symbols(self) -> frozenset[Dimension]:
        """The symbols of its terms."""
        return symbols_of(self.terms)

    @property
    def chain(self) -> tuple[str, ...]:
        """The way from an axis that the node reads back to the input, a line for each step; empty if there is none."""
        return self._chain(self.node, self.terms)

    def __reduce__(self) -> tuple[Callable[..., Precondition], tuple[dict[str, object], tuple[str, ...]]]:
        """A pickle has the lines of the chain, not the inference."""
        names = [field.name for field in attrs.fields(Precondition) if field.name != "_chain"]
        return _load, ({name: getattr(self, name) for name in names}, self.chain)

    def __str__(self) -> str:
        """The condition and the node that requires it, on one line."""
        node = f"{self.op} '{self.node}'" if self.node else "the model"
        location = f" at {self.location}" if self.location else ""
        verb = "assumed at" if self.kind == "assumption" else "required by"
        body = f" (where the {self.where} runs)" if self.where else ""
        return f"{self.legal}, {verb} {node}{location}{body}: {self.message}"


def _load(values: dict[str, Any], chain: tuple[str, ...]) -> Precondition:
    return Precondition(**values, chain=lambda node, terms: chain)


def symbols_of(dims: Sequence[DimSize]) -> frozenset[Dimension]:
    """The symbols of some dims."""
    return frozenset(s for d in dims if isinstance(d, Dimension) for s in d.symbols())


class Origin(NamedTuple):
    """A node, and the inference of its graph or body."""

    inference: Inference
    step: NodeStep

    @property
    def op(self) -> str:
        """The operator."""
        return self.step.operation.kind.op

    @property
    def location(self) -> str:
        """The position in the source text; empty for formats without one."""
        return self.inference.compiled.graph.locations.get(self.step.node.name, "")


class Origins:
    """The nodes of an inference and of its bodies, by the names in the sources of constraints."""

    def __init__(self, inference: Inference) -> None:
        """Nothing is indexed before the first search."""
        self.inference = inference
        self._nodes: dict[str, tuple[Inference, int]] | None = None

    def find(self, node_name: str) -> Origin | None:
        """The node of this name; None where there is none."""
        if self._nodes is None:
            self._nodes = {}
            for run in walk_runs(self.inference):
                path, compiled = run.inference.path, run.inference.compiled
                for index in range(len(compiled.rows)):
                    self._nodes.setdefault(path + compiled.node_name(index), (run.inference, index))
        inference, index = self._nodes.get(node_name, (None, 0))
        return None if inference is None else Origin(inference, inference.compiled.step(index))

    def chain(self, node: str, terms: Sequence[DimSize]) -> tuple[str, ...]:
        """The way from an axis that a node reads back to an input with a symbol of `terms`, a line for each step."""
        origin = self.find(node)
        if origin is None:
            return ()
        from shapeinf.explain.explanation import trace
        from shapeinf.explain.points import GraphFrame, Point

        symbols = symbols_of(terms)
        frame = GraphFrame(origin.inference)
        for slot in origin.step.arguments:
            argument = None if slot == MISSING else origin.inference.type_of(slot)
            for axis in range(len(argument.shape.dims or ()) if isinstance(argument, TensorType) else 0):
                steps, last = trace(Point(frame, slot, "axis", axis))
                if steps and symbols & _initial_symbols(last):
                    return tuple(step.text for step in steps)
        return ()


def _initial_symbols(point: Point) -> frozenset[Dimension]:
    """The symbols in the axis of an input before any node has run; empty for other points."""
    inference = point.frame.inference
    declared = inference.input_types.get(inference.compiled.names[point.slot])
    dims = declared.shape.dims if isinstance(declared, TensorType) and point.facet == "axis" else None
    return symbols_of([dims[point.at]] if dims and point.at is not None else [])
