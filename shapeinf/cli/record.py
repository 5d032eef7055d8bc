"""A result as a record for programs: the JSON of `--json`, with a schema name and version."""

from __future__ import annotations

from typing import Any

import attrs

import shapeinf
from shapeinf.algebra import Dimension
from shapeinf.cli.listing import origins
from shapeinf.driver import Result, TensorInfo

SCHEMA = "shapeinf.infer"
VERSION = 1
"""Grows when a field changes its meaning or goes away; new fields may come at any time."""


def as_record(result: Result, model: str) -> dict[str, Any]:
    """Everything that a result says, as dicts, lists, texts and numbers.

    A shape is a list of ints and expressions, null when its rank is unknown; `symbols` has the bounds (null is no
    bound) of every symbol in these expressions, and whether it is anonymous, that is an unknown without a name in
    the file.
    """
    made_by = origins(result)
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "shapeinf": shapeinf.__version__,
        "model": model,
        "policy": result.policy,
        "inputs": list(result.graph.inputs),
        "outputs": list(result.graph.outputs),
        "tensors": [
            {"name": name, "kind": info.kind, "dtype": info.dtype, "shape": _shape(info), "op": made_by.get(name)}
            for name, info in result.tensors.items()
        ],
        "symbols": _symbols(result),
        "diagnostics": [attrs.asdict(found) for found in result.diagnostics],
        "coverage": attrs.asdict(result.coverage),
    }


def _shape(info: TensorInfo) -> list[int | str] | None:
    dims = info.shape.dims
    return None if dims is None else [str(d) if isinstance(d, Dimension) else int(d) for d in dims]


def _symbols(result: Result) -> dict[str, dict[str, int | bool | None]]:
    found: dict[Dimension, None] = {}
    for info in result.tensors.values():
        if info.shape.dims is not None:
            found.update(dict.fromkeys(info.shape.symbols()))
    return {
        str(symbol): {
            "min": result.interval(symbol).lo,
            "max": result.interval(symbol).hi,
            "anonymous": symbol.is_anonymous,
        }
        for symbol in sorted(found, key=str)
    }
