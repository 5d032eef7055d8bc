"""The operator types that pnnx writes: torch's modules and functions that its passes recognize, and its own."""

from __future__ import annotations

import json
from functools import cache

from shapeinf.ops.package_data import read_package_text

GRAPH_TYPES = ("pnnx.Attribute", "pnnx.Input", "pnnx.Output")
"""The types of constants, inputs and outputs of the graph, which have no rule."""


@cache
def names() -> tuple[str, ...]:
    """All types, sorted. Other types in a file are custom modules, or operators of torch that pnnx keeps."""
    return tuple(json.loads(read_package_text(__package__, "operator_types.json"))["types"])
