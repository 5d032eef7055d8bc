"""`ShapeProgram`: all shapes of a model as a function of sizes, compiled once and called with many bindings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import RLock
from typing import NoReturn

import numpy as np

from shapeinf.engine.cases import Ranges
from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.expr import Dimension, Interval
from shapeinf.html import html_block, html_rows
from shapeinf.lattice import ShapeStore
from shapeinf.pickling import refuse_pickle
from shapeinf.program.bindings import Binder, Bindings, Size
from shapeinf.program.evaluate import EvaluatedShapes
from shapeinf.program.lower import DimTable, Lowered, PeakSource
from shapeinf.sharing import synchronized
from shapeinf.texts import format_count, object_text


@synchronized
class ShapeProgram:
    """All shapes of a model, as a function of arrays of sizes.

    >>> from shapeinf import infer_shapes
    >>> program = infer_shapes("examples/convnet.onnx").program()
    >>> shapes = program(batch=[1, 8], height=64, width=[64, 128])
    >>> shapes["image"].tolist()
    [[1, 3, 64, 64], [8, 3, 64, 128]]
    """

    def __init__(
        self,
        store: ShapeStore,
        tensors: Mapping[str, TensorInfo],
        inputs: Mapping[Dimension, str],
        peak: PeakSource | None = None,
        program_for: Callable[[Ranges], ShapeProgram | None] | None = None,
    ) -> None:
        """`inputs` are the symbols of the inputs with their labels, `peak` computes the peak.

        `program_for` returns the program of another inference for ranges of symbols for which this one does not hold.
        """
        self._find_program = program_for
        self._table = DimTable(store, tensors)
        self._peak = peak
        symbols = self._table.symbols()
        self._binder = Binder(store, inputs, symbols)
        needed = set(self._binder.needed)
        self._hidden = [s for s in symbols if s not in needed]
        self._lowered: dict[frozenset[Dimension], Lowered] = {}
        self._binder.requirements.add_sizes(
            (self._table.dims[row], name) for name, rows in self._table.ranked_tensors() for row in rows
        )

    @property
    def _lock(self) -> RLock:
        return self._table.store.scope.lock

    def __repr__(self) -> str:
        """The dims that a call needs, with their bounds."""
        return object_text(f"ShapeProgram of {format_count(len(self.tensors), 'tensor')}", map(" ".join, self._rows()))

    def _repr_html_(self) -> str:
        """A table of the dims."""
        with self._lock:
            title = f"ShapeProgram of {format_count(len(self.tensors), 'tensor')}"
            return html_block(title, html_rows(["dim", "range", ""], self._rows()))

    def _rows(self) -> list[tuple[str, str, str]]:
        needed = set(self.needed)
        inputs = [(name, str(i), "needed" if name in needed else "follows") for name, i in self.inputs.items()]
        return [*inputs, *((name, str(i), "depends on data") for name, i in self.data_dependent.items())]

    def __reduce__(self) -> NoReturn:
        """Raises UnpicklableError."""
        refuse_pickle(self, "pickle the arrays that it returns, or infer the model in the other process")

    def __copy__(self) -> ShapeProgram:
        """Itself: calls do not change it."""
        return self

    def __deepcopy__(self, memo: object) -> ShapeProgram:
        """Itself."""
        return self

    @property
    def tensors(self) -> tuple[str, ...]:
        """The tensors of known rank."""
        return tuple(name for name, _ in self._table.ranked_tensors())

    @property
    def distinct_dims(self) -> int:
        """The number of distinct dims of all shapes, each of which a call evaluates once."""
        return len(self._table.dims)

    @property
    def unknown(self) -> dict[str, str]:
        """The values without a shape, each with the reason."""
        return dict(self._table.unknown)

    @property
    def inputs(self) -> dict[str, Interval]:
        """The dims of the inputs by label, with their bounds; these may be bound."""
        return {label: self._table.store.interval(symbol) for symbol, label in self._binder.inputs.items()}

    @property
    def needed(self) -> tuple[str, ...]:
        """The dims that must be bound: the independent dims of the inputs."""
        return tuple(self._binder.labels[symbol] for symbol in self._binder.needed)

    @property
    def data_dependent(self) -> dict[str, Interval]:
        """The sizes that depend on data, with their bounds; these may be bound too."""
        return {self._binder.labels[symbol]: self._table.store.interval(symbol) for symbol in self._hidden}

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The conditions that no call checks: those in words only, and those on sizes that depend on data."""
        return tuple(self._binder.requirements.unchecked(self._binder.needed))

    def __call__(self, sizes: Mapping[str, Size] | None = None, /, **more: Size) -> EvaluatedShapes:
        """All shapes at some bindings: a size is an int, or one int for each binding.

        Names that are not identifiers go into the mapping. Raises UnknownNameError and MissingSizeError for names,
        IllegalSizeError for sizes that violate a constraint, ValueError for invalid sizes.
        """
        bindings = self._binder.bind(sizes, more)
        program = self._program_for(bindings)
        if program is not None:
            return program(sizes, **more)
        if bindings.errors:
            raise min(bindings.errors, key=lambda error: error.binding)
        return EvaluatedShapes(self._programs(bindings), bindings, masked=False)

    def masked(self, sizes: Mapping[str, Size] | None = None, /, **more: Size) -> EvaluatedShapes:
        """As a call, but bindings that violate constraints, divide by zero or overflow are masked and raise nothing."""
        bindings = self._binder.bind(sizes, more)
        program = self._program_for(bindings)
        if program is not None:
            return program.masked(sizes, **more)
        return EvaluatedShapes(self._programs(bindings), bindings, masked=True)

    def _program_for(self, bindings: Bindings) -> ShapeProgram | None:
        """The program to call where some sizes violate an assumption; a size below the least one is an error."""
        if not bindings.errors or self._find_program is None:
            return None
        least = {s: s.symbol.lo or 0 for s in bindings.values}
        values = bindings.values.items()
        ranges = {s: (max(int(np.min(v)), least[s]), int(np.max(v))) for s, v in values if np.size(v)}
        return self._find_program(ranges)

    def _programs(self, bindings: Bindings) -> Lowered:
        bound = frozenset(bindings.values)
        if bound not in self._lowered:
            self._lowered[bound] = Lowered(self._table, bound, self._peak)
        return self._lowered[bound]
