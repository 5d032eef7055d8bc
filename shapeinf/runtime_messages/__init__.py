"""The error texts of runtimes, read as records: the node, the operator and the sizes that a text states."""

from shapeinf.runtime_messages.reading import MAX_TEXT, find_message, find_messages
from shapeinf.runtime_messages.records import InputMismatch, MessageKind, RuntimeMessage

__all__ = ["MAX_TEXT", "InputMismatch", "MessageKind", "RuntimeMessage", "find_message", "find_messages"]
