"""The diagnostic codes of TensorFlow Lite files."""

from __future__ import annotations

from shapeinf.diagnostics import register_code

IN_PLACE = "L101"

register_code(
    IN_PLACE,
    "error",
    "a tensor that is an input and an output of one node",
    "LiteRT refuses such a model when it allocates its tensors.",
)
