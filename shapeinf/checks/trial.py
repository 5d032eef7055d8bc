"""What happens at given shapes of inputs: an inference of its own, so that a claim is shown by a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from shapeinf.api import infer_shapes
from shapeinf.checks.sampling import Binding, try_evaluate
from shapeinf.checks.subject import CheckedModel
from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.inference import certain_violations
from shapeinf.errors import ShapeError
from shapeinf.expr import Dim, Dimension


def try_shapes(subject: CheckedModel, shapes: Mapping[str, Sequence[Any]]) -> list[Diagnostic]:
    """The errors of the graph at these shapes of inputs: sizes, names, or None."""
    try:
        result = infer_shapes(
            subject.graph, inputs={n: list(s) for n, s in shapes.items()}, declared="ignore", min_dim=0
        )
    except ShapeError as error:
        return [Diagnostic("error", error.code, str(error))]
    return [
        attrs.evolve(diagnostic, severity="error", help=None) for diagnostic in certain_violations(result.inference)
    ]


def misfit(subject: CheckedModel, declared: Sequence[Dim], shape: Sequence[int]) -> str:
    """How a shape is not one that an input declares; empty when it is."""
    text = "[" + ", ".join(map(str, shape)) + "]"
    if len(declared) != len(shape):
        return f"is {text}, but the model declares {len(declared)} axes"
    for axis, (dim, size) in enumerate(zip(declared, shape, strict=True)):
        if isinstance(dim, int) and dim != size:
            return f"is {text}, but axis {axis} is declared as {dim}"
        if isinstance(dim, Dimension):
            bounds = subject.initial_store.interval(dim)
            if size < (bounds.lo or 0) or (bounds.hi is not None and size > bounds.hi):
                return f"is {text}, but axis {axis} must lie in {bounds}"
    return ""


def as_shapes(
    subject: CheckedModel, shapes: Mapping[str, Sequence[int]], binding: Binding
) -> dict[str, list[int]] | None:
    """The shapes of these inputs under a binding; None when one has no size."""
    found = {name: [try_evaluate(dim, binding) for dim in subject.asked[name]] for name in shapes}
    if any(size is None or size < 0 for sizes in found.values() for size in sizes):
        return None
    return {name: [size for size in sizes if size is not None] for name, sizes in found.items()}


def shown(subject: CheckedModel, binding: Binding) -> str:
    """A binding as text: `batch = 2, x.shape[1] = 3`."""
    scope = subject.store.scope
    return ", ".join(f"{subject.shown(scope.symbol(name))} = {size}" for name, size in binding.items())
