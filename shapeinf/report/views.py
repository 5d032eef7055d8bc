"""A result as a table and as JSON."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.expr import Dim
from shapeinf.result import Result
from shapeinf.texts import escape_unprintable

SCHEMA = "shapeinf.infer/1"


def as_table(result: Result) -> Table:
    """One line a tensor: name, element type, shape, range of the shape where dims are bounded, operator."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("tensor", "type", "shape", "range", "made by"):
        table.add_column(heading, overflow="fold")
    for name, origin in _origins(result).items():
        info = result.tensors[name]
        cells = (name, info.dtype or "?", _shape(info), _ranges(result, info), origin)
        table.add_row(*(Text(escape_unprintable(cell)) for cell in cells))
    return table


def _origins(result: Result) -> dict[str, str]:
    """What made each tensor that is worth a line: inputs and outputs of nodes, in graph order."""
    graph = result.graph
    made = {name: "input" for name in graph.inputs if name not in graph.constants}
    for node in graph.nodes:
        made.update({name: node.op for name in node.outputs if name})
    return made


def _shape(info: TensorInfo) -> str:
    return str(info.shape) if info.kind == "tensor" else f"{info.kind} of {info.shape}"


def _ranges(result: Result, info: TensorInfo) -> str:
    """`[1..8, 64]` where a symbolic dim is bounded above, else nothing."""
    dims = info.shape.dims or ()
    if not any(not isinstance(d, int) and result.interval(d).hi is not None for d in dims):
        return ""
    return "[" + ", ".join(str(d) if isinstance(d, int) else str(result.interval(d)) for d in dims) + "]"


def as_json(result: Result) -> dict[str, Any]:
    """The result as JSON-ready data; `schema` names the version of this form."""
    coverage = result.coverage
    return {
        "schema": SCHEMA,
        "policy": result.policy,
        "tensors": {name: _tensor(result, info) for name, info in result.tensors.items()},
        "contract": [
            {"kind": c.kind, "text": c.text, "symbols": list(c.symbols), "node": c.node, "op": c.op, "law": c.message}
            | ({"where": c.where} if c.where else {})
            for c in result.contract.preconditions
        ],
        "diagnostics": [
            {
                "severity": d.severity,
                "code": d.code,
                "message": d.message,
                "node": d.node,
                "op": d.op,
                "inputs": list(d.inputs),
                "because": d.because,
                "help": d.help,
                "location": d.location or None,
            }
            for d in result.diagnostics
        ],
        "coverage": {
            "nodes": coverage.nodes,
            "values": coverage.values,
            "ranked": coverage.ranked,
            "known": coverage.known,
            "unknown_ops": dict(coverage.unknown_ops),
        },
    }


def _tensor(result: Result, info: TensorInfo) -> dict[str, Any]:
    dims = None if info.shape.dims is None else [_dim(result, d) for d in info.shape.dims]
    return {"kind": info.kind, "dtype": info.dtype, "shape": dims}


def _dim(result: Result, dim: Dim) -> int | dict[str, Any]:
    """An int, or the expression with its bounds; an unknown has no expression."""
    if isinstance(dim, int):
        return dim
    bounds = result.interval(dim)
    return {"expr": None if dim.is_anonymous else str(dim), "min": bounds.lo, "max": bounds.hi}
