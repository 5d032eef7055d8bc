"""The totals of a model at given sizes, in a way that shares nothing with the symbolic peak.

Live names at each node follow from the file alone (`independent`). Shapes come from inferring the model anew with
numbers instead of its dims, those inside of bodies from onnx's own inference. numpy adds the sizes.
"""

from __future__ import annotations

import math
import random

import numpy as np
import onnx

from shapeinf import infer_shapes
from shapeinf.errors import Contradiction
from shapeinf.formats import load
from shapeinf.lattice import SequenceType
from tests.memory import independent

WIDTHS = {name: 4 for name in ("float32", "int32")} | {"int64": 8, "float64": 8, "float16": 2, "bool": 1}
WIDTHS |= {"int8": 1, "uint8": 1}


class Account:
    """A corpus model, inferred once with symbols and once for each binding."""

    def __init__(self, path):
        """Compute the live names of each program point."""
        self.proto = onnx.load(str(path), load_external_data=False)
        self.graph = load(str(path))
        self.result = infer_shapes(self.graph)
        self.peak = self.result.memory().peak
        points = independent.alive(self.proto.graph)
        self.names = sorted(set().union(*points))
        column = {name: i for i, name in enumerate(self.names)}
        self.alive = np.zeros((len(points), len(self.names)), dtype=np.int64)
        for at, there in enumerate(points):
            self.alive[at, [column[name] for name in there]] = 1
        self.nested = any(independent.bodies(node) for node in self.proto.graph.node)
        self.dims = sorted(self._symbols(), key=str)

    def _symbols(self):
        tensors = (self.result.tensors[value.name] for value in self.proto.graph.input)
        dims = {self.result.engine.store.canon(d) for tensor in tensors for d in tensor.shape.dims or ()}
        return set().union(*(d.symbols() for d in dims if not isinstance(d, int)))

    def at(self, point):
        """The bytes of every name, None where unknown; None instead of the dict where the model does not run."""
        try:
            result = infer_shapes(self.graph, bind=point)
        except Contradiction:
            return None
        if any(d.severity == "error" for d in result.diagnostics):
            return None
        inner = _of_bodies(self.proto, point) if self.nested else {}
        inference = result.engine.inference
        slots = inference.compiled.slots
        return [_bytes(inference.type_of(slots[name])) if name in slots else inner.get(name) for name in self.names]

    def most(self, columns):
        """For each of these accounts, the largest total of the known sizes that the peak counts."""
        unbounded = {actual.name for actual in self.peak.unbounded}
        counted = np.array([name not in unbounded for name in self.names], dtype=np.int64)
        sizes = np.array([[size or 0 for size in column] for column in columns], dtype=np.int64) * counted
        return (self.alive @ sizes.T).max(axis=0).tolist()

    def points(self, count, seed, tries=40):
        """Up to a number of different legal points, with their needs; draws at most `tries` times as often."""
        draw, seen = random.Random(seed), set()
        actual = {}
        for _ in range(tries * count):
            point = self._drawn(draw)
            key = tuple(point.items())
            if len(actual) < count and key not in seen and self.at_peak(point) is not None:
                column = self.at(point)
                if column is not None:
                    actual[key] = column
            seen.add(key)
        return [(dict(key), column) for key, column in actual.items()]

    def at_peak(self, point):
        """The peak at a point; None where it refuses the sizes."""
        try:
            return self.peak.at(point)
        except Contradiction:
            return None

    def _drawn(self, draw):
        """Small and large sizes, multiples of what networks halve, and sums of others."""
        point = {}
        for symbol in draw.sample(self.dims, len(self.dims)):
            low, high = self.result.interval(symbol).lo or 0, self.result.interval(symbol).hi
            size = draw.randint(low, low + draw.choice((1, 9, 60, 900)))
            kind = draw.randrange(3)
            size = 32 * draw.randint(1, 30) if kind == 0 else sum(point.values()) if kind == 1 and point else size
            point[symbol.name] = max(low, size if high is None else min(size, high))
        return dict(sorted(point.items()))


def _bytes(actual):
    if isinstance(actual, SequenceType):
        items = actual.items or (actual.element,) * actual.length if isinstance(actual.length, int) else (None,)
        sizes = [None if item is None else _bytes(item) for item in items]
        return None if None in sizes else sum(sizes)
    dims = actual.shape.dims
    if actual.dtype not in WIDTHS or dims is None or not all(isinstance(d, int) for d in dims):
        return None
    return WIDTHS[actual.dtype] * math.prod(dims)


def _of_bodies(proto, point):
    """The bytes inside of bodies as onnx infers them; it has no shapes for sizes that differ from trip to trip."""
    actual = {}

    def walk(graph, path):
        for value in (*graph.value_info, *graph.output, *graph.input):
            tensor = value.type.tensor_type
            if tensor.HasField("shape") and all(d.HasField("dim_value") for d in tensor.shape.dim):
                actual[path + value.name] = independent.size(value)
        for node in graph.node:
            for body in independent.bodies(node):
                walk(body, f"{path}{node.name or node.output[0]}/")

    walk(independent.bound(proto, point).graph, "")
    return actual
