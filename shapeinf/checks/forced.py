"""Axes that the file declares as dynamic and that the graph does not leave free."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shapeinf.algebra import Dim, Dimension
from shapeinf.algebra.told import Guard
from shapeinf.checks.finding import Finding
from shapeinf.checks.registry import kind
from shapeinf.checks.sampling import LARGE, MOST, bindings, holds, operands
from shapeinf.checks.subject import Subject
from shapeinf.errors import Source


def _found(subject: Subject, code: str, message: str, source: Source, help: str | None = None) -> Finding:
    node = source.node
    return Finding(
        "warning",
        code,
        message,
        node,
        subject.op(node),
        because=source.reason,
        help=help,
        location=subject.location(node),
    )


@kind("C101", "a dynamic axis that can only take one value")
def pinned(subject: Subject) -> Iterator[Finding]:
    """Symbols of inputs that nodes fix, and products of them that nodes fix."""
    facts, setup = subject.facts, subject.setup
    for symbol in subject.axes:
        size = facts.canon(symbol)
        if isinstance(size, int) and not isinstance(setup.canon(symbol), int):
            shown = f"{subject.shown(symbol)}{_owners(subject, [symbol])}"
            message = f"{shown} is declared as dynamic but can only be {size}"
            help = f"declare it as {size}, or free the node (a constant that holds the size where it was exported)"
            yield _found(subject, "C101", message, facts.sources[symbol], help)
    for guard in _demanded(subject):
        yield from _confined(subject, guard)


def _demanded(subject: Subject) -> Iterable[Guard]:
    """The kept conditions that nodes add about nothing but symbols of inputs."""
    known = {(g.template, g.source) for g in subject.setup.guards}
    for guard in subject.facts.guards:
        dims = operands(subject.facts, guard)
        if dims and (guard.template, guard.source) not in known and all(map(subject.about_inputs, dims)):
            yield guard


def _confined(subject: Subject, guard: Guard) -> Iterator[Finding]:
    dims = operands(subject.facts, guard)
    if guard.equation is not None:
        total = _fixed_product(subject, dims[0])
        if total is not None:
            text, number = total
            message = f"{text}{_owners(subject, dims)} is dynamic but can only be {number}"
            yield _found(subject, "C101", message, guard.source)
        else:
            yield from _together(subject, guard, [d for d in dims if isinstance(d, Dimension)])
        return
    free = [d for d in dims if isinstance(d, Dimension)]
    fixed = [d for d in dims if isinstance(d, int)]
    if len(free) == 1 and fixed and free[0] in subject.axes:
        shown = f"{subject.shown(free[0])}{_owners(subject, free)}"
        message = f"{shown} is declared as dynamic but can only be {fixed[0]} or 1"
        yield _found(subject, "C101", message, guard.source)
    elif free and not _two_symbols(free):
        yield from _together(subject, guard, free)


def _together(subject: Subject, guard: Guard, dims: list[Dimension]) -> Iterator[Finding]:
    """A condition that no size above 1, or only small ones, fulfil, of all that are tried."""
    symbols = {s for d in dims for s in d.symbols()}
    sizes = f"{' and '.join(sorted(map(str, symbols)))}{_owners(subject, dims)}"
    needs = f"the node needs {guard.template.format(*operands(subject.facts, guard))}"
    for least in (2,) if _has_maxima(dims) else (2, LARGE):
        outcomes = [holds(subject.facts, guard, one) for one in bindings(subject.facts, symbols, least)]
        if outcomes and all(one is False for one in outcomes):
            message = f"sizes of {sizes} from {least} on do not go together: none that was tried, up to {MOST}, does"
            yield _found(subject, "C101", message, guard.source, needs)
            return


def _has_maxima(dims: list[Dimension]) -> bool:
    """Whether sizes are cut off somewhere, as by a table of positions: then an end of what is legal is meant."""
    return any("max(" in str(d) or "min(" in str(d) for d in dims)


def _owners(subject: Subject, dims: Iterable[Dim]) -> str:
    """The axes of the inputs whose named symbols are in dims, in parentheses."""
    symbols = {s for d in dims if isinstance(d, Dimension) for s in d.symbols() if not s.symbol.anonymous}
    axes = [subject.axes_of(s) for s in subject.axes if s in symbols]
    return f" ({', '.join(axes)})" if axes else ""


def _fixed_product(subject: Subject, equation: Dim) -> tuple[str, int] | None:
    """`("batch*seq", 128)` for `batch*seq - 128 == 0`: sizes that grow alone cannot have but few values."""
    if isinstance(equation, int):
        return None
    constant = next((c for monomial, c in equation.terms if not monomial), 0)
    rest = equation - constant
    if not isinstance(rest, Dimension) or constant == 0:
        return None
    signs = {c > 0 for _, c in rest.terms}
    atoms = {atom for monomial, _ in rest.terms for atom in monomial}
    if len(signs) > 1 or any(subject.facts.bounds(rest.scope.atom_dim(atom))[0] < 0 for atom in atoms):
        return None
    return (str(rest), -constant) if signs == {True} else (str(-rest), constant)


def _two_symbols(dims: list[Dimension]) -> bool:
    return len(dims) == 2 and all(d.is_symbol for d in dims)


@kind("C102", "two names that must be one size")
def united(subject: Subject) -> Iterator[Finding]:
    """Named symbols of inputs that nodes make equal, always or unless one of them is 1."""
    facts, setup = subject.facts, subject.setup
    for symbol in sorted(subject.named, key=str):
        other = facts.canon(symbol)
        if other in subject.named and other is not symbol and setup.prove_eq(symbol, other) is not True:
            assert isinstance(other, Dimension)
            yield _united(subject, symbol, other, facts.sources[symbol], "")
    for guard in _demanded(subject):
        dims = [d for d in operands(facts, guard) if isinstance(d, Dimension)]
        if guard.equation is None and len(dims) == 2 and all(d in subject.named for d in dims) and dims[0] != dims[1]:
            yield _united(subject, dims[0], dims[1], guard.source, ", unless one of them is 1")


def _united(subject: Subject, a: Dimension, b: Dimension, source: Source, unless: str) -> Finding:
    first, second = sorted((a, b), key=lambda s: list(subject.axes).index(s))
    message = (
        f"{first} ({subject.axes_of(first)}) and {second} ({subject.axes_of(second)}) must be equal{unless}, "
        f"but have two names"
    )
    return _found(subject, "C102", message, source, f"call both {first}")
