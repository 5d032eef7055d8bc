"""NNEF operations. Every module but `costs` registers its rules on import."""

from __future__ import annotations

import importlib
import pkgutil

from opdefs.nnef.dialect import nnef

for _module in pkgutil.iter_modules(__path__):
    if _module.name != "costs":  # imported when a cost is requested
        importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["nnef"]
