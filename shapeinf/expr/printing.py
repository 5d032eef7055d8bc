"""Dimensions as text: Python expressions that `parse_dim` reads back, in the notation of shapeinf or of another tool.

A dimension is a shared graph, whose text as a tree may be exponentially long. Where the tree is longer than
`LONGEST_TEXT`, a repeated part is printed once, under a name: `(let p1 = H//2 in p1*p1 + p1)`; `parse_dim`
reads that too. A text that is still too long is replaced by a summary that cannot be parsed. Other tools have no
named parts: there a long dim has no text.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from shapeinf.errors import DimensionError, DimSyntaxError, UnknownNameError
from shapeinf.expr.atoms import Floor, Maximum, Symbol
from shapeinf.expr.dimension import ALGEBRA, Dimension, DimSize, Monomial, Scope, terms_of
from shapeinf.expr.notations import NOTATIONS, OURS, RESERVED, Form, Notation, NotationName
from shapeinf.expr.parsing import AXIS_OF_NAME, MAX_LENGTH, parse_dim
from shapeinf.texts import format_count

LONGEST_LABEL = 60

LONGEST_TEXT = MAX_LENGTH
"""Characters of the text of a dim: what `parse_dim` reads."""


_AXIS = re.compile(AXIS_OF_NAME)


def axis_label(name: str, axis: int) -> str:
    """The name of the size of an axis that has no name of its own.

    >>> axis_label("tokens", 1)
    'tokens.shape[1]'
    """
    return f"{name}.shape[{axis}]"


def quote_name(name: str) -> str:
    """The name, in backquotes when it is neither a plain identifier nor an axis of one.

    >>> quote_name("batch"), quote_name("batch _size"), quote_name("x.shape[0]")
    ('batch', '`batch _size`', 'x.shape[0]')
    """
    if name.isidentifier() and not keyword.iskeyword(name) and name not in RESERVED:
        return name
    if _AXIS.fullmatch(name):
        return name
    return "`" + name.replace("`", "``") + "`"


def format_dim(
    d: DimSize, quote: bool = True, labels: Mapping[Dimension, str] | None = None, longest: int = LONGEST_TEXT
) -> str:
    """A Python expression of the dim; `quote=False` leaves odd names as they are.

    `labels` replace the names of anonymous symbols, such as axes of inputs. A text longer than `longest` even with
    named parts is replaced by a summary.

    >>> h = Scope().symbol("H")
    >>> format_dim((h + 31) // 32), format_dim(h % 2), format_dim(2 * h - 1)
    ('(H + 31)//32', 'H % 2', '2*H - 1')
    >>> half = (h + 1) // 2
    >>> format_dim(half * half + half, longest=36)
    '(let p1 = (H + 1)//2 in p1*p1 + p1)'
    >>> format_dim(half * half + half, longest=30)[:56]
    '<a dim of 2 terms and 1 symbol, too long to print, #4201'
    """
    return try_format_dim(d, quote, labels, longest) or _summary(d)


def try_format_dim(
    d: DimSize, quote: bool = True, labels: Mapping[Dimension, str] | None = None, longest: int = LONGEST_TEXT
) -> str | None:
    """As `format_dim`, None for a dim that is too long: texts in files must be readable."""
    if isinstance(d, int):
        return str(d)
    if d.is_symbol:
        name, anonymous = d.name, d.symbol.anonymous
        longest = max(longest, 2 * len(name) + 2)  # a name is never cut
        label = (labels.get(d) if labels and anonymous else None) or (quote_name(name) if quote else name)
        if len(label) <= longest:
            return label
    try:
        return _Printer(d.scope, quote, labels or {}, longest if d.is_symbol else min(longest, LONGEST_TEXT)).dim(d)
    except _TooLong:
        pass
    try:
        return _PartsPrinter(d.scope, quote, labels or {}, longest).define_parts(d)
    except _TooLong:
        return None


def format_dim_as(d: DimSize, notation: NotationName) -> str:
    """A dim as another tool writes and reads it: "sympy" (also for onnxruntime), "onnx", "torch" or "jax".

    >>> size = (Scope().symbol("H") + 1) // 2
    >>> [format_dim_as(size, notation) for notation in ("sympy", "torch", "jax", "onnx")]
    ['floor((H + 1)/2)', '((H + 1)//2)', 'floordiv(H + 1, 2)', '(H + 1)//2']

    Raises:
        DimensionError: the tool has no text for the dim, which is too long, or has a name that is not a plain one.
        UnknownNameError: there is no such notation.
    """
    if notation not in NOTATIONS:
        raise UnknownNameError("notation of dims", str(notation), list(NOTATIONS))
    text = try_format_dim_as(d, notation)
    if text is None:
        raise DimensionError(f"{format_start(d, 5)} has no text in the notation of {notation}")
    return text


def try_format_dim_as(d: DimSize, notation: NotationName, labels: Mapping[Dimension, str] | None = None) -> str | None:
    """As `format_dim_as`, None for a dim without a text. `labels` are names of anonymous symbols."""
    if isinstance(d, int):
        return str(d)
    labels = labels or {}
    names = (labels.get(symbol) or symbol.name for symbol in d.symbols())
    if not all(map(NOTATIONS[notation].has_name, names)):
        return None
    try:
        text = _Printer(d.scope, True, labels, LONGEST_TEXT, NOTATIONS[notation]).dim(d)
    except _TooLong:
        return None
    return text if _is_read_as(text, try_format_dim(d, labels=labels)) else None


def _is_read_as(text: str, expected: str | None) -> bool:
    """Whether a text is the same dim as another text, for symbols of any size."""
    scope = Scope()
    try:
        return expected is not None and parse_dim(text, scope, None) == parse_dim(expected, scope, None)
    except DimSyntaxError:  # a limit of the parser: the dim is too deep
        return False


def format_start(d: DimSize, most: int, labels: Mapping[Dimension, str] | None = None) -> str:
    """The text of a dim for a reader: of each longer sum, and call of `max` or `min`, the first `most` parts.

    >>> scope = Scope()
    >>> total = sum(scope.symbol(f"n{i}") for i in range(30))
    >>> format_start(total, 3), format_start(total // 2, 2)
    ('n0 + n1 + n2 + ... (30 terms)', '(n0 + n1 + ... (30 terms))//2')
    """
    if isinstance(d, int) or d.is_symbol:
        return format_dim(d, labels=labels)
    try:
        return _StartPrinter(d.scope, True, labels or {}, LONGEST_TEXT, most).dim(d)
    except _TooLong:
        return _summary(d)


def _summary(d: DimSize) -> str:
    """The summary of a dim that is too long to print; different for different dims of a scope."""
    assert isinstance(d, Dimension)
    number = _digest(repr(d.terms))
    terms, symbols = format_count(len(d.terms), "term"), format_count(len(d.symbols()), "symbol")
    return f"<a dim of {terms} and {symbols}, too long to print, #{number}>"


def dim_label(d: DimSize) -> str:
    """The dim as part of a name: a long text is cut and ends with a hash of it.

    Without the cut, names within names would double at each level.

    >>> dim_label(Scope().symbol("H") + 1), len(dim_label(Scope().symbol("H" * 1000)))
    ('H + 1', 60)
    """
    text = format_dim(d)
    return text if len(text) <= LONGEST_LABEL else f"{text[:47]}#{_digest(text)}"


def _digest(text: str) -> str:
    """A short hash that is the same in every process."""
    from hashlib import sha256  # few texts are that long, and it loads OpenSSL

    return sha256(text.encode()).hexdigest()[:12]


PrintedTerm = tuple[int, str, bool]
"""Coefficient, text, and whether the text needs parentheses under a product or a leading minus."""

PrintedAtom = tuple[str, bool]
"""Text and parentheses of an atom, whose coefficient is 1."""


class _TooLong(Exception):  # noqa: N818  (internal, no error)
    """The text exceeds the limit. Internal: caught in `expr.printing`."""


class _Printer:
    """Prints the dims of one scope as trees: each part as often as it occurs."""

    def __init__(
        self,
        scope: Scope,
        quote: bool,
        labels: Mapping[Dimension, str],
        longest: int,
        notation: Notation = OURS,
    ) -> None:
        self.scope = scope
        self.quote = quote
        self.labels = labels
        self.longest = longest
        self.notation = notation
        self.texts: dict[Dimension, str] = {}

    def dim(self, d: DimSize) -> str:
        if isinstance(d, int):
            return str(d)
        text = self.texts.get(d)
        if text is None:
            text = self.texts[d] = self.check_length(self.minimum(d) or self.polynomial(d))
        return text

    def check_length(self, text: str) -> str:
        if len(text) > self.longest:
            raise _TooLong
        return text

    def polynomial(self, d: Dimension) -> str:
        if 4 * len(d.terms) - 3 > self.longest:  # a term has a character, and " + " between two
            raise _TooLong
        pieces, rest = self._moduli(d)
        ordered = sorted(rest.items(), key=lambda term: (-len(term[0]), term[0]))
        pieces = [(c, *self._monomial(m)) for m, c in ordered] + pieces
        pieces.sort(key=lambda piece: (piece[0] < 0, piece[1] == ""))
        return self._join(pieces)

    def _join(self, pieces: list[PrintedTerm]) -> str:
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

    def _moduli(self, d: Dimension) -> tuple[list[PrintedTerm], dict[Monomial, int]]:
        """Split off `k*(n % q)` where all terms of `k*n - k*q*(n//q)` are present."""
        pieces: list[PrintedTerm] = []
        rest = dict(d.terms)
        for monomial, coefficient in d.terms:
            atom = self.scope.only_atom(monomial)
            if not isinstance(atom, Floor) or not isinstance(atom.denominator, int) or coefficient % atom.denominator:
                continue
            times = -coefficient // atom.denominator
            taken = {m: c * times for m, c in terms_of(self.scope, atom.numerator)}
            if monomial not in taken and all(rest.get(m) == c for m, c in taken.items()):
                pieces.append((times, *self.modulus(monomial[0], atom)))
                rest = {m: c for m, c in rest.items() if m != monomial and m not in taken}
        return pieces, rest

    def modulus(self, _: int, atom: Floor) -> PrintedAtom:
        return self._apply(self.notation.remainder, atom)

    def minimum(self, d: Dimension) -> str | None:
        """`r - max(a, b)` as `min(r - a, r - b)`, with a factor; other maxima stay outside of the minimum."""
        maxima = [(m, c, a) for m, c in d.terms if isinstance(a := self.scope.only_atom(m), Maximum)]
        negative = [term for term in maxima if term[1] < 0]
        if len(negative) != 1:
            return None
        ((monomial, factor, maximum),) = negative
        outside = {m: c for m, c, _ in maxima if c > 0}
        rest = {m: c for m, c in d.terms if m != monomial and m not in outside}
        if any([c % factor for c in rest.values()]):
            return None
        inside = self.scope.make({m: c // -factor for m, c in rest.items()})
        args = [self.scope.combine(1, inside, -1, a) for a in maximum.args]
        if None in args:
            return None
        least = self._call(self.notation.minimum, [a for a in args if a is not None])
        text = least if factor == -1 else f"{-factor}*{least}"
        return (
            f"{self.polynomial(others)} + {text}" if isinstance(others := self.scope.make(outside), Dimension) else text
        )

    def _call(self, function: str, args: Sequence[DimSize]) -> str:
        """The call of a function of any number of arguments, or nested calls of one of two."""
        ordered = [self.dim(a) for a in sorted(args, key=lambda a: isinstance(a, int))]
        if function.count("{}") == 1:
            return function.format(", ".join(ordered))
        while len(ordered) > 1:
            pairs = zip(ordered[::2], ordered[1::2], strict=False)
            ordered = [*(function.format(*pair) for pair in pairs), *ordered[len(ordered) & ~1 :]]
        return ordered[0]

    def _monomial(self, monomial: Monomial) -> PrintedAtom:
        if len(monomial) == 1:
            return self._factor(monomial[0])
        texts = [f"({text})" if loose else text for text, loose in map(self._factor, monomial)]
        return "*".join(texts), False

    def _factor(self, number: int) -> PrintedAtom:
        atom = self.scope.atoms[number]
        if isinstance(atom, Symbol):
            label = self.labels.get(self.scope.atom_dim(number)) if self.labels and atom.anonymous else None
            return label or (quote_name(atom.name) if self.quote else atom.name), False
        return self.atom(number, atom)

    def atom(self, _: int, atom: Floor | Maximum) -> PrintedAtom:
        if isinstance(atom, Maximum):
            return self._call(self.notation.maximum, atom.args), False
        return self._apply(self.notation.quotient, atom)

    def _apply(self, form: Form, atom: Floor) -> PrintedAtom:
        """A quotient or remainder in the form of the notation."""
        operand = self._operand if form.is_infix else self.dim
        return form.text.format(operand(atom.numerator), operand(atom.denominator)), form.is_loose

    def _operand(self, d: DimSize) -> str:
        simple = d >= 0 if isinstance(d, int) else d.is_symbol
        return self.dim(d) if simple else f"({self.dim(d)})"


class _StartPrinter(_Printer):
    """Prints the first parts of long sums and calls, and the number of all."""

    def __init__(self, scope: Scope, quote: bool, labels: Mapping[Dimension, str], longest: int, most: int) -> None:
        super().__init__(scope, quote, labels, longest)
        self.most = most

    def polynomial(self, d: Dimension) -> str:
        if len(d.terms) <= self.most:
            return super().polynomial(d)
        first = self.scope.make(dict(sorted(d.terms, key=lambda term: (-len(term[0]), term[0]))[: self.most]))
        assert isinstance(first, Dimension)
        return f"{super().polynomial(first)} + ... ({format_count(len(d.terms), 'term')})"

    def _call(self, function: str, args: Sequence[DimSize]) -> str:
        if len(args) <= self.most:
            return super()._call(function, args)
        first = super()._call(function, args[: self.most])
        return f"{first[:-1]}, ... ({format_count(len(args), 'argument')}))"


class _PartsPrinter(_Printer):
    """Prints repeated parts once, under a name: first it counts, then it prints."""

    counts: Counter[tuple[str, int]]
    counting = True
    number = 0

    def define_parts(self, d: Dimension) -> str:
        """The definitions of the named parts and the expression in them."""
        self.counts = Counter()
        self.polynomial(d)
        self.counting = False
        self.names: dict[tuple[str, int], str] = {}
        self.definitions: list[str] = []
        body = self.polynomial(d)
        parts = ", ".join(self.definitions)
        return self.check_length(f"(let {parts} in {body})" if parts else body)

    def dim(self, d: DimSize) -> str:
        """Without a memo, since every occurrence counts; the inside of an atom is visited once."""
        return str(d) if isinstance(d, int) else self.check_length(self.polynomial(d))

    def minimum(self, d: Dimension) -> str | None:
        """None: a minimum is no atom and would be printed at each occurrence."""
        return None

    def atom(self, number: int, atom: Floor | Maximum) -> PrintedAtom:
        return self._part(("atom", number), lambda: super(_PartsPrinter, self).atom(number, atom))

    def modulus(self, number: int, atom: Floor) -> PrintedAtom:
        return self._part(("modulus", number), lambda: super(_PartsPrinter, self).modulus(number, atom))

    def _part(self, key: tuple[str, int], text: Callable[[], PrintedAtom]) -> PrintedAtom:
        if self.counting:
            self.counts[key] += 1
            if self.counts[key] == 1:
                text()
            if len(self.counts) > self.longest:
                raise _TooLong
            return "", False
        if self.counts[key] == 1:
            return text()
        if key not in self.names:
            definition = text()[0]
            self.names[key] = self._new_name()
            self.definitions.append(f"{self.names[key]} = {definition}")
            self.check_length(definition)
        return self.names[key], False

    def _new_name(self) -> str:
        self.number += 1
        while self.scope.has(f"p{self.number}"):
            self.number += 1
        return f"p{self.number}"


ALGEBRA.format = format_dim
