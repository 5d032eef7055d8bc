"""Checks of tensor sizes: sizes that overflow 32 or 64 bits, and sizes without an upper bound."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from shapeinf.checks.checked_model import CheckedModel
from shapeinf.checks.registry import register_check
from shapeinf.constraints.records import try_evaluate
from shapeinf.diagnostics import Diagnostic, Severity
from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.expr import Dimension
from shapeinf.lattice import element_bits

INT32 = 2**31 - 1
INT64 = 2**63 - 1


@attrs.frozen
class _Limit:
    """A limit on a number of bytes or elements (`unit`), and the severity of exceeding it."""

    unit: str
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
def overflowing_sizes(model: CheckedModel) -> Iterator[Diagnostic]:
    """Tensors that are too large with all symbols at their upper bounds; one diagnostic for each limit."""
    bounds = {symbol.name: model.upper_bound(symbol) for symbol in model.axes}
    binding = {name: hi for name, hi in bounds.items() if hi is not None}
    infos = model.result.tensors
    distinct = {id(info): info for info in infos.values()}  # tensors of one type share a record
    exceeded = {key: _exceeded_limit(model, info, binding) for key, info in distinct.items()}
    exceeding: dict[_Limit, list[tuple[str, int]]] = {}
    for tensor in model.producers:
        limit, count = exceeded[id(infos[tensor])]
        if limit is not None:
            exceeding.setdefault(limit, []).append((tensor, count))
    for limit, tensors in exceeding.items():
        yield _report_overflow(model, limit, tensors, binding)


def _exceeded_limit(model: CheckedModel, info: TensorInfo, binding: dict[str, int]) -> tuple[_Limit | None, int]:
    """The first limit that a tensor exceeds, and its bytes or elements; None and 0 where it exceeds none."""
    elements = _element_count(model, info, binding)
    for limit in LIMITS if elements is not None else ():
        assert elements is not None
        # an element type without a fixed width has at least a byte
        count = -(-elements * (element_bits(info.dtype) or 8) // 8) if limit.unit == "bytes" else elements
        if count > limit.number:
            return limit, count
    return None, 0


def _report_overflow(
    model: CheckedModel, limit: _Limit, tensors: list[tuple[str, int]], binding: dict[str, int]
) -> Diagnostic:
    tensor, count = tensors[0]
    node = model.producers[tensor]
    sizes = ", ".join(f"{name} = {size}" for name, size in sorted(binding.items()))
    more = f" (and {len(tensors) - 1} more tensors)" if len(tensors) > 1 else ""
    at = f" at {sizes}" if sizes else ""
    message = f"{tensor} can have {count} {limit.unit}, more than {limit.text}{at}{more}"
    severity = limit.severity if all(name in model.ranges for name in binding) else "note"
    return Diagnostic(severity, "C130", message, node, model.op(node), tensor=tensor, location=model.location(node))


def _element_count(model: CheckedModel, info: TensorInfo, binding: dict[str, int]) -> int | None:
    if info.kind != "tensor":
        return None
    total = 1
    for dim in info.shape.dims or (None,):
        canonical = model.store.canon(dim) if isinstance(dim, Dimension) else dim
        size = None if canonical is None else try_evaluate(canonical, binding)
        if size is None or size < 0:
            return None
        total *= size
    return total


@register_check(
    "C140",
    "note",
    "a tensor without an upper bound although all inputs have upper bounds",
    "The node is the first node whose output has no bound.",
)
def unbounded_sizes(model: CheckedModel) -> Iterator[Diagnostic]:
    """The first tensor with each unknown size without an upper bound; none where an input has no bound either."""
    if any(model.upper_bound(symbol) is None for symbol in model.axes):
        return
    reported: set[Dimension] = set()
    for tensor, node in model.producers.items():
        for axis, dim in enumerate(model.result.tensors[tensor].shape.dims or ()):
            if not isinstance(dim, Dimension):
                continue
            unbounded = {s for s in dim.symbols() if model.store.interval(s).hi is None}
            if unbounded - reported and model.store.interval(dim).hi is None:
                message = f"{tensor}.shape[{axis}] has no upper bound, though all inputs have one"
                yield Diagnostic("note", "C140", message, node, model.op(node), tensor=tensor, axis=axis)
            reported |= unbounded
