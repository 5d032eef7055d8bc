"""Tensors that the given ranges let grow past what 32 or 64 bits can count."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from shapeinf.checks.registry import register_check
from shapeinf.checks.sampling import try_evaluate
from shapeinf.checks.subject import CheckedModel
from shapeinf.diagnostics import Diagnostic, Severity
from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.expr import Dim, Dimension
from shapeinf.lattice import element_bits

INT32 = 2**31 - 1
INT64 = 2**63 - 1


@attrs.frozen
class _Limit:
    """What a count must not pass."""

    what: str
    number: int
    text: str
    severity: Severity


LIMITS = (
    _Limit("bytes", INT64, "2^63 - 1", "error"),
    _Limit("elements", INT32, "2^31 - 1", "warning"),
    _Limit("bytes", INT32, "2^31 - 1", "note"),
)


@register_check(
    "C130",
    ("note", "warning", "error"),
    "a tensor whose elements or bytes can exceed 32 (or 64) bits",
    "Its element count or byte size can exceed 2^31 - 1 or 2^63 - 1.",
)
def too_large(subject: CheckedModel) -> Iterator[Diagnostic]:
    """The largest size of each tensor, with all symbols at their upper bounds; only what that binding shows."""
    binding = _largest(subject)
    past: dict[_Limit, list[tuple[str, int]]] = {}
    for tensor in subject.makers:
        info = subject.result.tensors[tensor]
        elements = _elements(subject, info, binding)
        for limit in LIMITS if elements is not None else ():
            assert elements is not None
            count = -(-elements * _bits(info) // 8) if limit.what == "bytes" else elements
            if count > limit.number:
                past.setdefault(limit, []).append((tensor, count))
                break
    for limit, tensors in past.items():
        yield _found(subject, limit, tensors, binding)


def _found(subject: CheckedModel, limit: _Limit, tensors: list[tuple[str, int]], binding: dict[str, int]) -> Diagnostic:
    tensor, count = tensors[0]
    node = subject.makers[tensor]
    shown = ", ".join(f"{name} = {size}" for name, size in sorted(binding.items()))
    more = f" (and {len(tensors) - 1} more tensors)" if len(tensors) > 1 else ""
    at = f" at {shown}" if shown else ""
    message = f"{tensor} can have {count} {limit.what}, more than {limit.text}{at}{more}"
    severity = limit.severity if not binding or _by_the_user(subject, binding) else "note"
    return Diagnostic(severity, "C130", message, node, subject.op(node), tensor=tensor, location=subject.location(node))


def _largest(subject: CheckedModel) -> dict[str, int]:
    """The upper bound of every symbol of the inputs that has one."""
    bounds = {symbol.name: subject.store.interval(symbol).hi for symbol in subject.axes}
    return {name: hi for name, hi in bounds.items() if hi is not None}


def _by_the_user(subject: CheckedModel, binding: dict[str, int]) -> bool:
    return all(name in subject.ranges for name in binding)


def _elements(subject: CheckedModel, info: TensorInfo, binding: dict[str, int]) -> int | None:
    total: int = 1
    if info.kind != "tensor":
        return None
    for dim in info.shape.dims or (None,):
        size = None if dim is None else try_evaluate(_canonical(subject, dim), binding)
        if size is None or size < 0:
            return None
        total *= size
    return total


def _canonical(subject: CheckedModel, dim: Dim) -> Dim:
    return subject.store.canon(dim) if isinstance(dim, Dimension) else dim


def _bits(info: TensorInfo) -> int:
    """The bits of an element; what has no fixed width has a byte at least."""
    return element_bits(info.dtype) or 8
