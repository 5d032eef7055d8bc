"""Random shape arithmetic, and tensors whose shapes depend on its results."""

from __future__ import annotations

import numpy as np
import onnx

from tests.differential.random_graphs.block import FLOAT, INT, Block, Draw, model_of, value

LIMITS = [
    sign * (limit + near)
    for limit in (2**63, 2**62, 2**32, 2**31, 2**30)
    for sign in (1, -1)
    for near in (-2, -1, 0, 1)
]
"""Numbers near the limits of integer types."""
TYPES = tuple(
    getattr(onnx.TensorProto, name)
    for name in ("INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64")
)
HALF = onnx.TensorProto.FLOAT16
SMALL = (-3, -2, -1, 0, 1, 2, 3, 4, 5, 7)


def drawn(seed: int, *, limits: float = 0.0) -> onnx.ModelProto:
    """A model of matrices `x` and `z`; every value is an output.

    `limits` is the share of constants near the limits of integer types; then there is also arithmetic in every type.
    """
    draw = Draw(seed)
    block = Numbers(draw, limits)
    for _ in range(draw.randrange(3, 14)):
        draw.choice((*ARITHMETIC, *TYPED) if limits else ARITHMETIC)(block)
    for _ in range(draw.randrange(1, 5)):
        block.use()
    names = [name for node in block.nodes if node.op_type != "Constant" for name in node.output]
    return model_of(block, [value("x", FLOAT, ["a", "b"]), value("z", FLOAT, ["c", "b"])], names)


class Numbers(Block):
    """Vectors of ints: `singles` have one, `vectors` any number; `matrices` are the tensors with shapes."""

    def __init__(self, draw: Draw, limits: float = 0.0) -> None:
        super().__init__(draw)
        self.limits = limits
        self.matrices = ["x", "z"]
        self.vectors = [self.add("Shape", name) for name in self.matrices]
        self.singles = [self.add("Gather", v, self.known([i])) for v in self.vectors for i in (0, 1)]

    def vector(self) -> str:
        return self.draw.choice(self.vectors + self.singles)

    def single(self) -> str:
        """A number; with `limits` a small one, which sizes and indices may have."""
        if self.draw.random() < 0.75:
            single = self.draw.choice(self.singles)
            low, high = (
                (self.known([n]) for n in self.draw.choice(((0, 5), (-3, 7), (1, 3)))) if self.limits else ("", "")
            )
            return self.add("Min", self.add("Max", single, low), high) if self.limits else single
        return self.known([self.draw.choice(SMALL)])

    def number(self) -> str:
        """An operand of arithmetic, or the end of a slice: with `limits` also a number near those of its type."""
        if not self.limits:
            return self.single()
        if self.draw.random() < self.limits:
            limits = np.iinfo(np.int64)
            return self.known([min(limits.max, max(limits.min, self.draw.choice(LIMITS)))])
        return self.draw.choice(self.singles)

    def scalar(self) -> str:
        return self.add("Squeeze", self.single())

    def joined(self, count: int) -> str:
        return self.add("Concat", *(self.single() for _ in range(count)), axis=0)

    def small_vector(self) -> str:
        """A vector; with `limits` one of small numbers."""
        return self.joined(self.draw.randrange(1, 4)) if self.limits else self.vector()

    def condition(self) -> str:
        draw = self.draw
        name = self.add(draw.choice(("Less", "Greater", "Equal", "LessOrEqual")), self.single(), self.single())
        if draw.random() < 0.3:
            name = self.add("Not", name)
        if draw.random() < 0.3:
            other = self.add("Less", self.single(), self.single())
            name = self.add(draw.choice(("And", "Or", "Xor")), name, other)
        return name

    def use(self) -> None:
        """Add a tensor whose shape, or whose position in another tensor, is computed from the numbers."""
        draw, matrix = self.draw, self.draw.choice(self.matrices)
        op = draw.choice(
            ("Reshape", "Flat", "Expand", "Tile", "Slice", "ConstantOfShape", "Pad", "Gather", "Unsqueeze")
        )
        if op in ("Reshape", "Expand"):
            self.add(op, matrix, self.small_vector())
        elif op == "Flat":
            self.add("Reshape", matrix, self.add("Concat", self.single(), self.known([-1]), axis=0))
        elif op == "ConstantOfShape":
            self.add(op, self.small_vector())
        elif op == "Gather":
            self.add(op, matrix, self.single(), axis=draw.randrange(2))
        elif op == "Unsqueeze":
            self.add(op, matrix, self.single())
        else:
            self.matrices.append(self._matrix(op, matrix))
            self.vectors.append(self.add("Shape", self.matrices[-1]))

    def _matrix(self, op: str, matrix: str) -> str:
        if op == "Slice":
            axis, step = self.known([self.draw.choice((0, 1, -1))]), self.known([self.draw.choice((1, -1, 2))])
            return self.add(op, matrix, self.number(), self.number(), axis, step)
        return self.add(op, matrix, self.joined(2 if op == "Tile" else 4))


def binary(n: Numbers) -> None:
    op = n.draw.choice(("Add", "Sub", "Mul", "Div", "Add", "Sub", "Mul", "Div", "Max", "Min"))
    n.singles.append(n.add(op, n.number(), n.number()))


def modulo(n: Numbers) -> None:
    n.singles.append(n.add("Mod", n.single(), n.single(), fmod=n.draw.randrange(2)))


def unary(n: Numbers) -> None:
    n.singles.append(n.add(n.draw.choice(("Neg", "Abs", "Identity", "Sign")), n.number()))


