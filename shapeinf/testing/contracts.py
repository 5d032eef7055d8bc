"""A property of contracts: `check` answers "no" for exactly the sizes that a listed precondition excludes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from shapeinf.api import infer_shapes
from shapeinf.contract import Contract
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.engine.schema_violations import first_schema_violation
from shapeinf.expr import DimSize
from shapeinf.result import Result
from shapeinf.texts import escape_lines

SIZES = range(1, 7)
"""The sizes that are tried, besides the size that an axis has, its neighbors and its double."""

Shapes = Mapping[str, Sequence[int | str | None]]


def check_contract(model: Any, *, inputs: Shapes | None = None, sizes: Iterable[int] = SIZES, **options: Any) -> None:
    """Raise AssertionError for the axes where the contract of a model contradicts itself; see `contract_violations`."""
    __tracebackhide__ = True
    violations = contract_violations(model, inputs=inputs, sizes=sizes, **options)
    if violations:
        raise AssertionError(escape_lines(["the contract contradicts its own answers", *violations]))


def contract_violations(
    model: Any, *, inputs: Shapes | None = None, sizes: Iterable[int] = SIZES, **options: Any
) -> list[str]:
    """The axes of inputs where the contract of a model contradicts itself, a line for each size.

    Each axis of known size gets a name, one after the other. `Contract.check` must answer "no" for exactly the sizes
    that a listed precondition excludes, assumptions and guards aside: a rule that checks known sizes only lists
    nothing, and a rule that is too strict for a symbol lists too much. Nothing is tried for a model that has a
    violation as it is, and for axes of size 0.

    Args:
        model: what `infer_shapes` takes, in any format.
        inputs: shapes of inputs.
        sizes: the sizes that are tried, besides those around the size of the axis.
        options: further keywords of `infer_shapes`.

    >>> contract_violations("examples/convnet.onnx", inputs={"image": [1, 3, 8, 8]}, sizes=[1, 2])
    []
    """
    result = infer_shapes(model, inputs=inputs, **options)
    if certain_violations(result.engine.inference) or first_schema_violation(result.engine.inference) is not None:
        return []
    name = _unused_name(result)
    lines = []
    for operand, info in result.inputs.items():
        for axis, size in enumerate(info.shape.dims or ()):
            if isinstance(size, int) and size > 0:
                dims = [
                    d if isinstance(d, int) else str(d) if not d.is_anonymous else None for d in info.shape.require()
                ]
                dims[axis] = name
                opened = infer_shapes(model, inputs={**(inputs or {}), operand: dims}, **options)
                tried = sorted({*sizes, size, size - 1, size + 1, 2 * size} - {0})
                lines += [f"{operand}, axis {axis}, {line}" for line in _contradictions(opened, name, tried)]
    return lines


def _declared(dim: DimSize) -> int | str | None:
    """A size as an input is declared with it."""
    return dim if isinstance(dim, int) else None if dim.is_anonymous else str(dim)


def _unused_name(result: Result) -> str:
    name = "n"
    while result.engine.scope.has(name):
        name += "_"
    return name


def _contradictions(result: Result, name: str, sizes: Iterable[int]) -> Iterator[str]:
    """The sizes of the symbol `name` for which the answer of a contract and its preconditions differ."""
    errors = certain_violations(result.engine.inference)
    if errors:
        yield f"any size: {errors[0].message}, although the model has no violation"
        return
    contract = result.contract
    for size in sizes:
        answer = contract.check({name: size})
        excluded = _excluding(contract, {name: size})
        if answer.verdict is False and not excluded:
            yield f"size {size}: check answers {answer}; no precondition excludes it"
        if answer.verdict is not False and excluded:
            yield f"size {size}: check answers {answer}; excluded by {excluded[0]}"


def _excluding(contract: Contract, sizes: Mapping[str, int]) -> list[str]:
    """The requirements that do not hold for these sizes."""
    required = (p for p in contract.always if p.kind not in ("guard", "assumption"))
    return [str(precondition) for precondition in required if precondition.holds(sizes) is False]
