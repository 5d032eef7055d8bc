"""Random models whose sizes grow: towers of divisions and maxima, and wide graphs over many named dims."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx

from tests.differential.random_graphs.block import FLOAT, Block, Draw, model_of, value

MOST_DIMS, LEAST_DIMS = 60, 20
MOST_NODES = 200


def random_model(seed: int) -> onnx.ModelProto:
    """A model of one of the kinds below; a seed gives the same model everywhere."""
    draw = Draw(seed)
    names = [f"d{i}" for i in range(draw.randint(LEAST_DIMS, MOST_DIMS))]
    shapes, left = {}, list(names)
    while left:
        rank = draw.randint(1, 4)
        shapes[f"x{len(shapes)}"], left = left[:rank], left[rank:]
    if draw.random() < 0.5:  # other inputs with the same names
        shapes |= {f"z{i}": [draw.choice(names) for _ in range(draw.randint(1, 3))] for i in range(4)}
    graph = GrowingGraph(draw, shapes)
    grow = draw.choice((add_quotient, add_sum, add_any, add_product, add_changed_tensor))
    most = draw.randint(20, MOST_NODES - 12)
    while len(graph.nodes) < most:
        grow(graph)
        if draw.random() < 0.06:
            graph.add_consumer()
    for _ in range(3):
        graph.add_consumer()
    inputs = [value(name, FLOAT, shape) for name, shape in shapes.items()]
    consumed = {name for node in graph.nodes for name in node.input}
    ends = [node.output[0] for node in graph.nodes if node.output[0] not in consumed and node.op_type != "Constant"]
    return model_of(graph, inputs, ends[-6:])


class GrowingGraph(Block):
    """A graph with tensors, and with sizes: vectors of one number, of which `top` is the last that was added."""

    def __init__(self, draw: Draw, shapes: dict[str, list[str]]) -> None:
        super().__init__(draw)
        self.tensors = list(shapes)
        self.ranks = {name: len(shape) for name, shape in shapes.items()}
        self.sizes = [self.size(name, axis) for name in self.tensors[:8] for axis in range(self.ranks[name])]
        self.top = self.sizes[0]

    def add_size(self, op: str, *inputs: str) -> str:
        """Add a size, from which later ones are computed."""
        self.top = self.add(op, *inputs)
        self.sizes.append(self.top)
        return self.top

    def add_tensor(self, name: str, rank: int) -> None:
        """Add a tensor."""
        self.tensors.append(name)
        self.ranks[name] = rank

    def number(self) -> str:
        return self.known([self.draw.randint(1, 7)])

    def add_consumer(self) -> None:
        """Add a tensor whose length is a size."""
        draw, source = self.draw, self.draw.choice(self.tensors)
        size = draw.choice((self.top, draw.choice(self.sizes)))
        expanded = self.add("Expand", self.known([0.5], np.float32), self.add("Max", size, self.known([1])))
        self.add_tensor(self.add("Concat", expanded, self.add("Reshape", source, self.known([-1])), axis=0), 1)


def add_quotient(graph: GrowingGraph) -> None:
    """Add a quotient of a sum of a multiple of the last size and another size, or of a maximum of such a sum."""
    draw = graph.draw
    other = draw.choice(graph.sizes)
    sum_ = graph.add("Add", graph.add("Mul", graph.top, graph.number()), other)
    if draw.random() < 0.4:
        sum_ = graph.add(draw.choice(("Max", "Min")), sum_, draw.choice(graph.sizes))
    graph.add_size("Div", sum_, graph.number())


def add_sum(graph: GrowingGraph) -> None:
    """Add a sum, maximum, difference or quotient of any sizes."""
    draw = graph.draw
    op = draw.choice(("Add", "Add", "Max", "Min", "Sub", "Div"))
    second = graph.number() if op == "Div" else draw.choice(graph.sizes)
    graph.add_size(op, graph.top if draw.random() < 0.7 else draw.choice(graph.sizes), second)


def add_product(graph: GrowingGraph) -> None:
    """Add a product of sizes, or a quotient of them."""
    draw = graph.draw
    op = draw.choice(("Mul", "Mul", "Add", "Div", "Max"))
    graph.add_size(op, graph.top if draw.random() < 0.5 else draw.choice(graph.sizes), draw.choice(graph.sizes))


def add_changed_tensor(graph: GrowingGraph) -> None:
    """Add a tensor that is joined, flattened, broadcast or transposed from others: requirements accumulate."""
    draw, x = graph.draw, graph.draw.choice(graph.tensors)
    same = [name for name in graph.tensors if graph.ranks[name] == graph.ranks[x]]
    kind = draw.choice(("Add", "Concat", "Flat", "Transpose", "Split", "MatMul"))
    if kind == "Add":
        graph.add_tensor(graph.add("Add", x, draw.choice(same)), graph.ranks[x])
    elif kind == "Concat":
        graph.add_tensor(graph.add("Concat", x, draw.choice(same), axis=draw.randrange(graph.ranks[x])), graph.ranks[x])
    elif kind == "Flat":
        last = draw.randint(1, 4)
        graph.add_tensor(graph.add("Reshape", x, graph.known([-1, last])), 2)
    elif kind == "Transpose":
        graph.add_tensor(graph.add("Transpose", x), graph.ranks[x])
    elif kind == "Split":
        graph.add_tensor(graph.split("Split", 2, x, axis=0)[0], graph.ranks[x])
    else:
        flat = graph.add("Reshape", x, graph.known([1, -1]))
        other = graph.add("Reshape", draw.choice(graph.tensors), graph.known([-1, 1]))
        graph.add_tensor(graph.add("MatMul", other, flat), 2)
    graph.sizes.append(graph.size(graph.tensors[-1], 0))


def add_any(graph: GrowingGraph) -> None:
    """Add one of all kinds."""
    kind: Callable[[GrowingGraph], None] = graph.draw.choice((add_quotient, add_sum, add_product, add_changed_tensor))
    kind(graph)
    if graph.draw.random() < 0.1:
        graph.add_consumer()
