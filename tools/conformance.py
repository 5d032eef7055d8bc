"""Thin adapters for outside scorers: they only call the public API."""

from __future__ import annotations

from typing import Any

from shapeinf import Result, infer_shapes
from shapeinf.algebra import Dim, format_dim

Row = tuple["str | None", "list[int | str | tuple[int | None, int | None] | None] | None"]


def infer(path: str) -> dict[str, Row]:
    """Every tensor of the top-level graph: (dtype name, dims)."""
    return _rows(infer_shapes(path))


def infer_model(model: Any) -> dict[str, Row]:
    """The same for an `onnx.ModelProto`."""
    return _rows(infer_shapes(model))


def _rows(result: Result) -> dict[str, Row]:
    return {
        name: (info.dtype, None if info.shape.dims is None else [_dim(result, d) for d in info.shape.dims])
        for name, info in result.tensors.items()
    }


def _dim(result: Result, dim: Dim) -> int | str | tuple[int | None, int | None] | None:
    """An int, an expression in the file's own names, or bounds where an unknown is in it."""
    if isinstance(dim, int):
        return dim
    if not dim.is_anonymous:
        return format_dim(dim, quote=False)
    bounds = result.interval(dim)
    return (bounds.lo, bounds.hi)
