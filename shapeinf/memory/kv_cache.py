"""Caches of keys and values: inputs that come back as longer outputs, as decoders of language models have them.

A pair is an input (past) and an output (present) of one element type whose shapes differ in one axis, the tokens, and
where the output is computed from the input by few nodes. Exporters name them in many ways, or not at all, so names only
decide between outputs that are equally near. One pair without such a name is no cache: two tensors joined by a model
look the same.

A cache of fixed size, which a model updates in place, has no axis that grows: it is an input and an output like others.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

import attrs

from shapeinf.engine.inference import Inference
from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import DimSize
from shapeinf.graph import MISSING, UNUSED
from shapeinf.inputs.reader import as_sizes
from shapeinf.lattice import Shape, ShapeStore, TensorType
from shapeinf.memory.peak.query import SizeQuery, merge_specs
from shapeinf.memory.sizes import size_of
from shapeinf.solver.long_dims import product_of, sum_dims

MAX_NODES = 12
"""The most nodes between a past input and its present output."""
CACHE_NAME = re.compile(r"past|cache|\bkv|kv\b|_kv_", re.IGNORECASE)
"""Words that exporters have in the names of past inputs."""


@attrs.frozen
class CachePair:
    """A past input and its present output.

    Args:
        past: the input.
        present: the output.
        axis: the axis of the tokens.
        shape: the shape of the output.
        bytes_per_token: the bytes that one token adds to the output.
    """

    past: str
    present: str
    axis: int
    shape: Shape
    bytes_per_token: DimSize


@attrs.frozen
class KvCache:
    """The pairs of past and present that hold the same tokens.

    Args:
        pairs: in the order of the inputs.
        past_tokens: the tokens in the inputs.
        tokens: the tokens in the outputs, after a run.
        bytes_per_token: the bytes that one token takes in all outputs.
    """

    pairs: tuple[CachePair, ...]
    past_tokens: DimSize
    tokens: DimSize
    bytes_per_token: DimSize
    _query: SizeQuery = attrs.field(eq=False, repr=False)

    @property
    def bytes(self) -> DimSize | None:
        """The bytes of all outputs; None if the formula is too long."""
        return product_of(self._query.store, [self.tokens, self.bytes_per_token])

    def at(self, tokens: int, sizes: Mapping[str, int] | None = None, /, **more: int) -> int:
        """The bytes of a cache of this many tokens; the sizes are those of the other dims, such as the batch.

        Raises UnknownNameError for an unknown dim, MissingSizeError for a dim without a size, Contradiction for sizes
        with which the model does not run.
        """
        return tokens * self._bytes_per_token_at(as_sizes(merge_specs(sizes, more)))

    def tokens_at(self, sizes: Mapping[str, int] | None = None, /, **more: int) -> int:
        """The tokens after a run at these sizes. Raises as `at` does."""
        (tokens,) = self._query.evaluate([self.tokens], self._query.bind(as_sizes(merge_specs(sizes, more))))
        return tokens

    def largest(self, limit: int, sizes: Mapping[str, int] | None = None, /, **more: int) -> int:
        """The most tokens of a cache of at most `limit` bytes. Raises as `at` does."""
        per_token = self._bytes_per_token_at(as_sizes(merge_specs(sizes, more)))
        if not per_token:
            raise ShapeInferenceError("a token takes no bytes for these sizes: any number fits")
        return limit // per_token

    def _bytes_per_token_at(self, sizes: Mapping[str, int]) -> int:
        (amount,) = self._query.evaluate([self.bytes_per_token], self._query.bind(sizes))
        return amount


def find_kv_caches(inference: Inference, query: SizeQuery) -> tuple[KvCache, ...]:
    """The caches of a model, one for each number of tokens."""
    groups: dict[tuple[DimSize, DimSize], list[CachePair]] = defaultdict(list)
    finder = _PairFinder(inference)
    for pair, past_tokens in finder.pairs():
        groups[past_tokens, pair.shape[pair.axis]].append(pair)
    scope = inference.store.scope
    return tuple(
        KvCache(tuple(pairs), past_tokens, tokens, sum_dims(scope, [p.bytes_per_token for p in pairs]), query)
        for (past_tokens, tokens), pairs in groups.items()
        if len(pairs) > 1 or CACHE_NAME.search(pairs[0].past)
    )


@attrs.frozen(order=True)
class _Candidate:
    """A possible pair; the least one is the best."""

    nodes: int
    different_words: int
    past: int
    present: int
    axis: int = attrs.field(order=False)


class _PairFinder:
    """Finds the pairs of a graph: first by the number of nodes between them, then by their names and positions."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        compiled = inference.compiled
        self.inputs = [name for name in compiled.graph.inputs if name not in compiled.graph.constants]
        self.outputs = list(dict.fromkeys(compiled.graph.outputs))
        self.types = {name: _known_tensor(inference, name) for name in (*self.inputs, *self.outputs)}
        self._readers: dict[int, list[int]] = defaultdict(list)
        for index, (_, inputs, _, _) in enumerate(compiled.rows):
            for slot in inputs:
                if slot != MISSING:
                    self._readers[slot].append(index)

    def pairs(self) -> Iterator[tuple[CachePair, DimSize]]:
        """The pairs in the order of the inputs, with the tokens of the input."""
        taken: set[tuple[str, int]] = set()
        chosen: list[_Candidate] = []
        for candidate in sorted(self._candidates()):
            ends = {("past", candidate.past), ("present", candidate.present)}
            if taken.isdisjoint(ends):
                taken |= ends
                chosen.append(candidate)
        for candidate in sorted(chosen, key=lambda c: c.past):
            past, present = self.inputs[candidate.past], self.outputs[candidate.present]
            before, after = self.types[past], self.types[present]
            assert before is not None and after is not None
            per_token = _bytes_per_token(self.inference.store, after, candidate.axis)
            if per_token is not None:
                pair = CachePair(past, present, candidate.axis, after.shape, per_token)
                yield pair, before.shape[candidate.axis]

    def _candidates(self) -> Iterator[_Candidate]:
        """For each input the nearest outputs that may be its cache after the run."""
        slots = self.inference.compiled.slots
        for i, past in enumerate(self.inputs):
            longer = {
                slots[name]: (j, axis)
                for j, name in enumerate(self.outputs)
                if (axis := _growing_axis(self.types[past], self.types[name])) is not None and name != past
            }
            nodes, reached = self._nearest(slots[past], longer) if longer else (0, [])
            for slot in reached:
                j, axis = longer[slot]
                yield _Candidate(nodes, _different_words(past, self.outputs[j]), i, j, axis)

    def _nearest(self, start: int, targets: Mapping[int, object]) -> tuple[int, list[int]]:
        """The fewest nodes between a value and one of the targets, and the targets at that distance."""
        seen = {start}
        level = [start]
        rows = self.inference.compiled.rows
        for nodes in range(1, MAX_NODES + 1):
            written = dict.fromkeys(
                slot for value in level for index in self._readers[value] for slot in rows[index][2] if slot != UNUSED
            )
            level = [slot for slot in written if slot not in seen]
            reached = [slot for slot in level if slot in targets]
            if reached:
                return nodes, reached
            seen.update(level)
        return 0, []


