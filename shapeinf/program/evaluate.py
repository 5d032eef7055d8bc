"""All shapes of a model at many bindings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import RLock

import numpy as np

from shapeinf.errors import IllegalSizeError, NoSizeError, SizeOverflowError, at_binding
from shapeinf.expr.many_bindings import Flags, Ints, Values, run
from shapeinf.expr.straight_line import StraightLine
from shapeinf.program.bindings import Bindings
from shapeinf.program.lower import Lowered
from shapeinf.sharing import synchronized


@synchronized
class EvaluatedShapes:
    """What one call of a `ShapeProgram` gives: arrays with one row a binding.

    The dims are evaluated by the call; an array is put together of them when it is asked for, without arithmetic. It is
    read-only, and tensors of the same shape share it. Of a masked call, arrays are numpy's masked arrays: what has no
    number is masked.
    """

    def __init__(self, lowered: Lowered, bindings: Bindings, masked: bool) -> None:
        """Evaluates all distinct dims; `ShapeProgram` calls this."""
        self._lowered = lowered
        self._bindings = bindings
        self._masked = masked
        self._dims = self._run(lowered.dims)
        self._sizes_found: Values | None = None
        self._shapes: dict[tuple[int, ...], Ints] = {}

    @property
    def lock(self) -> RLock:
        """The lock that all questions take: see `Result.lock`."""
        return self._lowered.table.store.scope.lock

    @property
    def bindings(self) -> int:
        """How many bindings there are."""
        return self._bindings.count

    @property
    def valid(self) -> Flags:
        """At which bindings all facts hold."""
        return self._bindings.valid

    @property
    def problems(self) -> tuple[IllegalSizeError, ...]:
        """For each fact that is broken somewhere, what is wrong at the first such binding."""
        return self._bindings.errors

    def __iter__(self) -> Iterator[str]:
        """The names of the tensors that have a shape here."""
        return iter([name for name, _ in self._lowered.table.ranked() if not self._lowered.missing(name)])

    def __getitem__(self, name: str) -> Ints:
        """The shape of a tensor: one row a binding, one column an axis.

        Raises UnknownNameError, NoSizeError where it depends on data or divides by zero, SizeOverflowError.
        """
        rows = self._lowered.table.rows(name)
        found = self._shapes.get(rows)
        if found is None:
            what = f"the shape of {name!r}"
            self._require(name, what)
            found = self._checked(self._dims, rows, what, self._dims.matrix[list(rows)].T)
            self._shapes[rows] = found
        return found

    def elements(self, name: str) -> Ints:
        """How many elements a tensor has; raises as for a shape."""
        what = f"the number of elements of {name!r}"
        self._require(name, what)
        return self._row(self._sizes, self._lowered.sizes.elements[name], what)

    def bytes(self, name: str) -> Ints:
        """How many bytes a tensor has; raises as for a shape. Elements of less than a byte are packed.

        Where the shape depends on data, it is the largest that the facts allow; NoSizeError where there is none.
        """
        what = f"the bytes of {name!r}"
        self._lowered.table.rows(name)
        row = self._lowered.sizes.bytes.get(name)
        if row is None:
            self._require(name, what)
            raise NoSizeError(what, "its elements have no fixed size")
        return self._row(self._sizes, row, what)

    @property
    def total_bytes(self) -> Ints:
        """The bytes of all tensors together: inputs, constants and what nodes make, but for those in `uncounted`."""
        return self._row(self._sizes, self._lowered.sizes.total, "the bytes of all tensors")

    @property
    def uncounted(self) -> tuple[str, ...]:
        """The values whose bytes have no bound: with any of them, `total_bytes` is a lower bound."""
        return self._lowered.uncounted

    @property
    def peak(self) -> Ints:
        """The most bytes in use at one moment, as `result.memory().peak` says: of what nodes make."""
        return self._row(self._run(self._lowered.peak[0]), 0, "the peak of memory")

    @property
    def peak_at_least(self) -> bool:
        """Whether something of unknown size comes on top of the peak."""
        return self._lowered.peak[1]

    @property
    def _sizes(self) -> Values:
        if self._sizes_found is None:
            self._sizes_found = self._run(self._lowered.sizes.program)
        return self._sizes_found

    def _run(self, program: StraightLine) -> Values:
        return run(program, self._bindings.arguments(program), self._bindings.count)

    def _require(self, name: str, what: str) -> None:
        missing = self._lowered.missing(name)
        if missing:
            labels, store = self._bindings.labels, self._lowered.table.store
            shown = ", ".join(f"{labels[s]} (which lies in {store.interval(s)})" for s in missing)
            raise NoSizeError(what, f"it depends on data; it has one when you give a size for {shown}")

    def _row(self, values: Values, row: int, what: str) -> Ints:
        return self._checked(values, (row,), what, values.matrix[row])

    def _checked(self, values: Values, rows: Sequence[int], what: str, found: Ints) -> Ints:
        """The array, when all of it are numbers; else masked, or an error."""
        found.flags.writeable = False
        overflow, undefined = _any(values.overflow, rows), _any(values.undefined, rows)
        if self._masked:
            bad = ~self._bindings.valid
            for flags in (overflow, undefined):
                bad = bad if flags is None else bad | flags
            mask = np.broadcast_to(bad[:, None] if found.ndim == 2 else bad, found.shape)
            return np.ma.MaskedArray(found, mask)
        if undefined is not None:
            binding = int(np.argmax(undefined))
            raise NoSizeError(what, f"it divides by zero at {at_binding(binding, self._bindings.at(binding))}")
        if overflow is not None:
            binding = int(np.argmax(overflow))
            raise SizeOverflowError(what, binding, self._bindings.at(binding))
        return found


def _any(table: dict[int, Flags], rows: Sequence[int]) -> Flags | None:
    found = [table[row] for row in rows if row in table]
    return np.logical_or.reduce(found) if found else None
