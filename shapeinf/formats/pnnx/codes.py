"""The diagnostic codes of PNNX networks."""

from __future__ import annotations

from shapeinf.diagnostics import register_code

WRONG_COUNT = "X101"

register_code(
    WRONG_COUNT,
    "warning",
    "a number of blobs in the second line that differs from the blobs of the operators",
    "PNNX ignores this number; the file may have been edited by hand or cut.",
)
