"""PNNX's operators: torch's modules and functions by their names. All modules but `costs` register rules on import."""

from __future__ import annotations

import importlib
import pkgutil

from opdefs.pnnx.dialect import pnnx

for _module in pkgutil.iter_modules(__path__):
    if _module.name != "costs":  # imported when a cost is requested
        importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["pnnx"]
