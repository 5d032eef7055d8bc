"""Damaged programs of torch.export: changes of their JSON."""

from __future__ import annotations

import copy
import random
from typing import Any

from tests.formats.torch_export.programs import flattening, package

VALUES: tuple[Any, ...] = (
    None,
    -1,
    2**80,
    1.5,
    "x",
    "s77",
    [],
    {},
    True,
    {"as_int": 3},
    [{"as_name": "n"}],
    float("nan"),
)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(inner for key, item in items for inner in _paths(item, (*path, key)))]


def damaged_program(seed: int) -> dict[str, Any]:
    """A program with up to 3 values replaced."""
    chooser = random.Random(seed)
    data = copy.deepcopy(flattening())
    for _ in range(chooser.randint(1, 3)):
        path = chooser.choice(_paths(data)[1:])
        parent: Any = data
        try:
            for key in path[:-1]:
                parent = parent[key]
            parent[path[-1]] = copy.deepcopy(chooser.choice(VALUES))
        except (KeyError, IndexError, TypeError):
            continue
    return data


def damaged_package(seed: int) -> bytes:
    """An archive with such a program; one in four has a few other bytes, too."""
    data = bytearray(package(("model", damaged_program(seed))))
    chooser = random.Random(~seed)
    for _ in range(chooser.randint(1, 3) if seed % 4 == 0 else 0):
        data[chooser.randrange(len(data))] = chooser.randrange(256)
    return bytes(data)
