"""Axes that the file declares as dynamic and that the graph does not leave free."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from shapeinf.checks.finding import Finding
from shapeinf.checks.registry import kind
from shapeinf.checks.sampling import FAR, LARGE, MOST, ends_at_a_switch, maxima, solving
from shapeinf.checks.subject import Subject
from shapeinf.contract import Precondition
from shapeinf.expr import Dim, Dimension

_LISTED = 4
"""So many sizes are few: they are listed, of more their number is said."""


def _found(subject: Subject, code: str, message: str, source: Precondition, help: str | None = None) -> Finding:
    node = source.node
    return Finding(
        "warning",
        code,
        message,
        node,
        subject.op(node),
        because=source.message,
        help=help,
        location=subject.location(node),
    )


@kind("C101", "a dynamic axis that can only take one value")
def pinned(subject: Subject) -> Iterator[Finding]:
    """Symbols of inputs that nodes fix, and products of them that nodes fix."""
    for condition in subject.demands:
        symbol = condition.terms[0]
        if condition.kind == "value" and isinstance(symbol, Dimension):
            size = condition.terms[1]
            message = f"{_shown(subject, symbol)} is declared as dynamic but can only be {size}"
            help = f"declare it as {size}, or free the node (a constant that holds the size where it was exported)"
            yield _found(subject, "C101", message, condition, help)
        elif condition.kind == "range":
            yield from _window(subject, condition)
        elif condition.kind == "equality":
            yield from _equation(subject, condition)
        elif condition.kind == "alternative":
            yield from _alternative(subject, condition)


def _window(subject: Subject, condition: Precondition) -> Iterator[Finding]:
    """An upper bound that leaves few sizes, or that an equation makes; not the end of a table of many rows."""
    symbol, *equation = condition.terms
    if condition.least is None and isinstance(symbol, Dimension):
        most, least = condition.bound, _least(subject, symbol)
        if most is not None and (most - least < _LISTED or (equation and not ends_at_a_switch(equation, symbol, most))):
            sizes = f"{least} to {most}" if least < most - 1 else f"{most} or {least}" if least < most else str(most)
            message = f"{_shown(subject, symbol)} is declared as dynamic but can only be {sizes}"
            yield _found(subject, "C101", message, condition)


def _least(subject: Subject, symbol: Dimension) -> int:
    """The smallest size that nodes leave of a symbol."""
    least = [one.least for one in subject.demands if one.terms[0] is symbol and one.least is not None]
    return max(*least, int(max(0, subject.setup.bounds(symbol)[0])), 0)


def _equation(subject: Subject, condition: Precondition) -> Iterator[Finding]:
    total = _fixed_product(subject, condition.clauses[0].expression)
    if total is None:
        if condition.terms[0] not in subject.store.solved:
            yield from _together(subject, condition)
    else:
        text, number = total
        message = f"{text}{_owners(subject, condition.terms)} is dynamic but can only be {number}"
        yield _found(subject, "C101", message, condition)


def _alternative(subject: Subject, condition: Precondition) -> Iterator[Finding]:
    free = [d for d in condition.terms if isinstance(d, Dimension)]
    fixed = [d for d in condition.terms if isinstance(d, int)]
    if len(free) == 1 and fixed and free[0] in subject.axes:
        message = f"{_shown(subject, free[0])} is declared as dynamic but can only be {fixed[0]} or 1"
        yield _found(subject, "C101", message, condition)
    elif free and not _two_symbols(free):
        yield from _together(subject, condition)


def _together(subject: Subject, condition: Precondition) -> Iterator[Finding]:
    """A condition that no size above 1, or only small ones, fulfil, of all that are tried."""
    if len(condition.free) == 1 and _has_maxima(condition.terms):
        yield from _few(subject, condition)
        return
    sizes = f"{' and '.join(sorted(map(str, condition.free)))}{_owners(subject, condition.terms)}"
    for least in (2,) if _has_maxima(condition.terms) else (2, LARGE, FAR):
        tried = False
        for binding in solving(subject.store, condition.free, least, condition.clauses, condition.terms):
            tried = True
            if condition.holds(binding) is not False:
                break
        else:
            if tried:
                message = f"sizes of {sizes} from {least} on do not go together: none that was tried does"
                yield _found(subject, "C101", message, condition, f"the node needs {condition.text}")
                return


def _few(subject: Subject, condition: Precondition) -> Iterator[Finding]:
    """A condition on one dim that few sizes fulfil, where they do not end because a table does."""
    (symbol,) = condition.free
    bounds = subject.store.interval(symbol)
    sizes = range(max(1, bounds.lo or 0), MOST + 1 if bounds.hi is None else min(bounds.hi, MOST) + 1)
    fit = [size for size in sizes if condition.holds({symbol.name: size}) is not False]
    if fit and (_goes_on(fit, sizes) or ends_at_a_switch(condition.terms, symbol, fit[-1])):
        return
    listed = " or ".join(map(str, fit[:_LISTED])) if len(fit) <= _LISTED else f"one of {len(fit)} sizes up to {fit[-1]}"
    message = f"{_shown(subject, symbol)} is declared as dynamic but can only be {listed or 'none of those tried'}"
    yield _found(subject, "C101", message, condition, f"the node needs {condition.text}")


def _goes_on(fit: list[int], sizes: range) -> bool:
    """Whether there may be more sizes behind the last one that fits: no gap is wider than what is left."""
    gaps = [b - a for a, b in itertools.pairwise(fit)]
    return sizes[-1] - fit[-1] <= max(gaps, default=0)


def _has_maxima(dims: Iterable[Dim]) -> bool:
    """Whether sizes are cut off somewhere, as by a table of positions: then an end of what is legal is meant."""
    return any(True for _ in maxima(dims))


def _shown(subject: Subject, symbol: Dimension) -> str:
    return f"{subject.shown(symbol)}{_owners(subject, [symbol])}"


def _owners(subject: Subject, dims: Iterable[Dim]) -> str:
    """The axes of the inputs whose named symbols are in dims, in parentheses."""
    symbols = {s for d in dims if isinstance(d, Dimension) for s in d.symbols() if not s.symbol.anonymous}
    axes = [subject.axes_of(s) for s in subject.axes if s in symbols]
    return f" ({', '.join(axes)})" if axes else ""


def _fixed_product(subject: Subject, equation: Dim) -> tuple[str, int] | None:
    """`("batch*seq", 128)` for `batch*seq - 128 == 0`: sizes that grow alone cannot have but few values."""
    if isinstance(equation, int):
        return None
    constant = equation.constant
    rest = equation - constant
    if not isinstance(rest, Dimension) or constant == 0:
        return None
    signs = {c > 0 for _, c in rest.terms}
    atoms = set(rest.atom_numbers())
    if len(signs) > 1 or any(subject.store.bounds(rest.scope.atom_dim(atom))[0] < 0 for atom in atoms):
        return None
    return (str(rest), -constant) if signs == {True} else (str(-rest), constant)


def _two_symbols(dims: list[Dimension]) -> bool:
    return len(dims) == 2 and all(d.is_symbol for d in dims)


@kind("C102", "two names that must be one size")
def united(subject: Subject) -> Iterator[Finding]:
    """Named symbols of inputs that nodes make equal, always or unless one of them is 1."""
    for condition in subject.demands:
        dims = [d for d in condition.terms if isinstance(d, Dimension)]
        if len(dims) != 2 or dims[0] is dims[1] or not all(d in subject.named for d in dims):
            continue
        if condition.kind in ("equality", "alternative"):
            unless = "" if condition.kind == "equality" else ", unless one of them is 1"
            first, second = sorted(dims, key=list(subject.axes).index)
            message = (
                f"{first} ({subject.axes_of(first)}) and {second} ({subject.axes_of(second)}) must be equal{unless}, "
                f"but have two names"
            )
            yield _found(subject, "C102", message, condition, f"call both {first}")
