"""Checks of the axes of inputs: dynamic axes that the graph fixes, merges or relates to each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from shapeinf.checks.checked_model import CheckedModel, precondition_diagnostic
from shapeinf.checks.registry import register_check
from shapeinf.constraints.records import try_evaluate
from shapeinf.contract import Precondition
from shapeinf.diagnostics import Diagnostic
from shapeinf.expr import Dimension, DimSize
from shapeinf.expr.atoms import Floor, Maximum
from shapeinf.solver.sampling import FAR, LARGE, MAX_ROOTS, MOST, Binding, legality_test, sample_solutions

_MAX_LISTED = 4
"""The most legal sizes that are listed; past it the message has their count."""
_COUPLING_KINDS = ("equality", "alternative", "divisibility")
"""The kinds of preconditions that couple axes. A bound does not: it may be the end of a table of positions."""
_MAX_SAMPLES = 1024
"""The most sampled bindings that are searched for legal ones."""
_MAX_MIXED = 12
"""The number of legal bindings whose sizes are exchanged with each other."""
_LEAST_SIZES = (2, LARGE)
"""The least sizes of samples: an axis of 1 broadcasts, and small sizes may become 1 after a division."""


def _report(
    model: CheckedModel, code: str, message: str, precondition: Precondition, help: str | None = None
) -> Diagnostic:
    node = precondition.node
    location = model.location(node)
    because = precondition.message
    return Diagnostic("warning", code, message, node, model.op(node), because=because, help=help, location=location)


# -- C101 ----------------------------------------------------------------------------------------------------------


@register_check(
    "C101",
    "warning",
    "a dynamic axis that can only take one value",
    "Or a few values, or only small values. Usually a constant of the export contains the size.",
)
def over_constrained_axes(model: CheckedModel) -> Iterator[Diagnostic]:
    """Symbols of inputs, and products and sums of them, for which the nodes allow few sizes."""
    for precondition in model.preconditions:
        symbol = precondition.terms[0]
        if precondition.kind == "value" and isinstance(symbol, Dimension):
            size = precondition.terms[1]
            message = f"{_dynamic(model, symbol)} but can only be {size}"
            help = f"declare it as {size}, or export the model without the constant that fixes it"
            yield _report(model, "C101", message, precondition, help)
        elif precondition.kind == "range":
            yield from _upper_bound(model, precondition)
        elif precondition.kind == "equality":
            yield from _equation(model, precondition)
        elif precondition.kind == "alternative":
            yield from _alternative(model, precondition)


def _upper_bound(model: CheckedModel, precondition: Precondition) -> Iterator[Diagnostic]:
    """An upper bound that leaves few sizes, or follows from an equation; not the end of a long table."""
    symbol, *equation = precondition.terms
    if precondition.least is None and isinstance(symbol, Dimension):
        most, least = precondition.bound, _lower_bound(model, symbol)
        if most is not None and (
            most - least < _MAX_LISTED or (equation and not ends_at_a_switch(equation, symbol, most))
        ):
            sizes = f"{least} to {most}" if least < most - 1 else f"{most} or {least}" if least < most else str(most)
            yield _report(model, "C101", f"{_dynamic(model, symbol)} but can only be {sizes}", precondition)


def _lower_bound(model: CheckedModel, symbol: Dimension) -> int:
    """The smallest size of a symbol that the nodes allow."""
    bounds = [c.least for c in model.preconditions if c.terms[0] is symbol and c.least is not None]
    return max([0, *bounds, int(max(0, model.initial_store.bounds(symbol)[0]))])


def _equation(model: CheckedModel, precondition: Precondition) -> Iterator[Diagnostic]:
    product = _fixed_product(model, precondition.clauses[0].expression)
    if product is None:
        if precondition.terms[0] not in model.store.solved:
            yield from _no_large_solution(model, precondition)
    elif not _is_shared_size(model, precondition):
        text, number = product
        message = f"{text}{_axes_in(model, precondition.terms)} is dynamic but can only be {number}"
        yield _report(model, "C101", message, precondition)


def _is_shared_size(model: CheckedModel, precondition: Precondition) -> bool:
    """Whether axes of several inputs share a size of the model: a cache and its tokens fill a context of 32.

    Where a node reads the size as a number, the export fixed it.
    """
    equation = precondition.clauses[0].expression
    summands = [monomial for monomial, _ in equation.terms if monomial] if isinstance(equation, Dimension) else []
    related = not model.are_independent(precondition.free_symbols)
    return len(summands) > 1 and related and not model.reads_sizes(precondition.node)


def _alternative(model: CheckedModel, precondition: Precondition) -> Iterator[Diagnostic]:
    dynamic = [d for d in precondition.terms if isinstance(d, Dimension)]
    fixed = [d for d in precondition.terms if isinstance(d, int)]
    if len(dynamic) == 1 and fixed and dynamic[0] in model.axes:
        yield _report(model, "C101", f"{_dynamic(model, dynamic[0])} but can only be {fixed[0]} or 1", precondition)
    elif dynamic and not (len(dynamic) == 2 and all(d.is_symbol for d in dynamic)):
        yield from _no_large_solution(model, precondition)


def _no_large_solution(model: CheckedModel, precondition: Precondition) -> Iterator[Diagnostic]:
    """A precondition that no tested size above 1, or no large one, satisfies."""
    symbols = precondition.free_symbols
    has_maxima = _has_maxima(precondition.terms)
    if len(symbols) == 1 and has_maxima:
        yield from _few_solutions(model, precondition)
        return
    for least in (2,) if has_maxima else (2, LARGE, FAR):
        samples = sample_solutions(model.store, symbols, least, precondition.clauses, precondition.terms, MAX_ROOTS)
        if _are_all_illegal(precondition, samples):
            names = f"{' and '.join(sorted(map(str, symbols)))}{_axes_in(model, precondition.terms)}"
            message = f"no tested sizes of {names} from {least} on are legal"
            yield _report(model, "C101", message, precondition, f"the node requires {precondition.text}")
            return


def _may_hold(precondition: Precondition, binding: Binding) -> bool:
    return precondition.holds(binding) is not False


def _are_all_illegal(precondition: Precondition, samples: Iterable[Binding]) -> bool:
    """Whether all samples violate a precondition; False for no samples."""
    any_sample = False
    for binding in samples:
        if _may_hold(precondition, binding):
            return False
        any_sample = True
    return any_sample


def _few_solutions(model: CheckedModel, precondition: Precondition) -> Iterator[Diagnostic]:
    """A precondition on one dim that few sizes satisfy, unless a table of positions ends there."""
    (symbol,) = precondition.free_symbols
    bounds = model.store.interval(symbol)
    sizes = range(max(1, bounds.lo or 0), MOST + 1 if bounds.hi is None else min(bounds.hi, MOST) + 1)
    legal = [size for size in sizes if _may_hold(precondition, {symbol.name: size})]
    if legal and (_may_continue(legal, sizes) or ends_at_a_switch(precondition.terms, symbol, legal[-1])):
        return
    few = len(legal) <= _MAX_LISTED
    listed = " or ".join(map(str, legal[:_MAX_LISTED])) if few else f"one of {len(legal)} sizes up to {legal[-1]}"
    message = f"{_dynamic(model, symbol)} but can only be {listed or 'none of the tested sizes'}"
    yield _report(model, "C101", message, precondition, f"the node requires {precondition.text}")


def _may_continue(legal: list[int], sizes: range) -> bool:
    """Whether larger sizes may be legal: a gap between legal sizes is at least as wide as the rest of the range."""
    gaps = [b - a for a, b in itertools.pairwise(legal)]
    return sizes[-1] - legal[-1] <= max(gaps, default=0)


def _has_maxima(dims: Iterable[DimSize]) -> bool:
    """Whether sizes are limited by a maximum, such as the end of a table of positions, which is intended."""
    return any(True for _ in maxima(dims))


def ends_at_a_switch(dims: Iterable[DimSize], symbol: Dimension, last: int) -> bool:
    """Whether the largest argument of a maximum changes after this size: a table ends there, or begins to be used."""
    return any(_winners(atom, {symbol.name: last}) != _winners(atom, {symbol.name: last + 1}) for atom in maxima(dims))


def _winners(atom: Maximum, binding: Binding) -> list[bool]:
    sizes = [try_evaluate(arg, binding) for arg in atom.args]
    known = [size for size in sizes if size is not None]
    return [size == max(known, default=None) for size in sizes]


def maxima(dims: Iterable[DimSize]) -> Iterator[Maximum]:
    """All maxima in dims, also those inside divisions and other maxima; each once."""
    visited: set[int] = set()
    stack = list(dims)
    while stack:
        dim = stack.pop()
        numbers = {} if isinstance(dim, int) else {n: dim.scope.atoms[n] for monomial, _ in dim.terms for n in monomial}
        for number, atom in numbers.items():
            if number in visited:
                continue
            visited.add(number)
            if isinstance(atom, Maximum):
                yield atom
                stack += atom.args
            elif isinstance(atom, Floor):
                stack.append(atom.numerator)


def _dynamic(model: CheckedModel, symbol: Dimension) -> str:
    return f"{model.symbol_text(symbol)}{_axes_in(model, [symbol])} is declared as dynamic"


def _axes_in(model: CheckedModel, dims: Iterable[DimSize]) -> str:
    """The axes of the inputs whose named symbols are in dims, in parentheses."""
    symbols = {s for d in dims if isinstance(d, Dimension) for s in d.symbols() if not s.symbol.anonymous}
    axes = [model.axes_text(s) for s in model.axes if s in symbols]
    return f" ({', '.join(axes)})" if axes else ""


def _fixed_product(model: CheckedModel, equation: DimSize) -> tuple[str, int] | None:
    """`("batch*seq", 128)` for `batch*seq - 128 == 0`, which few sizes satisfy; None for other equations."""
    if isinstance(equation, int):
        return None
    constant = equation.constant
    rest = equation - constant
    if not isinstance(rest, Dimension) or constant == 0:
        return None
    signs = {c > 0 for _, c in rest.terms}
    atoms = {atom for monomial, _ in rest.terms for atom in monomial}
    if len(signs) > 1 or any(model.store.bounds(rest.scope.atom_dim(atom))[0] < 0 for atom in atoms):
        return None
    return (str(rest), -constant) if signs == {True} else (str(-rest), constant)


# -- C102 ----------------------------------------------------------------------------------------------------------


@register_check(
    "C102",
    "warning",
    "two names that must be one size",
    "Nodes require it always, or unless one of the sizes is 1.",
)
def merged_names(model: CheckedModel) -> Iterator[Diagnostic]:
    """Named symbols of inputs that nodes require to be equal, always or unless one of them is 1."""
    for precondition in model.preconditions:
        dims = [d for d in precondition.terms if isinstance(d, Dimension)]
        if len(dims) != 2 or dims[0] is dims[1] or not all(d in model.named_symbols for d in dims):
            continue
        if precondition.kind in ("equality", "alternative"):
            unless = "" if precondition.kind == "equality" else ", unless one of them is 1"
            first, second = sorted(dims, key=list(model.axes).index)
            message = (
                f"{first} ({model.axes_text(first)}) and {second} ({model.axes_text(second)}) must be equal{unless}, "
                f"but have two names"
            )
            yield _report(model, "C102", message, precondition, f"call both {first}")


# -- C105 ----------------------------------------------------------------------------------------------------------


@register_check(
    "C105",
    "warning",
    "axes of one input that must fit each other",
    "Each axis is dynamic, but a node requires a relation between them.",
)
def coupled_axes(model: CheckedModel) -> Iterator[Diagnostic]:
    """Preconditions that relate independent axes, with a legal binding that one changed size makes illegal.

    One is reported for each node. Names that must be equal are C102. Axes of different inputs are often related
    (`total == past + seq`), which is no mistake.
    """
    nodes: set[str] = set()
    for precondition in model.preconditions:
        symbols = precondition.free_symbols
        if precondition.kind not in _COUPLING_KINDS or len(symbols) < 2 or precondition.node in nodes:
            continue
        if set(precondition.terms) <= model.named_symbols or not model.are_independent(symbols):
            continue
        example = _coupling_example(model, precondition)
        if example is not None:
            nodes.add(precondition.node)
            legal, mixed = map(model.binding_text, example)
            axes = " and ".join(f"{model.symbol_text(s)} ({model.axes_text(s)})" for s in model.axes if s in symbols)
            yield precondition_diagnostic(
                "warning",
                "C105",
                f"{axes} must fit each other: {precondition.text}; the graph fails at {mixed}, but may run at {legal}",
                precondition,
                help="ignore this if it is intended; otherwise a node upstream uses the wrong axis",
            )


def _coupling_example(model: CheckedModel, precondition: Precondition) -> tuple[Binding, Binding] | None:
    """A legal binding, and an illegal one that differs in a size of another legal binding; None where there is none."""
    symbols = precondition.free_symbols
    names = {symbol.name for symbol in symbols}
    is_legal = legality_test(model.initial_store, names)
    required = [other for other in model.preconditions if other.free_symbols <= symbols]
    dims = [*precondition.terms, *(clause.expression for clause in precondition.clauses)]
    for least in _LEAST_SIZES:
        samples = sample_solutions(model.initial_store, symbols, least, precondition.clauses, dims)
        legal = (
            binding
            for binding in itertools.islice(samples, _MAX_SAMPLES)
            if is_legal(binding) and all(_may_hold(other, binding) for other in required)
        )
        for binding, other_binding in itertools.permutations(itertools.islice(legal, _MAX_MIXED), 2):
            for name in names:
                mixed = {**binding, name: other_binding[name]}
                if precondition.holds(mixed) is False and is_legal(mixed):
                    return binding, mixed
    return None
