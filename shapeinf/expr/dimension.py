"""Dimensions: interned canonical integer polynomials over symbols and floor, max atoms.

A dimension is an `int` or a `Dimension`. A `Dimension` is a polynomial with integer coefficients, stored as a sorted
tuple of (monomial, coefficient); a monomial is a sorted tuple of atom numbers. Two equal polynomials of one `Scope` are
one object, so equality is identity and hashing costs one pointer. Everything that can be rewritten is rewritten when a
dimension is made: `p % q` is `p - q*(p//q)`, `ceildiv(p, q)` is `(p + q - 1)//q`, `min(S)` is `-max(-S)`.

>>> scope = Scope()
>>> x, y = scope.symbol("x"), scope.symbol("y")
>>> (x + y) * 2 is 2 * y + x + x
True
>>> x - x
0
"""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, Union

from shapeinf.expr.atoms import Atom, Floor, Maximum, Symbol
from shapeinf.expr.caps import cap_passed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Monomial = tuple[int, ...]
Terms = tuple[tuple[Monomial, int], ...]

MAX_TERMS = 64
MAX_DEGREE = 8
MAX_DEPTH = 24
MAX_COEFFICIENT = 1 << 128


_NOTHING: dict[Dim, Dim] = {}
"""The empty table of every dimension that has no results yet; never written to."""


