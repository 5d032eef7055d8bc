"""The report on a failed run as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shapeinf.failures import FailedCondition, FailureReport, Verdict
from shapeinf.texts import exact_bytes, format_count, shorten_end

MAX_MESSAGE = 300
"""The characters of a message that are printed."""

MOST_OPERANDS = 8
"""The operands and the steps back to an input that are listed for a condition."""

HEADINGS: Mapping[Verdict, str] = {
    "violated": "a condition does not hold",
    "possible": "these conditions may have failed: the sizes of the run are not known",
    "holds": "no condition on sizes is violated",
    "depends on data": "no condition on sizes is violated; the values of data may be the cause",
    "other cause": "sizes are not the cause",
    "unknown": "no cause is found",
}


def failure_lines(report: FailureReport) -> Iterator[str]:
    """The report as lines: the message, what it names, and the conditions that failed."""
    message = report.message
    if message is not None:
        text = shorten_end(message.text, MAX_MESSAGE)
        yield f"message of {message.runtime}: {text}" if message.runtime else f"message: {text}"
    if report.nodes:
        yield f"node: {report.nodes[0]} (by {report.nodes[0].evidence})"
        yield from (f"  or {node} (by {node.evidence})" for node in report.nodes[1:])
    if report.sizes:
        sizes = ", ".join(f"{name}={size}" for name, size in report.sizes.items())
        yield f"sizes: {sizes} (from the {'message' if report.sizes_from == 'message' else 'user'})"
    yield f"{HEADINGS[report.verdict]}{_count(report)}"
    for number, condition in enumerate(report.conditions):
        yield from _condition_lines(condition, full=number == 0)
    for tensor in report.tensors:
        by = f", computed by '{tensor.node}'" if tensor.node else ""
        yield f"  {tensor.name}  {tensor.type}  {exact_bytes(tensor.bytes)}{by}"
    yield from (f"note: {note}" for note in report.notes)


def _count(report: FailureReport) -> str:
    more = len(report.conditions) - 1
    return f" (and {format_count(more, 'more condition')})" if more > 0 and report.verdict == "violated" else ""


def _condition_lines(condition: FailedCondition, *, full: bool) -> Iterator[str]:
    """A condition with its evidence; only its first lines unless it is `full`."""
    declared = f"the declaration of input {condition.input}" if condition.input else "the exported program"
    subject = declared if condition.match is None else str(condition.match)
    where = f" (where the {condition.where} runs)" if condition.where else ""
    if condition.condition:
        yield f"  {condition.condition}, required by {subject}{where}: {condition.message}"
    else:
        yield f"  {subject}{where}: {condition.message}"
    known = [f"{name}={size}" for name, size in condition.dims.items() if size is not None]
    if known:
        yield f"      in the run: {', '.join(known)}"
    if condition.legal and condition.legal != condition.condition:
        yield f"      legal: {condition.legal}"
    for near in condition.nearest:
        yield f"      nearest legal size: {near.dim}={near.size} instead of {near.instead}"
    if full:
        yield from (f"      operand: {line}" for line in condition.operands[:MOST_OPERANDS])
        steps = condition.chain if len(condition.chain) > 1 else ()  # a single step is the input itself
        yield from (f"      {line}" for line in steps[:MOST_OPERANDS])
