"""TensorFlow operators. Every module but `costs` registers its rules on import."""

from __future__ import annotations

import importlib
import pkgutil

from opdefs.tf.dialect import tf
from opdefs.tf.fixed_shapes import register

for _module in pkgutil.iter_modules(__path__):
    if _module.name != "costs":  # imported when a cost is requested
        importlib.import_module(f"{__name__}.{_module.name}")

register()

__all__ = ["tf"]
