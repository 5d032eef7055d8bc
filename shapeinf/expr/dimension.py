"""Dimensions: interned canonical integer polynomials over symbols and floor, max atoms.

A dimension is an `int` or a `Dimension`. A `Dimension` is a polynomial with integer coefficients, stored as a sorted
tuple of terms (monomial, coefficient); a monomial is a sorted tuple of atom numbers. The constant term has the empty
monomial and comes first. Two equal polynomials of one `Scope` are one object, so equality is identity and hashing costs
one pointer. Rewriting happens on construction: `p % q` is `p - q*(p//q)`, `ceildiv(p, q)` is `(p + q - 1)//q`, `min(S)`
is `-max(-S)`.

>>> scope = Scope()
>>> x, y = scope.symbol("x"), scope.symbol("y")
>>> (x + y) * 2 is 2 * y + x + x
True
>>> x - x
0
"""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, Union

from shapeinf.errors import DimensionError, SymbolicSizeError
from shapeinf.expr.atoms import Atom, Floor, Maximum, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from shapeinf.expr.interval import Bounds

Monomial = tuple[int, ...]
Term = tuple[Monomial, int]
Terms = tuple[Term, ...]
Operation = Literal["sum", "product"]

# Caps of the algebra: an expression past one of them is replaced by a fresh symbol.
MAX_TERMS = 64
MAX_DEGREE = 8
MAX_DEPTH = 24
MAX_COEFFICIENT = 1 << 128


_NOT_LOADED = Symbol("", None, None, True)
"""An atom of a pickled scope that no dim in the pickle has."""


class Algebra:
    """The operations of dims whose modules need this one: each module sets its own when it is imported."""

    divide: Callable[[Scope, DimSize, DimSize], DimSize]
    """Set by `division`."""
    rough_bounds: Callable[[Operation, DimSize, DimSize], tuple[int | None, int | None]]
    """Set by `interval`."""
    format: Callable[[DimSize], str]
    """Set by `printing`."""


ALGEBRA = Algebra()

_EMPTY: dict[DimSize, DimSize] = {}
"""The table of memoized results of a dimension that has none; never written to."""


