"""The error texts of LiteRT (TensorFlow Lite)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapeinf.runtime_messages.patterns import Pattern, all_shapes, apply_patterns, first_lines, read_bytes
from shapeinf.runtime_messages.records import InputMismatch, RuntimeMessage

NAME = "litert"

_FAILED = re.compile(r"Node (?:number )?(\d{1,7})(?: \((\w{1,128})\))? failed to (?:prepare|invoke)")
_PAIR = re.compile(r"(?:==|!=|<=|>=|<|>) [^\n]{1,200}? \((-?\d{1,18}) (?:==|!=|<=|>=|<|>) (-?\d{1,18})\)")


def messages(text: str) -> Iterator[tuple[int, RuntimeMessage]]:
    """The messages of LiteRT in a text, with their positions."""
    for match in list(_FAILED.finditer(text))[-200:]:
        before = text[max(0, match.start() - 1000) : match.start()].split("failed to")[-1]
        lines = [line for line in before.split("\n") if line.strip()]
        reason = lines[-1] if lines else ""
        pair = _PAIR.search(reason)
        sizes = None if pair is None or "-" in pair[1] + pair[2] else (int(pair[1]), int(pair[2]))
        operators = () if match[2] is None else (match[2],)
        stated = first_lines(f"{reason} {match[0]}", 2)
        printed = tuple(all_shapes(reason)) if "Given shapes" in reason else ()
        number = int(match[1])
        yield match.start(), RuntimeMessage(NAME, "node", stated, operators, number=number, shapes=printed, pair=sizes)
    yield from apply_patterns(NAME, _PATTERNS, text)


def _dimension(match: re.Match[str], part: str) -> RuntimeMessage:
    """`Cannot set tensor: Dimension mismatch. Got 3 but expected 4 for dimension 1 of input 0.`; of tensor numbers."""
    inputs = (InputMismatch(match[4], int(match[3]), int(match[1]), int(match[2])),)
    return RuntimeMessage(NAME, "input", first_lines(part, 1), inputs=inputs)


def _rank(match: re.Match[str], part: str) -> RuntimeMessage:
    inputs = (InputMismatch(match[3], None, int(match[1]), int(match[2])),)
    return RuntimeMessage(NAME, "input", first_lines(part, 1), inputs=inputs)


def _unresolved(match: re.Match[str], part: str) -> RuntimeMessage:
    return RuntimeMessage(NAME, "unsupported", first_lines(part, 1), (match[1],))


def _allocation(match: re.Match[str], part: str) -> RuntimeMessage:
    return RuntimeMessage(NAME, "memory", first_lines(part, 1), requested=read_bytes(match[1]))


_PATTERNS = (
    Pattern(
        "input",
        re.compile(
            r"Dimension mismatch\. Got (\d{1,18}) but expected (\d{1,18}) for dimension (\d{1,3}) of input (\d{1,7})"
        ),
        _dimension,
    ),
    Pattern(
        "input",
        re.compile(r"Dimension (?:count )?mismatch\. Got (\d{1,4}) but expected (\d{1,4}) for input (\d{1,7})"),
        _rank,
    ),
    Pattern("unsupported", re.compile(r"Encountered unresolved custom op: ([\w.]{1,128})"), _unresolved),
    Pattern("unsupported", re.compile(r"Didn't find op for builtin opcode '(\w{1,128})'"), _unresolved),
    Pattern("memory", re.compile(r"Failed to allocate (\d{1,20}) bytes"), _allocation),
    Pattern("memory", re.compile(r"Requested: (\d{1,20}), available \d{1,20}, missing: "), _allocation),
    Pattern("file", re.compile(r"Could not open '[^\n]{1,1000}?'\.|Model provided has model identifier '")),
    Pattern("type", re.compile(r"Cannot set tensor: Got value of type ")),
)
