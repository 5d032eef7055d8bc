"""NNEF operations.

`signatures.txt` lists the rules; a module is imported when an operator of it is first looked up.
"""

from __future__ import annotations

from opdefs.nnef.dialect import nnef

__all__ = ["nnef"]