class Dimension:
    """An immutable symbolic integer, built by a `Scope` and by arithmetic; never a constant (those are ints)."""

    __slots__ = ("_depth", "_symbols", "bounds", "differences", "products", "quotients", "scope", "sums", "terms")

    scope: Scope
    terms: Terms

    def __init__(self, scope: Scope, terms: Terms) -> None:
        """Only `Scope` calls this, which interns."""
        self.scope = scope
        self.terms = terms
        self._depth: int | None = None
        self.bounds: Bounds | None = None
        self._symbols: frozenset[Dimension] | None = None
        self.sums: dict[DimSize, DimSize] = _EMPTY
        self.differences: dict[DimSize, DimSize] = _EMPTY
        self.products: dict[DimSize, DimSize] = _EMPTY
        self.quotients: dict[DimSize, DimSize] = _EMPTY

    def __reduce__(self) -> tuple[Callable[..., DimSize], tuple[Scope, Terms, tuple[tuple[int, Atom], ...]]]:
        """The dims of a pickle share a new scope with their atoms: they stay equal to each other, but to no others."""
        atoms = tuple((number, self.scope.atoms[number]) for number in sorted(set(self.atom_numbers())))
        return _load_dimension, (self.scope, self.terms, atoms)

    def __copy__(self) -> Dimension:
        """Itself: it is immutable."""
        return self

    def __deepcopy__(self, memo: object) -> Dimension:
        """Itself."""
        return self

    def __int__(self) -> int:
        """Raises SymbolicSizeError: it is never a constant."""
        raise SymbolicSizeError(f"{self} is symbolic: its number depends on the sizes of the inputs")

    @property
    def depth(self) -> int:
        """How deeply floor and max atoms nest."""
        if self._depth is None:
            atoms = self.scope.atoms
            self._depth = max([atoms[a].depth for monomial, _ in self.terms for a in monomial])
        return self._depth

    @property
    def has_maximum(self) -> bool:
        """Whether there is a maximum in it, also inside of floors."""
        atoms = self.scope.atoms
        return any([atoms[a].has_maximum for monomial, _ in self.terms for a in monomial])

    def __add__(self, other: DimSize) -> DimSize:
        """Sum; an int when nothing symbolic is left."""
        result = self.sums.get(other)
        return self.scope.add(self, other) if result is None else result

    def __radd__(self, other: int) -> DimSize:
        """Sum with an int on the left."""
        return self + other

    def __sub__(self, other: DimSize) -> DimSize:
        """Difference."""
        if not isinstance(other, Dimension):
            return self + -other
        result = self.differences.get(other)
        return self.scope.subtract(self, other) if result is None else result

    def __rsub__(self, other: DimSize) -> DimSize:
        """Difference with an int on the left."""
        return -self + other

    def __neg__(self) -> DimSize:
        """Negation."""
        return self * -1

    def __mul__(self, other: DimSize) -> DimSize:
        """Product."""
        result = self.products.get(other)
        return self.scope.multiply(self, other) if result is None else result

    def __rmul__(self, other: int) -> DimSize:
        """Product with an int on the left."""
        return self * other

    def __floordiv__(self, other: DimSize) -> DimSize:
        """Floor division; the divisor is assumed to be non-zero."""
        result = self.quotients.get(other)
        if result is None:
            result = ALGEBRA.divide(self.scope, self, other)
            if self.quotients is _EMPTY:
                self.quotients = {}
            self.quotients[other] = result
        return result

    def __rfloordiv__(self, other: int) -> DimSize:
        """Floor division of an int by this."""
        return ALGEBRA.divide(self.scope, other, self)

    def __mod__(self, other: DimSize) -> DimSize:
        """`self - other * (self // other)`, with Python's sign."""
        return self - other * (self // other)

    def __rmod__(self, other: int) -> DimSize:
        """An int modulo this."""
        return other - self * (other // self)

    @property
    def is_symbol(self) -> bool:
        """Whether it is a single symbol."""
        if len(self.terms) > 1:
            return False
        monomial, coefficient = self.terms[0]
        return coefficient == 1 and len(monomial) == 1 and isinstance(self.scope.atoms[monomial[0]], Symbol)

    @property
    def symbol(self) -> Symbol:
        """The record of a symbol; DimensionError for anything else."""
        if not self.is_symbol:
            raise DimensionError(f"{self} is not a symbol")
        atom = self.scope.atoms[self.atom]
        assert isinstance(atom, Symbol)
        return atom

    @property
    def name(self) -> str:
        """The name of a symbol; DimensionError for anything else."""
        return self.symbol.name

    @property
    def is_anonymous(self) -> bool:
        """Whether any of its symbols is an unknown of `Scope.fresh`, not a name of the user."""
        atoms = self.scope.atoms
        for symbol in self.symbols():
            atom = atoms[symbol.atom]
            if isinstance(atom, Symbol) and atom.anonymous:
                return True
        return False

    def symbols(self) -> frozenset[Dimension]:
        """The symbols in it, those inside floors and maxima included."""
        if self._symbols is None:
            if self.is_symbol:
                self._symbols = frozenset((self,))
            else:
                inside = [self.scope.symbols_of(a) for monomial, _ in self.terms for a in monomial]
                self._symbols = inside[0] if len(inside) == 1 else inside[0].union(*inside[1:])
        return self._symbols

    @property
    def atom(self) -> int:
        """The atom number of a symbol (defined only where `is_symbol` is true)."""
        return self.terms[0][0][0]

    def atom_numbers(self) -> Iterator[int]:
        """The atoms of its monomials in order, repeated as often as they occur."""
        return (atom for monomial, _ in self.terms for atom in monomial)

    @property
    def constant(self) -> int:
        """The constant term, 0 where it has none."""
        monomial, coefficient = self.terms[0]
        return 0 if monomial else coefficient

    @property
    def leading_term(self) -> Term:
        """The last monomial in order, with its coefficient."""
        return self.terms[-1]

    def without(self, monomial: Monomial) -> DimSize:
        """The sum of its other terms."""
        return self.scope.from_terms(tuple([term for term in self.terms if term[0] != monomial]))

    def __str__(self) -> str:
        """A Python expression; odd names in backquotes."""
        return ALGEBRA.format(self)

    def __repr__(self) -> str:
        """As `str`."""
        return str(self)


DimSize = Union[int, Dimension]  # noqa: UP007  (a Dimension is defined before it is used here, but not in annotations above)


class Scope:
    """The symbols and the interning tables of one inference."""

    def __init__(self) -> None:
        """Empty tables."""
        self.lock = RLock()
        """Held during queries about these symbols; see `sharing`."""
        self.work = 0
        """Terms visited so far on misses of the tables: the cost of queries, in steps."""
        self.atoms: list[Atom] = []
        self.dims: dict[Terms, Dimension] = {}
        self.maxima: dict[tuple[DimSize, ...], DimSize] = {}
        self.capped: dict[Dimension, str] = {}  # the exceeded cap, by the symbol that replaces an expression
        self.declared_bounds: dict[int, Bounds] = {}  # of atoms, by the declared bounds of symbols; see `interval`
        self.limits: dict[Dimension, DimSize] = {}  # symbolic upper limits of unknowns
        self.factors: dict[Dimension, tuple[Dimension, Dimension] | None] = {}  # see `factors`
        self.odd_names: list[str] = []
        """The names of symbols that are no identifiers, in order of first mention; not those of unknowns."""
        self._names: dict[str, Dimension] = {}
        self._floors: dict[tuple[DimSize, DimSize], int] = {}
        self._maxes: dict[tuple[DimSize, ...], int] = {}
        self._hints: dict[str, int] = {}
        self.directions: dict[int, int] = {}  # of atoms; see `interval`
        self._symbols_of: dict[int, frozenset[Dimension]] = {}  # of floors and maxima
        self.texts: dict[str, DimSize] = {}
        """The dims of declared expressions that were read."""
        self.has_maxima = False
        """Whether any dimension contains a maximum."""

    def __reduce__(self) -> tuple[Callable[[int], Scope], tuple[int]]:
        """A pickle has no atoms: each dim adds its own as it is loaded, under their numbers, which order terms."""
        return _load_scope, (len(self.atoms),)

    def _load_atom(self, number: int, atom: Atom) -> None:
        """Add an atom of a pickle."""
        self.atoms += [_NOT_LOADED] * (number + 1 - len(self.atoms))
        self.atoms[number] = atom
        if isinstance(atom, Symbol):
            self._names[atom.name] = self.atom_dim(number)
        elif isinstance(atom, Floor):
            self._floors[atom.numerator, atom.denominator] = number
        else:
            self._maxes[atom.args] = number
            self.has_maxima = True

    def symbol(self, name: str, lo: int | None = 1, hi: int | None = None, *, anonymous: bool = False) -> Dimension:
        """The symbol of this name; its bounds are those of its first mention. `anonymous`: see `Symbol`."""
        symbol = self._names.get(name)
        if symbol is not None:
            return symbol
        with self.lock:
            if name not in self._names:
                self._names[name] = self._append_atom(Symbol(name, lo, hi, anonymous))
                if not anonymous and not name.isidentifier():
                    self.odd_names.append(name)
            return self._names[name]

    def find(self, name: str) -> Dimension | None:
        """The symbol of a name, None where there is none."""
        return self._names.get(name)

    def has(self, name: str) -> bool:
        """Whether a symbol of this name exists."""
        return name in self._names

    def add_name(self, name: str, symbol: Dimension) -> None:
        """Give an unknown another name, by which users may refer to it, unless that is the name of a symbol."""
        with self.lock:
            self._names.setdefault(name, symbol)

    def names(self) -> list[str]:
        """The names of all symbols that are not anonymous, in order of first mention."""
        return [name for name, dim in list(self._names.items()) if not dim.symbol.anonymous and dim.name == name]

    def fresh(self, hint: str, lo: int | None = 0, hi: int | None = None) -> Dimension:
        """A new unknown, equal to nothing else; its name begins with `hint`, such as the name of a node."""
        with self.lock:
            count = self._hints.get(hint, 0)
            name = hint if count == 0 else f"{hint}#{count}"
            while name in self._names:
                count += 1
                name = f"{hint}#{count}"
            self._hints[hint] = count + 1
            symbol = self._names[name] = self._append_atom(Symbol(name, lo, hi, True))
            return symbol

    def opaque(self, reason: str, lo: int | None, hi: int | None) -> Dimension:
        """A fresh symbol instead of an expression past a cap; the reason is recorded."""
        symbol = self.fresh("capped", lo, hi)
        self.capped[symbol] = reason
        return symbol

    def floor(self, numerator: DimSize, denominator: DimSize) -> Dimension:
        """The interned atom `floor(numerator/denominator)` (already normalized)."""
        key = (numerator, denominator)
        number = self._floors.get(key)
        if number is None:
            depth = 1 + max(depth_of(numerator), depth_of(denominator))
            maxima = any([not isinstance(d, int) and d.has_maximum for d in key])
            number = self._register_atom(self._floors, key, Floor(numerator, denominator, depth, maxima))
        return self.atom_dim(number)

    def maximum(self, args: tuple[DimSize, ...]) -> Dimension:
        """The interned atom `max(args)` (already normalized and ordered)."""
        number = self._maxes.get(args)
        if number is None:
            number = self._register_atom(self._maxes, args, Maximum(args, 1 + max(map(depth_of, args))))
            self.has_maxima = True
        return self.atom_dim(number)

    def _register_atom(self, numbers: dict[Any, int], key: tuple[DimSize, ...], atom: Atom) -> int:
        """Number a new atom, unless another thread has just done so: equal atoms must share a number."""
        with self.lock:
            if key not in numbers:
                self.atoms.append(atom)
                numbers[key] = len(self.atoms) - 1
            return numbers[key]

    def _append_atom(self, atom: Atom) -> Dimension:
        self.atoms.append(atom)
        return self.atom_dim(len(self.atoms) - 1)

    def _intern(self, terms: Terms) -> Dimension:
        dimension = self.dims.get(terms)
        if dimension is None:  # atomic: users calculate with dims in any thread, and equal dims must be one object
            dimension = self.dims.setdefault(terms, Dimension(self, terms))
        return dimension

    def from_terms(self, terms: Terms) -> DimSize:
        """The dimension of sorted terms without zero coefficients."""
        if not terms:
            return 0
        monomial, coefficient = terms[0]
        if len(terms) == 1 and not monomial:
            return coefficient
        return self._intern(terms)

    def make(self, coefficients: Mapping[Monomial, int]) -> DimSize:
        """The dimension of a polynomial as {monomial: coefficient}."""
        terms = [(m, c) for m, c in coefficients.items() if c]
        if len(terms) > 1:
            terms.sort()
        return self.from_terms(tuple(terms))

    def add(self, a: Dimension, b: DimSize) -> DimSize:
        """`a + b`, on a miss of the table."""
        if isinstance(b, int):
            return self._add_int(a, int(b))
        if not isinstance(b, Dimension):
            return NotImplemented
        result = self.combine(1, a, 1, b)
        if result is None:
            result = self._replace("sum", a, b)
        if a.sums is _EMPTY:
            a.sums = {}
        a.sums[b] = result
        return result

    def subtract(self, a: Dimension, b: Dimension) -> DimSize:
        """`a - b`, on a miss of the table."""
        result = self.combine(1, a, -1, b)
        if result is None:
            result = a + -b
        if a.differences is _EMPTY:
            a.differences = {}
        a.differences[b] = result
        return result

    def combine(self, x: int, a: DimSize, y: int, b: DimSize) -> DimSize | None:
        """`x*a + y*b`, without interning the products; None past a cap."""
        total = {m: x * c for m, c in terms_of(self, a)}
        for monomial, coefficient in terms_of(self, b):
            total[monomial] = total.get(monomial, 0) + y * coefficient
        return self._make_within_caps(total)

    def _add_int(self, a: Dimension, b: int) -> DimSize:
        """Only the constant term changes, which is the first."""
        first, constant = a.terms[0]
        rest = a.terms if first else a.terms[1:]
        total = b if first else constant + b
        if not -MAX_COEFFICIENT < total < MAX_COEFFICIENT or len(rest) >= MAX_TERMS:
            return self._replace("sum", a, b)
        result = self._intern((((), total), *rest) if total else rest)
        if a.sums is _EMPTY:
            a.sums = {}
        a.sums[b] = result
        return result

    def _multiply_int(self, a: Dimension, b: int) -> DimSize:
        """Only the coefficients change."""
        terms = tuple([(m, c * b) for m, c in a.terms])
        if (b > 1 or b < -1) and not all([-MAX_COEFFICIENT < c < MAX_COEFFICIENT for _, c in terms]):
            return self._replace("product", a, b)
        result: DimSize = self._intern(terms) if b else 0
        self._memoize_product(a, b, result)
        return result

    def multiply(self, a: Dimension, b: DimSize) -> DimSize:
        """`a * b`, on a miss of the table."""
        if isinstance(b, int):
            return self._multiply_int(a, int(b))
        if not isinstance(b, Dimension):
            return NotImplemented
        total: dict[Monomial, int] = {}
        right = terms_of(self, b)
        if len(a.terms) * len(right) > MAX_TERMS * MAX_TERMS:
            return self._replace("product", a, b)
        for m, c in a.terms:
            for n, k in right:
                monomial = tuple(sorted(m + n)) if n and m else m or n
                total[monomial] = total.get(monomial, 0) + c * k
        result = self._make_within_caps(total)
        if result is None:
            result = self._replace("product", a, b)
        self._memoize_product(a, b, result)
        self._memoize_product(b, a, result)
        return result

    @staticmethod
    def _memoize_product(a: Dimension, b: DimSize, result: DimSize) -> None:
        if a.products is _EMPTY:
            a.products = {}
        a.products[b] = result

    def _make_within_caps(self, total: Mapping[Monomial, int]) -> DimSize | None:
        self.work += len(total)
        if len(total) > MAX_TERMS:
            return None
        for monomial, coefficient in total.items():
            if len(monomial) > MAX_DEGREE or not -MAX_COEFFICIENT < coefficient < MAX_COEFFICIENT:
                return None
        return self.make(total)

    def _replace(self, operation: Operation, a: Dimension, b: DimSize) -> Dimension:
        """The symbol for a sum or product past a cap."""
        lo, hi = ALGEBRA.rough_bounds(operation, a, b)
        return self.opaque(_exceeded_cap(operation, a.terms, terms_of(self, b)), lo, hi)

    def symbols_of(self, atom: int) -> frozenset[Dimension]:
        """The symbols inside one atom."""
        symbols = self._symbols_of.get(atom)
        if symbols is None:
            record = self.atoms[atom]
            if isinstance(record, Symbol):
                return self.atom_dim(atom).symbols()
            parts = (record.numerator, record.denominator) if isinstance(record, Floor) else record.args
            symbols = frozenset().union(*[p.symbols() for p in parts if isinstance(p, Dimension)])
            self._symbols_of[atom] = symbols
        return symbols

    def atom_dim(self, atom: int) -> Dimension:
        """The dimension that is this atom."""
        return self._intern((((atom,), 1),))

    def monomial_dim(self, monomial: Monomial) -> DimSize:
        """The product of the atoms of a monomial."""
        return self.from_terms(((monomial, 1),))

    def only_atom(self, monomial: Monomial) -> Atom | None:
        """The record of the atom of a monomial that has just one; None for products and for the constant."""
        return self.atoms[monomial[0]] if len(monomial) == 1 else None


def _load_scope(count: int) -> Scope:
    """The scope of a pickle: new atoms are numbered after those of the pickled scope."""
    scope = Scope()
    scope.atoms += [_NOT_LOADED] * count
    return scope


def _load_dimension(scope: Scope, terms: Terms, atoms: tuple[tuple[int, Atom], ...]) -> DimSize:
    for number, atom in atoms:
        scope._load_atom(number, atom)
    return scope.from_terms(terms)


def _exceeded_cap(operation: Operation, left: Terms, right: Terms) -> str:
    """The cap that a sum or product exceeds, in words.

    >>> _exceeded_cap("product", (((1,) * 5, 1),), (((2,) * 4, 1),))
    'a product of 9 sizes, past the limit of 8'
    >>> _exceeded_cap("product", (((1,), 1 << 100),), (((), 1 << 100),))
    'a product with a number past the limit of 128 bits'
    """
    factors = sum(max((len(monomial) for monomial, _ in side), default=0) for side in (left, right))
    if operation == "product" and factors > MAX_DEGREE:
        return f"a product of {factors} sizes, past the limit of {MAX_DEGREE}"
    largest, other = (max((abs(c) for _, c in side), default=0) for side in (left, right))
    if (largest * other if operation == "product" else largest + other) >= MAX_COEFFICIENT:
        return f"a {operation} with a number past the limit of {MAX_COEFFICIENT.bit_length() - 1} bits"
    return f"a {operation} of {len(left)} and {len(right)} terms, past the limit of {MAX_TERMS} terms"


def divide_monomial(monomial: Monomial, part: Monomial) -> Monomial | None:
    """The monomial divided by `part`, None when it does not divide."""
    rest = list(monomial)
    for atom in part:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def terms_of(scope: Scope, d: DimSize) -> Terms:
    """The terms of an int or a Dimension of this scope; DimensionError for another scope's."""
    if isinstance(d, Dimension):
        if d.scope is not scope:
            raise DimensionError(f"{d} belongs to another inference")
        return d.terms
    return (((), int(d)),) if d else ()


def depth_of(d: DimSize) -> int:
    """How deeply floor and max atoms nest."""
    return 0 if isinstance(d, int) else d.depth


def scope_of(dims: Iterable[DimSize]) -> Scope | None:
    """The scope of the first symbolic dim, None when all are ints."""
    return next((d.scope for d in dims if isinstance(d, Dimension)), None)
