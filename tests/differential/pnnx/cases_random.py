"""Random networks: those that `python -m tests.differential.pnnx.random_networks FIRST LAST` wrote."""

from __future__ import annotations

import json

from tests.differential.pnnx.case import Case
from tests.differential.pnnx.random_networks import FILE

CASES = [Case(**case) for case in json.loads(FILE.read_text(encoding="utf8"))]
