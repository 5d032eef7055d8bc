"""Preconditions of a graph, and the provenance of each: the node that requires it, and its way back to an input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import attrs

from shapeinf.constraints.records import Clause, any_holds
from shapeinf.contract.few_sizes import few_sizes, sizes_text
from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.expr import Dim, Dimension
from shapeinf.graph import MISSING
from shapeinf.lattice import ShapeStore, TensorType
from shapeinf.solver.budget import Budget

if TYPE_CHECKING:
    from shapeinf.explain.points import Point

Kind = Literal["value", "equality", "divisibility", "range", "relation", "alternative", "guard", "assumption"]
"""`guard` holds for one branch or body, or depends on data. `assumption` is no requirement:
the graph may run without it, but then some shapes differ from the inferred ones."""

_UNDECIDED: tuple[Kind, ...] = ("value", "guard", "assumption")
"""Kinds that do not decide by themselves which sizes are legal."""


@attrs.frozen(eq=False)
class Precondition:
    """One condition under which the graph runs.

    Args:
        kind: what it is.
        text: the condition, in the names of the inputs' dims; an axis without a name is `input.shape[axis]`.
        symbols: those names; none where it depends on data only.
        node: the node that requires it; empty for none.
        op: its operator.
        message: the rule of the operator, in words.
        location: the node's position in a source text, where the format has one.
        terms: the dims of the condition; of a range the dim, and those of an equation that comes to it.
        clauses: the same as expressions: one of them must be 0 (or at least 0); none for words, and in a body.
        least: the lower bound of a range.
        weaker: of a range, what other nodes require of the same dim, which this one implies; each of them as tight as
            the one before it, or tighter.
        sizes: the legal sizes of its only symbol, where they are few.
        where: the body of a loop or branch that requires it, where that runs; empty for one that always holds.
    """

    kind: Kind
    text: str
    symbols: tuple[str, ...]
    node: str
    op: str
    message: str
    location: str
    terms: tuple[Dim, ...]
    _chain: Callable[[str, Sequence[Dim]], tuple[str, ...]] = attrs.field(repr=False)
    clauses: tuple[Clause, ...] = attrs.field(default=(), repr=False)
    least: int | None = attrs.field(default=None, repr=False)
    weaker: tuple[Precondition, ...] = attrs.field(default=(), repr=False)
    where: str = ""
    sizes: tuple[int, ...] | None = None

    def holds(self, sizes: Mapping[str, int]) -> bool | None:
        """Whether it holds where its symbols have these sizes, by name; None where that is not known."""
        return any_holds(self.clauses, sizes) if self.clauses else None

    def is_implied_by(self, store: ShapeStore) -> bool:
        """Whether one of its clauses holds under the constraints of a store."""
        return any(map(store.proves, self.clauses))

    @property
    def bound(self) -> int | None:
        """The number of a bound of one dim, upper or (where `least` has it) lower; None for another condition."""
        clause = self.clauses[0] if len(self.clauses) == 1 else None
        if clause is None or clause.zero:
            return None
        most = clause.expression + self.terms[0] if self.least is None else self.least
        return most if isinstance(most, int) else None

    @property
    def legal(self) -> str:
        """The condition in words: `height is 32, 64 or 96` in place of an equation with few solutions."""
        listed = self.sizes is not None and self.kind in ("equality", "relation", "alternative")
        return sizes_text(self.symbols[0], self.sizes or ()) if listed else self.text

    def with_sizes(self, store: ShapeStore, budget: Budget) -> Precondition:
        """The precondition with the legal sizes of its only symbol within the bounds of a store, where they are few."""
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
        """From an axis that the node reads back to the input, one line a step; empty where no axis leads there."""
        return self._chain(self.node, self.terms)

    def __reduce__(self) -> tuple[Callable[..., Precondition], tuple[dict[str, object], tuple[str, ...]]]:
        """A pickle has the lines of the chain, not the inference that they are computed from."""
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


def symbols_of(dims: Sequence[Dim]) -> frozenset[Dimension]:
    """The symbols of some dims."""
    return frozenset(s for d in dims if isinstance(d, Dimension) for s in d.symbols())


class Origin(NamedTuple):
    """A node, in the inference of the graph or body that it is in."""

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
        self._origins: dict[str, Origin] | None = None

    def find(self, site: str) -> Origin | None:
        """The node of a name."""
        if self._origins is None:
            self._origins = {}
            self._add(self.inference, self._origins)
        return self._origins.get(site)

    def _add(self, inference: Inference, origins: dict[str, Origin]) -> None:
        for step in inference.compiled.steps:
            origins.setdefault(inference.path + step.site, Origin(inference, step))
        for children in inference.children.values():
            for child in children.values():
                self._add(child, origins)

    def chain(self, node: str, terms: Sequence[Dim]) -> tuple[str, ...]:
        """From an axis that a node reads back to an input with a symbol of these terms, one line a step."""
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
    """The symbols that an input had in an axis before any node had run; none for other points."""
    inference = point.frame.inference
    declared = inference.input_types.get(inference.compiled.names[point.slot])
    dims = declared.shape.dims if isinstance(declared, TensorType) and point.facet == "axis" else None
    return symbols_of([dims[point.at]] if dims and point.at is not None else [])
