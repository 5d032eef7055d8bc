"""Operators that run subgraphs, each with arenas of its own (`if.cc`, `while.cc`, `stablehlo_composite.cc`)."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.litert.kernels import litert
from shapeinf.lattice import TensorType, Type
from shapeinf.memory.runtimes.litert.kernels import BodyRole, LiteRtContext
from shapeinf.memory.runtimes.litert.planner import Storage

BRANCHES = ("IF", "STABLEHLO_CASE", "STABLEHLO_COMPOSITE")


@litert.outputs(*BRANCHES)
def of_branches(c: LiteRtContext) -> Storage:
    """On the heap where a branch decides a size in a run, or branches return different ones."""
    first, *others = c.bodies or (None,)
    if first is None or any(body is not None and body.has_unsized for body in c.bodies):
        return "heap"
    alike = all(_dims(a) == _dims(b) for body in others for a, b in zip(first.outputs, body.outputs, strict=False))
    return "arena" if alike else "heap"


@litert.outputs("WHILE")
def of_loop(c: LiteRtContext) -> Storage:
    """On the heap where the body decides a size in a run, or returns another size than it gets."""
    body = c.bodies[-1] if c.bodies else None
    if body is None or body.has_unsized:
        return "heap"
    alike = all(_is_unchanged(a, b) for a, b in zip(c.types, body.outputs, strict=False))
    return "arena" if alike else "heap"


def _dims(value: Type | None) -> object:
    return value.shape.dims if isinstance(value, TensorType) else None


def _is_unchanged(before: Type | None, after: Type | None) -> bool:
    """Whether two shapes are equal; a scalar and one element are, as for LiteRT."""
    a, b = _dims(before), _dims(after)
    return a == b or (a, b) in (((), (1,)), ((1,), ()))


def _passed(c: LiteRtContext) -> Sequence[int]:
    """The carried values that the body returns as it gets them."""
    return c.bodies[-1].passed if c.bodies else ()


litert.runs(*BRANCHES, roles=[BodyRole()])
litert.runs("WHILE", roles=[BodyRole(shares_inputs=False), BodyRole(drops_unused=False)], dropped=_passed)
litert.no_temporaries(*BRANCHES, "WHILE", "CALL_ONCE", "DELEGATE")
