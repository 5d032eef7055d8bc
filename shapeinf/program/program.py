"""The program of a result: made once, called with many bindings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import RLock

import numpy as np

from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.expr import Dimension, Interval
from shapeinf.lattice import ShapeStore
from shapeinf.program.bindings import Binder, Bindings, Size
from shapeinf.program.evaluate import EvaluatedShapes
from shapeinf.program.lower import Lowered, PeakMaker, Table
from shapeinf.sharing import synchronized


@synchronized
class ShapeProgram:
    """All shapes of a model, as a function of arrays of sizes.

    >>> from shapeinf import infer_shapes
    >>> program = infer_shapes("examples/convnet.onnx").program()
    >>> found = program(batch=[1, 8], height=64, width=[64, 128])
    >>> found["image"].tolist()
    [[1, 3, 64, 64], [8, 3, 64, 128]]
    """

    def __init__(
        self,
        store: ShapeStore,
        tensors: Mapping[str, TensorInfo],
        inputs: Mapping[Dimension, str],
        peak: PeakMaker | None = None,
        unassuming: Callable[[], ShapeProgram | None] | None = None,
    ) -> None:
        """`inputs` are the symbols of the inputs with their labels, `peak` finds the peak.

        `unassuming` makes the program of the same model that holds where what nodes assume of sizes does not.
        """
        self._unassuming = unassuming if store.assumed else None
        self._other: ShapeProgram | None = None
        self._table = Table(store, tensors)
        self._peak = peak
        symbols = self._table.symbols()
        self._binder = Binder(store, inputs, symbols)
        needed = set(self._binder.needed)
        self._hidden = [s for s in symbols if s not in needed]
        self._lowered: dict[frozenset[Dimension], Lowered] = {}
        self._binder.demands.add_sizes(
            (self._table.dims[row], name) for name, rows in self._table.ranked() for row in rows
        )

    @property
    def lock(self) -> RLock:
        """The lock that all questions take: see `Result.lock`."""
        return self._table.store.scope.lock

    @property
    def tensors(self) -> tuple[str, ...]:
        """The tensors of which the rank is known."""
        return tuple(name for name, _ in self._table.ranked())

    @property
    def distinct_dims(self) -> int:
        """How many different dims all shapes are made of: so many rows a call evaluates."""
        return len(self._table.dims)

    @property
    def unknown(self) -> dict[str, str]:
        """The values that have no shape here, and why."""
        return dict(self._table.unknown)

    @property
    def inputs(self) -> dict[str, Interval]:
        """The dims of the inputs by label, with their bounds: these may be given."""
        return {label: self._table.store.interval(symbol) for symbol, label in self._binder.inputs.items()}

    @property
    def needed(self) -> tuple[str, ...]:
        """The dims that must be given: those of the inputs that do not follow from others."""
        return tuple(self._binder.labels[symbol] for symbol in self._binder.needed)

    @property
    def data_dependent(self) -> dict[str, Interval]:
        """The sizes that depend on data, with their bounds: these may be given too."""
        return {self._binder.labels[symbol]: self._table.store.interval(symbol) for symbol in self._hidden}

    @property
    def unchecked(self) -> tuple[str, ...]:
        """Conditions that no call looks at: they are words only, or about sizes that depend on data."""
        return tuple(self._binder.demands.unchecked(self._binder.needed))

    def __call__(self, sizes: Mapping[str, Size] | None = None, /, **more: Size) -> EvaluatedShapes:
        """All shapes at some bindings: a size is an int, or one int for each binding.

        Names that are no identifiers go into the mapping. Raises UnknownNameError and MissingSizeError for names,
        IllegalSizeError for sizes that break a fact, ValueError for what are no sizes.
        """
        bindings = self._binder.bind(sizes, more)
        other = self._unassuming_for(bindings)
        if other is not None:
            return other(sizes, **more)
        if bindings.errors:
            raise min(bindings.errors, key=lambda error: error.binding)
        return EvaluatedShapes(self._programs(bindings), bindings, masked=False)

    def masked(self, sizes: Mapping[str, Size] | None = None, /, **more: Size) -> EvaluatedShapes:
        """As a call, but bindings that break facts, divide by zero or overflow raise nothing: they are masked."""
        bindings = self._binder.bind(sizes, more)
        other = self._unassuming_for(bindings)
        if other is not None:
            return other.masked(sizes, **more)
        return EvaluatedShapes(self._programs(bindings), bindings, masked=True)

    def _unassuming_for(self, bindings: Bindings) -> ShapeProgram | None:
        """The program to ask where some sizes break what nodes assume."""
        if not bindings.errors or self._unassuming is None:
            return None
        ranges = {s.name: (int(np.min(v)), int(np.max(v))) for s, v in bindings.values.items() if np.size(v)}
        if not self._table.store.breaks_assumption(ranges):
            return None
        self._other = self._other or self._unassuming()
        return self._other

    def _programs(self, bindings: Bindings) -> Lowered:
        given = frozenset(bindings.values)
        if given not in self._lowered:
            self._lowered[given] = Lowered(self._table, given, self._peak)
        return self._lowered[given]
