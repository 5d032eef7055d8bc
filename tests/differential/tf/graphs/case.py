"""A graph: a function of TensorFlow's public API, and the element types and sizes of its inputs."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable

import attrs
import numpy as np

BINDINGS = (
    {"b": 2, "t": 5, "h": 16, "w": 24, "n": 7, "k": 3},
    {"b": 3, "t": 7, "h": 33, "w": 40, "n": 9, "k": 4},
    {"b": 1, "t": 4, "h": 20, "w": 17, "n": 6, "k": 2},
    {"b": 1, "t": 1, "h": 1, "w": 1, "n": 1, "k": 1},
    {"b": 0, "t": 5, "h": 16, "w": 24, "n": 7, "k": 3},
    {"b": 2, "t": 0, "h": 16, "w": 24, "n": 0, "k": 3},
    {"b": 0, "t": 0, "h": 0, "w": 0, "n": 0, "k": 0},
)
"""The sizes at which graphs run. Only the first ones, REQUIRED, are: graphs may fail at sizes of 0, or all 1."""
REQUIRED = 3


class _Tensorflow:
    """TensorFlow, imported at its first use: the tests need only the names of the graphs, not TensorFlow."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module("tensorflow"), name)


tf = _Tensorflow()


@attrs.frozen
class Input:
    """An input from a text such as `float32[b, 3]`, or `float32?[b, 3]` if the file does not declare its rank."""

    dtype: str
    dims: tuple
    ranked: bool

    @classmethod
    def parse(cls, text):
        dtype, mark, dims = re.fullmatch(r"(\w+)(\??)\[(.*)\]", text).groups()
        parts = [part.strip() for part in dims.split(",") if part.strip()]
        return cls(dtype, tuple(int(part) if part.isdigit() else part for part in parts), not mark)

    def shape(self, binding=None):
        """The sizes at a binding; without one, None for sizes that the file does not declare."""
        return [dim if isinstance(dim, int) else binding and binding[dim] for dim in self.dims]

    def array(self, binding, random):
        shape = self.shape(binding)
        if self.dtype == "string":
            return np.full(shape, b"a b,c 1", dtype=object)
        if self.dtype == "bool":
            return random.random(shape) > 0.5
        if "int" in self.dtype:
            return random.integers(0, 4, shape).astype(self.dtype)
        if "complex" in self.dtype:
            return (random.random(shape) + 1j * random.random(shape)).astype(self.dtype)
        return (random.random(shape) + 0.1).astype(self.dtype)


@attrs.frozen
class GraphCase:
    """`legacy`: a graph of TensorFlow 1, with control flow of switches and merges.

    `static` is False where TensorFlow's shape functions reject, at known sizes, nodes of a branch that does not run.
    `extreme` is False where sizes of 0 and 1 crash TensorFlow: then only the required bindings run.
    """

    name: str
    build: Callable
    inputs: tuple[str, ...]
    legacy: bool = False
    extreme: bool = True
    static: bool = True


class Family:
    """The cases of one subject; the decorator `graph` adds a function as a case of its name."""

    def __init__(self, name):
        self.name = name
        self.cases = []

    def graph(self, *inputs, **options):
        def add_case(build):
            self.add(build.__name__, build, *inputs, **options)
            return build

        return add_case

    def add(self, name, build, *inputs, **options):
        self.cases.append(GraphCase(f"{self.name}/{name}", build, inputs, **options))
