"""The cases of all families: each module `cases_FAMILY.py` of this package has a list `CASES`."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

PREFIX = "cases_"
FAMILIES = {
    module.name.removeprefix(PREFIX): importlib.import_module(f"tests.differential.tf.{module.name}").CASES
    for module in pkgutil.iter_modules([str(Path(__file__).parent)])
    if module.name.startswith(PREFIX)
}
