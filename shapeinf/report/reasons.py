"""Why sizes are what they are, as JSON-ready data."""

from __future__ import annotations

from typing import Any

import attrs

from shapeinf.errors import UnknownNameError
from shapeinf.result import Result

EXPLAIN_SCHEMA = "shapeinf.explain/1"
UNKNOWNS_SCHEMA = "shapeinf.unknowns/1"


def explanations(result: Result, tensor: str, axis: int | None = None) -> dict[str, Any]:
    """The steps for one axis of a tensor, or for all; `axis` is null where not even the rank is known.

    Raises UnknownNameError for a tensor, ShapeInferenceError for an axis that there is not.
    """
    if tensor not in result.tensors:
        raise UnknownNameError("tensor", tensor, result.tensors)
    info = result.tensors[tensor]
    dims = info.shape.dims
    wanted = [0] if dims is None else list(range(len(dims))) if axis is None else [axis]
    axes = [
        {
            "axis": None if dims is None else index % max(len(dims), 1),
            "size": None if dims is None or not -len(dims) <= index < len(dims) else _text(dims[index]),
            "steps": result.explain(tensor, index),
        }
        for index in wanted
    ]
    return {"schema": EXPLAIN_SCHEMA, "tensor": tensor, "type": str(info), "axes": axes}


def _text(dim: object) -> object:
    return dim if isinstance(dim, int) else str(dim)


def unknowns_as_json(result: Result) -> dict[str, Any]:
    """What is not known, by first cause."""
    return {
        "schema": UNKNOWNS_SCHEMA,
        "groups": [
            {
                "count": group.count,
                "causes": [attrs.asdict(cause) for cause in group.causes],
                "unknowns": [attrs.asdict(unknown) for unknown in group.unknowns],
            }
            for group in result.unknowns()
        ],
    }
