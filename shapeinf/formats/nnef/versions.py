"""The dialects of NNEF documents as versions of the one operator set: what a graph carries in `opsets[""]`.

All of them call themselves version 1.0, so these numbers are ours and order nothing.
"""

from __future__ import annotations

from shapeinf.formats.nnef.language.ast import DialectName

FINAL, PROVISIONAL, TRACT = 1, 2, 3

VERSIONS: dict[DialectName, int] = {"final": FINAL, "provisional": PROVISIONAL, "tract": TRACT}
