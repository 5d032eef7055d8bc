"""PNNX's operators: torch's modules and functions by their names. Every module registers its rules on import."""

from __future__ import annotations

import importlib
import pkgutil

from opdefs.pnnx.dialect import pnnx

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["pnnx"]
