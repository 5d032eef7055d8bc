"""The sizes of a failed run: those that the user states, and those in the text of the runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice

import attrs

from shapeinf.contract import Contract, Precondition
from shapeinf.contract.contract import infer_at
from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.cases import Cases
from shapeinf.engine.diagnostics import violations
from shapeinf.engine.inference import Inference
from shapeinf.engine.input_symbols import find_symbol, input_symbols
from shapeinf.engine.session import Session, rerun
from shapeinf.errors import ShapeError, Source
from shapeinf.expr import Dimension, DimSize
from shapeinf.failures.nodes import Candidate
from shapeinf.failures.report import SizesFrom
from shapeinf.graph import MISSING
from shapeinf.inputs.reader import input_names
from shapeinf.lattice import ShapeStore, TensorType
from shapeinf.runtime_messages import RuntimeMessage
from shapeinf.runtime_messages.records import PrintedShape

MOST_ASSIGNMENTS = 24
"""The ways in which the printed shapes of a node are assigned to its operands that are tried."""

MOST_CANDIDATES = 64
"""The nodes whose operands are compared with printed shapes."""

Shapes = Mapping[str, Sequence[int | None]]


@attrs.frozen(eq=False)
class RunSizes:
    """The sizes of a run in the dims of an inference.

    Args:
        inference: whose dims these are, and whose contract has the conditions: of the model as declared, or with open
            axes where the shapes of the run differ from the declared ones.
        sizes: by the labels of the dims.
        source: who states them.
        opened: the inputs whose axes are open.
    """

    inference: Inference
    sizes: Mapping[str, int]
    source: SizesFrom
    opened: tuple[str, ...] = ()


def sizes_of_shapes(
    session: Session, inference: Inference, shapes: Shapes, at: Mapping[str, int], source: SizesFrom
) -> RunSizes:
    """The sizes of dims for shapes of inputs by name; with open axes where the declarations exclude the shapes."""
    sizes = _declared_sizes(inference, shapes)
    if sizes is not None and all(sizes.get(name, size) == size for name, size in at.items()):
        return RunSizes(inference, {**sizes, **at}, source)
    opened = open_axes(session, {name: len(shape) for name, shape in shapes.items()})
    labels = input_symbols(opened)
    stated: dict[str, int] = {}
    for name, shape in shapes.items():
        declared = opened.input_types.get(name)
        dims = declared.shape.dims or () if isinstance(declared, TensorType) else ()
        for dim, size in zip(dims, shape, strict=False):
            if size is not None and isinstance(dim, Dimension) and dim in labels:
                stated[labels[dim]] = size
    known = set(labels.values())
    return RunSizes(opened, {**stated, **{n: s for n, s in at.items() if n in known}}, source, tuple(shapes))


def open_axes(session: Session, ranks: Mapping[str, int]) -> Inference:
    """The inference in which each axis of these inputs has a symbol of its own, whatever the file declares."""
    inputs = session.options.inputs_by_name(session.compiled.graph)
    shapes = {**inputs, **{name: [None] * rank for name, rank in ranks.items()}}
    options = attrs.evolve(session.options, inputs=shapes, mode="best", progress=None)
    return attrs.evolve(session, options=options, updates=()).run().inference


def input_ranks(inference: Inference) -> dict[str, int]:
    """The ranks of the inputs, where these are known."""
    types = {name: inference.input_types.get(name) for name in input_names(inference.compiled.graph)}
    return {
        name: len(t.shape.dims) for name, t in types.items() if isinstance(t, TensorType) and t.shape.dims is not None
    }


def _declared_sizes(inference: Inference, shapes: Shapes) -> dict[str, int] | None:
    """The sizes of declared dims for these shapes of inputs; None where the declarations exclude them."""
    labels = input_symbols(inference)
    sizes: dict[str, int] = {}
    for name, shape in shapes.items():
        declared = inference.input_types.get(name)
        dims = declared.shape.dims if isinstance(declared, TensorType) else None
        if dims is None or len(dims) != len(shape):
            return None
        for dim, size in zip(dims, shape, strict=True):
            if size is None or dim == size:
                continue
            if not isinstance(dim, Dimension) or dim not in labels or sizes.setdefault(labels[dim], size) != size:
                return None
    return sizes


def message_shapes(message: RuntimeMessage, inference: Inference) -> dict[str, list[int | None]]:
    """The shapes of inputs that a message states, by name; None for a size that it does not state."""
    shapes: dict[str, list[int | None]] = {}
    for text, shape in message.input_shapes:
        name = find_input(inference, text)
        if name is not None:
            shapes[name] = list(shape)
    for mismatch in message.inputs:
        name = find_input(inference, mismatch.input)
        if name is None or mismatch.axis is None:
            continue
        declared = inference.input_types.get(name)
        dims = declared.shape.dims if isinstance(declared, TensorType) else None
        if dims is not None and mismatch.axis < len(dims):
            shape_of = shapes.setdefault(name, [d if isinstance(d, int) else None for d in dims])
            if mismatch.axis < len(shape_of):
                shape_of[mismatch.axis] = mismatch.got
    return shapes


def find_input(inference: Inference, text: str) -> str | None:
    """The input that a text names: by its name, by that of its tensor (`x:0`), or by its position."""
    graph = inference.compiled.graph
    names = input_names(graph)
    for name in (text, graph.aliases.get(text, text), text.rpartition(":")[0]):
        if name in names:
            return name
    for alias, name in graph.aliases.items():
        if text in (alias, alias.rpartition("/")[2]) and name in names:
            return name
    return names[int(text)] if text.isdecimal() and len(text) < 6 and int(text) < len(names) else None


def violations_at(run: RunSizes) -> tuple[Inference | None, list[tuple[Diagnostic, bool]]]:
    """The inference at the sizes of a run, None for excluded sizes, and its violations; True for certain ones."""
    inference = Cases(run.inference).inference_for(dict(run.sizes))
    labels = input_symbols(inference)
    symbols = {find_symbol(labels, name): (name, size) for name, size in run.sizes.items()}
    try:
        at_sizes = infer_at(inference, symbols)
    except ShapeError as error:
        return None, [(Diagnostic("error", "S101", str(error)), True)]
    return at_sizes, list(violations(at_sizes))


class OperandSizes:
    """The sizes of dims that follow from what a message prints of the operands of a node."""

    def __init__(self, inference: Inference, message: RuntimeMessage, contract: Contract) -> None:
        self.inference = inference
        self.message = message
        self.labels = input_symbols(inference)
        self._conditions: dict[str, list[Precondition]] = {}
        for precondition in contract.preconditions:
            self._conditions.setdefault(precondition.node, []).append(precondition)

    def of_candidates(self, candidates: Sequence[Candidate]) -> dict[str, list[dict[str, int]]]:
        """The possible sizes by the name of the node; a node that cannot have these operands has none.

        Only nodes of the outermost graph are compared: the state before a node of a body runs is not kept.
        """
        wanted = {c.node.step.index: c for c in candidates[:MOST_CANDIDATES] if c.node.inference is self.inference}
        by_node: dict[str, list[dict[str, int]]] = {}
        if not wanted or not (self.message.shapes or self.message.pair):
            return by_node
        runs: list[Inference] = []

        def visit(done: int, total: int) -> None:
            candidate = wanted.get(done)
            if candidate is not None:
                by_node[candidate.node.name] = self._sizes_before(runs[0], candidate)

        def prepare(fresh: Inference) -> None:
            runs.append(fresh)
            fresh.progress = visit
            visit(0, 0)

        rerun(self.inference, self.inference.initial_store.copy(), prepare)
        return by_node

    def _sizes_before(self, run: Inference, candidate: Candidate) -> list[dict[str, int]]:
        """The distinct possible sizes, as the constraints of the nodes before this one allow."""
        distinct: list[dict[str, int]] = []
        for equations in self._assignments(run, candidate):
            sizes = self._solve(run.store, equations)
            if sizes and sizes not in distinct:
                distinct.append(sizes)
        return distinct

    def _assignments(self, run: Inference, candidate: Candidate) -> Iterator[list[tuple[DimSize, int]]]:
        """Equations of dims and printed sizes: a list for each way to assign these."""
        types = [run.type_of(slot) for slot in candidate.node.step.arguments if slot != MISSING]
        operands = [t.shape.dims for t in types if isinstance(t, TensorType) and t.shape.dims is not None]
        printed = self.message.shapes
        if printed:
            chosen = combinations(operands, len(printed))
            for dims in islice(chosen, MOST_ASSIGNMENTS):
                if all(len(d) == len(shape) for d, shape in zip(dims, printed, strict=True)):
                    yield [pair for d, shape in zip(dims, printed, strict=True) for pair in _equations(d, shape)]
            return
        assert self.message.pair is not None
        for precondition in self._conditions.get(candidate.node.name, []):
            if len(precondition.terms) == 2:
                for pair in (self.message.pair, self.message.pair[::-1]):
                    yield list(zip(precondition.terms, pair, strict=True))

    def _solve(self, store: ShapeStore, equations: list[tuple[DimSize, int]]) -> dict[str, int]:
        """The sizes of dims that equations decide; nothing where they cannot hold."""
        what_if = store.copy()
        source = Source("", "the message states this size")
        try:
            for dim, size in equations:
                what_if.add_equal(dim, size, source)
        except ShapeError:
            return {}
        sizes = {}
        for symbol, label in self.labels.items():
            bounds = what_if.interval(symbol)
            if bounds.lo is not None and bounds.lo == bounds.hi:
                sizes[label] = bounds.lo
        return sizes


def _equations(dims: Sequence[DimSize], shape: PrintedShape) -> Iterator[tuple[DimSize, int]]:
    return ((dim, size) for dim, size in zip(dims, shape, strict=True) if size is not None)
