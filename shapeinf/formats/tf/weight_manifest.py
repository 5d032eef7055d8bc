"""The manifest of a TensorFlow.js document: the weights in its shards, and their positions.

Source: the documentation of TensorFlow.js' converter, which calls it the weights manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import attrs

from shapeinf.errors import ModelError
from shapeinf.formats.tf.json_form import describe
from shapeinf.lattice.dtypes import KINDS, element_bits


@attrs.frozen
class StoredWeight:
    """A weight in the shards of a TensorFlow.js document.

    Args:
        name: the name of its Const.
        dtype: the element type of the loaded weight.
        dims: its shape.
        stored_dtype: the element type in the shards, which differs if the weight is quantized.
        paths: the files whose concatenated bytes contain it, as in the document.
        offset: its first byte in them; None behind strings, whose number of bytes is not in the document.
        size: its bytes; None for strings.
        scale: the factor of stored values; None if the weight is not quantized.
        minimum: the summand after that multiplication.
    """

    name: str
    dtype: str
    dims: tuple[int, ...]
    stored_dtype: str
    paths: tuple[str, ...]
    offset: int | None
    size: int | None
    scale: float | None = None
    minimum: float = 0.0


def stored_weights(document: Mapping[str, Any], name: str = "model.json") -> dict[str, StoredWeight]:
    """The weights that the manifest of a TensorFlow.js document lists, by the names of their Consts.

    The shards are not read. Raises ModelError for a malformed manifest.
    """
    weights: dict[str, StoredWeight] = {}
    manifest = document.get("weightsManifest") or []
    for index, group in enumerate(_items(manifest, "weightsManifest", name)):
        where = f"weightsManifest[{index}]"
        if not isinstance(group, Mapping):
            raise ModelError(f"{where}: expected an object, not {describe(group)}", node=name)
        paths = tuple(_items(group.get("paths") or [], f"{where}.paths", name))
        if not all(isinstance(path, str) for path in paths):
            raise ModelError(f"{where}.paths: expected names of files", node=name)
        offset: int | None = 0
        for entry in _items(group.get("weights") or [], f"{where}.weights", name):
            weight = _read_weight(entry, paths, offset, f"{name}: {where}")
            if weight.name in weights:
                raise ModelError(f"{where}: the weight {weight.name!r} is listed twice", node=name)
            weights[weight.name] = weight
            offset = None if offset is None or weight.size is None else offset + weight.size
    return weights


def _items(value: Any, where: str, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise ModelError(f"{where}: expected a list, not {describe(value)}", node=name)
    return value


def _read_weight(entry: Any, paths: tuple[str, ...], offset: int | None, where: str) -> StoredWeight:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
        raise ModelError("a weight has no name", node=where)
    name, dtype, dims = entry["name"], entry.get("dtype"), entry.get("shape")
    if not isinstance(dtype, str) or dtype not in KINDS:
        raise ModelError(f"the weight {name!r} has the unknown element type {describe(dtype)}", node=where)
    if not isinstance(dims, list) or not all(type(dim) is int and 0 <= dim < 1 << 63 for dim in dims):
        raise ModelError(f"the shape of the weight {name!r} must be a list of sizes", node=where)
    stored, scale, minimum = _quantization(entry.get("quantization"), dtype, f"{where}: {name}")
    bits = element_bits(stored)
    size = None if bits is None or stored == "string" else prod(dims) * bits // 8
    return StoredWeight(name, dtype, tuple(dims), stored, paths, offset, size, scale, minimum)


def _quantization(value: Any, dtype: str, where: str) -> tuple[str, float | None, float]:
    """The stored element type, the scale and the minimum of a weight."""
    if not isinstance(value, Mapping):
        return dtype, None, 0.0
    stored, scale, minimum = (value.get(key) for key in ("dtype", "scale", "min"))
    if not isinstance(stored, str) or stored not in KINDS or not all(map(_is_number, (scale, minimum))):
        raise ModelError("the quantization of the weight is malformed", node=where)
    return stored, None if scale is None else float(scale), float(minimum or 0.0)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))
