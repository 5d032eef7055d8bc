"""Sizes, ranges and relations that a question about a peak gives, told to a copy of the facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from shapeinf.constraints.labels import find_symbol
from shapeinf.errors import Contradiction, MissingSizeError, ShapeInferenceError, Source
from shapeinf.expr import Dim, Dimension, evaluate, format_dim, quote_name
from shapeinf.inputs.assumptions import add_assumptions
from shapeinf.inputs.reader import RangeLike, as_sizes, to_named_dim
from shapeinf.lattice import ShapeStore
from shapeinf.solver.upper_bounds import UpperBound
from shapeinf.solver.witnesses import value_at, violated_at

Given = TypeVar("Given")

LONGEST_TOTAL = 1_000_000
"""Characters."""


class SizeQuery:
    """The names of dims as users write them, and the facts that hold before a question."""

    def __init__(self, store: ShapeStore, labels: Mapping[Dimension, str] | None = None) -> None:
        """`labels` are the symbols that users choose, with what they call them; all that have a name by default."""
        self.store = store
        named = {store.scope.symbol(name): quote_name(name) for name in store.scope.names()}
        self.labels: dict[Dimension, str] = dict(named if labels is None else labels)
        canonical = (store.canon(symbol) for symbol in self.labels)
        self._chosen = {s for d in canonical if isinstance(d, Dimension) for s in d.symbols()}

    def kept(self, symbol: Dimension) -> bool:
        """Whether users choose a symbol of a canonical dim; others depend on data."""
        return symbol in self._chosen

    def symbol(self, name: str) -> Dimension:
        """The symbol that a user means. Raises UnknownNameError."""
        return find_symbol(self.labels, name)

    def followed(self, name: str, store: ShapeStore) -> Dimension:
        """The symbol that stands for a dim under facts: another one where they say that both are equal."""
        symbol = self.symbol(name)
        found = store.canon(symbol)
        return found if isinstance(found, Dimension) and found.is_symbol else symbol

    def label(self, name: str) -> str:
        """What users call the symbol of this name."""
        return self.labels.get(self.store.scope.symbol(name), name)

    def shown(self, d: Dim) -> str:
        """A dim as text, in those names; a total may have thousands of terms."""
        return format_dim(d, labels=self.labels, longest=LONGEST_TOTAL)

    def bound(self, sizes: Mapping[str, int]) -> ShapeStore:
        """The facts with a size for each of these dims. Raises UnknownNameError and Contradiction."""
        store = self.store.copy()
        for name, value in as_sizes(sizes).items():
            symbol = self.symbol(name)
            told = Source("", f"{self.labels[symbol]} = {value} is asked")
            self._policy(symbol, value, told)
            _tell(lambda: store.add_equal(symbol, value, told), told, self.store.sources.get(symbol))  # noqa: B023
        _check(store, ", ".join(f"{name} = {size}" for name, size in sizes.items()))
        return store

    def ranged(self, ranges: Mapping[str, RangeLike], assume: Iterable[str] | str = ()) -> ShapeStore:
        """The facts within ranges (ints, pairs, texts, NamedDims) and with assumed relations."""
        store = self.store.copy()
        for name, given in ranges.items():
            symbol = self.symbol(name)
            asked = to_named_dim(name, given)
            told = Source("", f"{self.labels[symbol]} in {_text(asked.min, asked.max)} is asked")
            self._policy(symbol, asked.min, told)
            _tell(lambda: store.add_range(symbol, asked.min, asked.max, told), told)  # noqa: B023
            if asked.multiple_of > 1:
                _tell(lambda: store.add_divisible(symbol, asked.multiple_of, told), told)  # noqa: B023
        add_assumptions(store, assume)
        _check(store, "what is asked")
        return store

    def below(self, given: Mapping[str, RangeLike]) -> dict[str, int] | None:
        """The named dims of which sizes are asked that are below those that the inference took for granted.

        None where there are none, and where no node has assumed that there are none.
        """
        found: dict[str, int] = {}
        ranges: dict[str, tuple[int, int | None]] = {}
        for name, value in given.items():
            symbol, asked = self.symbol(name), to_named_dim(name, value)
            least, low = asked.min, symbol.symbol.lo
            ranges[symbol.name] = (low or 0) if least is None else least, asked.max
            if least is not None and low is not None and least < low and not symbol.symbol.anonymous:
                found[symbol.name] = least
        return found if found or self.store.breaks_assumption(ranges) else None

    def _policy(self, symbol: Dimension, least: int | None, told: Source) -> None:
        """Refuse sizes below those that the inference took for granted: an answer would not be about them."""
        low = symbol.symbol.lo
        if least is not None and low is not None and least < low:
            hint = f"{self.labels[symbol]} is taken to be at least {low}"
            hint += f"; infer with min_dim={least} for less" if least >= 0 else ""
            raise Contradiction(f"{told} and cannot hold", told, Source("", hint))

    def sizes(self, given: Iterable[str], best: UpperBound, store: ShapeStore) -> dict[str, int]:
        """The sizes that attain a bound, by the names of users; those of given dims also where facts tell them."""
        if not best.tight:
            return {}
        found = {self.label(name): size for name, size in best.sizes.items()}
        for symbol in map(self.symbol, given):
            value = value_at(store, symbol, best.sizes)
            if value is not None:
                found[self.labels[symbol]] = value
        return dict(sorted(found.items()))

    def evaluate(self, dims: Iterable[Dim], store: ShapeStore) -> list[int]:
        """The values of dims under facts that give all their symbols a size. Raises MissingSizeError."""
        listed = list(dims)
        values: dict[str, int] = {}
        missing: list[str] = []
        for symbol in {s for d in listed if isinstance(d, Dimension) for s in d.symbols()}:
            value = store.canon(symbol)
            if isinstance(value, int):
                values[symbol.name] = value
            else:
                missing += [self.labels.get(s, s.name) for s in value.symbols()]
        if missing:
            raise MissingSizeError(sorted(set(missing)), "give it, or ask with over() for the most in a range")
        try:
            return [evaluate(d, values) for d in listed]
        except ZeroDivisionError as error:
            raise ShapeInferenceError(f"{error} for these sizes") from None


def both(given: Mapping[str, Given] | None, more: Mapping[str, Given]) -> dict[str, Given]:
    """Sizes or ranges from a mapping and from keywords. Raises ShapeInferenceError for what is given twice."""
    for name in more:
        if given and name in given:
            raise ShapeInferenceError(f"{name} is given twice: {given[name]!r} and {more[name]!r}")
    return {**(given or {}), **more}


def _tell(tell: Callable[[], object], told: Source, known: Source | None = None) -> None:
    """Tell a fact; `known` is who has said what the dim is, where somebody has."""
    try:
        tell()
    except Contradiction as error:
        second = known or (error.first if error.first != told else error.second)
        raise Contradiction(f"{told} and cannot hold", told, second) from None


def _check(store: ShapeStore, asked: str) -> None:
    """Look at the alternatives that could only be kept: their operands may be numbers now."""
    broken = violated_at(store, {})
    if broken is not None:
        message = f"{broken.template.format(*(str(store.canon(d)) for d in broken.operands))} does not hold for {asked}"
        raise Contradiction(message, Source("", asked), broken.source)


def _text(low: int | None, high: int | None) -> str:
    return f"{'' if low is None else low}..{'' if high is None else high}"
