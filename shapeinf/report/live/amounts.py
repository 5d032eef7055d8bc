"""All sizes of a page as outputs of one straight-line program."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from shapeinf.codegen.shape_module import Amount
from shapeinf.expr import Dimension, DimSize, maximum
from shapeinf.expr.straight_line import Lowering, StraightLine
from shapeinf.lattice import ShapeStore
from shapeinf.program.lower import byte_count
from shapeinf.solver.elimination import Elimination
from shapeinf.solver.long_dims import canonical_form

Combination = Callable[[Iterable[int]], int]


class AmountTable:
    """Collects amounts; a page refers to them by number.

    >>> from shapeinf.errors import Source
    >>> store = ShapeStore()
    >>> n, k = store.scope.symbol("n"), store.scope.fresh("k")
    >>> store.add_le(k, n, Source("", "k is at most n"))
    >>> table = AmountTable(store, [n])
    >>> area, count = table.product([table.dim(n), table.dim(4)]), table.dim(2 * k)
    >>> table.number(area), table.number(count), table.number(area)
    (0, 1, 0)
    >>> print(table.program())
    r0 = n
    r1 = 4
    r2 = r0 * r1
    r3 = k
    r4 = 2
    r5 = r3 * r4
    r6 = r0 * r4
    -> r2, r5, r6
    >>> table.entries
    [(0, 0), (1, 2)]
    """

    def __init__(self, store: ShapeStore, bindable: Collection[Dimension]) -> None:
        """Bounds are in the `bindable` symbols."""
        self.store = store
        self.entries: list[tuple[int, int]] = []
        """The outputs with the formula and with the bound of each number; -1 for none."""
        self._lowering = Lowering()
        self._elimination = Elimination(store, frozenset(bindable).__contains__)
        self._dims: dict[DimSize, Amount] = {}
        self._numbers: dict[Amount, int] = {}
        self._outputs: dict[int, int] = {}

    def dim(self, d: DimSize) -> Amount:
        """The amount of a dim."""
        amount = self._dims.get(d)
        if amount is None:
            form = canonical_form(self.store, d)
            exact = self._lowering.dim(form)
            upper = exact if self._elimination.is_retained(form) else self._upper_bound(form)
            amount = self._dims[d] = Amount(exact, upper)
        return amount

    def dim_or_lower_bound(self, d: DimSize) -> tuple[Amount, bool]:
        """The amount of a dim, counted as its lower bound where it has no upper bound; whether it has none."""
        amount = self.dim(d)
        if amount.upper is not None:
            return amount, False
        lower = self._elimination.lower(canonical_form(self.store, d))
        return self.with_bound(d, maximum(lower or 0, 0)), True

    def with_bound(self, formula: DimSize | None, counted: DimSize) -> Amount:
        """The amount of a formula, and of the one that is counted instead where a size in it is not set."""
        exact = None if formula is None else self._lowering.dim(canonical_form(self.store, formula))
        return Amount(exact, self._lowering.dim(canonical_form(self.store, counted)))

    def product(self, factors: Iterable[Amount]) -> Amount:
        """The product; unknown where a factor is."""
        parts = list(factors)
        return self._combine(parts, self._lowering.product)

    def sum(self, terms: Iterable[Amount]) -> Amount:
        """The sum; unknown where a term is."""
        return self._combine(list(terms), self._lowering.sum)

    def bytes(self, elements: Amount, bits: int) -> Amount:
        """The bytes of packed elements of this width."""
        return Amount(
            *(r if r is None else byte_count(self._lowering, r, bits) for r in (elements.exact, elements.upper))
        )

    def expression(self, d: DimSize) -> int:
        """The output with the value of a dim as written: its canonical form is right for legal sizes only."""
        return self._output(self._lowering.dim(d))

    def number(self, amount: Amount) -> int:
        """The number of an amount in `entries`."""
        number = self._numbers.get(amount)
        if number is None:
            number = self._numbers[amount] = len(self.entries)
            registers = (amount.exact, amount.upper)
            exact, upper = (-1 if register is None else self._output(register) for register in registers)
            self.entries.append((exact, upper))
        return number

    def program(self) -> StraightLine:
        """The program of all numbered amounts and expressions."""
        return self._lowering.program(list(self._outputs))

    def _output(self, register: int) -> int:
        return self._outputs.setdefault(register, len(self._outputs))

    def _upper_bound(self, form: DimSize) -> int | None:
        bound = self._elimination.upper(form)
        return None if bound is None else self._lowering.dim(bound)

    @staticmethod
    def _combine(parts: Sequence[Amount], operation: Combination) -> Amount:
        exact = [part.exact for part in parts]
        upper = [part.upper for part in parts]
        return Amount(
            None if None in exact else operation([r for r in exact if r is not None]),
            None if None in upper else operation([r for r in upper if r is not None]),
        )
