"""The operator types that pnnx emits: torch's modules and functions that its passes recognise, and its own."""

from __future__ import annotations

import json
from functools import cache

from shapeinf.ops.package_data import read_package_text

GRAPH_TYPES = ("pnnx.Attribute", "pnnx.Input", "pnnx.Output")
"""The types that are constants, inputs and outputs of the graph, and need no rule."""


@cache
def names() -> tuple[str, ...]:
    """All types, sorted; other types in a file are custom modules, or torch's own operators that pnnx leaves."""
    return tuple(json.loads(read_package_text(__package__, "operator_types.json"))["types"])
