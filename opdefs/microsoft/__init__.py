"""Operators of `com.microsoft` and `com.microsoft.nchwc`: every module but `costs` adds rules to the ONNX dialect."""

from __future__ import annotations

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    if _module.name != "costs":  # imported when a cost is requested
        importlib.import_module(f"{__name__}.{_module.name}")
