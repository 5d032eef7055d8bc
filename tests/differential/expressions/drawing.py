"""Drawing expressions: programs of scalars, which onnxruntime and TensorFlow run."""

from __future__ import annotations

import math
import random
from typing import NamedTuple

import ml_dtypes
import numpy as np

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
TYPES = (*INTEGERS, *FLOATS)

SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 11, 16, 27, 31, 49, 64, 100, 125, 127, 128, 129, 200, 255, 256, 257, 343, 729, 1000)
SIZES += (1541, 2047, 2048, 2049, 2187, 2401, 4096, 4099, 16807, 40000)
BINDINGS = 5

BINARY = ("Add", "Sub", "Mul", "Add", "Sub", "Mul", "Max", "Min")
FUNCTIONS = ("Exp", "Log", "Sqrt", "Reciprocal")
ROUNDINGS = ("Floor", "Ceil", "Round")


class Node(NamedTuple):
    """An operator and its operands, which are earlier nodes by number; `dtype` is that of the result.

    The operator `size` has a size of an input (`value` is 0 or 1), `constant` has `value`. Expressions end in nodes
    `result`, an int64 from 0 to 7 that is used as a size.
    """

    op: str
    operands: tuple[int, ...]
    dtype: str
    value: int | float | None = None


class Program(NamedTuple):
    """Nodes in order, and sizes of the two inputs."""

    nodes: list[Node]
    bindings: list[tuple[int, int]]


def numpy_type(dtype: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, dtype) if dtype == "bfloat16" else dtype)


def draw(dtype: str, seed: int, expressions: int) -> Program:
    """A program of expressions in one element type."""
    source = random.Random(f"{dtype} {seed}")
    nodes = [Node("size", (), "int64", 0), Node("size", (), "int64", 1)]
    for _ in range(expressions):
        Expression(source, nodes, dtype).draw()
    bindings = [(source.choice(SIZES), source.choice(SIZES)) for _ in range(BINDINGS)]
    return Program(nodes, bindings)


class Expression:
    """One expression; its first nodes are the sizes in the element type."""

    def __init__(self, source: random.Random, nodes: list[Node], dtype: str) -> None:
        self.source = source
        self.nodes = nodes
        self.dtype = dtype
        self.values: list[int] = []

    def draw(self) -> None:
        """Add the nodes."""
        self.values += [self.add("Cast", 0), self.add("Cast", 1)]
        steps = (self.binary, self.binary, self.unary, self.divide, self.cast_twice, self.choose, self.power)
        for _ in range(self.source.randint(1, 5)):
            self.source.choice(steps)()
        last = self.values[-1]
        if self.dtype in FLOATS:
            last = self.add(self.source.choice(ROUNDINGS), last)
        self.add("result", self.add("Cast", last, dtype="int64"), dtype="int64")

    def add(self, op: str, *operands: int, dtype: str | None = None) -> int:
        """Add a node; its number."""
        self.nodes.append(Node(op, operands, dtype or self.dtype))
        return len(self.nodes) - 1

    def constant(self, number: float) -> int:
        """A constant, as near to a number as the type allows; its number."""
        with np.errstate(all="ignore"):
            value = numpy_type(self.dtype).type(number).item()
        self.nodes.append(Node("constant", (), self.dtype, value))
        return len(self.nodes) - 1

    def value(self) -> int:
        """An operand: mostly the last result."""
        if self.source.random() < 0.6:
            return self.values[-1]
        return self.source.choice(self.values) if self.source.random() < 0.5 else self.constant(self.number())

    def number(self) -> float:
        """A small number, or one near the limits of the type."""
        source = self.source
        if self.dtype in FLOATS:
            return source.choice((0.1, 0.3, 0.5, 0.7, 1.5, 2, 3, 7, 10, 1 / 3, 0.01, 2047, 2049, 2**24 + 1, -1.25, 255))
        limits = np.iinfo(self.dtype)
        if source.random() < 0.5:
            return source.randint(-9 if limits.min else 0, 9)
        near = source.choice((limits.max, limits.min, limits.max // 2, limits.max // 256, 1 << (limits.bits // 2)))
        return min(limits.max, max(limits.min, int(near) + source.randint(-2, 2)))

    def binary(self) -> None:
        op = self.source.choice(BINARY)
        if op in ("Max", "Min") and self.dtype in ("int16", "uint16"):  # which onnxruntime does not have
            op = "Add"
        operands = [self.value(), self.value()]
        self.values.append(self.add(op, *operands))

    def unary(self) -> None:
        if self.dtype in FLOATS:
            ops = (*FUNCTIONS, *FUNCTIONS, *ROUNDINGS, "Neg", "Abs")
        else:
            ops = ("Neg", "Abs", "Sign") if np.iinfo(self.dtype).min else ("Abs", "Sign")
        self.values.append(self.add(self.source.choice(ops), self.value()))

    def divide(self) -> None:
        """A quotient or remainder by a constant that is not 0, and of integers not -1, for which runtimes abort."""
        if self.dtype in FLOATS:
            operands = [self.value(), self.value()]
            self.values.append(self.add("Div", *operands))
            return
        number = self.number()
        divisor = self.constant(number if number not in (-1, 0) else 3)
        self.values.append(self.add(self.source.choice(("Div", "Mod")), self.value(), divisor))

    def cast_twice(self) -> None:
        """A cast to another type and back."""
        kinds = FLOATS if self.dtype in FLOATS else INTEGERS
        other = self.add("Cast", self.value(), dtype=self.source.choice(kinds))
        self.values.append(self.add("Cast", other))

    def choose(self) -> None:
        """The smaller or larger of two, by a comparison."""
        if self.dtype in ("int8", "int16", "uint8", "uint16", "uint32", "uint64", "bfloat16", "float16"):
            self.binary()  # onnxruntime has no comparisons of most of these
            return
        left, right = self.value(), self.value()
        condition = self.add("Less", left, right, dtype="bool")
        self.values.append(self.add("Where", condition, left, right))

    def power(self) -> None:
        if self.dtype in FLOATS:
            exponent = self.constant(self.source.choice((0, 0.5, 1, 2, 3, 0.3, -1)))
            base = self.source.choice((self.value(), self.constant(2)))
            self.values.append(self.add("Pow", base, self.source.choice((exponent, self.values[-1]))))
        elif self.dtype in ("int32", "int64"):
            self.values.append(self.add("Pow", self.value(), self.constant(self.source.choice((0, 1, 2, 2, 3, 4)))))
        else:
            self.binary()


def clamp(number: float) -> int:
    """What `result` does with an int64."""
    return int(min(7, max(0, number))) if math.isfinite(number) else 0
