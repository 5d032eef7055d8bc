"""Random shape arithmetic, and tensors whose shapes depend on its results."""

from __future__ import annotations

import numpy as np
import onnx

from tests.differential.random_graphs.block import FLOAT, INT, Block, Draw, model_of, value

USES = ("Reshape", "Flat", "Expand", "Tile", "Slice", "ConstantOfShape", "Pad", "Gather", "Unsqueeze")
SMALL = (-3, -2, -1, 0, 1, 2, 3, 4, 5, 7)


def drawn(seed: int) -> onnx.ModelProto:
    """A model of matrices `x` and `z`; every value is an output."""
    draw = Draw(seed)
    block = Numbers(draw)
    for _ in range(draw.randrange(3, 14)):
        draw.choice(ARITHMETIC)(block)
    for _ in range(draw.randrange(1, 5)):
        block.use()
    names = [name for node in block.nodes if node.op_type != "Constant" for name in node.output]
    return model_of(block, [value("x", FLOAT, ["a", "b"]), value("z", FLOAT, ["c", "b"])], names)


class Numbers(Block):
    """Vectors of ints: `singles` have one, `vectors` any number; `matrices` are the tensors with shapes."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.matrices = ["x", "z"]
        self.vectors = [self.add("Shape", name) for name in self.matrices]
        self.singles = [self.add("Gather", v, self.known([i])) for v in self.vectors for i in (0, 1)]

    def vector(self) -> str:
        return self.draw.choice(self.vectors + self.singles)

    def single(self) -> str:
        if self.draw.random() < 0.75:
            return self.draw.choice(self.singles)
        return self.known([self.draw.choice(SMALL)])

    def scalar(self) -> str:
        return self.add("Squeeze", self.single())

    def joined(self, count: int) -> str:
        return self.add("Concat", *(self.single() for _ in range(count)), axis=0)

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
            self.add(op, matrix, self.vector())
        elif op == "Flat":
            self.add("Reshape", matrix, self.add("Concat", self.single(), self.known([-1]), axis=0))
        elif op == "ConstantOfShape":
            self.add(op, self.vector())
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
            return self.add(op, matrix, self.single(), self.single(), axis, step)
        return self.add(op, matrix, self.joined(2 if op == "Tile" else 4))


def binary(n: Numbers) -> None:
    op = n.draw.choice(("Add", "Sub", "Mul", "Div", "Add", "Sub", "Mul", "Div", "Max", "Min"))
    n.singles.append(n.add(op, n.single(), n.single()))


def modulo(n: Numbers) -> None:
    n.singles.append(n.add("Mod", n.single(), n.single(), fmod=n.draw.randrange(2)))


def unary(n: Numbers) -> None:
    n.singles.append(n.add(n.draw.choice(("Neg", "Abs", "Identity", "Sign")), n.single()))


def concat(n: Numbers) -> None:
    n.vectors.append(n.add("Concat", n.vector(), n.vector(), axis=0))


def cut(n: Numbers) -> None:
    draw = n.draw
    if draw.random() < 0.5:
        ends = n.known([draw.choice((-2, -1, 0, 1))]), n.known([draw.choice((-1, 1, 2, 3, 100))])
    else:
        ends = n.single(), n.single()
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


ARITHMETIC = (
    *(binary,) * 6,
    *(modulo, unary, concat, cut, cut, pick, reduced, reduced, by_floats, chosen, replaced, counted),
    *(summed, repeated, together, filled, written, converted, elements),
)
