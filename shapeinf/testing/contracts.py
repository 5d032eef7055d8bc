"""A property of contracts: `check` says "no" exactly where a listed precondition says so, over every axis of every input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from shapeinf.api import infer_shapes
from shapeinf.engine.diagnostics import certain_violations

SIZES = range(1, 7)
"""The sizes that an axis is given, besides its own one and its neighbors."""

NAME = "size_of_this_axis"


def contract_violations(model: Any, shapes: Mapping[str, Iterable[int]] | None = None, **options: Any) -> list[str]:
    result = infer_shapes(model, inputs=shapes, **options)
    if certain_violations(result.inference):
        return []
    lines = []
    for name, info in result.inputs.items():
        if info.shape.dims is None:
            continue
        for axis, size in enumerate(info.shape.dims):
            if not isinstance(size, int) or not size:
                continue
            dims = [*info.shape.dims[:axis], NAME, *info.shape.dims[axis + 1 :]]
            lines += [
                f"{name}, axis {axis}: {line}"
                for line in axis_violations(model, {**(shapes or {}), name: dims}, size, options)
            ]
    return lines


def axis_violations(model, shapes, size, options):
    open_ = infer_shapes(model, inputs=shapes, **options)
    if certain_violations(open_.inference):
        yield "violation with a name: " + "; ".join(str(d) for d in open_.diagnostics)
        return
    contract = open_.contract
    listed = [p for p in contract.always if p.kind not in ("guard", "assumption")]
    for n in sorted({*SIZES, size - 1, size, size + 1, 2 * size} - {0, -1}):
        allowed = all(p.holds({NAME: n}) is not False for p in listed)
        answer = contract.check({NAME: n})
        if (answer.verdict is False) is allowed:
            yield f"{n}: check says {answer}, but listed are: {'; '.join(map(str, listed)) or 'none'}"
