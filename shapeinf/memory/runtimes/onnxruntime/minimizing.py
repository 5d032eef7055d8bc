"""The declarations and the order of nodes with which a model needs the least memory in onnxruntime, by prediction.

A session lets a value use a buffer where its declared shape equals that of the buffer, as texts. This saves memory
where a kernel writes in place, and costs memory where a free buffer is kept for a later value. So few files are worth a
prediction: the bare file, a file that declares all values in texts of their own (see `formats.onnx.chains`), files that
declare only values whose texts have an effect in the plan, and files with another order of the nodes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import inf

import attrs

from shapeinf.engine.compiled import compile_graph
from shapeinf.engine.inference import Inference
from shapeinf.engine.session import Session
from shapeinf.errors import DimSyntaxError, ShapeInferenceError, UnknownNameError
from shapeinf.expr import Dimension, DimSize, format_dim
from shapeinf.expr.parsing import parse_dim
from shapeinf.formats.annotation import Annotation
from shapeinf.formats.files import Annotate, WriteOptions
from shapeinf.formats.minimized import Declarations, MinimizedMemory, RunBytes
from shapeinf.formats.onnx.chains import shared_values
from shapeinf.graph import Graph
from shapeinf.lattice import ShapeStore
from shapeinf.memory.peak import Peak
from shapeinf.memory.peak.query import SizeQuery
from shapeinf.memory.runtimes.onnxruntime.file_orders import file_order, node_orders
from shapeinf.memory.runtimes.onnxruntime.options import OnnxRuntimeOptions
from shapeinf.memory.runtimes.onnxruntime.runtime import OnnxRuntime
from shapeinf.memory.runtimes.onnxruntime.session_memory import SessionMemory
from shapeinf.solver.budget import WORK
from shapeinf.solver.sampling import skewed_bindings, usual_bindings

RUNTIME = "onnxruntime"
MAX_ROUNDS = 3
"""The most times that the values in buffers that nothing needs at the peak get declarations."""
MAX_DRAWN = 16
"""The bindings of sizes from which those to compare at are chosen."""
MAX_SKEWED = 2
"""The bindings among these in which one dim is much larger than the others."""
LEAST_GAIN = 0.01
"""The part of the memory that another order of the nodes saves at least."""
MAX_TERMS = 40
"""The most terms of a peak that is compared with another one for all sizes."""

_PREFERENCE: tuple[Declarations, ...] = ("chains", "some", "shared", "outputs", "none")
"""Of files with equal memory the one that declares the most is chosen."""
_ANNOTATE: Mapping[Declarations, Annotate] = {"none": "io", "outputs": "io"}


@attrs.frozen
class FileChoice:
    """A file to write.

    Args:
        declared: which types it declares.
        typed: for some of the types, the inner values that have them.
        order: the order of the nodes, None for that of the file that was read.
    """

    declared: Declarations
    typed: frozenset[str] = frozenset()
    order: tuple[int, ...] | None = None

    @property
    def annotate(self) -> Annotate:
        """The types to write."""
        return _ANNOTATE.get(self.declared, "chains")

    def annotation(self, annotation: Annotation) -> Annotation:
        """The inferred types to write; a value without one keeps what the file declares."""
        if self.declared in ("chains", "outputs"):
            return annotation
        return Annotation({name: info for name, info in annotation.tensors.items() if name in self.typed})


ORIGINAL = FileChoice("none")


@attrs.frozen
class _Prediction:
    """The bytes of a file: of first runs, in the order of the sizes, and of later ones at those that count for them.

    `terms` are those of the peak of a first run, None where a size in it is not known; `idle` are the values in the
    buffers that no value needs at the peak.
    """

    choice: FileChoice
    first: tuple[int, ...]
    later: tuple[int, ...]
    terms: tuple[DimSize, ...] | None
    idle: frozenset[str]

    def rank(self, original: _Prediction) -> tuple[float, ...]:
        """Less is better: first runs, at the first sizes and then at the others, later runs, fewer declarations."""
        first, later = _ratios(self.first, original.first), _ratios(self.later, original.later)
        return first[0], sum(first), later[0], sum(later), _PREFERENCE.index(self.choice.declared)

    def gains_on(self, other: _Prediction) -> bool:
        """Whether a first run, or else a later one, needs notably less than with another file at the first sizes."""
        if self.first[0] == other.first[0]:
            return self.later[0] < other.later[0] * (1 - LEAST_GAIN)
        return self.first[0] < other.first[0] * (1 - LEAST_GAIN)

    def needs_no_more(self, other: _Prediction) -> bool:
        """Whether no first run needs more memory than with another file, nor a later one at the first sizes.

        At the others that count later runs need no more on average: how a block is packed differs from size to size.
        """
        later = _ratios(self.later, other.later)
        return _are_at_most(self.first, other.first) and later[0] <= 1 and sum(later) <= len(later)


def _are_at_most(first: Sequence[int], second: Sequence[int]) -> bool:
    return all(a <= b for a, b in zip(first, second, strict=True))


def _ratios(first: Sequence[int], second: Sequence[int]) -> list[float]:
    return [a / b if b else inf if a else 1.0 for a, b in zip(first, second, strict=True)]


def minimize_memory(
    session: Session, annotation: Annotation, runtime: str, sizes: Mapping[str, int]
) -> tuple[FileChoice, MinimizedMemory]:
    """The file of a model that needs the least memory in a runtime, and its memory.

    `annotation` has the inferred types, `sizes` are those of the user at which files are compared. Raises
    UnknownNameError for a runtime and for a dim, Contradiction for sizes that are not legal, ShapeInferenceError for a
    model of another format.
    """
    if runtime != RUNTIME:
        raise UnknownNameError("runtime for which files can be minimized", runtime, [RUNTIME])
    graph = session.compiled.graph
    if (graph.format or graph.dialect) != "onnx":
        raise ShapeInferenceError(f"minimize_memory is for ONNX models: {RUNTIME} runs no other models")
    return Minimizer(session, annotation, sizes).run()


class Minimizer:
    """The search for the file of one model."""

    def __init__(self, session: Session, annotation: Annotation, sizes: Mapping[str, int]) -> None:
        """See `minimize_memory`."""
        self.session = session
        self.annotation = annotation
        self.graph: Graph = session.compiled.graph
        self.cause = ""
        plain = self._memory(self._inference(ORIGINAL))
        self.sizes = _compared_sizes(plain, sizes)
        self.later_sizes = 1 if sizes else len(self.sizes)
        """At how many of the sizes later runs count: at the first ones only where these are the user's."""
        self.plain = self._first_runs(plain)
        """The first runs of the bare file as it is."""
        self._accepted = {ORIGINAL}
        """The files that need no more as they are."""
        try:
            self.original_memory = self._optimized(self._inference(ORIGINAL))
            self._first_runs(self.original_memory)
        except ShapeInferenceError as error:  # no onnxruntime, which does not load the model, or sizes are not known
            self.cause = " ".join(str(error).split())
            self.original_memory = plain

    def run(self) -> tuple[FileChoice, MinimizedMemory]:
        """The best file, and its memory."""
        original = self._predict(ORIGINAL)
        assert original is not None, "the sizes are those of the bare file"
        best = self._best([original, *self._declaring(original)], original)
        best = self._best([best, *self._reordering(best)], original)
        return best.choice, MinimizedMemory(
            runtime=RUNTIME,
            optimized=not self.cause,
            cause=self.cause,
            sizes=tuple(self.sizes),
            file=RunBytes(best.first[0], best.later[0]),
            original=RunBytes(original.first[0], original.later[0]),
            proven=best is original or self._is_proven(best),
            declared=best.choice.declared,
            reordered=best.choice.order is not None,
        )

    def _best(self, predictions: Sequence[_Prediction], original: _Prediction) -> _Prediction:
        """The best file of those that need no more memory than the bare one, which is among them."""
        ranked = sorted((p for p in predictions if p.needs_no_more(original)), key=lambda p: p.rank(original))
        return next(prediction for prediction in ranked if self._is_accepted(prediction.choice))

    def _is_accepted(self, choice: FileChoice) -> bool:
        """Whether first runs of a file as it is need no more memory than those of the bare file."""
        if self.cause or choice in self._accepted:
            return True
        if not _are_at_most(self._first_runs(self._memory(self._inference(choice))), self.plain):
            return False
        self._accepted.add(choice)
        return True

    # -- candidates --------------------------------------------------------------------------------------------------

    def _declaring(self, original: _Prediction) -> Iterator[_Prediction]:
        """Files with other declarations: all of them, where these leave nothing to gain, else fewer ones, too."""
        everything = self._predict(FileChoice("chains"))
        if everything is not None:
            yield everything
            if everything.needs_no_more(original) and not everything.idle:
                return
        shared = typed = shared_values(self.graph.nodes, self.annotation.tensors)
        choices = [FileChoice("outputs"), *([FileChoice("shared", shared)] if shared else [])]
        yield from filter(None, map(self._predict, choices))
        idle = self._inner(original.idle)
        for _ in range(MAX_ROUNDS):
            if idle <= typed:
                return
            typed |= idle
            some = self._predict(FileChoice("some", typed))
            if some is None:
                return
            yield some
            idle = self._inner(some.idle)

    def _inner(self, names: Collection[str]) -> frozenset[str]:
        """Those of the names that are inner values with an inferred type."""
        return frozenset(names).intersection(self.annotation.tensors).difference(self.graph.outputs)

    def _reordering(self, best: _Prediction) -> Iterator[_Prediction]:
        """Files with the declarations of the best one, and other orders of the nodes."""
        memory = self._memory_that_runs(self._inference(best.choice))
        running = memory.inference.compiled
        seen = {tuple(range(len(self.graph.nodes)))}
        for order in node_orders(running, memory.peak.buffers_at(self.sizes[0])):
            ranks = {running.names[s]: rank for rank, row in enumerate(order) for s in running.rows[row][2] if s >= 0}
            indices = file_order(self.session.compiled, ranks)
            if indices not in seen:
                seen.add(indices)
                prediction = self._predict(attrs.evolve(best.choice, order=indices))
                if prediction is not None and prediction.gains_on(best):
                    yield prediction

    # -- prediction --------------------------------------------------------------------------------------------------

    def _predict(self, choice: FileChoice) -> _Prediction | None:
        """The memory of a file; None where onnxruntime does not load it, or a size is not known."""
        try:
            memory = self._memory_that_runs(self._inference(choice))
            runs = [memory.at(sizes) for sizes in self.sizes]
        except ShapeInferenceError:
            return None
        first, later = tuple([run.first.bytes for run in runs]), tuple([run.later for run in runs[: self.later_sizes]])
        idle = frozenset([name for buffer, _ in runs[0].idle for name in buffer.values])
        return _Prediction(choice, first, later, None if memory.peak.at_least else memory.peak.sizes, idle)

    def _first_runs(self, memory: SessionMemory) -> tuple[int, ...]:
        return tuple([memory.peak.at(sizes).bytes for sizes in self.sizes])

    def _inference(self, choice: FileChoice) -> Inference:
        """The inference of a file, as it is."""
        from shapeinf.formats.onnx.writer import rewrite

        options = WriteOptions(annotate=choice.annotate, order=choice.order)
        graph = rewrite(self.graph, choice.annotation(self.annotation), options)
        compiled = compile_graph(graph, self.session.compiled.registry)
        return attrs.evolve(self.session, compiled=compiled).run().inference

    def _memory_that_runs(self, inference: Inference) -> SessionMemory:
        return self._memory(inference) if self.cause else self._optimized(inference)

    def _memory(self, inference: Inference) -> SessionMemory:
        return SessionMemory(inference, OnnxRuntimeOptions(arena=False))

    def _optimized(self, inference: Inference) -> SessionMemory:
        """The memory of what a session with all optimizations runs of a file."""
        return OnnxRuntime().memory(inference, self.session, OnnxRuntimeOptions(arena=False, optimize="all"), WORK)

    # -- all sizes ---------------------------------------------------------------------------------------------------

    def _is_proven(self, best: _Prediction) -> bool:
        """Whether each term of the peak is at most one of the bare file, at all sizes."""
        original = self.original_memory.peak
        if best.terms is None or not original.exact or max(len(best.terms), len(original.sizes)) > MAX_TERMS:
            return False
        return all(_is_exceeded(term, original, self.original_memory) for term in best.terms)


