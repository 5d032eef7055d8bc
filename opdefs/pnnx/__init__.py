"""PNNX's operators: torch's modules and functions by their names.

`rules.txt` lists the rules; a module is imported on the first lookup of one of its operators.
"""

from __future__ import annotations

from opdefs.pnnx.dialect import pnnx

__all__ = ["pnnx"]
