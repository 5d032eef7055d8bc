"""NNEF operations.

`rules.txt` lists the rules; a module is imported on the first lookup of one of its operators.
"""

from __future__ import annotations

from opdefs.nnef.dialect import nnef

__all__ = ["nnef"]
