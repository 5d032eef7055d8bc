"""The distinct dims of all tensors, and the straight-line programs that evaluate shapes, bytes and the peak."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import attrs

from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.errors import NoSizeError, UnknownNameError
from shapeinf.expr import Dimension, DimSize
from shapeinf.expr.straight_line import Lowering, StraightLine
from shapeinf.lattice import ShapeStore, element_bits
from shapeinf.sharing import cached_property
from shapeinf.solver.elimination import Elimination


class PeakTerms(Protocol):
    """The peak of memory as a maximum of terms."""

    @property
    def sizes(self) -> Sequence[DimSize]:
        """The terms, as dims of bytes."""

    @property
    def at_least(self) -> bool:
        """Whether the peak is a lower bound, since a buffer without a bound is omitted."""


PeakSource = Callable[[], PeakTerms]
"""Computes the peak on demand."""


class DimTable:
    """The distinct dims of all tensors, and for each tensor the indices of its dims."""

    def __init__(self, store: ShapeStore, tensors: Mapping[str, TensorInfo]) -> None:
        """`unknown` has the reason for each value that has no dims here."""
        self.store = store
        self.tensors = {name: info for name, info in tensors.items() if info.kind == "tensor"}
        self.unknown = {n: f"it is of kind {i.kind}, not a tensor" for n, i in tensors.items() if i.kind != "tensor"}
        self._rows: dict[str, tuple[int, ...]] = {}
        numbers: dict[DimSize, int] = {}
        for name, info in self.tensors.items():
            dims = store.canon_shape(info.shape).dims
            if dims is None:
                self.unknown[name] = "its rank is not known"
            else:
                self._rows[name] = tuple(numbers.setdefault(store.canon(d), len(numbers)) for d in dims)
        self.dims = list(numbers)

    def rows(self, name: str) -> tuple[int, ...]:
        """The indices of the dims of a tensor. Raises UnknownNameError, NoSizeError where it has none."""
        if name not in self._rows:
            if name in self.unknown:
                raise NoSizeError(f"the shape of {name!r}", self.unknown[name])
            raise UnknownNameError("tensor", name, self.tensors)
        return self._rows[name]

    def ranked_tensors(self) -> Iterable[tuple[str, tuple[int, ...]]]:
        """All tensors of known rank, with the indices of their dims."""
        return self._rows.items()

    def symbols(self) -> list[Dimension]:
        """All symbols of the dims, in the order of the tensors."""
        symbols: dict[Dimension, None] = {}
        for d in self.dims:
            if isinstance(d, Dimension):
                symbols.update(dict.fromkeys(sorted(d.symbols() - symbols.keys(), key=str)))
        return list(symbols)


@attrs.frozen
class SizeProgram:
    """The program of elements and bytes, and for each tensor its rows; no row for a number without a value or bound."""

    program: StraightLine
    elements: Mapping[str, int]
    bytes: Mapping[str, int]
    total: int


class Lowered:
    """The straight-line programs for all calls that bind the same symbols."""

    def __init__(self, table: DimTable, bound: frozenset[Dimension], peak: PeakSource | None) -> None:
        """Lowers the dims; sizes and peak are lowered on access."""
        self.table = table
        self._peak = peak
        self._missing = [self._unbound_symbols(d, bound) for d in table.dims]
        self.elimination = Elimination(table.store, bound.__contains__)
        lowering = Lowering()
        known = zip(table.dims, self._missing, strict=True)
        self.dims = lowering.program([lowering.dim(0 if missing else d) for d, missing in known])

    @staticmethod
    def _unbound_symbols(d: DimSize, bound: frozenset[Dimension]) -> frozenset[Dimension]:
        return d.symbols() - bound if isinstance(d, Dimension) else frozenset()

    def is_exact(self, row: int) -> bool:
        """Whether a dim has no symbol that is not bound."""
        return not self._missing[row]

    def missing(self, name: str) -> list[Dimension]:
        """The symbols in the shape of a tensor that are not bound, in order; they depend on data."""
        symbols = {symbol for row in self.table.rows(name) for symbol in self._missing[row]}
        return sorted(symbols, key=str)

    @cached_property
    def sizes(self) -> SizeProgram:
        """The program of the elements and bytes of all tensors; elements only where they are exact."""
        lowering = Lowering()
        bounds = [self.elimination.upper(d) for d in self.table.dims]
        registers = [None if d is None else lowering.dim(d) for d in bounds]
        volumes: dict[tuple[int, ...], int] = {}
        outputs: dict[int, int] = {}
        elements: dict[str, int] = {}
        sizes: dict[str, int] = {}
        for name, rows in self.table.ranked_tensors():
            factors = [register for row in rows if (register := registers[row]) is not None]
            if len(factors) < len(rows):
                continue
            key = tuple(sorted(factors))
            if key not in volumes:
                volumes[key] = lowering.product(key)
            if not any(self._missing[row] for row in rows):
                elements[name] = outputs.setdefault(volumes[key], len(outputs))
            bits = element_bits(self.table.tensors[name].dtype)
            if bits is not None:
                size = byte_count(lowering, volumes[key], bits)
                sizes[name] = outputs.setdefault(size, len(outputs))
        total = self._total(lowering, sizes, list(outputs))
        return SizeProgram(lowering.program([*outputs, total]), elements, sizes, len(outputs))

    @staticmethod
    def _total(lowering: Lowering, sizes: Mapping[str, int], registers: Sequence[int]) -> int:
        counts: dict[int, int] = {}
        for row in sizes.values():
            counts[registers[row]] = counts.get(registers[row], 0) + 1
        parts = [lowering.multiply(register, lowering.constant(count)) for register, count in counts.items()]
        return lowering.sum(parts)

    @property
    def uncounted(self) -> tuple[str, ...]:
        """The values whose bytes have no bound."""
        return (*(name for name in self.table.tensors if name not in self.sizes.bytes), *self._containers())

    def _containers(self) -> list[str]:
        return [name for name in self.table.unknown if name not in self.table.tensors]

    @cached_property
    def peak(self) -> tuple[StraightLine, bool]:
        """The program of the peak, and whether that is a lower bound since buffers without a bound are omitted."""
        if self._peak is None:
            raise NoSizeError("the peak of memory", "the program has no live ranges")
        peak = self._peak()
        lowering = Lowering()
        terms = [self.elimination.upper(size) for size in peak.sizes]
        registers = [lowering.dim(term) for term in terms if term is not None]
        program = lowering.program([lowering.maximum([lowering.constant(0), *registers])])
        return program, peak.at_least or None in terms


def byte_count(lowering: Lowering, elements: int, bits: int) -> int:
    """The register of the bytes of elements of a width in bits; elements of less than a byte are packed."""
    if bits % 8 == 0:
        return lowering.multiply(elements, lowering.constant(bits // 8))
    total = lowering.multiply(elements, lowering.constant(bits))
    return lowering.floordiv(lowering.add(total, lowering.constant(7)), lowering.constant(8))
