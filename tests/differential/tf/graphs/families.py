"""The cases of all families by name: those of each `Family` in a module of this package."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from tests.differential.tf.graphs.case import Family

HELPERS = {"case", "families", "compare", "store"}
MODULES = [
    importlib.import_module(f"{__package__}.{module.name}")
    for module in pkgutil.iter_modules([str(Path(__file__).parent)])
    if module.name not in HELPERS
]
FAMILIES = [family for module in MODULES for family in vars(module).values() if isinstance(family, Family)]
CASES = {case.name: case for family in FAMILIES for case in family.cases}