def _known_tensor(inference: Inference, name: str) -> TensorType | None:
    """The type of a tensor of known rank and element type, with canonical dims."""
    value = inference.type_of(inference.compiled.slots[name])
    if not isinstance(value, TensorType) or value.dtype is None or value.shape.dims is None:
        return None
    return TensorType(value.dtype, Shape([inference.store.canon(dim) for dim in value.shape.dims]))


def _growing_axis(past: TensorType | None, present: TensorType | None) -> int | None:
    """The only axis in which the shapes of two tensors of one element type differ; None if there is no such axis."""
    if past is None or present is None or past.dtype != present.dtype or past.shape.rank != present.shape.rank:
        return None
    pairs = list(zip(past.shape, present.shape, strict=True))
    axes = [axis for axis, (before, after) in enumerate(pairs) if before != after]
    if len(axes) != 1 or len(pairs) < 3:
        return None
    before, after = pairs[axes[0]]
    shrinks = isinstance(before, int) and isinstance(after, int) and after < before
    return None if shrinks else axes[0]


def _bytes_per_token(store: ShapeStore, tensor: TensorType, axis: int) -> DimSize | None:
    """The bytes of a tensor with one token."""
    dims = list(tensor.shape)
    dims[axis] = 1
    return size_of(store, TensorType(tensor.dtype, Shape(dims))).bytes


def _different_words(first: str, second: str) -> int:
    """The number of words and numbers that only one of two names has."""
    words, others = (set(re.findall(r"[a-zA-Z]+|\d+", name)) for name in (first, second))
    return len(words ^ others)