class Dimension:
    """An immutable symbolic integer, made by a `Scope` and by arithmetic; never a constant (those are ints)."""

    __slots__ = ("_depth", "_symbols", "bounds", "products", "quotients", "scope", "sums", "terms")

    scope: Scope
    terms: Terms

    def __init__(self, scope: Scope, terms: Terms) -> None:
        """Only `Scope.make` calls this; it interns."""
        self.scope = scope
        self.terms = terms
        self._depth: int | None = None
        self.bounds: tuple[float, float] | None = None
        self._symbols: frozenset[Dimension] | None = None
        self.sums: dict[Dim, Dim] = _NOTHING
        self.products: dict[Dim, Dim] = _NOTHING
        self.quotients: dict[Dim, Dim] = _NOTHING

    def __getstate__(self) -> tuple[Scope, Terms]:
        """What a copy or a pickle has; the tables of results are of this object alone."""
        return self.scope, self.terms

    def __setstate__(self, state: tuple[Scope, Terms]) -> None:
        """As made anew."""
        self.__init__(*state)  # type: ignore[misc]

    @property
    def depth(self) -> int:
        """How deeply floor and max atoms nest."""
        if self._depth is None:
            atoms = self.scope.atoms
            self._depth = max((atoms[a].depth for monomial, _ in self.terms for a in monomial), default=0)
        return self._depth

    def __add__(self, other: Dim) -> Dim:
        """Sum; an int when nothing symbolic is left."""
        try:
            return self.sums[other]
        except KeyError:
            return self.scope.add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Dim) -> Dim:
        """Difference."""
        return self + (-other)

    def __rsub__(self, other: Dim) -> Dim:
        """Difference with an int on the left."""
        return -self + other

    def __neg__(self) -> Dim:
        """Negation."""
        return self * -1

    def __mul__(self, other: Dim) -> Dim:
        """Product."""
        try:
            return self.products[other]
        except KeyError:
            return self.scope.multiply(self, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Dim) -> Dim:
        """Floor division; the divisor is taken to be non-zero."""
        try:
            return self.quotients[other]
        except KeyError:
            from shapeinf.expr.division import floordiv

            return floordiv(self.scope, self, other)

    def __rfloordiv__(self, other: int) -> Dim:
        """Floor division of an int by this."""
        from shapeinf.expr.division import floordiv

        return floordiv(self.scope, other, self)

    def __mod__(self, other: Dim) -> Dim:
        """`self - other * (self // other)`, with Python's sign."""
        return self - other * (self // other)

    def __rmod__(self, other: int) -> Dim:
        """An int modulo this."""
        return other - self * (other // self)

    @property
    def is_symbol(self) -> bool:
        """True for a bare symbol."""
        terms = self.terms
        return (
            len(terms) == 1
            and terms[0][1] == 1
            and len(terms[0][0]) == 1
            and isinstance(self.scope.atoms[terms[0][0][0]], Symbol)
        )

    @property
    def symbol(self) -> Symbol:
        """The symbol of a bare symbol; ValueError for anything else."""
        if not self.is_symbol:
            raise ValueError(f"{self} is not a symbol")
        atom = self.scope.atoms[self.terms[0][0][0]]
        assert isinstance(atom, Symbol)
        return atom

    @property
    def name(self) -> str:
        """The name of a bare symbol; ValueError for anything else."""
        return self.symbol.name

    @property
    def is_anonymous(self) -> bool:
        """True when any symbol in it is an unknown made by `Scope.fresh`, not a name of the user."""
        return any(s.symbol.anonymous for s in self.symbols())

    def symbols(self) -> frozenset[Dimension]:
        """The symbols that it is made of."""
        if self._symbols is None:
            scope = self.scope
            found: set[Dimension] = set()
            for monomial, _ in self.terms:
                for atom in monomial:
                    found |= scope.symbols_of(atom)
            self._symbols = frozenset(found)
        return self._symbols

    def __str__(self) -> str:
        """A Python expression; odd names in backquotes."""
        from shapeinf.expr.printing import format_dim

        return format_dim(self)

    __repr__ = __str__


Dim = Union[int, Dimension]  # noqa: UP007  (a Dimension is defined before it is used here, but not in annotations above)


class Scope:
    """Owns the symbols and the interning tables of one inference; drop it and everything goes."""

    def __init__(self) -> None:
        """Empty tables."""
        self.lock = RLock()
        """Of the questions about these symbols that several threads ask; see `sharing`."""
        self.work = 0
        """The terms that were looked at so far for what was in no table: what a question has cost, in steps."""
        self.atoms: list[Atom] = []
        self.dims: dict[Terms, Dimension] = {}
        self.maxima: dict[tuple[Dim, ...], Dim] = {}
        self.capped: dict[Dimension, str] = {}  # what stands for an expression past a cap, and which cap
        self.declared_bounds: dict[int, tuple[float, float]] = {}  # of atoms, as symbols were made; `interval` fills it
        self.limits: dict[Dimension, Dim] = {}  # what unknowns are at most, by what they are made of
        self._names: dict[str, Dimension] = {}
        self._floors: dict[tuple[Dim, Dim], int] = {}
        self._maxes: dict[tuple[Dim, ...], int] = {}
        self._hints: dict[str, int] = {}

    def __getstate__(self) -> dict[str, Any]:
        """All but the lock, which a copy has of its own."""
        return {name: value for name, value in self.__dict__.items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """See `__getstate__`."""
        self.__dict__.update(state)
        self.lock = RLock()

    def symbol(self, name: str, lo: int | None = 1, hi: int | None = None, *, anonymous: bool = False) -> Dimension:
        """The symbol of this name; its bounds are those of its first mention. An `anonymous` one is no user's name."""
        found = self._names.get(name)
        if found is not None:
            return found
        with self.lock:
            if name not in self._names:
                self._names[name] = self._atom(Symbol(name, lo, hi, anonymous))
            return self._names[name]

    @property
    def has_maxima(self) -> bool:
        """Whether any dimension has a maximum in it."""
        return bool(self._maxes)

    def has(self, name: str) -> bool:
        """Whether a symbol of this name was made."""
        return name in self._names

    def names(self) -> list[str]:
        """All named symbols, in order of first mention."""
        return [name for name, dim in list(self._names.items()) if not dim.symbol.anonymous]

    def fresh(self, hint: str, lo: int | None = 0, hi: int | None = None) -> Dimension:
        """A new unknown, equal to nothing else; `hint` (its site) starts its name."""
        with self.lock:
            count = self._hints.get(hint, 0)
            name = hint if count == 0 else f"{hint}#{count}"
            while name in self._names:
                count += 1
                name = f"{hint}#{count}"
            self._hints[hint] = count + 1
            found = self._names[name] = self._atom(Symbol(name, lo, hi, True))
            return found

    def opaque(self, reason: str, lo: int | None, hi: int | None) -> Dimension:
        """A fresh symbol in place of an expression past a cap; the reason is recorded."""
        self.capped[found := self.fresh("capped", lo, hi)] = reason
        return found

    def floor(self, numerator: Dim, denominator: Dim) -> Dimension:
        """The interned atom `floor(numerator/denominator)` (already normalised)."""
        key = (numerator, denominator)
        if key not in self._floors:
            depth = 1 + max(depth_of(numerator), depth_of(denominator))
            self._number(self._floors, key, Floor(numerator, denominator, depth))
        return self._intern((((self._floors[key],), 1),))

    def maximum(self, args: tuple[Dim, ...]) -> Dimension:
        """The interned atom `max(args)` (already normalised and ordered)."""
        if args not in self._maxes:
            self._number(self._maxes, args, Maximum(args, 1 + max(map(depth_of, args))))
        return self._intern((((self._maxes[args],), 1),))

    def _number(self, numbers: dict[Any, int], key: tuple[Dim, ...], atom: Atom) -> None:
        """Number a new atom, unless another thread has just done so: equal atoms must be one."""
        with self.lock:
            if key not in numbers:
                self.atoms.append(atom)
                numbers[key] = len(self.atoms) - 1

    def _atom(self, atom: Atom) -> Dimension:
        self.atoms.append(atom)
        return self._intern((((len(self.atoms) - 1,), 1),))

    def _intern(self, terms: Terms) -> Dimension:
        found = self.dims.get(terms)
        if found is None:  # in one step: users calculate with dims in any thread, and equal dims must be one
            found = self.dims.setdefault(terms, Dimension(self, terms))
        return found

    def from_terms(self, terms: Terms) -> Dim:
        """The dimension of terms that are in order and have no zero coefficient."""
        if not terms:
            return 0
        if len(terms) == 1 and not terms[0][0]:
            return terms[0][1]
        return self._intern(terms)

    def make(self, coefficients: Mapping[Monomial, int]) -> Dim:
        """The dimension of a polynomial given as {monomial: coefficient}."""
        return self.from_terms(tuple(sorted([(m, c) for m, c in coefficients.items() if c])))

    def add(self, a: Dimension, b: Dim) -> Dim:
        """`a + b`, not yet in the table."""
        if isinstance(b, int):
            return self._add_int(a, int(b))
        if not isinstance(b, Dimension):
            return NotImplemented
        total = dict(a.terms)
        for monomial, coefficient in terms_of(self, b):
            total[monomial] = total.get(monomial, 0) + coefficient
        result = self._capped(total, "sum", a, b)
        remember(a, "sums", b, result)
        return result

    def _add_int(self, a: Dimension, b: int) -> Dim:
        """Only the constant changes, which is the first term."""
        first, constant = a.terms[0]
        rest = a.terms if first else a.terms[1:]
        total = b if first else constant + b
        if not -MAX_COEFFICIENT < total < MAX_COEFFICIENT or len(rest) >= MAX_TERMS:
            return self._too_large("sum", a, b)
        result = self._intern((((), total), *rest) if total else rest)
        remember(a, "sums", b, result)
        return result

    def _multiply_int(self, a: Dimension, b: int) -> Dim:
        """Only the coefficients change."""
        terms = tuple([(m, c * b) for m, c in a.terms])
        if not all(-MAX_COEFFICIENT < c < MAX_COEFFICIENT for _, c in terms):
            return self._too_large("product", a, b)
        result: Dim = self._intern(terms) if b else 0
        remember(a, "products", b, result)
        return result

    def multiply(self, a: Dimension, b: Dim) -> Dim:
        """`a * b`, not yet in the table."""
        if isinstance(b, int):
            return self._multiply_int(a, int(b))
        if not isinstance(b, Dimension):
            return NotImplemented
        total: dict[Monomial, int] = {}
        right = terms_of(self, b)
        if len(a.terms) * len(right) > MAX_TERMS * MAX_TERMS:
            return self._too_large("product", a, b)
        for m, c in a.terms:
            for n, k in right:
                monomial = tuple(sorted(m + n)) if n and m else m or n
                total[monomial] = total.get(monomial, 0) + c * k
        result = self._capped(total, "product", a, b)
        remember(a, "products", b, result)
        if isinstance(b, Dimension):
            remember(b, "products", a, result)
        return result

    def _capped(self, total: Mapping[Monomial, int], what: str, a: Dimension, b: Dim) -> Dim:
        self.work += len(total)
        if len(total) > MAX_TERMS or any(
            len(m) > MAX_DEGREE or not -MAX_COEFFICIENT < c < MAX_COEFFICIENT for m, c in total.items()
        ):
            return self._too_large(what, a, b)
        return self.make(total)

    def _too_large(self, what: str, a: Dimension, b: Dim) -> Dimension:
        from shapeinf.expr.interval import of_sum_or_product

        lo, hi = of_sum_or_product(what, a, b)
        reason = cap_passed(what, a.terms, terms_of(self, b), MAX_DEGREE, MAX_TERMS, MAX_COEFFICIENT)
        return self.opaque(reason, lo, hi)

    def symbols_of(self, atom: int) -> frozenset[Dimension]:
        """The symbols inside one atom."""
        found = self.atoms[atom]
        if isinstance(found, Symbol):
            return frozenset((self._intern((((atom,), 1),)),))
        parts = (found.numerator, found.denominator) if isinstance(found, Floor) else found.args
        return frozenset().union(*(p.symbols() for p in parts if not isinstance(p, int)))

    def atom_dim(self, atom: int) -> Dimension:
        """The dimension that is just this atom."""
        return self._intern((((atom,), 1),))


def remember(d: Dimension, table: str, other: Dim, result: Dim) -> None:
    """Keep a result of arithmetic with its left operand, where the next call finds it with one look-up."""
    found = getattr(d, table)
    if found is _NOTHING:
        found = {}
        setattr(d, table, found)
    found[other] = result


def terms_of(scope: Scope, d: Dim) -> Terms:
    """The terms of an int or a Dimension of this scope; ValueError for another scope's."""
    if isinstance(d, Dimension):
        if d.scope is not scope:
            raise ValueError(f"{d} belongs to another inference")
        return d.terms
    return (((), int(d)),) if d else ()


def depth_of(d: Dim) -> int:
    """How deeply floor and max atoms nest."""
    return 0 if isinstance(d, int) else d.depth


def scope_of(dims: Iterable[Dim]) -> Scope | None:
    """The scope of the first symbolic dim, None when all are ints."""
    return next((d.scope for d in dims if isinstance(d, Dimension)), None)
