"""All families of cases: the modules `cases_*.py` of this folder, each with a list `CASES`."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

FAMILIES = {
    module.name.removeprefix("cases_"): importlib.import_module(f"tests.differential.pnnx.{module.name}").CASES
    for module in pkgutil.iter_modules([str(Path(__file__).parent)])
    if module.name.startswith("cases_")
}
