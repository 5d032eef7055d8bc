"""Random models whose nodes compute sizes and feed them to Reshape, Expand, Slice and others, as exporters write them.

A size is a product of a number and powers of the open dims `n` and `m`. Some operands are wrong on purpose, so that a
model accepts few sizes, or none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import onnx
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

Draw = Callable[[Any], Any]


@attrs.frozen
class Size:
    """`factor * n**n * m**m`."""

    factor: int
    n: int = 0
    m: int = 0

    def times(self, other: Size) -> Size:
        return Size(self.factor * other.factor, self.n + other.n, self.m + other.m)


ONE = Size(1)
N, M = Size(1, 1, 0), Size(1, 0, 1)


@attrs.frozen
class Tensor:
    """A float tensor."""

    name: str
    dims: tuple[Size, ...]


class ShapeNetwork:
    """A graph that grows node by node; a body of a branch shares the names and initializers of the main graph."""

    def __init__(self, draw: Draw, opset: int, around: ShapeNetwork | None = None) -> None:
        self.draw, self.opset = draw, opset
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = around.initializers if around else []
        self.count: list[int] = around.count if around else [0]
        self.tensors: list[Tensor] = list(around.tensors) if around else []

    def name(self) -> str:
        self.count[0] += 1
        return f"t{self.count[0]}"

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        output = self.name()
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def constant(self, array: Any) -> str:
        array = np.asarray(array)
        if self.draw(st.booleans()):
            return self.node("Constant", value=numpy_helper.from_array(array))
        name = self.name()
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def whole(self, *numbers: int) -> str:
        return self.constant(np.array(numbers, np.int64))

    def add(self, name: str, dims: tuple[Size, ...]) -> Tensor:
        tensor = Tensor(name, dims)
        self.tensors.append(tensor)
        return tensor

    def unsqueeze(self, value: str, *axes: int) -> str:
        if self.opset < 13:
            return self.node("Unsqueeze", value, axes=list(axes))
        return self.node("Unsqueeze", value, self.whole(*axes))

    def squeeze(self, value: str, *axes: int) -> str:
        if self.opset < 13:
            return self.node("Squeeze", value, axes=list(axes))
        return self.node("Squeeze", value, self.whole(*axes))

    # -- sizes -------------------------------------------------------------------------------------------------------

    def size(self, size: Size) -> str:
        """A vector of one element that is a size, computed in one of many ways."""
        where = [(t, axis) for t in self.tensors for axis, d in enumerate(t.dims) if d == size]
        if self.draw(st.integers(0, 19)) == 0:  # a size of another axis
            where = [(t, axis) for t in self.tensors for axis in range(len(t.dims))] or where
        if where and self.draw(st.integers(0, 5)):
            return self._vary(self._read(*self.draw(st.sampled_from(where))))
        if (size.n, size.m) == (0, 0):
            return self._vary(self.whole(size.factor))
        return self._vary(self._product(size))

    def _read(self, tensor: Tensor, axis: int) -> str:
        shape = self.node("Shape", tensor.name)
        way = self.draw(st.integers(0, 3))
        if way == 0:
            return self.node("Gather", shape, self.whole(axis), axis=0)
        if way == 1:
            return self.node("Slice", shape, self.whole(axis), self.whole(axis + 1), self.whole(0))
        if way == 2 and self.opset >= 15:
            return self.node("Shape", tensor.name, start=axis, end=axis + 1)
        index = self.constant(np.array(axis if self.draw(st.booleans()) else axis - len(tensor.dims), np.int64))
        return self.unsqueeze(self.node("Gather", shape, index, axis=0), 0)

    def _product(self, size: Size) -> str:
        result = self.whole(size.factor)
        for dim, power in ((N, size.n), (M, size.m)):
            inputs = [(t, axis) for t in self.tensors for axis, d in enumerate(t.dims) if d == dim]
            for _ in range(power):
                result = self.node("Mul", result, self._read(*self.draw(st.sampled_from(inputs))))
        return result

    def _vary(self, value: str) -> str:
        """The same number by a detour."""
        way = self.draw(st.integers(0, 11))
        if way == 0:
            return self.node("Cast", self.node("Cast", value, to=TensorProto.INT32), to=TensorProto.INT64)
        if way == 1:
            return self.node("Div", self.node("Mul", value, self.whole(3)), self.whole(3))
        if way == 2:
            return self.node("Sub", self.node("Add", value, self.whole(2)), self.whole(2))
        if way == 3:
            doubled = self.node("Concat", value, value, axis=0)
            return self.node("ReduceMax", doubled, keepdims=1)
        if way == 4:
            return self.node("Identity", value)
        if way == 5:
            return self.node("Cast", self.node("Cast", value, to=TensorProto.FLOAT), to=TensorProto.INT64)
        if way == 6 and self.opset >= 9:
            ones = self.node("ConstantOfShape", self.whole(1), value=numpy_helper.from_array(np.array([1], np.int64)))
            return self.node("Where", self.node("Equal", value, self.whole(-1)), ones, value)
        return value

    def sizes(self, dims: tuple[Size, ...], free: bool = False) -> str:
        """A vector of sizes; with `free`, -1 or 0 may stand for one of them."""
        parts = [self.size(d) for d in dims]
        if free and parts and self.draw(st.integers(0, 3)) == 0:
            parts[self.draw(st.integers(0, len(parts) - 1))] = self.whole(self.draw(st.sampled_from([-1, -1, -1, 0])))
        if not parts:
            return self.constant(np.zeros(0, np.int64))
        return parts[0] if len(parts) == 1 else self.node("Concat", *parts, axis=0)


def reshape(net: ShapeNetwork, x: Tensor) -> Tensor:
    """Axes merged, split, or moved without moving elements."""
    dims = list(x.dims)
    for _ in range(net.draw(st.integers(0, 3))):
        way = net.draw(st.integers(0, 3))
        at = net.draw(st.integers(0, max(len(dims) - 1, 0)))
        if way == 0 and at + 1 < len(dims):
            dims[at : at + 2] = [dims[at].times(dims[at + 1])]
        elif way == 1 and dims and len(dims) < 6:
            dims[at : at + 1] = split(net, dims[at])
        elif way == 2 and len(dims) < 6:
            dims.insert(at, ONE)
        elif way == 3 and ONE in dims:
            dims.remove(ONE)
    options = {"allowzero": net.draw(st.integers(0, 1))} if net.opset >= 14 and net.draw(st.booleans()) else {}
    return net.add(net.node("Reshape", x.name, net.sizes(tuple(dims), free=True), **options), tuple(dims))


def split(net: ShapeNetwork, size: Size) -> list[Size]:
    """Two sizes whose product is a size."""
    factor = net.draw(st.sampled_from([f for f in (1, 2, 3, 4, 6) if size.factor % f == 0]))
    first = Size(factor, net.draw(st.integers(0, size.n)), net.draw(st.integers(0, size.m)))
    second = Size(size.factor // factor, size.n - first.n, size.m - first.m)
    return [first, second]


def expand(net: ShapeNetwork, x: Tensor) -> Tensor:
    """New axes in front, units enlarged, others as they are or 1."""
    target = [d if net.draw(st.booleans()) else ONE for d in x.dims]
    result = list(x.dims)
    for axis, d in enumerate(x.dims):
        if d == ONE and net.draw(st.booleans()):
            target[axis] = result[axis] = net.draw(st.sampled_from([N, M, Size(2), ONE]))
    if len(result) < 5 and net.draw(st.integers(0, 3)) == 0:
        front = net.draw(st.sampled_from([N, Size(2), ONE]))
        target.insert(0, front)
        result.insert(0, front)
    while target and target[0] == ONE and len(target) == len(x.dims) and net.draw(st.booleans()):
        target.pop(0)
    return net.add(net.node("Expand", x.name, net.sizes(tuple(target))), tuple(result))


def cut(net: ShapeNetwork, x: Tensor) -> Tensor:
    """A Slice of a whole axis, with ends that are computed, or of its last elements."""
    if not x.dims:
        return x
    axis = net.draw(st.integers(0, len(x.dims) - 1))
    start, end = net.whole(0), net.size(x.dims[axis])
    way = net.draw(st.integers(0, 4))
    dims = list(x.dims)
    if way == 0:  # the end is behind the last element
        end = net.node("Add", end, net.whole(net.draw(st.integers(1, 3))))
    if way == 1 and x.dims[axis].factor == 1 and x.dims[axis] != ONE:  # all but one: at size 0, the end is -1
        end = net.node("Sub", end, net.whole(1))
        start = net.whole(-1) if net.draw(st.booleans()) else start
        y = net.node("Slice", x.name, start, end, net.whole(axis))
        joined = net.node("ReduceSum", y, keepdims=0)
        return net.add(net.unsqueeze(joined, 0), (ONE,))
    if way == 2:
        start = net.node("Sub", net.size(x.dims[axis]), net.size(x.dims[axis]))
    if way == 3 and net.opset >= 10:
        return net.add(net.node("Slice", x.name, start, end, net.whole(axis), net.whole(1)), tuple(dims))
    return net.add(net.node("Slice", x.name, start, end, net.whole(axis)), tuple(dims))


def transpose(net: ShapeNetwork, x: Tensor) -> Tensor:
    perm = net.draw(st.permutations(range(len(x.dims))))
    return net.add(net.node("Transpose", x.name, perm=list(perm)), tuple(x.dims[axis] for axis in perm))


def views(net: ShapeNetwork, x: Tensor) -> Tensor:
    """An Unsqueeze, perhaps undone."""
    if len(x.dims) > 5:
        return x
    axis = net.draw(st.integers(0, len(x.dims)))
    wide = net.unsqueeze(x.name, axis)
    if net.draw(st.booleans()):
        return net.add(net.squeeze(wide, axis), x.dims)
    return net.add(wide, (*x.dims[:axis], ONE, *x.dims[axis:]))


def tile(net: ShapeNetwork, x: Tensor) -> Tensor:
    if not x.dims:
        return x
    repeats = [net.draw(st.sampled_from([ONE, ONE, Size(2)])) for _ in x.dims]
    dims = tuple(d.times(r) for d, r in zip(x.dims, repeats, strict=True))
    return net.add(net.node("Tile", x.name, net.sizes(tuple(repeats))), dims)


def zeros(net: ShapeNetwork, x: Tensor) -> Tensor:
    """A sum with zeros, or a product with ones, of computed shape."""
    ones = net.node("ConstantOfShape", net.sizes(x.dims), value=numpy_helper.from_array(np.array([1], np.float32)))
    return net.add(net.node(net.draw(st.sampled_from(["Add", "Mul"])), x.name, ones), x.dims)


def positions(net: ShapeNetwork, x: Tensor) -> Tensor:
    """Elements by positions of a Range over the last axis."""
    if not x.dims:
        return x
    axis = len(x.dims) - 1
    scalar = net.squeeze(net.size(x.dims[axis]), 0)
    indices = net.node("Range", net.constant(np.int64(0)), scalar, net.constant(np.int64(1)))
    return net.add(net.node("Gather", x.name, indices, axis=axis), x.dims)


def concat(net: ShapeNetwork, x: Tensor) -> Tensor:
    if not x.dims:
        return x
    axis = net.draw(st.integers(0, len(x.dims) - 1))
    count = net.draw(st.integers(1, 2))
    dims = list(x.dims)
    dims[axis] = dims[axis].times(Size(count))
    return net.add(net.node("Concat", *[x.name] * count, axis=axis), tuple(dims))


def mask(net: ShapeNetwork, x: Tensor) -> Tensor:
    """A Where whose condition sizes decide."""
    condition = net.node("Equal", net.size(x.dims[0] if x.dims else ONE), net.size(x.dims[0] if x.dims else ONE))
    return net.add(net.node("Where", condition, x.name, net.constant(np.float32(0.5))), x.dims if x.dims else (ONE,))


def work(net: ShapeNetwork, x: Tensor) -> Tensor:
    return net.add(net.node(net.draw(st.sampled_from(["Relu", "Neg", "Identity"])), x.name), x.dims)


STEPS = (
    reshape,
    reshape,
    reshape,
    expand,
    expand,
    cut,
    cut,
    transpose,
    views,
    tile,
    zeros,
    positions,
    concat,
    mask,
    work,
)


def branch(net: ShapeNetwork, x: Tensor) -> Tensor:
    """A branch of some steps; the other one has a tensor of the same rank."""
    body = ShapeNetwork(net.draw, net.opset, net)
    y = x
    for _ in range(net.draw(st.integers(1, 3))):
        y = net.draw(st.sampled_from(STEPS))(body, y)
    y = work(body, y)
    other = [helper.make_node("Relu", [x.name], [net.name()])]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in (y.name, other[0].output[0])]
    then_branch = helper.make_graph(body.nodes, net.name(), [], outputs[:1])
    else_branch = helper.make_graph(other, net.name(), [], outputs[1:])
    # What follows has the shape of the first branch, if that one runs.
    return net.add(net.node("If", "p", then_branch=then_branch, else_branch=else_branch), y.dims)


@st.composite
def shape_models(draw: Draw) -> onnx.ModelProto:
    """A model with the inputs `x` and `z`, whose dims are `n`, `m` and numbers, and up to six steps."""
    opset = draw(st.sampled_from([11, 13, 17, 18]))
    net = ShapeNetwork(draw, opset)
    choices = st.sampled_from([N, M, ONE, Size(2), Size(4), Size(6)])
    inputs = []
    for name, dims in (
        ("x", [N, *draw(st.lists(choices, max_size=3))]),
        ("z", [M, *draw(st.lists(choices, max_size=1))]),
    ):
        net.add(name, tuple(dims))
        texts = ["n" if d == N else "m" if d == M else d.factor for d in dims]
        inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, texts))
    current = net.tensors[0]
    for _ in range(draw(st.integers(1, 6))):
        source = current if draw(st.integers(0, 4)) else draw(st.sampled_from(net.tensors))
        step = draw(st.sampled_from([*STEPS, *STEPS, branch]))
        current = step(net, source)
    names = {current.name, *(t.name for t in draw(st.lists(st.sampled_from(net.tensors), max_size=1)))}
    if draw(st.integers(0, 3)) == 0:  # sizes are outputs too
        names.add(net.sizes(current.dims))
        types = {name: TensorProto.INT64 for name in names if all(name != t.name for t in net.tensors)}
    else:
        types = {}
    names -= {"x", "z"}
    names = names or {net.node("Relu", "x")}
    outputs = [helper.make_tensor_value_info(n, types.get(n, TensorProto.FLOAT), None) for n in sorted(names)]
    inputs.append(helper.make_tensor_value_info("p", TensorProto.BOOL, []))
    graph = helper.make_graph(live(net.nodes, names), "g", inputs, outputs, net.initializers)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset)])


def live(nodes: list[onnx.NodeProto], needed: set[str]) -> list[onnx.NodeProto]:
    """The nodes that outputs depend on, in bodies too. A dead node may require something of the sizes."""
    needed, result = set(needed), []
    for node in reversed(nodes):
        if needed.isdisjoint(node.output):
            continue
        needed.update(node.input)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                kept = live(list(attribute.g.node), {value.name for value in attribute.g.output})
                del attribute.g.node[:]
                attribute.g.node.extend(kept)
                needed.update(name for inner in kept for name in inner.input)
        result.append(node)
    return result[::-1]
