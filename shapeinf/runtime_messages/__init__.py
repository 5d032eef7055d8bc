"""The error texts of runtimes, read as records: the node, the operator and the sizes that a text states."""

from shapeinf.runtime_messages.reading import MAX_TEXT, RUNTIMES, find_message, find_messages
from shapeinf.runtime_messages.records import InputMismatch, MessageKind, RuntimeMessage

__all__ = ["MAX_TEXT", "RUNTIMES", "InputMismatch", "MessageKind", "RuntimeMessage", "find_message", "find_messages"]
