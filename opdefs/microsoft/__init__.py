"""Operators of `com.microsoft` and `com.microsoft.nchwc`. Every module registers its rules in the ONNX dialect."""

from __future__ import annotations

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
