"""`find_message`: the error text of a runtime in a message, a traceback or a log."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator

from shapeinf.runtime_messages.records import RuntimeMessage

MAX_TEXT = 1 << 20
"""The characters of a text that are read: the last ones, where an error stands in a log."""

RUNTIMES = ("onnxruntime", "openvino", "tensorrt", "tensorflow", "torch", "litert")
"""The modules with the texts of a runtime."""

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]|[@-Z\\-_])")
_GENERAL = (
    re.compile(r"std::bad_alloc|MemoryError|out of memory", re.IGNORECASE),
    re.compile(r"No such file or directory|FileNotFoundError"),
)


def clean_text(text: str) -> str:
    r"""The last `MAX_TEXT` characters, without colors of terminals, with plain line ends.

    >>> clean_text("\x1b[1;31mfailed\x1b[m\r\n")
    'failed\n'
    """
    return _ESCAPE.sub("", text[-MAX_TEXT:]).replace("\r\n", "\n").replace("\r", "\n")


def find_messages(text: str) -> list[RuntimeMessage]:
    """The messages of all runtimes in a text, the one that states the most first; equal messages count once."""
    text = clean_text(text)
    listed = [item for runtime in RUNTIMES for item in _module_messages(runtime)(text)]
    listed = listed or list(_general_messages(text))
    distinct: dict[RuntimeMessage, int] = {}
    for position, message in listed:
        distinct[message] = max(position, distinct.get(message, -1))
    return sorted(distinct, key=lambda message: (_rank(message), distinct[message]), reverse=True)


def find_message(text: str) -> RuntimeMessage | None:
    """The message of a text that states the most; of several, the last one. None where no message is recognized."""
    return next(iter(find_messages(text)), None)


def _module_messages(runtime: str) -> Callable[[str], Iterator[tuple[int, RuntimeMessage]]]:
    messages: Callable[[str], Iterator[tuple[int, RuntimeMessage]]] = importlib.import_module(
        f"shapeinf.runtime_messages.{runtime}"
    ).messages
    return messages


def _general_messages(text: str) -> Iterator[tuple[int, RuntimeMessage]]:
    """Errors of the system, of no runtime."""
    for kind, pattern in zip(("memory", "file"), _GENERAL, strict=True):
        for match in pattern.finditer(text):
            line = text[max(text.rfind("\n", 0, match.start()) + 1, match.start() - 300) :].split("\n", 1)[0]
            yield match.start(), RuntimeMessage("", "memory" if kind == "memory" else "file", line[:500].strip())
            break


def _rank(message: RuntimeMessage) -> int:
    """How much a message states: 2 for an input, an allocation and a node by name or number, 1 for others."""
    if message.kind == "node":
        return 2 if any(message.names) or message.number is not None or len(message.operators) > 1 else 1
    return 2 if message.kind in ("input", "guard", "memory") else 1
