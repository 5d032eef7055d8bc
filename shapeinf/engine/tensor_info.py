"""What is known of values, as records for users."""

from __future__ import annotations

import re

import attrs

from shapeinf.engine.inference import Inference
from shapeinf.lattice import MapType, OptionalType, SequenceType, Shape, TensorType, Type


@attrs.frozen
class TensorInfo:
    """What is known of one value: element type (None when not known), shape, and its kind.

    `kind` is "tensor", or nested like "sequence", "optional(sequence)", "map(int64)" (a map from int64 keys); dtype
    and shape are then those of the innermost elements.
    """

    dtype: str | None
    shape: Shape
    kind: str = "tensor"

    def __str__(self) -> str:
        """`float32[B, 128]`."""
        text = f"{self.dtype or '?'}{self.shape}"
        for kind in reversed(re.findall(r"map\(\w+|sequence|optional", self.kind)):
            text = f"{kind}, {text})" if kind.startswith("map") else f"{kind}({text})"
        return text


def infos(inference: Inference) -> dict[str, TensorInfo]:
    """Every value of a program by name; equal types share one record."""
    table = inference.table
    if table.epoch != inference.store.epoch:
        table.refresh()
    records: dict[int, TensorInfo] = {}
    found: dict[str, TensorInfo] = {}
    numbers, whole = inference.numbers, table.canonical
    for name, number in zip(inference.compiled.names, numbers, strict=False):
        number = whole[number]
        if number not in records:
            records[number] = info(table.types[number])
        found[name] = records[number]
    return found


_KINDS = {SequenceType: "sequence", OptionalType: "optional"}


def info(found: Type | None) -> TensorInfo:
    """A type as the public record; nothing known for a value that was never reached."""
    if found is None:
        return TensorInfo(None, Shape.unknown())
    if isinstance(found, TensorType):
        return TensorInfo(found.dtype, found.shape)
    inner = info(found.element)
    kind = f"map({found.key})" if isinstance(found, MapType) else _KINDS[type(found)]
    return TensorInfo(inner.dtype, inner.shape, kind if inner.kind == "tensor" else f"{kind}({inner.kind})")
