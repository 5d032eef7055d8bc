"""Memory by numpy alone: pad, reshape and transpose. Nothing here uses shapeinf; -1 is padding."""

from __future__ import annotations

import itertools
import math

import numpy as np


def memory_of(values, minor_to_major, tiles=(), tail=1):
    """The elements in memory, in order."""
    x = np.asarray(values).transpose(minor_to_major[::-1])
    for tile in tiles:
        x = tiled(x, tile)
    flat = x.reshape(-1)
    return np.pad(flat, (0, -len(flat) % tail), constant_values=-1)


def tiled(x, tile):
    x = x.reshape((1,) * (len(tile) - x.ndim) + x.shape)
    outside = x.ndim - len(tile)
    dims, sizes, pending = [*x.shape[:outside]], [1] * outside, 1
    for dim, size in zip(x.shape[outside:], tile, strict=True):
        pending *= dim
        if size != "*":
            dims.append(pending)
            sizes.append(size)
            pending = 1
    x = x.reshape(dims)
    x = np.pad(x, [(0, -dim % size) for dim, size in zip(dims, sizes, strict=True)], constant_values=-1)
    cut = x.reshape([n for dim, size in zip(x.shape, sizes, strict=True) for n in (dim // size, size)])
    inner = [2 * i + 1 for i in range(outside, len(dims))]
    cut = cut.transpose([2 * i for i in range(len(dims))] + [2 * i + 1 for i in range(outside)] + inner)
    return cut.reshape([*cut.shape[: len(dims)], *(sizes[outside:])])


def numbered(dims):
    """An array of these dims whose elements are their numbers, counted row-major."""
    return np.arange(math.prod(dims)).reshape(dims)


def reshape_keeps_memory(dims, first, target, second):
    """`first` and `second` are (minor_to_major, tiles) of an array and of its reshape."""
    return np.array_equal(memory_of(numbered(dims), *first), memory_of(numbered(target), *second))


def orders(rank):
    return list(itertools.permutations(range(rank)))
