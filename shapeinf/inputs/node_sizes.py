"""Bounds and relations that users specify for sizes that depend on data: the unknowns that nodes create.

The name of such a size is that of its node and its role, as in displayed shapes: `/enc/Range.range`. A bound holds for
each size that the node creates under this name, also where the node runs again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import lcm

import attrs

from shapeinf.errors import Contradiction, Source
from shapeinf.expr import Dimension, Interval, quote_name, substitute
from shapeinf.inputs.assumptions import Comparison, parse_assumption
from shapeinf.inputs.named_dims import Dim
from shapeinf.lattice import ShapeStore

_NUMBER = re.compile(r"(?<=.)#\d+\Z")
"""Behind the name of a size that is not the first of its name."""


@attrs.define
class NodeSizes:
    """The user's bounds and relations of sizes of nodes, which a store applies as its `lattice.NodeSizePolicy`."""

    bounds: dict[str, Dim] = attrs.Factory(dict)
    relations: dict[str, list[str]] = attrs.Factory(dict)
    """The texts of relations, by each name in them that no input has."""
    created: set[str] = attrs.Factory(set)
    """The names of all sizes that nodes have created."""
    conflict: Contradiction | None = None
    """The first contradiction between a user's bound or relation and what is inferred."""
    _latest: dict[str, Dimension] = attrs.Factory(dict)

    def add(self, dim: Dim) -> None:
        """Add bounds, for all numbered sizes of the name (`x.count#2`). Raises Contradiction for an empty range."""
        dim = attrs.evolve(dim, name=_NUMBER.sub("", dim.name))
        known = self.bounds.get(dim.name)
        if known is None:
            self.bounds[dim.name] = dim
            return
        low = max((n for n in (known.min, dim.min) if n is not None), default=None)
        high = min((n for n in (known.max, dim.max) if n is not None), default=None)
        if low is not None and high is not None and low > high:
            raise Contradiction(f"{_source(dim)} and cannot hold", _source(dim), _source(known))
        self.bounds[dim.name] = Dim(dim.name, low, high, multiple_of=lcm(known.multiple_of, dim.multiple_of))

    def add_relation(self, text: str, names: Iterable[str]) -> None:
        """Add a relation; `names` are the names in it that are no dims of inputs."""
        for name in names:
            self.relations.setdefault(name, []).append(text)

    @property
    def names(self) -> list[str]:
        """The names with a bound or relation."""
        return [*self.bounds, *(name for name in self.relations if name not in self.bounds)]

    @property
    def texts(self) -> list[str]:
        """All bounds and relations, as texts."""
        texts = [text for dim in self.bounds.values() for text in _texts(dim)]
        return [*texts, *dict.fromkeys(text for group in self.relations.values() for text in group)]

    def missing(self) -> str | None:
        """The first name with a bound or relation that no node has created; None where all are."""
        return next((name for name in self.names if name not in self.created), None)

    # -- see NodeSizePolicy --------------------------------------------------------------------------------------------

    def narrow(self, name: str, low: int | None, high: int | None) -> tuple[int | None, int | None]:
        """The bounds of a new size, within those of the user. Raises Contradiction."""
        self.created.add(name)
        dim = self.bounds.get(name)
        if dim is None:
            return low, high
        least = low if dim.min is None else max(dim.min, low or 0)
        most = high if dim.max is None else dim.max if high is None else min(dim.max, high)
        if least is not None and most is not None and least > most:
            inferred = Source("", f"{quote_name(name)} in {Interval(low, high)} is inferred")
            raise self._fail(Contradiction(f"{_source(dim)} and cannot hold", _source(dim), inferred))
        return least, most

    def add_constraints(self, store: ShapeStore, name: str, symbol: Dimension) -> None:
        """Add the user's divisor, value and relations of a new size. Raises Contradiction."""
        self._latest[name] = symbol
        dim = self.bounds.get(name)
        try:
            if dim is not None:
                source = _source(dim)
                store.origins[symbol] = source
                if dim.multiple_of > 1:
                    store.add_divisible(symbol, dim.multiple_of, source)
                if dim.min is not None and dim.min == dim.max and symbol not in store.solved:
                    store.set_value(symbol, dim.min, source)
            for text in self.relations.get(name, ()):
                self._add_relation(store, text)
        except Contradiction as error:
            raise self._fail(error) from None

    def _add_relation(self, store: ShapeStore, text: str) -> None:
        """Add a relation when all sizes in it exist; of several sizes of one name, it holds for the latest."""
        names = [name for name, texts in self.relations.items() if text in texts]
        if any(name not in self._latest for name in names):
            return
        values = {store.scope.symbol(name): self._latest[name] for name in names if store.scope.has(name)}
        for comparison in parse_assumption(text, store.scope):
            left, right = (substitute(side, values) for side in (comparison.left, comparison.right))
            current = Comparison(comparison.kind, left, right, comparison.divisor)
            current.add_to(store, Source("", f"assumed by the user: {text}"))

    def _fail(self, error: Contradiction) -> Contradiction:
        self.conflict = self.conflict or error
        return error


def _texts(dim: Dim) -> list[str]:
    name = quote_name(dim.name)
    texts = []
    if dim.min is not None or dim.max is not None:
        texts.append(f"{name} = {dim.min}" if dim.min == dim.max else f"{name} in {Interval(dim.min, dim.max)}")
    return [*texts, *([f"{name} % {dim.multiple_of} == 0"] if dim.multiple_of > 1 else [])]


def _source(dim: Dim) -> Source:
    return Source("", f"{' and '.join(_texts(dim))} is specified by the user")
