"""What an inference gives back."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from threading import RLock
from typing import TYPE_CHECKING, Literal, TextIO

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.annotation import annotation
from shapeinf.engine.inference import Inference
from shapeinf.engine.input_symbols import input_symbols
from shapeinf.engine.rerun import updated
from shapeinf.engine.session import Made, Session
from shapeinf.engine.tensor_info import TensorInfo, infos
from shapeinf.errors import UnknownNameError
from shapeinf.explain.explanation import explain
from shapeinf.explain.unknowns import UnknownGroup, unknowns
from shapeinf.expr import Dim, Interval, Scope, quote_name
from shapeinf.formats import save
from shapeinf.graph import Graph
from shapeinf.inputs.reader import InputReader, SpecLike, input_names
from shapeinf.lattice import ShapeStore
from shapeinf.sharing import synchronized
from shapeinf.solver.budget import WORK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shapeinf.contract import Contract
    from shapeinf.memory import Memory
    from shapeinf.program import ShapeProgram


@attrs.frozen
class Coverage:
    """How much of a graph is known: nodes, values of known rank, values fully known, operators without a rule."""

    nodes: int
    values: int
    ranked: int
    known: int
    unknown_ops: Mapping[str, int]

    def __str__(self) -> str:
        """One line."""
        text = f"{self.nodes} nodes, {self.values} tensors: {self.known} fully known, {self.ranked} of known rank"
        if self.unknown_ops:
            listed = ", ".join(f"{op} x{n}" for op, n in sorted(self.unknown_ops.items()))
            text += f"; operators without a rule: {listed}"
        return text


@synchronized
class Result:
    """The shapes of every tensor of a graph, what was found, and what is known about the dims."""

    def __init__(
        self,
        inference: Inference,
        reader: InputReader,
        notes: Iterable[Diagnostic] = (),
        setup: Session | None = None,
    ) -> None:
        """Wraps a finished inference; without a `setup` it is one that cannot be updated."""
        self._inference = inference
        self._reader = reader
        self._notes = tuple(notes)
        self._setup = setup
        self._tensors: dict[str, TensorInfo] | None = None
        self._contract: Contract | None = None
        self._program: ShapeProgram | None = None

    @property
    def lock(self) -> RLock:
        """Every question to this result, its contract, memory and program takes it, so threads may share them.

        Hold it (`with result.lock:`) to work with `store` and `inference` yourself. It is re-entrant.
        """
        return self._inference.store.scope.lock

    @property
    def inference(self) -> Inference:
        """The finished inference, for the other parts of shapeinf."""
        return self._inference

    @property
    def graph(self) -> Graph:
        """The graph that was inferred."""
        return self._inference.program.graph

    @property
    def store(self) -> ShapeStore:
        """What is known about the dims, with sources."""
        return self._inference.store

    @property
    def scope(self) -> Scope:
        """The owner of all symbols of this result."""
        return self._inference.store.scope

    @property
    def policy(self) -> str:
        """The assumption that holds for all named dims, and those that the user says may be smaller."""
        lower = "".join(f", {quote_name(n)} at least {low}" for n, low in sorted(self._reader.lowered.items()))
        return f"named dims are at least {self._reader.min_dim}{lower}"

    @property
    def visited(self) -> int:
        """Rules visited by the run or update that made this result."""
        return self._inference.visited

    @property
    def tensors(self) -> dict[str, TensorInfo]:
        """Every value of the graph by name: inputs, constants and the outputs of all nodes."""
        if self._tensors is None:
            self._tensors = infos(self._inference)
        return self._tensors

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """All findings: lints of the file first, then in the order of the graph."""
        return [*self._notes, *self._inference.diagnostics]

    @property
    def coverage(self) -> Coverage:
        """How much is known."""
        steps = self._inference.program.steps
        missing = Counter(s.node.op for s in steps if not s.operation.known)
        made = [self.tensors[o].shape for s in steps for o in s.node.outputs if o]
        ranked = [shape for shape in made if shape.dims is not None]
        known = sum(not any(d.is_anonymous for d in shape.symbols()) for shape in ranked)
        return Coverage(len(steps), len(made), len(ranked), known, dict(missing))

    def interval(self, dim: Dim) -> Interval:
        """The bounds of a dim under all facts."""
        return self.store.interval(dim)

    @property
    def contract(self) -> Contract:
        """What the graph demands of the sizes of its inputs, and who demands it."""
        if self._contract is None:
            from shapeinf.contract import Contract

            self._contract = Contract(self._inference)
        return self._contract

    def explain(self, name: str, axis: int, *, work: int = WORK) -> list[str]:
        """Why an axis of a tensor has its size: one line a step, from the tensor back to its first cause.

        `work` is the budget, in steps that are the same on every machine; where it is reached the last line says so.
        Raises UnknownNameError for a tensor, ShapeInferenceError for an axis that there is not.
        """
        if name not in self._inference.program.slots:
            raise UnknownNameError("tensor", name, self._inference.program.slots)
        return explain(self._inference, name, axis, work)

    def program(self) -> ShapeProgram:
        """All shapes as one numpy program, to be called with arrays of sizes."""
        if self._program is None:
            from shapeinf.program import ShapeProgram

            labels = input_symbols(self._inference)
            self._program = ShapeProgram(
                self.store, self.tensors, labels, lambda: self.memory().peak, self._unassuming_program
            )
        return self._program

    def _unassuming_program(self) -> ShapeProgram | None:
        result = self.where_smaller({})
        return None if result is None else result.program()

    def unknowns(self, *, work: int = WORK) -> list[UnknownGroup]:
        """All axes and ranks that are not known, grouped by the node or input that first did not know; most first.

        `work` is the budget, in steps that are the same on every machine. Unknowns whose cause it was not enough to
        find are a group of their own, with a cause of kind `budget`.
        """
        return unknowns(self._inference, work)

    def memory(
        self,
        *,
        order: Literal["file", "least"] = "file",
        aliases: bool = False,
        in_place: bool = False,
        work: int = WORK,
    ) -> Memory:
        """Which blocks of memory the graph uses when, as dims of bytes.

        Args:
            order: "file" for the nodes as the file lists them, "least" for an order that needs less at once.
            aliases: values that are views of others, such as reshaped ones, have no memory of their own.
            in_place: results are written in the place of inputs that nobody needs any more, where operators allow it.
            work: the budget of each question about a peak, in steps that are the same on every machine; answers say
                where it was reached.

        Raises UnknownNameError for another order, LimitError when functions and bodies expand to too many nodes.
        """
        from shapeinf.memory.memory import Memory

        return Memory(self._inference, order, aliases=aliases, in_place=in_place, work=work)

    def where_smaller(self, least: Mapping[str, int]) -> Result | None:
        """The same inference where named dims may be as small as this, below `min_dim`; None for a trial.

        Nothing is assumed of sizes there, as of those that a window fits into: where none are given, that is all.
        """
        return None if self._setup is None else Result(*self._setup.where_smaller(least).run())

    def save(self, target: str | os.PathLike[str] | TextIO) -> None:
        """Write the model annotated with the inferred shapes, in the format that it was read from.

        The target is a path; for an NNEF document also a stream, such as `sys.stdout`.
        """
        save(self.graph, annotation(self._inference), target)

    def update(self, inputs: Mapping[str, SpecLike]) -> Result:
        """The result for other input shapes, as if all had been said at once; all else that was said stays.

        Visits only the nodes that depend on the inputs where neither nodes nor the shapes told any facts, such as
        bounds: those may not hold for the new shapes, and everything runs again. This result must not be used any more.
        Raises UnknownNameError for an input that the graph does not have.
        """
        assert self._setup is not None, "a trial is not updated"
        names = input_names(self.graph)
        for name in inputs:
            if name not in names:
                raise UnknownNameError("input", name, names)
        return Result(*updated(Made(self._inference, self._reader, self._notes, self._setup), inputs))
