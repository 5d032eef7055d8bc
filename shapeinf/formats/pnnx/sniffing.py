"""Recognises a `.param` file: by its name, by its first line, or as a text."""

from __future__ import annotations

MAGIC = "7767517"
"""The first line of the files of PNNX and of ncnn."""


def is_param_path(text: str | None) -> bool:
    """Whether a text is the path of a PNNX network, or such a network itself."""
    return text is not None and (text.endswith(".pnnx.param") or text.startswith(MAGIC + "\n"))


def is_param_file(head: bytes) -> bool:
    """Whether a file begins as the files of PNNX and ncnn do."""
    return head.split(b"\n", 1)[0].strip() == MAGIC.encode()
