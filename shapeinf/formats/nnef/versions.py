"""The dialects of NNEF documents as versions of the one operator set: what a graph carries in `opsets[""]`.

All of them call themselves version 1.0, so these numbers are ours and order nothing.
"""

from __future__ import annotations

from typing import Literal

DialectName = Literal["provisional", "final", "tract"]
"""`provisional` is that of 2017; `tract` is the final one with what tract's exporters add."""

FINAL, PROVISIONAL, TRACT = 1, 2, 3

VERSIONS: dict[DialectName, int] = {"provisional": PROVISIONAL, "final": FINAL, "tract": TRACT}
