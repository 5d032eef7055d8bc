"""`EvaluatedShapes`: the shapes of a model at many bindings, the result of a call of a `ShapeProgram`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import RLock

import numpy as np

from shapeinf.errors import IllegalSizeError, NoSizeError, SizeOverflowError
from shapeinf.expr.many_bindings import Flags, Ints, Values, run
from shapeinf.expr.straight_line import StraightLine
from shapeinf.program.bindings import Bindings
from shapeinf.program.lower import Lowered
from shapeinf.sharing import synchronized
from shapeinf.texts import format_binding, format_count


@synchronized
class EvaluatedShapes:
    """The result of a call of a `ShapeProgram`: arrays with one row for each binding.

    The call evaluates all distinct dims; the array of a tensor is assembled from them on access. It is read-only, and
    tensors of the same shape share it. A masked call returns masked arrays of numpy, which mask invalid numbers.
    """

    def __init__(self, lowered: Lowered, bindings: Bindings, masked: bool) -> None:
        """Evaluates all distinct dims; `ShapeProgram` creates these."""
        self._lowered = lowered
        self._bindings = bindings
        self._masked = masked
        self._dims = self._run(lowered.dims)
        self._evaluated_sizes: Values | None = None
        self._shapes: dict[tuple[int, ...], Ints] = {}

    @property
    def _lock(self) -> RLock:
        return self._lowered.table.store.scope.lock

    @property
    def bindings(self) -> int:
        """The number of bindings."""
        return self._bindings.count

    @property
    def valid(self) -> Flags:
        """For each binding, whether all constraints hold."""
        return self._bindings.valid

    @property
    def problems(self) -> tuple[IllegalSizeError, ...]:
        """For each violated constraint, the error of the first binding that violates it."""
        return self._bindings.errors

    def __repr__(self) -> str:
        """The numbers of tensors and bindings."""
        tensors = format_count(len(list(self)), "tensor")
        return f"<EvaluatedShapes of {tensors} at {format_count(self.bindings, 'binding')}>"

    def __iter__(self) -> Iterator[str]:
        """The names of the tensors whose shape does not depend on sizes without a binding."""
        return iter([name for name, _ in self._lowered.table.ranked_tensors() if not self._lowered.missing(name)])

    def __getitem__(self, name: str) -> Ints:
        """The shape of a tensor: one row for each binding, one column for each axis.

        Raises UnknownNameError; NoSizeError where the shape depends on data or divides by zero; SizeOverflowError.
        """
        rows = self._lowered.table.rows(name)
        shape = self._shapes.get(rows)
        if shape is None:
            quantity = f"the shape of {name!r}"
            self._require(name, quantity)
            shape = self._check(self._dims, rows, quantity, self._dims.matrix[list(rows)].T)
            self._shapes[rows] = shape
        return shape

    def elements(self, name: str) -> Ints:
        """The number of elements of a tensor; raises as for a shape."""
        quantity = f"the number of elements of {name!r}"
        self._require(name, quantity)
        return self._row(self._sizes, self._lowered.sizes.elements[name], quantity)

    def bytes(self, name: str) -> Ints:
        """The bytes of a tensor without padding; raises as for a shape. Elements of less than a byte are packed.

        Where the shape depends on data, they are the upper bound. Raises NoSizeError where it has none.
        """
        quantity = f"the bytes of {name!r}"
        self._lowered.table.rows(name)
        row = self._lowered.sizes.bytes.get(name)
        if row is None:
            self._require(name, quantity)
            raise NoSizeError(quantity, "its elements have no fixed size")
        return self._row(self._sizes, row, quantity)

    @property
    def total_bytes(self) -> Ints:
        """The bytes of all inputs, constants and computed values, except those in `uncounted`."""
        return self._row(self._sizes, self._lowered.sizes.total, "the bytes of all tensors")

    @property
    def uncounted(self) -> tuple[str, ...]:
        """The values whose bytes have no bound; if there are any, `total_bytes` is a lower bound."""
        return self._lowered.uncounted

    @property
    def peak(self) -> Ints:
        """The most bytes of computed values in use at one program point, as in `result.memory().peak`."""
        return self._row(self._run(self._lowered.peak[0]), 0, "the peak of memory")

    @property
    def peak_at_least(self) -> bool:
        """Whether `peak` is a lower bound, since buffers of unknown size are omitted."""
        return self._lowered.peak[1]

    @property
    def _sizes(self) -> Values:
        if self._evaluated_sizes is None:
            self._evaluated_sizes = self._run(self._lowered.sizes.program)
        return self._evaluated_sizes

    def _run(self, program: StraightLine) -> Values:
        return run(program, self._bindings.arguments(program), self._bindings.count)

    def _require(self, name: str, quantity: str) -> None:
        missing = self._lowered.missing(name)
        if missing:
            labels, store = self._bindings.labels, self._lowered.table.store
            listed = ", ".join(f"{labels[s]} (which lies in {store.interval(s)})" for s in missing)
            raise NoSizeError(quantity, f"it depends on data; specify a size for {listed}")

    def _row(self, values: Values, row: int, quantity: str) -> Ints:
        return self._check(values, (row,), quantity, values.matrix[row])

    def _check(self, values: Values, rows: Sequence[int], quantity: str, array: Ints) -> Ints:
        """The array, read-only; with invalid numbers masked in a masked call, else it raises for them."""
        array.flags.writeable = False
        overflow, undefined = _any(values.overflow, rows), _any(values.undefined, rows)
        if self._masked:
            bad = ~self._bindings.valid
            for flags in (overflow, undefined):
                bad = bad if flags is None else bad | flags
            mask = np.broadcast_to(bad[:, None] if array.ndim == 2 else bad, array.shape)
            return np.ma.MaskedArray(array, mask)
        if undefined is not None:
            binding = int(np.argmax(undefined))
            at = format_binding(binding, self._bindings.sizes_at(binding), self._bindings.count)
            raise NoSizeError(quantity, f"it divides by zero at {at}")
        if overflow is not None:
            binding = int(np.argmax(overflow))
            raise SizeOverflowError(quantity, binding, self._bindings.sizes_at(binding), self._bindings.count)
        return array


def _any(table: dict[int, Flags], rows: Sequence[int]) -> Flags | None:
    flags = [table[row] for row in rows if row in table]
    return np.logical_or.reduce(flags) if flags else None