def concat(n: Numbers) -> None:
    n.vectors.append(n.add("Concat", n.vector(), n.vector(), axis=0))


def cut(n: Numbers) -> None:
    draw = n.draw
    if draw.random() < 0.5:
        ends = n.known([draw.choice((-2, -1, 0, 1))]), n.known([draw.choice((-1, 1, 2, 3, 100))])
    else:
        ends = n.number(), n.number()
    n.vectors.append(n.add("Slice", n.vector(), *ends, n.known([0]), n.known([draw.choice((1, 1, -1, 2))])))


def pick(n: Numbers) -> None:
    n.singles.append(n.add("Gather", n.vector(), n.known([n.draw.choice((0, -1, 1))])))


def reduced(n: Numbers) -> None:
    op = n.draw.choice(("ReduceProd", "ReduceMax", "ReduceMin", "ReduceSum"))
    n.singles.append(n.add(op, n.vector(), keepdims=1))


def by_floats(n: Numbers) -> None:
    number = n.add("Cast", n.single(), to=FLOAT)
    number = n.add(n.draw.choice(("Mul", "Div")), number, n.known([n.draw.choice((0.5, 2, 3, 0.25, 1.5))], np.float32))
    number = n.add(n.draw.choice(("Floor", "Ceil", "Identity")), number)
    n.singles.append(n.add("Cast", number, to=INT))


def chosen(n: Numbers) -> None:
    n.singles.append(n.add("Where", n.condition(), n.single(), n.single()))


def replaced(n: Numbers) -> None:
    n.vectors.append(n.add("Where", n.add("Equal", n.vector(), n.single()), n.single(), n.vector()))


def counted(n: Numbers) -> None:
    n.vectors.append(n.add("Range", n.scalar(), n.scalar(), n.scalar()))


def summed(n: Numbers) -> None:
    n.vectors.append(n.add("CumSum", n.vector(), n.known(0)))


def repeated(n: Numbers) -> None:
    n.vectors.append(n.add("Tile", n.vector(), n.known([n.draw.randrange(3)])))


def together(n: Numbers) -> None:
    n.vectors.append(n.add(n.draw.choice(("Add", "Mul", "Sub", "Div", "Max", "Min")), n.vector(), n.vector()))


def filled(n: Numbers) -> None:
    fill = onnx.numpy_helper.from_array(np.array([n.draw.choice(SMALL)]))
    n.vectors.append(n.add("ConstantOfShape", n.single(), value=fill))


def written(n: Numbers) -> None:
    n.vectors.append(n.add("ScatterElements", n.vector(), n.known([n.draw.choice((0, -1))]), n.single(), axis=0))


def converted(n: Numbers) -> None:
    narrow = n.draw.choice((onnx.TensorProto.INT32, onnx.TensorProto.BOOL, INT))
    n.vectors.append(n.add("Cast", n.add("Cast", n.vector(), to=narrow), to=INT))


def elements(n: Numbers) -> None:
    n.singles.append(n.add("Reshape", n.add("Size", n.draw.choice(n.matrices)), n.known([-1])))


def typed(n: Numbers) -> None:
    """Arithmetic in another integer type."""
    kind = n.draw.choice(TYPES)
    left, right = (n.add("Cast", n.number(), to=kind) for _ in range(2))
    number = n.add(n.draw.choice(("Add", "Sub", "Mul")), left, right)
    if n.draw.random() < 0.3:
        number = n.add("Abs", number)
    if n.draw.random() < 0.3:
        number = n.add("Mul", number, n.add("Cast", n.number(), to=kind))
    n.singles.append(n.add("Cast", number, to=INT))


def functions(n: Numbers) -> None:
    """Functions and chains of floats, of a size that is at least 1."""
    kind = n.draw.choice((FLOAT, FLOAT, HALF, onnx.TensorProto.DOUBLE))
    size = n.add("Add", n.add("Abs", n.add("Mod", n.single(), n.known([97]))), n.known([1]))
    number = n.add("Cast", size, to=kind)
    for _ in range(n.draw.randrange(1, 4)):
        factor = n.add("Cast", n.known([n.draw.choice((0.1, 1 / 3, 0.7, 7, 2))], np.float32), to=kind)
        op = n.draw.choice(("Mul", "Div", "Add", "Sqrt", "Log", "Exp", "Pow", "Reciprocal"))
        if op in ("Log", "Exp", "Pow"):  # of a number near 1, and between 0 and 1
            number = n.add("Div", number, n.add("Cast", n.known([50]), to=kind))
            number = n.add("Pow", number, factor) if op == "Pow" else n.add(op, n.add("Abs", number))
        elif op in ("Sqrt", "Reciprocal"):
            number = n.add(op, n.add("Add", n.add("Abs", number), factor))
        else:
            number = n.add(op, number, factor)
    number = n.add(
        "Cast", n.add("Clip", number, n.add("Cast", n.known(-9), to=kind), n.add("Cast", n.known(9), to=kind)), to=FLOAT
    )
    n.singles.append(n.add("Cast", n.add(n.draw.choice(("Floor", "Ceil", "Round")), number), to=INT))


TYPED = (*(typed,) * 4, *(functions,) * 4)
"""Arithmetic in element types other than those of sizes, besides ARITHMETIC."""

ARITHMETIC = (
    *(binary,) * 6,
    *(modulo, unary, concat, cut, cut, pick, reduced, reduced, by_floats, chosen, replaced, counted),
    *(summed, repeated, together, filled, written, converted, elements),
)
