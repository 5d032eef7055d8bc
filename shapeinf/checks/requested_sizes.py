"""Sizes of dims in a request: whether the graph runs with them."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from shapeinf.checks.checked_model import CheckedModel
from shapeinf.checks.profile import C152
from shapeinf.contract.contract import infer_at
from shapeinf.contract.nearest import nearest_texts
from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.engine.input_symbols import find_symbol, input_symbols
from shapeinf.errors import ShapeError


def check_sizes(model: CheckedModel, sizes: Mapping[str, int]) -> list[Diagnostic]:
    """The errors of the graph at these sizes, with the nearest legal ones; other dims stay open.

    Raises UnknownNameError for a dim that no input has.
    """
    text = ", ".join(f"{name}={size}" for name, size in sizes.items())
    broken = [
        attrs.evolve(violation, severity="error", code=C152, message=f"at {text}: {violation.message}")
        for violation in _violations(model, sizes) or _illegal(model, sizes)
    ]
    if not broken:
        return []
    legal = "; ".join(nearest_texts(model.result.contract, sizes))
    return [attrs.evolve(broken[0], help=f"legal: {legal}" if legal else broken[0].help), *broken[1:]]


def _violations(model: CheckedModel, sizes: Mapping[str, int]) -> list[Diagnostic]:
    inference = model.result.engine.inference
    labels = input_symbols(inference)
    try:
        run = infer_at(inference, {find_symbol(labels, name): (name, size) for name, size in sizes.items()})
    except ShapeError as error:
        return [Diagnostic("error", error.code, str(error))]
    return certain_violations(run)


def _illegal(model: CheckedModel, sizes: Mapping[str, int]) -> list[Diagnostic]:
    """What the contract has against the sizes, though no node is certain to fail with them."""
    answer = model.result.contract.check(sizes)
    return [Diagnostic("error", C152, reason) for reason in answer.reasons] if answer.verdict is False else []
