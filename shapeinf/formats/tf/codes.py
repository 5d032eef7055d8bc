"""The diagnostic codes of TensorFlow models."""

from __future__ import annotations

from shapeinf.diagnostics import register_code

DECLARED_TWICE = "T101"
UNKNOWN_ATTRIBUTE = "T102"

register_code(
    DECLARED_TWICE,
    "warning",
    "an input with two declared shapes that differ",
    "Such as the shapes of the placeholder and of a signature; the first shape is used.",
)
register_code(
    UNKNOWN_ATTRIBUTE,
    "warning",
    "an attribute that the operator does not have",
    "A newer TensorFlow may have written it; it is not used.",
)
