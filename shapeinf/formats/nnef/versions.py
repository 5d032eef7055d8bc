"""The dialects of NNEF documents as versions of one operator set: the number in `opsets[""]` of a graph.

All documents have version 1.0. These numbers are those of shapeinf and have no order.
"""

from __future__ import annotations

from typing import Literal

DialectName = Literal["provisional", "final", "tract"]
"""`provisional` is the specification of 2017; `tract` is the final one with the extensions of tract's exporters."""

FINAL, PROVISIONAL, TRACT = 1, 2, 3

VERSIONS: dict[DialectName, int] = {"provisional": PROVISIONAL, "final": FINAL, "tract": TRACT}