def _is_exceeded(term: DimSize, original: Peak, memory: SessionMemory) -> bool:
    """Whether a term of another inference is at most one of a peak; names of the dims of inputs are the same."""
    try:
        size = parse_dim(format_dim(term), memory.store.scope) if isinstance(term, Dimension) else term
    except DimSyntaxError:
        return False
    known = memory.labels.keys()
    if isinstance(size, Dimension) and not size.symbols() <= known:
        return False
    return any(_is_least(memory.store.interval(other - size).lo) for other in original.sizes)


def _is_least(bound: int | None) -> bool:
    return bound is not None and bound >= 0


def _compared_sizes(memory: SessionMemory, sizes: Mapping[str, int]) -> list[dict[str, int]]:
    """The sizes at which files are compared: the user's, with usual sizes of the other dims, and then other ones.

    Raises UnknownNameError and Contradiction for the user's sizes, ShapeInferenceError where no usual sizes are legal.
    """
    store = SizeQuery(memory.store, memory.labels).bind(sizes)
    open_dims = _open_dims(memory, store)
    if not open_dims:
        memory.peak.at(sizes)
    usual = _labeled(memory, memory.store, usual_bindings)
    ends = sorted(usual, key=lambda binding: sum(binding.values()))
    others = [*usual[:2], *ends[:1], *ends[-1:], *_labeled(memory, memory.store, skewed_bindings)[:MAX_SKEWED]]
    first = [{**sizes, **binding} for binding in _labeled(memory, store, usual_bindings)]
    legal = [next((binding for binding in first if _is_legal(memory, binding)), None)]
    if legal[0] is None:
        names = ", ".join(memory.labels[symbol] for symbol in open_dims)
        raise ShapeInferenceError(f"no usual sizes of {names} are legal: specify sizes at which to compare memory")
    legal += [binding for binding in others if _is_legal(memory, binding)]
    return [dict(pairs) for pairs in dict.fromkeys(tuple(binding.items()) for binding in legal if binding is not None)]


def _open_dims(memory: SessionMemory, store: ShapeStore) -> list[Dimension]:
    return [symbol for symbol in memory.labels if store.canon(symbol) is symbol]


def _labeled(
    memory: SessionMemory, store: ShapeStore, draw: Callable[..., Iterator[Mapping[str, int]]]
) -> list[dict[str, int]]:
    """The first sizes that `draw` has for the dims without a size, by their labels; a single empty one without dims."""
    open_dims = _open_dims(memory, store)
    drawn = itertools.islice(draw(store, open_dims, ()), MAX_DRAWN) if open_dims else [{}]
    return [{memory.labels[symbol]: binding[symbol.name] for symbol in open_dims} for binding in drawn]


def _is_legal(memory: SessionMemory, sizes: Mapping[str, int]) -> bool:
    try:
        memory.peak.at(sizes)
    except ShapeInferenceError:
        return False
    return True
