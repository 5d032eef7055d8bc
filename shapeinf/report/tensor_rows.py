"""The tensors of an inference as records, one by one: a record is made only for a tensor that is listed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import attrs

from shapeinf.engine.body_tensors import INPUT, Producer, body_producers, count_computed_values, iterate_producers
from shapeinf.engine.tensor_info import TensorInfo, has_unknowns, item_infos
from shapeinf.errors import UnknownNameError
from shapeinf.expr import Dimension, DimSize, Interval
from shapeinf.lattice import Element
from shapeinf.result import Result
from shapeinf.schemas import json_record
from shapeinf.texts import nearest_names

_CONSTANT = Producer("", "", constant=True)


@attrs.frozen
class DimRecord:
    """A dim that is not a number.

    Args:
        expr: its expression in named dims; None for an unknown size without a name in the model.
        min, max: its bounds; None where there is none.
        name: what options call a size whose expression is None, such as `x.shape[0]` or `nz.count`.
    """

    expr: str | None
    min: int | None
    max: int | None
    name: str | None = None


ElementRecord = int | float | bool | str | DimRecord | None
"""An element of the value of a tensor."""


@json_record(omit=("shape_text", "bounds_text", "output", "inner", "items", "value_text"))
@attrs.frozen
class TensorRecord:
    """One tensor.

    Args:
        name: the value in the graph.
        kind: "tensor", or nested like "sequence"; dtype and shape are then those of the innermost elements.
        dtype: the element type; None where it is unknown.
        shape: the sizes; None where the rank is unknown.
        shape_text: the shape as text.
        bounds_text: the bounds of the dims as text where one has an upper bound, else empty: `[1..8, 64]`.
        producer: the operator that produces it, "input", or empty for a constant.
        node: the node that produces it, by its first output where it has no name; empty for inputs and constants.
        output: whether it is an output of the graph.
        inner: whether it is inside of a body or function.
        items: the types of the tensors in a sequence as texts; None where not all are known, and for other kinds.
        value: the elements of a small tensor in row-major order, None for an unknown one; a dim that is not a number is
            an object as in `shape`, and what else has no number of its own is a text; None where no element is known,
            and where the query does not ask.
        value_text: what is known of the contents as text; empty where nothing is, and where the query does not ask.
    """

    name: str
    kind: str
    dtype: str | None
    shape: tuple[int | DimRecord, ...] | None
    shape_text: str
    bounds_text: str
    producer: str
    node: str = ""
    output: bool = False
    inner: bool = False
    items: tuple[str, ...] | None = None
    value: tuple[ElementRecord, ...] | None = None
    value_text: str = ""


@attrs.frozen
class TensorQuery:
    """Which tensors of an inference are listed. Conditions of different kinds must all hold.

    Args:
        inputs, outputs: list only inputs of the graph, only outputs, or only both.
        names: only tensors whose name is one of these, or matches one as a glob (`*`, `?`, `[abc]`).
        operators: only outputs of these operators; in any case, with or without their domain, or globs.
        unknown: only tensors with an unknown dim or rank.
        constants: constants too, of the graph and of nodes; those that `names` spells out, those of `operators` and
            outputs are always listed.
        bodies: tensors inside of bodies and functions too; those that `names` spells out are always listed.
        limit: the most tensors that are listed; None for no limit.
        contents: record the contents of tensors, too.
    """

    inputs: bool = False
    outputs: bool = False
    names: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    unknown: bool = False
    constants: bool = False
    bodies: bool = False
    limit: int | None = None
    contents: bool = False


class _TypeTexts(NamedTuple):
    """The fields of a `TensorRecord` that follow from the type."""

    kind: str
    dtype: str | None
    shape: tuple[int | DimRecord, ...] | None
    shape_text: str
    bounds_text: str
    value: tuple[ElementRecord, ...] | None
    value_text: str


class _Candidate(NamedTuple):
    name: str
    info: TensorInfo
    producer: Producer
    output: bool
    inner: bool


class TensorRows:
    """The records of the tensors that match a query: those of the graph, then constants, then those of bodies.

    Iterated once; `listed` then counts the rows, and `omitted` the tensors past the limit.
    """

    def __init__(self, result: Result, query: TensorQuery) -> None:
        """Raises UnknownNameError for a tensor or operator that is spelled out and not there."""
        self.omitted = 0
        self.listed = 0
        self._result = result
        self._query = query
        names = [result.graph.aliases.get(name, name) for name in query.names]
        self._globs = tuple(name for name in names if name not in result.tensors and is_glob(name))
        self._names = frozenset(names).difference(self._globs)
        inner = self._names.difference(result.tensors)
        for name in sorted(inner.difference(result.body_tensors) if inner else ()):
            raise UnknownNameError("tensor", name, [*result.tensors, *result.body_tensors])
        self._inner_producers = body_producers(result.engine.inference) if query.bodies or inner else {}
        self._operators = self._matching_operators()
        self._types: dict[int, _TypeTexts] = {}

    def __iter__(self) -> Iterator[TensorRecord]:
        """The records, each made when it is consumed."""
        limit = self._query.limit
        for candidate in self._candidates():
            if self._matches(candidate):
                if self.listed == limit and self._lists_all_computed:
                    self.omitted = count_computed_values(self._result.engine.inference) - self.listed
                    return
                if self.listed == limit:
                    self.omitted += 1
                else:
                    self.listed += 1
                    yield self._record(candidate)

    @property
    def _lists_all_computed(self) -> bool:
        """Whether the query, but for its limit, matches what is neither a constant nor inside of a body."""
        return self._query == TensorQuery(limit=self._query.limit, contents=self._query.contents)

    @property
    def note(self) -> str:
        """Why there are no rows, with the names that are nearest to a glob; empty where there are some."""
        query = self._query
        if self.listed or self.omitted:
            return ""
        if attrs.evolve(query, constants=False, bodies=False, contents=False) == TensorQuery(unknown=True):
            return "no tensor has an unknown dim or rank"
        near = [name for glob in self._globs for name in nearest_names(glob, self._result.tensors)]
        hint = f"; the nearest of its names: {', '.join(map(repr, near))}" if near else ""
        return f"no tensor matches{hint}"

    def _matching_operators(self) -> frozenset[str]:
        """The operators of the graph that the query names."""
        if not self._query.operators:
            return frozenset()
        compiled = self._result.engine.inference.compiled
        present = {compiled.operations[key].kind.op for key in {row[0] for row in compiled.rows}} | {INPUT.op}
        present |= {source.op for source in self._inner_producers.values()}
        matching: set[str] = set()
        for pattern in self._query.operators:
            these = {op for op in present if fnmatchcase(op.lower(), pattern.lower())}
            if not these and not is_glob(pattern):
                raise UnknownNameError("operator of the model", pattern, present)
            matching |= these
        return frozenset(matching)

    def _candidates(self) -> Iterator[_Candidate]:
        """The tensors of the graph in its order, then its constants, then the tensors of bodies."""
        tensors = self._result.tensors
        outputs = frozenset(self._result.graph.outputs)
        computed = set()
        for name, producer in iterate_producers(self._result.engine.inference):
            computed.add(name)
            yield _Candidate(name, tensors[name], producer, name in outputs, False)
        for name, info in tensors.items():
            if name not in computed:
                yield _Candidate(name, info, _CONSTANT, name in outputs, False)
        if self._inner_producers:
            for name, info in self._result.body_tensors.items():
                yield _Candidate(name, info, self._inner_producers.get(name, _CONSTANT), False, True)

    def _matches(self, tensor: _Candidate) -> bool:
        query = self._query
        if tensor.name not in self._names:
            if (self._names or self._globs) and not any(fnmatchcase(tensor.name, glob) for glob in self._globs):
                return False
            hidden = tensor.producer.constant and not tensor.output and not query.constants and not query.operators
            if hidden or (tensor.inner and not query.bodies):
                return False
        if query.inputs or query.outputs:
            is_input = tensor.producer is INPUT and not tensor.inner
            if not (query.inputs and is_input) and not (query.outputs and tensor.output):
                return False
        if query.operators and tensor.producer.op not in self._operators:
            return False
        return not query.unknown or has_unknowns(tensor.info.shape)

    def _record(self, tensor: _Candidate) -> TensorRecord:
        texts = self._describe(tensor.info)
        items = None
        if texts.kind.startswith("sequence") and not tensor.inner:
            infos = item_infos(self._result.engine.inference, tensor.name)
            items = None if infos is None else tuple(map(str, infos))
        op, node, _ = tensor.producer
        return TensorRecord(
            tensor.name,
            texts.kind,
            texts.dtype,
            texts.shape,
            texts.shape_text,
            texts.bounds_text,
            op,
            node,
            tensor.output,
            tensor.inner,
            items,
            texts.value,
            texts.value_text,
        )

    def _elements(self, info: TensorInfo) -> tuple[ElementRecord, ...] | None:
        elements = info.elements
        return None if elements is None else tuple(_element(self._result, element) for element in elements)

    def _describe(self, info: TensorInfo) -> _TypeTexts:
        """The fields of a type. Equal types of a graph are one object, which the result holds: they are made once."""
        if id(info) not in self._types:
            dims = None if info.shape.dims is None else tuple(_dim(self._result, dim) for dim in info.shape.dims)
            value, value_text = (self._elements(info), info.value_text) if self._query.contents else (None, "")
            bounds = _bounds(dims)
            self._types[id(info)] = _TypeTexts(info.kind, info.dtype, dims, str(info.shape), bounds, value, value_text)
        return self._types[id(info)]


def _element(result: Result, element: Element) -> ElementRecord:
    if isinstance(element, Dimension):
        return _dim(result, element)
    if element is None or isinstance(element, (int, str)) or (isinstance(element, float) and math.isfinite(element)):
        return element
    return str(element)  # JSON has no infinity; a formula that is no dim


def is_glob(text: str) -> bool:
    """Whether a text is a pattern, not a name.

    >>> is_glob("encoder/*"), is_glob("logits")
    (True, False)
    """
    return any(char in text for char in "*?[")


def _dim(result: Result, dim: DimSize) -> int | DimRecord:
    if isinstance(dim, int):
        return dim
    bounds = result.interval(dim)
    if dim.is_anonymous:
        return DimRecord(None, bounds.lo, bounds.hi, str(dim) if dim.is_symbol else None)
    return DimRecord(str(dim), bounds.lo, bounds.hi)


def _bounds(dims: Sequence[int | DimRecord] | None) -> str:
    if dims is None or not any(isinstance(dim, DimRecord) and dim.max is not None for dim in dims):
        return ""
    texts = (str(Interval(dim.min, dim.max) if isinstance(dim, DimRecord) else dim) for dim in dims)
    return f"[{', '.join(texts)}]"
