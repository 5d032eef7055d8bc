"""`Binder`: the sizes of a call as arguments of a straight-line program, and the constraints that they violate.

A *binding* has a size for each dim; a call has one or more, as arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from shapeinf.constraints.records import Clause
from shapeinf.engine.input_symbols import find_symbol
from shapeinf.errors import BindingError, IllegalSizeError, LimitError, MissingSizeError
from shapeinf.expr import Dimension, quote_name
from shapeinf.expr.exact_runs import INT64_MAX, INT64_MIN, run_exactly
from shapeinf.expr.straight_line import StraightLine
from shapeinf.lattice import ShapeStore
from shapeinf.program.requirements import Requirement, Requirements

if TYPE_CHECKING:
    import numpy.typing as npt

    from shapeinf.expr.many_bindings import Flags, Ints, Number

MAX_BINDINGS = 1 << 24

Size: TypeAlias = "int | Sequence[int] | npt.NDArray[Any]"
"""The size of a dim: an int for all bindings, or an array with one size for each binding."""

_MISSING_HINT = "specify an int, or an array with one size for each binding"


@attrs.frozen
class Bindings:
    """The sizes of all bound symbols at one or more bindings.

    Args:
        count: the number of bindings.
        values: the sizes by symbol.
        labels: the labels of the symbols.
        valid: for each binding, whether all constraints hold.
        errors: for each violated constraint, the error of the first binding that violates it.
    """

    count: int
    values: dict[Dimension, Number]
    labels: dict[Dimension, str]
    valid: Flags
    errors: tuple[IllegalSizeError, ...]

    def arguments(self, program: StraightLine) -> list[Number]:
        """The arguments of a program. Raises MissingSizeError for a symbol without a size."""
        missing = [self.labels[s] for s in program.symbols if s not in self.values]
        if missing:
            raise MissingSizeError(missing, _MISSING_HINT)
        return [self.values[s] for s in program.symbols]

    def sizes_at(self, binding: int) -> dict[str, int]:
        """The sizes of one binding, by label."""
        return {self.labels[s]: _size_at(v, binding) for s, v in self.values.items()}


def _size_at(value: Number, binding: int) -> int:
    return value if isinstance(value, int) else int(value[binding])


class Binder:
    """Binds sizes to the dims of a model by name, and checks the constraints on them."""

    def __init__(self, store: ShapeStore, inputs: Mapping[Dimension, str], others: Iterable[Dimension] = ()) -> None:
        """`inputs` are the symbols of the inputs with their labels, `others` are further symbols that may be bound."""
        self.store = store
        self.inputs = dict(inputs)
        self.labels = dict(inputs)
        self.needed = self._independent()
        """The independent symbols of the inputs, which must be bound."""
        for symbol in (*self.needed, *others):
            self.labels.setdefault(symbol, quote_name(symbol.name))
        self.requirements = Requirements(store, self.labels)

    def _independent(self) -> list[Dimension]:
        symbols: dict[Dimension, None] = {}
        for symbol in self.inputs:
            value = self.store.solved.get(symbol, symbol)
            if isinstance(value, Dimension):
                symbols.update(dict.fromkeys(sorted(value.symbols(), key=str)))
        return list(symbols)

    def bind(self, sizes: Mapping[str, Size] | None, more: Mapping[str, Size]) -> Bindings:
        """The bindings of a call. Raises UnknownNameError, MissingSizeError, and BindingError for invalid sizes."""
        sizes_of = self._by_symbol([*(sizes or {}).items(), *more.items()])
        lengths = {len(v): self.labels[s] for s, v in sizes_of.items() if not isinstance(v, int)}
        if len(lengths) > 1:
            listed = ", ".join(f"{name} has {length}" for length, name in lengths.items())
            raise BindingError(f"all arrays of sizes must have one length, but {listed}")
        count = next(iter(lengths), 1)
        if count > MAX_BINDINGS:
            raise LimitError(f"{count} bindings at once; the limit is {MAX_BINDINGS}")
        import numpy as np  # a binder without bindings does not need numpy, which takes long to import

        valid = np.ones(count, dtype=bool)
        bindings = Bindings(count, self._derive(sizes_of), self.labels, valid, ())
        errors = tuple(self._violations(bindings, sizes_of))
        valid.flags.writeable = False
        return attrs.evolve(bindings, errors=errors)

    def violations(self, sizes: Mapping[str, int]) -> list[IllegalSizeError]:
        """The errors of all constraints that one size for each dim violates, as `bind` has them, without arrays.

        Raises as `bind`.
        """
        sizes_of = self._by_symbol(sizes.items())
        values = self._derive(sizes_of)
        numbers = {symbol: value for symbol, value in values.items() if isinstance(value, int)}
        requirements, program, spans = self.requirements.compile(values, sizes_of)
        results = run_exactly(program, [numbers[symbol] for symbol in program.symbols])
        by_label = {self.labels[symbol]: size for symbol, size in numbers.items()}
        return [
            IllegalSizeError(requirement.text, requirement.source, 0, by_label, 1)
            for requirement, span in zip(requirements, spans, strict=True)
            if not any(map(_holds, requirement.clauses, [results[row] for row in span]))
        ]

    def _by_symbol(self, sizes: Iterable[tuple[str, Size]]) -> dict[Dimension, Number]:
        """The sizes by symbol. Raises UnknownNameError, and BindingError for invalid sizes."""
        sizes_of: dict[Dimension, Number] = {}
        for name, size in sizes:
            symbol = self.symbol(name)
            if symbol in sizes_of:
                raise BindingError(f"the size of {name!r} is specified twice")
            sizes_of[symbol] = _numbers(name, size)
        return sizes_of

    def symbol(self, name: str) -> Dimension:
        """The symbol of a label or name. Raises UnknownNameError."""
        return find_symbol(self.labels, name)

    def _derive(self, sizes_of: dict[Dimension, Number]) -> dict[Dimension, Number]:
        """The bound sizes, and those of symbols that equal them. Raises MissingSizeError."""
        values = dict(sizes_of)
        for symbol, value in self.store.solved.items():
            if symbol in sizes_of and isinstance(value, Dimension) and value.is_symbol:
                values.setdefault(value, sizes_of[symbol])
        missing = [s for s in self.needed if s not in values]
        if missing:
            raise MissingSizeError([self.labels[s] for s in missing], _MISSING_HINT)
        return values

    def _violations(self, bindings: Bindings, sizes_of: Mapping[Dimension, Number]) -> list[IllegalSizeError]:
        requirements, program, spans = self.requirements.compile(bindings.values, sizes_of)
        if not requirements:
            return []
        import numpy as np

        from shapeinf.expr.many_bindings import run

        values = run(program, bindings.arguments(program), bindings.count)
        errors = []
        for requirement, span in zip(requirements, spans, strict=True):
            holds = np.zeros(bindings.count, dtype=bool)
            for row, clause in zip(span, requirement.clauses, strict=True):
                numbers = values.matrix[row]
                ok = numbers == 0 if clause.zero else numbers >= 0
                for failed in (values.overflow.get(row), values.undefined.get(row)):
                    if failed is not None:
                        ok &= ~failed
                if not clause.zero and row in values.overflow:
                    self._add_signs(bindings, program, row, values.overflow[row], ok)
                holds |= ok
            if not holds.all():
                errors.append(self._error(bindings, requirement, int(np.argmin(holds))))
                bindings.valid[~holds] = False
        return errors

    @staticmethod
    def _add_signs(bindings: Bindings, program: StraightLine, row: int, where: Flags, ok: Flags) -> None:
        """Compute the signs of an expression exactly where it does not fit 64 bits."""
        import numpy as np

        arguments = bindings.arguments(program)
        for column in np.flatnonzero(where):
            value = run_exactly(program, [_size_at(a, int(column)) for a in arguments])[row]
            ok[column] = value is not None and value >= 0

    @staticmethod
    def _error(bindings: Bindings, requirement: Requirement, binding: int) -> IllegalSizeError:
        sizes = bindings.sizes_at(binding)
        return IllegalSizeError(requirement.text, requirement.source, binding, sizes, bindings.count)


def _holds(clause: Clause, value: int | None) -> bool:
    """Whether a clause holds where its expression has this value; None: it divides by zero."""
    return value is not None and (value == 0 if clause.zero else value >= 0)


def _numbers(name: str, size: Size) -> Number:
    """The size as an int, or as a new array of int64. Raises BindingError for anything else."""
    if type(size) is int and INT64_MIN <= size <= INT64_MAX:
        return size
    import numpy as np

    array = np.asarray(size)
    if array.dtype == object or array.dtype.kind == "u":  # ints past int64, or other objects
        plain = array.reshape(-1).tolist()
        if any(type(v) is not int or not INT64_MIN <= v <= INT64_MAX for v in plain):
            raise BindingError(f"sizes of {name!r} must be integers of 64 bits")
    elif array.dtype.kind != "i" and array.size:
        raise BindingError(f"sizes of {name!r} must be integers, not {array.dtype}")
    if array.ndim > 1:
        raise BindingError(f"sizes of {name!r} must be one number or a list of numbers, not of {array.ndim} dimensions")
    if array.ndim == 0:
        return int(array)
    numbers: Ints = array.astype(np.int64)
    return numbers
