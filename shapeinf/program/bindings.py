"""Sizes as users give them, made the arguments of a straight-line program; what does not fit the facts is found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from shapeinf.constraints.labels import find_symbol
from shapeinf.errors import IllegalSizeError, LimitError, MissingSizeError
from shapeinf.expr import Dimension, quote_name
from shapeinf.expr.many_bindings import INT64_MAX, INT64_MIN, Flags, Ints, Number, run, run_exactly
from shapeinf.expr.straight_line import StraightLine
from shapeinf.lattice import ShapeStore
from shapeinf.program.preconditions import Demand, Demands

MAX_BINDINGS = 1 << 24

Size = int | Sequence[int] | npt.NDArray[Any]
"""The size of a dim: one for all bindings, or one for each."""


_GIVE = "give an int, or an array with one for each binding"


@attrs.frozen
class Bindings:
    """The sizes of all symbols that have one, at some bindings.

    Args:
        count: how many bindings there are.
        values: the sizes.
        labels: what the symbols are called.
        valid: at which bindings all facts hold.
        errors: for each fact that is broken somewhere, what is wrong at the first such binding.
    """

    count: int
    values: dict[Dimension, Number]
    labels: dict[Dimension, str]
    valid: Flags
    errors: tuple[IllegalSizeError, ...]

    def arguments(self, program: StraightLine) -> list[Number]:
        """The arguments of a program; MissingSizeError for symbols without a size."""
        missing = [self.labels[s] for s in program.symbols if s not in self.values]
        if missing:
            raise MissingSizeError(missing, _GIVE)
        return [self.values[s] for s in program.symbols]

    def at(self, binding: int) -> dict[str, int]:
        """The sizes of one binding, by name."""
        return {self.labels[s]: _taken(v, binding) for s, v in self.values.items()}


def _taken(value: Number, binding: int) -> int:
    return value if isinstance(value, int) else int(value[binding])


class Binder:
    """Knows the names that sizes may be given for, and what must hold of them."""

    def __init__(self, store: ShapeStore, inputs: Mapping[Dimension, str], others: Iterable[Dimension] = ()) -> None:
        """`inputs` are the symbols of the inputs with their labels, `others` those that may have a size as well."""
        self.store = store
        self.inputs = dict(inputs)
        self.labels = dict(inputs)
        self.needed = self._free()
        """The symbols of inputs that follow from no others."""
        for symbol in (*self.needed, *others):
            self.labels.setdefault(symbol, quote_name(symbol.name))
        self.demands = Demands(store, self.labels)

    def _free(self) -> list[Dimension]:
        found: dict[Dimension, None] = {}
        for symbol in self.inputs:
            value = self.store.solved.get(symbol, symbol)
            if isinstance(value, Dimension):
                found.update(dict.fromkeys(sorted(value.symbols(), key=str)))
        return list(found)

    def bind(self, sizes: Mapping[str, Size] | None, more: Mapping[str, Size]) -> Bindings:
        """The sizes as arguments. Raises UnknownNameError, MissingSizeError, ValueError for what are no sizes."""
        given: dict[Dimension, Number] = {}
        for name, size in [*(sizes or {}).items(), *more.items()]:
            symbol = self.symbol(name)
            if symbol in given:
                raise ValueError(f"the size of {name!r} is given twice")
            given[symbol] = _numbers(name, size)
        lengths = {len(v): self.labels[s] for s, v in given.items() if not isinstance(v, int)}
        if len(lengths) > 1:
            shown = ", ".join(f"{name} has {length}" for length, name in lengths.items())
            raise ValueError(f"all arrays of sizes must have one length, but {shown}")
        count = next(iter(lengths), 1)
        if count > MAX_BINDINGS:
            raise LimitError(f"{count} bindings at once; at most {MAX_BINDINGS} may be given")
        values = self._derived(given)
        valid = np.ones(count, dtype=bool)
        found = Bindings(count, values, self.labels, valid, ())
        errors = tuple(self._broken(found, given))
        valid.flags.writeable = False
        return attrs.evolve(found, errors=errors)

    def symbol(self, name: str) -> Dimension:
        """The symbol of a label or a name."""
        return find_symbol(self.labels, name)

    def _derived(self, given: dict[Dimension, Number]) -> dict[Dimension, Number]:
        """What is given, and the sizes that follow from it: of the representative of an equality, say."""
        values = dict(given)
        for symbol, value in self.store.solved.items():
            if symbol in given and isinstance(value, Dimension) and value.is_symbol:
                values.setdefault(value, given[symbol])
        missing = [s for s in self.needed if s not in values]
        if missing:
            raise MissingSizeError([self.labels[s] for s in missing], _GIVE)
        return values

    def _broken(self, found: Bindings, given: Mapping[Dimension, Number]) -> list[IllegalSizeError]:
        demands, program, spans = self.demands.about(found.values, given)
        if not demands:
            return []
        values = run(program, found.arguments(program), found.count)
        errors = []
        for demand, span in zip(demands, spans, strict=True):
            holds = np.zeros(found.count, dtype=bool)
            for row, clause in zip(span, demand.clauses, strict=True):
                numbers = values.matrix[row]
                ok = numbers == 0 if clause.zero else numbers >= 0
                for wrong in (values.overflow.get(row), values.undefined.get(row)):
                    if wrong is not None:
                        ok &= ~wrong
                if not clause.zero and row in values.overflow:
                    self._signs(found, program, row, values.overflow[row], ok)
                holds |= ok
            if not holds.all():
                errors.append(self._error(found, demand, int(np.argmin(holds))))
                found.valid[~holds] = False
        return errors

    @staticmethod
    def _signs(found: Bindings, program: StraightLine, row: int, where: Flags, ok: Flags) -> None:
        """An expression that does not fit 64 bits has a sign all the same."""
        arguments = found.arguments(program)
        for column in np.flatnonzero(where):
            value = run_exactly(program, [_taken(a, int(column)) for a in arguments])[row]
            ok[column] = value is not None and value >= 0

    @staticmethod
    def _error(found: Bindings, demand: Demand, binding: int) -> IllegalSizeError:
        return IllegalSizeError(demand.text, demand.source, binding, found.at(binding))


def _numbers(name: str, size: Size) -> Number:
    """An int, or an array of int64 that nobody else may change."""
    array = np.asarray(size)
    if array.dtype == object or array.dtype.kind == "u":  # ints that may pass int64, or no ints at all
        plain = array.reshape(-1).tolist()
        if any(type(v) is not int or not INT64_MIN <= v <= INT64_MAX for v in plain):
            raise ValueError(f"sizes of {name!r} must be integers of 64 bits")
    elif array.dtype.kind != "i" and array.size:
        raise ValueError(f"sizes of {name!r} must be integers, not {array.dtype}")
    if array.ndim > 1:
        raise ValueError(f"sizes of {name!r} must be one number or a list of numbers, not of {array.ndim} dimensions")
    if array.ndim == 0:
        return int(array)
    found: Ints = array.astype(np.int64)
    return found
