"""The sizes, ranges and relations of a query about a peak, as constraints in a copy of the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from shapeinf.engine.input_symbols import find_symbol
from shapeinf.errors import Contradiction, MissingSizeError, ShapeInferenceError, Source
from shapeinf.expr import Dimension, DimSize, Interval, evaluate, format_dim, format_start, quote_name
from shapeinf.inputs.assumptions import add_assumptions
from shapeinf.inputs.reader import RangeLike, as_sizes, to_named_dim
from shapeinf.lattice import ShapeStore
from shapeinf.solver.upper_bounds import UpperBound
from shapeinf.solver.witnesses import find_violation, value_at

SpecT = TypeVar("SpecT")

MAX_TOTAL = 1_000_000
"""Limit on the characters of a total."""


class SizeQuery:
    """The labels of the dims that users bind, and the constraints that hold before a query."""

    def __init__(self, store: ShapeStore, labels: Mapping[Dimension, str] | None = None) -> None:
        """`labels` are the symbols that users bind, with their names; by default all that have a name."""
        self.store = store
        named = {store.scope.symbol(name): quote_name(name) for name in store.scope.names()}
        self.labels: dict[Dimension, str] = dict(named if labels is None else labels)
        canonical = (store.canon(symbol) for symbol in self.labels)
        self._bindable = {s for d in canonical if isinstance(d, Dimension) for s in d.symbols()}

    def is_bindable(self, symbol: Dimension) -> bool:
        """Whether users bind a symbol of a canonical dim; others depend on data."""
        return symbol in self._bindable

    def symbol(self, name: str) -> Dimension:
        """The symbol of a name. Raises UnknownNameError."""
        return find_symbol(self.labels, name)

    def representative(self, name: str, store: ShapeStore) -> Dimension:
        """The symbol that stands for a dim under the constraints: another one where both are equal."""
        symbol = self.symbol(name)
        canonical = store.canon(symbol)
        return canonical if isinstance(canonical, Dimension) and canonical.is_symbol else symbol

    def label(self, name: str) -> str:
        """The label of the symbol of this name."""
        return self.labels.get(self.store.scope.symbol(name), name)

    def format(self, d: DimSize, most: int | None = None) -> str:
        """A dim as text, with labels; a total may have thousands of terms, of which `most` are printed."""
        if most is not None:
            return format_start(d, most, self.labels)
        return format_dim(d, labels=self.labels, longest=MAX_TOTAL)

    def bind(self, sizes: Mapping[str, int]) -> ShapeStore:
        """The constraints with a size for each of these dims. Raises UnknownNameError and Contradiction."""
        store = self.store.copy()
        for name, value in as_sizes(sizes).items():
            symbol = self.symbol(name)
            source = Source("", f"{self.labels[symbol]} = {value} is requested")
            self._check_minimum(symbol, value, source)
            _add(lambda: store.add_equal(symbol, value, source), source, self.store.sources.get(symbol))  # noqa: B023
        _check_disjunctions(store, ", ".join(f"{name} = {size}" for name, size in sizes.items()))
        return store

    def restrict(self, ranges: Mapping[str, RangeLike], assume: Iterable[str] | str = ()) -> ShapeStore:
        """The constraints with ranges (ints, pairs, texts, Dims) and assumed relations added."""
        store = self.store.copy()
        for name, value in ranges.items():
            symbol = self.symbol(name)
            spec = to_named_dim(name, value)
            source = Source("", f"{self.labels[symbol]} in {Interval(spec.min, spec.max)} is requested")
            self._check_minimum(symbol, spec.min, source)
            _add(lambda: store.add_range(symbol, spec.min, spec.max, source), source)  # noqa: B023
            if spec.multiple_of > 1:
                _add(lambda: store.add_divisible(symbol, spec.multiple_of, source), source)  # noqa: B023
        add_assumptions(store, assume)
        _check_disjunctions(store, "the query")
        return store

    def _check_minimum(self, symbol: Dimension, least: int | None, source: Source) -> None:
        """Refuse sizes below the minimum that the inference assumes: the formulas do not hold there."""
        low = symbol.symbol.lo
        if least is not None and low is not None and least < low:
            hint = f"{self.labels[symbol]} is assumed to be at least {low}"
            hint += f"; infer with min_dim={least} for less" if least >= 0 else ""
            raise Contradiction(f"{source} and cannot hold", source, Source("", hint))

    def attaining_sizes(self, names: Iterable[str], best: UpperBound, store: ShapeStore) -> dict[str, int]:
        """The sizes that attain a bound, by label; those of `names` also where constraints imply them."""
        if not best.tight:
            return {}
        sizes = {self.label(name): size for name, size in best.sizes.items()}
        for symbol in map(self.symbol, names):
            value = value_at(store, symbol, best.sizes)
            if value is not None:
                sizes[self.labels[symbol]] = value
        return dict(sorted(sizes.items()))

    def evaluate(self, dims: Iterable[DimSize], store: ShapeStore) -> list[int]:
        """The values of dims where the store fixes all their symbols. Raises MissingSizeError."""
        expressions = list(dims)
        values: dict[str, int] = {}
        missing: list[str] = []
        for symbol in {s for d in expressions if isinstance(d, Dimension) for s in d.symbols()}:
            value = store.canon(symbol)
            if isinstance(value, int):
                values[symbol.name] = value
            else:
                missing += [self.labels.get(s, s.name) for s in value.symbols()]
        if missing:
            raise MissingSizeError(sorted(set(missing)), "bind it, or use over() for a bound over a range")
        try:
            return [evaluate(d, values) for d in expressions]
        except ZeroDivisionError as error:
            raise ShapeInferenceError(f"{error} for these sizes") from None


def merge_specs(specs: Mapping[str, SpecT] | None, more: Mapping[str, SpecT]) -> dict[str, SpecT]:
    """Sizes or ranges of a mapping and of keywords. Raises ShapeInferenceError for a name in both."""
    for name in more:
        if specs and name in specs:
            raise ShapeInferenceError(f"{name} is specified twice: {specs[name]!r} and {more[name]!r}")
    return {**(specs or {}), **more}


def _add(add: Callable[[], object], source: Source, known: Source | None = None) -> None:
    """Add a constraint; `known` is the source of the dim's value where it already has one."""
    try:
        add()
    except Contradiction as error:
        second = known or (error.first if error.first != source else error.second)
        raise Contradiction(f"{source} and cannot hold", source, second) from None


def _check_disjunctions(store: ShapeStore, query: str) -> None:
    """Check the pending disjunctions, whose operands may be numbers now."""
    violated = find_violation(store, {})
    if violated is not None:
        operands = (str(store.canon(d)) for d in violated.operands)
        message = f"{violated.template.format(*operands)} does not hold for {query}"
        raise Contradiction(message, Source("", query), violated.source)
