"""Random graphs of matrices with loops, scans and branches in each other."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper

from tests.differential.random_graphs.block import BOOL, FLOAT, INT, Block, Draw, model_of, value


def drawn(seed: int) -> onnx.ModelProto:
    """A model of matrices `x` and `z`, a number of trips `n` and a `flag`."""
    draw = Draw(seed)
    top = Matrices(draw, ["x", "z"], draw.choice((1, 2)))
    while not any(node.op_type in ("Loop", "Scan", "If") for node in top.nodes):
        top.step()
    for _ in range(draw.randrange(3)):
        top.step()
    inputs = [
        value("x", FLOAT, ["a", "b"]),
        value("z", FLOAT, ["c", "b"]),
        value("n", INT, []),
        value("flag", BOOL, []),
    ]
    return model_of(top, inputs, list(dict.fromkeys([*top.pool[2:], *top.stacks])))


class Matrices(Block):
    """Nodes that compute matrices from those in `pool`, which includes those of outer graphs.

    `stacks` are other outputs of its nodes; `count` is the number of the trip in the body of a loop.
    """

    def __init__(self, draw: Draw, pool: list[str], depth: int, count: str = "") -> None:
        super().__init__(draw)
        self.pool, self.depth, self.count = list(pool), depth, count
        self.stacks: list[str] = []

    def step(self) -> str:
        """Add a matrix."""
        name: str = self.draw.choice(WITH_BODIES if self.depth else SIMPLE)(self)
        self.pool.append(name)
        return name

    def any(self) -> str:
        """One of the matrices."""
        return self.draw.choice(self.pool)

    def number(self) -> str:
        """A vector of one small number: known, a size, or the number of the trip."""
        draw = self.draw
        kind = draw.choice(("known", "size", *(("count",) if self.count else ())))
        if kind == "known":
            return self.known([draw.choice((-2, -1, 0, 1, 2, 3))])
        name = self.size(self.any(), draw.randrange(2)) if kind == "size" else self.row_of(self.count)
        if draw.random() < 0.4:
            name = self.add(draw.choice(("Add", "Sub", "Mul", "Div")), name, self.known([draw.choice((1, 2))]))
        return name

    def row_of(self, scalar: str) -> str:
        """A scalar as a vector."""
        return self.add("Reshape", scalar, self.known([1]))

    def flag(self) -> str:
        """A condition: an input, known, or of a size or the number of the trip."""
        draw = self.draw
        kind = draw.choice(("given", "known", "size", *(("count",) if self.count else ())))
        if kind == "given":
            return "flag"
        if kind == "known":
            return self.known(draw.random() < 0.5, np.bool_)
        if kind == "size":
            few = self.known([draw.choice((1, 2, 3, 5))])
            return self.add("Squeeze", self.add("Less", self.size(self.any(), 0), few))
        return self.add("Less", self.count, self.known(draw.choice((1, 2, 3))))

    def body(self, inputs: list[onnx.ValueInfoProto], outputs: list[onnx.ValueInfoProto]) -> onnx.GraphProto:
        """What was drawn, as the body of a node."""
        return helper.make_graph(self.nodes, self.draw.name(), inputs, outputs)


def relu(m: Matrices) -> str:
    return m.add("Relu", m.any())


def concat(m: Matrices) -> str:
    return m.add("Concat", m.any(), m.any(), axis=m.draw.randrange(2))


def add(m: Matrices) -> str:
    return m.add("Add", m.any(), m.any())


def cut(m: Matrices) -> str:
    step = m.known([m.draw.choice((1, 1, 1, 2, -1))])
    return m.add("Slice", m.any(), m.number(), m.number(), m.known([m.draw.randrange(2)]), step)


def transpose(m: Matrices) -> str:
    return m.add("Transpose", m.any(), perm=[1, 0])


def reshape(m: Matrices) -> str:
    return m.add("Reshape", m.any(), m.known(m.draw.choice(([-1, 1], [1, -1], [0, -1], [-1, 2], [2, -1], [-1, 3]))))


def reshape_to_a_number(m: Matrices) -> str:
    return m.add("Reshape", m.any(), m.add("Concat", m.number(), m.known([-1]), axis=0))


def rows(m: Matrices) -> str:
    indices = [m.draw.choice((0, -1, 1)) for _ in range(m.draw.choice((1, 2, 3)))]
    return m.add("Gather", m.any(), m.known(indices), axis=m.draw.randrange(2))


def row(m: Matrices) -> str:
    return m.add("Gather", m.any(), m.number(), axis=m.draw.randrange(2))


def reduce_sum(m: Matrices) -> str:
    return m.add("ReduceSum", m.any(), m.known([m.draw.randrange(2)]), keepdims=1)


def pad(m: Matrices) -> str:
    return m.add("Pad", m.any(), m.known([m.draw.choice((0, 0, 1, -1)) for _ in range(4)]))


def constant_of_shape(m: Matrices) -> str:
    return m.add("ConstantOfShape", m.add("Concat", m.number(), m.number(), axis=0))


def non_zero(m: Matrices) -> str:
    return m.add("Cast", m.add("NonZero", m.any()), to=FLOAT)


def expand(m: Matrices) -> str:
    return m.add("Expand", m.any(), m.add("Concat", m.number(), m.known([1]), axis=0))


def branch(m: Matrices) -> str:
    flag, sides = m.flag(), {}
    for side in ("then_branch", "else_branch"):
        inner = type(m)(m.draw, m.pool, m.depth - 1, m.count)
        last = [inner.step() for _ in range(m.draw.choice((1, 2)))][-1]
        sides[side] = inner.body([], [helper.make_empty_tensor_value_info(last)])
    return m.add("If", flag, **sides)


def trips(m: Matrices) -> str:
    """The limit of a loop: known, a size, an input, or none."""
    kind = m.draw.choice(("known", "size", "given", "none"))
    if kind == "known":
        return m.known(m.draw.randrange(5))
    if kind == "size":
        return m.add("Squeeze", m.size(m.any(), m.draw.randrange(2)))
    return "n" if kind == "given" else ""


def loop(m: Matrices) -> str:
    draw, limit = m.draw, trips(m)
    start = m.flag() if limit and draw.random() < 0.3 else m.known(True, np.bool_)
    first = [m.any() for _ in range(draw.choice((1, 1, 2)))]
    count, go_on, states = draw.name(), draw.name(), [draw.name() for _ in first]
    inner = type(m)(draw, [*m.pool, *states * 3], m.depth - 1, count)  # carried states are likely to be used
    results = [inner.step() for _ in range(draw.choice((1, 2, 3)))]
    if limit and draw.random() < 0.7:
        more = inner.add("Identity", go_on)
    else:
        more = inner.add("Less", count, inner.known(draw.randrange(4)))
    last = [inner.add("Identity", draw.choice([*results, *results, *states, *inner.pool])) for _ in states]
    scanned = [inner.add("Identity", draw.choice([*results, *states]))] if draw.random() < 0.5 else []
    inputs = [value(count, INT, []), value(go_on, BOOL, []), *map(value, states)]
    body = inner.body(inputs, [value(more, BOOL, []), *map(value, (*last, *scanned))])
    after = m.split("Loop", len(last) + len(scanned), limit, start, *first, body=body)
    m.pool += after[: len(last)]
    m.stacks += after[len(last) :]
    if scanned and draw.random() < 0.5:
        return m.add("Reshape", after[-1], m.known([-1, 1]))
    return draw.choice(after[: len(last)])


def scan(m: Matrices) -> str:
    """The state is a sum with what it was: onnxruntime does not always check that its shape is unchanged."""
    draw = m.draw
    first, over, old, element = m.any(), m.any(), draw.name(), draw.name()
    inner = Matrices(draw, m.pool, m.depth - 1)
    wide = inner.add("Unsqueeze", element, inner.known([draw.randrange(2)]))
    inner.pool += [old, wide, old, wide]
    last = [inner.step() for _ in range(draw.choice((1, 2)))][-1]
    new = inner.add("Add", old, draw.choice((old, inner.add("ReduceMax", last, keepdims=0))))
    out = inner.add("Identity", draw.choice((last, wide, old)))
    attributes = {
        "scan_input_axes": [draw.randrange(2)],
        "scan_output_axes": [draw.randrange(3)],
        "scan_input_directions": [draw.randrange(2)],
    }
    body = inner.body([value(old), value(element)], [value(new), value(out)])
    after, stack = m.split("Scan", 2, first, over, body=body, num_scan_inputs=1, **attributes)
    m.stacks.append(stack)
    return after


SIMPLE = (
    *(relu, concat, add, cut, cut, transpose, reshape, reshape_to_a_number),
    *(rows, row, reduce_sum, pad, constant_of_shape, non_zero, expand),
)
WITH_BODIES = (*SIMPLE, *(loop,) * 5, *(branch,) * 3, *(scan,) * 2)
