"""Random graphs of matrices with branches and loops whose conditions compare sizes, and with what is usual in them."""

from __future__ import annotations

import onnx

from tests.differential.random_graphs import bodies
from tests.differential.random_graphs.block import BOOL, FLOAT, INT, Draw, model_of, value

COMPARISONS = ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal")


def drawn(seed: int) -> onnx.ModelProto:
    """A model of matrices `x` and `z`, a number `n` and a `flag`."""
    draw = Draw(seed)
    top = Fitted(draw, ["x", "z"], draw.choice((1, 1, 2)))
    for _ in range(draw.choice((1, 2, 3))):
        top.pool.append(branch(top))
        if draw.random() < 0.5:
            top.step()
    inputs = [
        value("x", FLOAT, ["a", "b"]),
        value("z", FLOAT, ["c", "b"]),
        value("n", INT, []),
        value("flag", BOOL, []),
    ]
    return model_of(top, inputs, list(dict.fromkeys([*top.pool[2:], *top.stacks])))


class Fitted(bodies.Matrices):
    """Matrices, of which many are padded or cropped to a size."""

    def step(self) -> str:
        """See `Matrices`."""
        name: str = self.draw.choice(WITH_BODIES if self.depth else PLAIN)(self)
        self.pool.append(name)
        return name

    def whole(self, of: str, axis: int) -> str:
        """A size or a number, perhaps computed from two of them."""
        draw = self.draw
        first = self.size(of, axis) if draw.random() < 0.7 else self.known([draw.choice((0, 1, 2, 3, 4, 6))])
        kind = draw.random()
        if kind < 0.6:
            return first
        if kind < 0.8:
            return self.add(draw.choice(("Add", "Sub", "Max", "Min")), first, self.size(self.any(), draw.randrange(2)))
        return self.add(draw.choice(("Mul", "Div", "Mod", "Add", "Sub")), first, self.known([draw.choice((1, 2, 3))]))

    def comparison(self) -> str:
        """A vector with the comparison of two numbers."""
        draw, of = self.draw, self.any()
        left = self.whole(of, draw.randrange(2))
        right = self.known([draw.choice((1, 2, 3, 4))]) if draw.random() < 0.6 else self.whole(self.any(), 0)
        if draw.random() < 0.2:
            left, right = right, left
        return self.add(draw.choice(COMPARISONS), left, right)

    def flag(self) -> str:
        """A condition: mostly comparisons of sizes and their connectives, else that of `Matrices`."""
        draw = self.draw
        if draw.random() < 0.1:
            return super().flag()
        condition = self.comparison()
        while draw.random() < 0.35:
            if draw.random() < 0.3:
                condition = self.add("Not", condition)
            else:
                condition = self.add(draw.choice(("And", "Or")), condition, self.comparison())
        return self.add("Squeeze", condition)


def target(m: Fitted) -> str:
    """A vector of one size to which a matrix is padded or cropped."""
    return m.known([m.draw.choice((1, 2, 3, 4))]) if m.draw.random() < 0.6 else m.size(m.any(), 0)


def crop(m: Fitted) -> str:
    axis = m.known([m.draw.randrange(2)])
    return m.add("Slice", m.any(), m.known([0]), target(m), axis)


def fill(m: Fitted) -> str:
    """Rows up to a size; fewer than none are cut, or refused."""
    of = m.any()
    missing = m.add("Sub", target(m), m.size(of, 0))
    if m.draw.random() < 0.3:
        missing = m.add("Max", missing, m.known([0]))
    return m.add("Pad", of, m.add("Concat", m.known([0, 0]), missing, m.known([0]), axis=0))


def drop(m: Fitted) -> str:
    return m.add("Slice", m.any(), m.known([1]), m.known([9]), m.known([m.draw.randrange(2)]))


def squeeze(m: Fitted) -> str:
    """Fails unless an axis has one element."""
    axis = m.known([m.draw.randrange(2)])
    return m.add("Unsqueeze", m.add("Squeeze", m.any(), axis), axis)


def repeat(m: Fitted) -> str:
    return m.add("Tile", m.any(), m.add("Concat", m.whole(m.any(), 0), m.known([1]), axis=0))


def whole_rows(m: Fitted) -> str:
    """A matrix of as many rows as a number says."""
    return m.add("ConstantOfShape", m.add("Concat", m.whole(m.any(), 0), m.known([2]), axis=0))


def branch(m: Fitted) -> str:
    return bodies.branch(m)


def grow(m: Fitted) -> str:
    """A loop without a limit that appends rows, doubles or halves until there are enough or few."""
    draw, state, first = m.draw, m.draw.name(), m.any()
    count, go_on = draw.name(), draw.name()
    inner = Fitted(draw, [*m.pool, state], 0, count)
    kind, most = draw.choice(("row", "double", "half", "drop")), draw.choice((2, 3, 4, 6))
    if kind in ("row", "double"):
        more = (
            inner.add("Slice", state, inner.known([0]), inner.known([1]), inner.known([0])) if kind == "row" else state
        )
        after = inner.add("Concat", state, more, axis=0)
    else:
        step = inner.known([2 if kind == "half" else 1])
        begins = inner.known([1 if kind == "drop" else 0])
        after = inner.add("Slice", state, begins, inner.known([99]), inner.known([0]), step)
    op = "Less" if kind in ("row", "double") else "Greater"
    again = inner.add("Squeeze", inner.add(op, inner.size(after, 0), inner.known([most])))
    begin = m.add(op, m.size(first, 0), m.known([most]))
    some = m.add("Greater", m.size(first, 0), m.known([0]))  # none would stay none in all trips
    start = m.add("Squeeze", m.add("And", begin, some))
    inputs = [value(count, INT, []), value(go_on, BOOL, []), value(state)]
    body = inner.body(inputs, [value(again, BOOL, []), value(after)])
    return m.add("Loop", "", start, first, body=body)


PLAIN = (
    *(crop, fill, fill, drop, squeeze, repeat, whole_rows),
    bodies.relu,
    bodies.concat,
    bodies.transpose,
    bodies.add,
)
WITH_BODIES = (*PLAIN, *(branch,) * 6, *(grow,) * 2, bodies.loop)
