"""The contents of small weights and constants: raw bytes in the archive, which are read when a rule needs them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import prod
from typing import Any

from shapeinf.errors import ModelError
from shapeinf.formats.contents import wants_contents
from shapeinf.formats.raw_data import raw_elements
from shapeinf.formats.torch_export.container import MAX_CONTENTS, Package
from shapeinf.formats.torch_export.document import parse_json
from shapeinf.graph import Graph
from shapeinf.lattice import PartialTensor
from shapeinf.lattice.dtypes import element_bits

_FOLDERS = {"parameter": "weights", "buffer": "weights", "tensor_constant": "constants"}


def defer_contents(graph: Graph, stored: Mapping[str, tuple[str, str]], package: Package) -> None:
    """Defer the reading of small constants; `stored` has kind and name in the module by the names of values."""
    configs = {kind: _config(text, package.source) for kind, text in package.configs.items()}
    for name, (role, path) in stored.items():
        constant = graph.constants[name]
        sizes = [size for size in constant.shape.require() if isinstance(size, int)]
        small = prod(sizes) * (element_bits(constant.dtype) or 8) // 8 <= MAX_CONTENTS
        if not small or not wants_contents(constant.dtype, sizes):
            continue
        for kind in dict.fromkeys((_FOLDERS[role], "constants")):  # a buffer that is not saved is a constant
            entry = configs.get(kind, {}).get(path)
            file = entry.get("path_name") if isinstance(entry, dict) and not entry.get("use_pickle") else None
            if isinstance(file, str):
                graph.unread[name] = partial(_read, constant, package, f"data/{kind}/{file}")
                break


def _config(text: bytes, source: str) -> Mapping[str, Any]:
    """The listing of a folder: path, element type and sizes by name; empty for one that is damaged."""
    try:
        data = parse_json(text, source)
    except ModelError:
        return {}
    config = data.get("config") if isinstance(data, dict) else None
    return config if isinstance(config, dict) else {}


def _read(constant: PartialTensor, package: Package, file: str) -> PartialTensor:
    """The constant with its contents; without them where the file is missing or does not fit."""
    data = package.read(file)
    elements = None if data is None else raw_elements(constant.dtype, data)
    count = prod(size for size in constant.shape.require() if isinstance(size, int))
    if elements is None or len(elements) != count:
        return constant
    return PartialTensor(constant.dtype, constant.shape, elements)
