"""Dimensions as text: Python expressions that `parse_dim` reads back."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from hashlib import sha256

from shapeinf.algebra.atoms import Floor, Maximum, Symbol
from shapeinf.algebra.dimension import Dim, Dimension, Monomial, Scope

RESERVED = frozenset({"max", "min", "floordiv", "ceildiv", "mod", "floor", "ceil", "None", "Max", "Min"})

LONGEST_LABEL = 60


def quote_name(name: str) -> str:
    """The name, in backquotes when it is not a plain identifier.

    >>> quote_name("batch"), quote_name("batch _size")
    ('batch', '`batch _size`')
    """
    if name.isidentifier() and not keyword.iskeyword(name) and name not in RESERVED:
        return name
    return "`" + name.replace("`", "``") + "`"


def format_dim(d: Dim, quote: bool = True, labels: Mapping[Dimension, str] | None = None) -> str:
    """A Python expression of the dim; `quote=False` leaves odd names as they are.

    `labels` take the place of symbols that have no name of their own, such as axes of inputs.

    >>> h = Scope().symbol("H")
    >>> format_dim((h + 31) // 32), format_dim(h % 2), format_dim(2 * h - 1)
    ('(H + 31)//32', 'H % 2', '2*H - 1')
    """
    if isinstance(d, int):
        return str(d)
    return _Printer(d.scope, quote, labels or {}).dim(d)


def label(d: Dim) -> str:
    """The dim as part of a name: a long text is cut, and told apart from others by a number made of it.

    Names that hold names would double at every turn.

    >>> label(Scope().symbol("H") + 1), len(label(Scope().symbol("H" * 1000)))
    ('H + 1', 60)
    """
    text = format_dim(d)
    return text if len(text) <= LONGEST_LABEL else f"{text[:47]}#{sha256(text.encode()).hexdigest()[:12]}"


Piece = tuple[int, str, bool]
"""Coefficient, text, and whether the text needs parentheses under a product or a leading minus."""


class _Printer:
    """Prints the dims of one scope."""

    def __init__(self, scope: Scope, quote: bool, labels: Mapping[Dimension, str]) -> None:
        self.scope = scope
        self.quote = quote
        self.labels = labels

    def dim(self, d: Dim) -> str:
        if isinstance(d, int):
            return str(d)
        lower = self._minimum(d)
        if lower is not None:
            return lower
        pieces, rest = self._moduli(d)
        terms = rest.terms if isinstance(rest, Dimension) else (((), rest),) if rest else ()
        ordered = sorted(terms, key=lambda term: (-len(term[0]), term[0]))
        pieces = [(c, *self._monomial(m)) for m, c in ordered] + pieces
        pieces.sort(key=lambda piece: (piece[0] < 0, piece[1] == ""))
        return self._join(pieces)

    def _join(self, pieces: list[Piece]) -> str:
        out = ""
        for coefficient, text, loose in pieces:
            size = abs(coefficient)
            if loose and (size != 1 or (not out and coefficient < 0)):
                text = f"({text})"
            body = str(size) if not text else text if size == 1 else f"{size}*{text}"
            if out:
                out += f" {'-' if coefficient < 0 else '+'} {body}"
            else:
                out = f"-{body}" if coefficient < 0 else body
        return out

    def _moduli(self, d: Dimension) -> tuple[list[Piece], Dim]:
        """Split off `k*(n % q)` where all terms of `k*n - k*q*(n//q)` are there."""
        pieces: list[Piece] = []
        rest: Dim = d
        for monomial, coefficient in d.terms:
            atom = self.scope.atoms[monomial[0]] if len(monomial) == 1 else None
            if not isinstance(atom, Floor) or not isinstance(atom.denominator, int) or coefficient % atom.denominator:
                continue
            times = -coefficient // atom.denominator
            modulus = (atom.numerator % atom.denominator) * times
            left = rest - modulus
            if _size(left) == _size(rest) - _size(modulus):
                pieces.append((times, f"{self._operand(atom.numerator)} % {atom.denominator}", True))
                rest = left
        return pieces, rest

    def _minimum(self, d: Dimension) -> str | None:
        """`r - max(a, b)` as `min(r - a, r - b)`."""
        atoms = self.scope.atoms
        found = [m for m, c in d.terms if c == -1 and len(m) == 1 and isinstance(atoms[m[0]], Maximum)]
        if len(found) != 1:
            return None
        rest = self.scope.make({m: c for m, c in d.terms if m != found[0]})
        return self._call("min", [rest - a for a in self._args(found[0][0])])

    def _args(self, atom: int) -> tuple[Dim, ...]:
        found = self.scope.atoms[atom]
        assert isinstance(found, Maximum)
        return found.args

    def _call(self, function: str, args: list[Dim]) -> str:
        ordered = sorted(args, key=lambda a: isinstance(a, int))
        return f"{function}(" + ", ".join(self.dim(a) for a in ordered) + ")"

    def _monomial(self, monomial: Monomial) -> tuple[str, bool]:
        if len(monomial) == 1:
            return self._atom(monomial[0])
        texts = [f"({text})" if loose else text for text, loose in map(self._atom, monomial)]
        return "*".join(texts), False

    def _atom(self, number: int) -> tuple[str, bool]:
        atom = self.scope.atoms[number]
        if isinstance(atom, Symbol):
            label = self.labels.get(self.scope.atom_dim(number)) if self.labels and atom.anonymous else None
            return label or (quote_name(atom.name) if self.quote else atom.name), False
        if isinstance(atom, Maximum):
            return self._call("max", list(atom.args)), False
        return f"{self._operand(atom.numerator)}//{self._operand(atom.denominator)}", True

    def _operand(self, d: Dim) -> str:
        simple = d >= 0 if isinstance(d, int) else d.is_symbol
        return self.dim(d) if simple else f"({self.dim(d)})"


def _size(d: Dim) -> int:
    return len(d.terms) if isinstance(d, Dimension) else int(d != 0)
