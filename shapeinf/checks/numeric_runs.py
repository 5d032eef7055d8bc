"""What-if runs with numbers for the dims of the inputs: a failure at legal sizes proves a diagnostic."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from shapeinf.api import infer
from shapeinf.checks.checked_model import CheckedModel, violations_at
from shapeinf.constraints.records import Clause, try_evaluate
from shapeinf.diagnostics import Diagnostic, register_code
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.errors import ShapeError
from shapeinf.expr import Dimension, DimSize
from shapeinf.inputs.options import InferenceOptions
from shapeinf.solver import sampling
from shapeinf.solver.sampling import Binding

C115 = register_code(
    "C115", "warning", "a graph that fails at all tested sizes", "No declared constraint excludes these sizes."
)
_MAX_BINDINGS = 4
_MAX_SKEWED = 8


def fails_everywhere(model: CheckedModel) -> Iterator[Diagnostic]:
    """C115: the first node that fails at all of a few sets of legal sizes; nothing where the graph runs at one of them.

    Some requirements cannot be decided for symbols: neither a diagnostic nor a precondition has them. Only models whose
    input dims all have names are tested, and only nodes whose inputs have known ranks: a size that decides a rank has
    one legal value, which is unlikely to be among those that are tested. A graph whose bodies have exhausted the budget
    of its inference is not tested: those of each run would exhaust it again.
    """
    if model.result.engine.inference.budget.cut:
        model.budget.cut = True
        return
    if not model.axes or model.axes.keys() != model.named_symbols:
        return
    failures = []
    for binding in tested_bindings(model):
        violations = violations_at(model, binding)
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


def tested_bindings(model: CheckedModel) -> Iterator[Binding]:
    """Legal bindings of all dims of the inputs: generic ones, then each dim in turn much larger, then usual sizes."""
    skewed = sampling.skewed_bindings(model.initial_store, model.axes, _conditions(model))
    batch = {symbol for symbol, axes in model.axes.items() if all(axis == 0 for _, axis in axes)}
    usual = sampling.usual_bindings(model.initial_store, model.axes, _conditions(model), batch)
    drawn = generic_bindings(model, _MAX_BINDINGS), itertools.islice(skewed, _MAX_SKEWED), usual
    return itertools.chain(*drawn)


def generic_bindings(model: CheckedModel, count: int) -> Iterator[Binding]:
    """Up to `count` legal bindings of all dims of the inputs, whose sizes have as little in common as possible."""
    bindings = sampling.generic_bindings(model.initial_store, model.axes, _conditions(model))
    return itertools.islice(bindings, count)


def _conditions(model: CheckedModel) -> list[tuple[Clause, ...]]:
    return [precondition.clauses for precondition in model.preconditions if precondition.clauses]


def _has_known_ranks(model: CheckedModel, node: str) -> bool:
    inputs = model.nodes[node].inputs if node in model.nodes else ()
    shapes = [model.result.tensors[name].shape for name in inputs if name]
    return bool(shapes) and all(shape.dims is not None for shape in shapes)


# -- shapes of inputs that a deployment requests ---------------------------------------------------------------------


def run_at_shapes(model: CheckedModel, shapes: Mapping[str, Sequence[Any]]) -> list[Diagnostic]:
    """The errors of the graph at these shapes of inputs; the items of a shape are sizes, names or None."""
    inputs = {name: list(shape) for name, shape in shapes.items()}
    try:
        result = infer(
            model.graph, InferenceOptions(inputs=inputs, values=model.result.values, declared="ignore", min_dim=0)
        )
    except ShapeError as error:
        return [Diagnostic("error", error.code, str(error))]
    return [
        attrs.evolve(violation, severity="error", help=None)
        for violation in certain_violations(result.engine.inference)
    ]


def explain_mismatch(model: CheckedModel, declared: Sequence[DimSize], shape: Sequence[int]) -> str:
    """Why an input with these declared dims does not take a shape; empty where it does."""
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
    """The shapes of these inputs at a binding; None where a dim has no size there."""
    shapes: dict[str, list[int]] = {}
    for name in names:
        sizes = [try_evaluate(dim, binding) for dim in model.input_dims[name]]
        known = [size for size in sizes if size is not None and size >= 0]
        if len(known) < len(sizes):
            return None
        shapes[name] = known
    return shapes
