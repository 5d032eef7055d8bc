"""Values for the inputs of a run: random, but legal wherever that can be told from the type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from shapeinf.result import Result
from shapeinf.runtime.sessions import Refusal, numpy_type
from shapeinf.texts import exact_bytes

MAX_BYTES = 1 << 32
"""All inputs together may not be larger."""

WAYS = {"0 and 1 at random": (0, 1), "all 0": (0, 0), "all 1": (1, 1)}
"""How integers of inputs are made; the next way is tried when the runtime refuses one. Small numbers are legal as
indices, positions, lengths and masks; a number that is alone is 1 where others are random."""


def feeds(
    result: Result, shapes: Mapping[str, tuple[int, ...]], arrays: Mapping[str, Any], seed: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Arrays for all inputs, in each of the ways that make a difference, with the name of the way.

    Raises Refusal for an input that no array can be made for.
    """
    types = {name: _dtype(result, name, arrays) for name in _wanted(result)}
    total = sum(int(np.prod(shapes[name], dtype=object)) * numpy_type(dtype).itemsize for name, dtype in types.items())
    if total > MAX_BYTES:
        raise Refusal(f"its inputs would take {exact_bytes(total)}: bind smaller sizes")
    drawn = [name for name, dtype in types.items() if name not in arrays and numpy_type(dtype).kind in "biu"]
    for way in WAYS if drawn else ["given"]:
        rng = np.random.default_rng(seed)
        yield (
            way,
            {
                name: arrays[name] if name in arrays else _array(rng, way, dtype, shapes[name])
                for name, dtype in types.items()
            },
        )


def _wanted(result: Result) -> list[str]:
    return [name for name in result.graph.inputs if name not in result.graph.constants]


def _dtype(result: Result, name: str, arrays: Mapping[str, Any]) -> str:
    info = result.tensors[name]
    if info.kind != "tensor":
        raise Refusal(f"no values are made for input {name}: it is no tensor")
    if info.dtype is None:
        raise Refusal(f"the element type of input {name} is not known")
    if name in arrays and info.dtype != "string" and arrays[name].dtype != numpy_type(info.dtype):
        raise Refusal(f"the array for input {name} is {arrays[name].dtype.name}, the model wants {info.dtype}")
    return info.dtype


def _array(rng: np.random.Generator, way: str, dtype: str, shape: tuple[int, ...]) -> Any:
    kind = numpy_type(dtype)
    if dtype == "string":
        return np.full(shape, "a", dtype=object)
    if kind.kind in "iu" and not shape and WAYS[way] == (0, 1):
        return np.ones(shape, kind)  # a count, most likely: of none there is little to compare
    if kind.kind in "biu":
        return np.asarray(rng.integers(*WAYS[way], shape, endpoint=True)).astype(kind)
    return np.asarray(rng.standard_normal(shape)).astype(kind)
