"""What-if runs with numbers for the dims of the inputs, which prove a diagnostic by an inference."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from shapeinf.api import infer
from shapeinf.checks.checked_model import CheckedModel
from shapeinf.constraints.records import try_evaluate
from shapeinf.contract import Precondition
from shapeinf.diagnostics import Diagnostic, register_code
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.engine.inference import Inference
from shapeinf.engine.session import rerun
from shapeinf.errors import ShapeError, Source
from shapeinf.expr import Dim, Dimension
from shapeinf.inputs.options import InferenceOptions
from shapeinf.solver.sampling import Binding, legality_test, solve_clause

C115 = register_code(
    "C115", "warning", "a graph that fails at all tested sizes", "No declared constraint excludes these sizes."
)
PRIMES = (37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83)
"""Sizes that no number in a graph divides, and at which no table ends."""
_FACTORS = (1, 2, 4, 8, 16, 32, 64)
_MAX_COMBINATIONS = 256
_MAX_BINDINGS = 4
_MAX_SKEWED = 8


def fails_everywhere(model: CheckedModel) -> Iterator[Diagnostic]:
    """C115: the first node that fails at each of a few sets of sizes; none as soon as the graph runs at one of them.

    Some requirements cannot be decided for symbols: then neither a diagnostic nor a precondition states them. Only
    models whose input dims all have names are tested, and only nodes whose inputs have known ranks: a size that
    decides a rank has one right value, which a test hardly meets.
    """
    if not model.axes or model.axes.keys() != model.named:
        return
    failures = []
    for binding in itertools.chain(generic_bindings(model, _MAX_BINDINGS), skewed_bindings(model, _MAX_SKEWED)):
        violations = violations_at(model.result.inference, binding)
        if not violations:
            return
        failures.append((binding, violations))
    if not failures:
        return
    binding, (first, *_) = failures[0]
    if _has_known_ranks(model, first.node) and all(
        any(violation.node == first.node for violation in violations) for _, violations in failures
    ):
        message = f"at {model.binding_text(binding)}, as at all other tested sizes: {first.message}"
        yield attrs.evolve(first, severity="warning", code=C115, message=message, help=None)


def _has_known_ranks(model: CheckedModel, node: str) -> bool:
    inputs = model.nodes[node].inputs if node in model.nodes else ()
    shapes = [model.result.tensors[name].shape for name in inputs if name]
    return bool(shapes) and all(shape.dims is not None for shape in shapes)


def violations_at(
    inference: Inference, binding: Binding, prepare: Callable[[Inference], None] | None = None
) -> list[Diagnostic] | None:
    """The certain violations where the dims of the inputs have these sizes; None for illegal sizes."""
    store = inference.initial_store.copy()
    try:
        for name, size in binding.items():
            store.add_equal(store.scope.symbol(name), size, Source("", f"the what-if run has {name} = {size}"))
    except ShapeError:
        return None
    return certain_violations(rerun(inference, store, prepare))


# -- bindings of all dims of the inputs ------------------------------------------------------------------------------


def generic_bindings(model: CheckedModel, count: int) -> Iterator[Binding]:
    """Legal sizes of all dims of the inputs that have as little in common as possible."""
    yield from itertools.islice(_legal_bindings(model, _rows), count)


def skewed_bindings(model: CheckedModel, count: int) -> Iterator[Binding]:
    """Legal sizes of all dims of the inputs of which each in turn is much larger than the others.

    Some nodes require an order of sizes that nothing states: a mask must be as long as the tokens and the past.
    """
    yield from itertools.islice(_legal_bindings(model, _skewed_rows), count)


def _legal_bindings(
    model: CheckedModel, rows: Callable[[list[list[int]]], Iterable[tuple[int, ...]]]
) -> Iterator[Binding]:
    """The legal ones of bindings whose rows are made from candidate sizes for each dim."""
    symbols = list(model.axes)
    names = [symbol.name for symbol in symbols]
    required = [precondition for precondition in model.preconditions if precondition.clauses]
    is_legal = legality_test(model.initial_store, set(names))
    columns = [_candidate_sizes(model, symbol, index, required) for index, symbol in enumerate(symbols)]
    bindings = (_solve_equations(dict(zip(names, row, strict=True)), required) for row in rows(columns))
    return (b for b in bindings if is_legal(b) and all(c.holds(b) is not False for c in required))


def _solve_equations(binding: Binding, required: Iterable[Precondition]) -> Binding:
    """A binding with the size that an equation determines for one dim: `total == past + seq`."""
    for precondition in required:
        solution = solve_clause(precondition.clauses[0]) if len(precondition.clauses) == 1 else None
        if solution is not None and precondition.holds(binding) is False:
            size = try_evaluate(solution[1], binding)
            binding = binding if size is None or size < 0 else {**binding, solution[0].name: size}
    return binding


def _candidate_sizes(model: CheckedModel, symbol: Dimension, index: int, required: Iterable[Precondition]) -> list[int]:
    """Sizes of one dim within its bounds that satisfy the preconditions on it alone, generic ones first."""
    bounds = model.initial_store.interval(symbol)
    low, high = bounds.lo or 0, bounds.hi
    primes = [*PRIMES[index % len(PRIMES) :], *PRIMES[: index % len(PRIMES)]]
    multiples = [factor * prime for factor in _FACTORS for prime in primes[:4]]
    near_the_end = [] if high is None else [high - index % (high - low + 1), high]
    sizes = dict.fromkeys([*multiples, *near_the_end, *(low + n for n in (7 + index, 3 + index, 2, 1, 0))])
    alone = [precondition for precondition in required if precondition.free_symbols == {symbol}]
    return [
        size
        for size in sizes
        if size >= low
        and (high is None or size <= high)
        and all(precondition.holds({symbol.name: size}) is not False for precondition in alone)
    ]


def _rows(columns: list[list[int]]) -> Iterator[tuple[int, ...]]:
    """Rows of sizes: all first ones, all second ones, and so on; then other combinations of the first few."""
    if all(columns):
        longest = max(map(len, columns), default=1)
        for index in range(longest):
            yield tuple(column[min(index, len(column) - 1)] for column in columns)
        yield from itertools.islice(itertools.product(*(column[:6] for column in columns)), _MAX_COMBINATIONS)


def _skewed_rows(columns: list[list[int]]) -> Iterator[tuple[int, ...]]:
    """Rows of the first sizes, with the largest one of each column in turn."""
    if all(columns):
        for index, column in enumerate(columns):
            yield tuple(max(column) if other == index else sizes[0] for other, sizes in enumerate(columns))


# -- shapes of inputs that a deployment requests ---------------------------------------------------------------------


def run_at_shapes(model: CheckedModel, shapes: Mapping[str, Sequence[Any]]) -> list[Diagnostic]:
    """The errors of the graph at these shapes of inputs, whose items are sizes, names or None."""
    inputs = {name: list(shape) for name, shape in shapes.items()}
    try:
        result = infer(
            model.graph, InferenceOptions(inputs=inputs, values=model.result.values, declared="ignore", min_dim=0)
        )
    except ShapeError as error:
        return [Diagnostic("error", error.code, str(error))]
    return [attrs.evolve(violation, severity="error", help=None) for violation in certain_violations(result.inference)]


def explain_mismatch(model: CheckedModel, declared: Sequence[Dim], shape: Sequence[int]) -> str:
    """Why an input with these dims does not take a shape; empty where it does."""
    text = "[" + ", ".join(map(str, shape)) + "]"
    if len(declared) != len(shape):
        return f"is {text}, but the model declares {len(declared)} axes"
    for axis, (dim, size) in enumerate(zip(declared, shape, strict=True)):
        if isinstance(dim, int) and dim != size:
            return f"is {text}, but axis {axis} is declared as {dim}"
        if isinstance(dim, Dimension):
            bounds = model.initial_store.interval(dim)
            if size < (bounds.lo or 0) or (bounds.hi is not None and size > bounds.hi):
                return f"is {text}, but axis {axis} must be in {bounds}"
    return ""


def input_shapes_at(model: CheckedModel, names: Iterable[str], binding: Binding) -> dict[str, list[int]] | None:
    """The shapes of these inputs under a binding; None where one has no size."""
    shapes: dict[str, list[int]] = {}
    for name in names:
        sizes = [try_evaluate(dim, binding) for dim in model.input_dims[name]]
        known = [size for size in sizes if size is not None and size >= 0]
        if len(known) < len(sizes):
            return None
        shapes[name] = known
    return shapes
