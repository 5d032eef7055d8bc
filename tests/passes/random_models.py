"""Random networks of operators that the passes rewrite, in opsets 7 to 18, with branches and shared weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import onnx
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

Draw = Callable[[Any], Any]
BATCH = "N"


@attrs.frozen
class Tensor:
    """A float tensor; the first size is that of the batch, which is open."""

    name: str
    shape: tuple[int, ...]

    @property
    def channels(self) -> int:
        return self.shape[0]

    @property
    def is_image(self) -> bool:
        return len(self.shape) > 1

    def info(self) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(self.name, TensorProto.FLOAT, [BATCH, *self.shape])


class Network:
    """A graph that grows node by node. A body of a branch shares the initializers and names of the main graph."""

    def __init__(self, draw: Draw, opset: int, around: Network | None = None) -> None:
        self.draw, self.opset = draw, opset
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = around.initializers if around else []
        self.count: list[int] = around.count if around else [0]
        self.generator = around.generator if around else np.random.default_rng(draw(st.integers(0, 99)))

    def name(self) -> str:
        self.count[0] += 1
        return f"t{self.count[0]}"

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        output = self.name()
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def constant(self, array: Any, share: bool = True) -> str:
        """A new initializer, an existing one of the same shape, or a Constant node."""
        array = np.asarray(array)
        alike = [t.name for t in self.initializers if tuple(t.dims) == array.shape and t.name.startswith("shared")]
        if share and alike and self.draw(st.booleans()):
            return str(self.draw(st.sampled_from(alike)))
        if self.draw(st.integers(0, 4)) == 0:
            return self.node("Constant", value=numpy_helper.from_array(array))
        name = f"{'shared' if share else 'own'}_{self.name()}"
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def numbers(self, *shape: int) -> str:
        return self.constant((self.generator.normal(size=shape) * 0.4).astype(np.float32))

    def whole(self, *numbers: int) -> str:
        return self.constant(np.array(numbers, np.int64), share=False)

    def with_axes(self, operator: str, tensor: str, axes: list[int], since: int, **attributes: Any) -> str:
        """A node whose axes are an attribute before opset `since`, then an input."""
        if self.opset < since:
            return self.node(operator, tensor, axes=axes, **attributes)
        return self.node(operator, tensor, self.whole(*axes), **attributes)


def product(net: Network, x: Tensor) -> Tensor:
    channels, bias = net.draw(st.integers(1, 4)), net.draw(st.booleans())
    if not x.is_image:
        bias = bias or net.opset < 11
        transposed = net.draw(st.integers(0, 1))
        weight = net.numbers(*((channels, x.channels) if transposed else (x.channels, channels)))
        shapes = st.sampled_from([(), (1,), (channels,), (1, channels)])
        biases = [net.numbers(*net.draw(shapes))] if bias else []
        scales = {name: net.draw(st.sampled_from([1.0, 0.5])) for name in ("alpha", "beta")}
        return Tensor(net.node("Gemm", x.name, weight, *biases, transB=transposed, **scales), (channels,))
    spatial = len(x.shape) - 1
    group = net.draw(st.sampled_from([1, x.channels]))
    if net.draw(st.booleans()):
        weight = net.numbers(x.channels, channels, *(2,) * spatial)
        biases = [net.numbers(channels * group)] if bias else []
        y = net.node("ConvTranspose", x.name, weight, *biases, group=group)
        return Tensor(y, (channels * group, *(size + 1 for size in x.shape[1:])))
    weight = net.numbers(channels * group, x.channels // group, *(3,) * spatial)
    biases = [net.numbers(channels * group)] if bias else []
    y = net.node("Conv", x.name, weight, *biases, group=group, pads=[1] * 2 * spatial)
    return Tensor(y, (channels * group, *x.shape[1:]))


def normalization(net: Network, x: Tensor) -> Tensor:
    scale, offset, mean = (net.numbers(x.channels) for _ in range(3))
    variance = net.constant((net.generator.random(x.channels) + 0.5).astype(np.float32), share=False)
    spatial = {"spatial": 1} if net.opset < 9 and net.draw(st.booleans()) else {}
    return Tensor(net.node("BatchNormalization", x.name, scale, offset, mean, variance, **spatial), x.shape)


def addition(net: Network, x: Tensor) -> Tensor:
    shape = [net.draw(st.sampled_from([1, size])) for size in x.shape]
    only_channels = [x.channels, *(1,) * (len(shape) - 1)]
    lengths = net.draw(st.sampled_from([shape, only_channels, only_channels, []]))
    operands = [x.name, net.numbers(*lengths)]
    return Tensor(net.node("Add", *(operands if net.draw(st.booleans()) else operands[::-1])), x.shape)


def identity(net: Network, x: Tensor) -> Tensor:
    return Tensor(net.node("Identity", x.name), x.shape)


def relu(net: Network, x: Tensor) -> Tensor:
    return Tensor(net.node("Relu", x.name), x.shape)


def cast(net: Network, x: Tensor) -> Tensor:
    if net.draw(st.booleans()):
        return Tensor(net.node("Cast", x.name, to=TensorProto.FLOAT), x.shape)
    number = net.constant(net.generator.normal(size=()), share=False)
    return Tensor(net.node("Mul", x.name, net.node("Cast", number, to=TensorProto.FLOAT)), x.shape)


def clip(net: Network, x: Tensor) -> Tensor:
    if net.opset < 11:
        return Tensor(net.node("Clip", x.name, **net.draw(st.sampled_from([{"min": -0.5}, {"max": 0.5}, {}]))), x.shape)
    return Tensor(net.node("Clip", x.name, net.constant(np.float32(-0.5), share=False)), x.shape)


def pad(net: Network, x: Tensor) -> Tensor:
    before, after = ([0, 0, *(net.draw(st.integers(0, 1)) for _ in x.shape[1:])] for _ in range(2))
    pads = [*before[: len(x.shape) + 1], *after[: len(x.shape) + 1]]
    if net.opset < 11:
        y = net.node("Pad", x.name, pads=pads, value=0.5)
    else:
        y = net.node("Pad", x.name, net.whole(*pads), net.constant(np.float32(0.5), share=False))
    return Tensor(
        y, (x.channels, *(size + a + b for size, a, b in zip(x.shape[1:], before[2:], after[2:], strict=True)))
    )


def part(net: Network, x: Tensor) -> Tensor:
    end = net.draw(st.integers(1, x.channels))
    if net.opset < 10:
        y = net.node("Slice", x.name, starts=[0], ends=[end], axes=[1])
    else:
        y = net.node("Slice", x.name, net.whole(0), net.whole(end), net.whole(1))
    return Tensor(y, (end, *x.shape[1:]))


def squeeze(net: Network, x: Tensor) -> Tensor:
    axis = net.draw(st.integers(0, len(x.shape) + 1))
    wide = net.with_axes("Unsqueeze", x.name, [axis], 13)
    return Tensor(net.with_axes("Squeeze", wide, [axis], 13), x.shape)


def reduction(net: Network, x: Tensor) -> Tensor:
    operator, since = net.draw(st.sampled_from([("ReduceSum", 13), ("ReduceMean", 18), ("ReduceMax", 18)]))
    if not x.is_image:
        return Tensor(net.with_axes(operator, x.name, [1], since, keepdims=1), (1,))
    axes = list(range(2, len(x.shape) + 1))
    return Tensor(net.with_axes(operator, x.name, axes, since, keepdims=0), (x.channels,))


def dropout(net: Network, x: Tensor) -> Tensor:
    ratio = {"ratio": 0.25} if net.opset < 12 else {}
    return Tensor(net.node("Dropout", x.name, **ratio), x.shape)


def enlargement(net: Network, x: Tensor) -> Tensor:
    if len(x.shape) != 3 or max(x.shape) > 12:
        return relu(net, x)
    factors = np.array([1, 1, 2, net.draw(st.sampled_from([1, 2, 3]))], np.float32)
    mode = net.draw(st.sampled_from(["nearest", "linear"]))
    if net.opset < 9:
        y = net.node("Upsample", x.name, mode=mode, scales=factors.tolist())
    elif net.opset < 11:
        y = net.node("Upsample" if net.opset < 10 else "Resize", x.name, net.constant(factors, share=False), mode=mode)
    else:
        roi = net.constant(np.zeros(0, np.float32), share=False)
        y = net.node("Resize", x.name, roi, net.constant(factors, share=False), mode=mode)
    return Tensor(y, (x.channels, int(x.shape[1] * factors[2]), int(x.shape[2] * factors[3])))


def softmax(net: Network, x: Tensor) -> Tensor:
    """A Softmax of any axis; before opset 13, it flattens the axes from this one on."""
    axis = net.draw(st.integers(1, len(x.shape)))
    return Tensor(net.node("Softmax", x.name, axis=axis), x.shape)


def branches(net: Network, x: Tensor) -> Tensor:
    """A branch of some steps, whose shape the other one has by an Expand-free sum of the same steps' result."""
    body = Network(net.draw, net.opset, net)
    y = x
    for _ in range(net.draw(st.integers(1, 3))):
        y = net.draw(st.sampled_from(STEPS))(body, y)
    y = relu(body, y) if y.name == x.name else y
    other = [helper.make_node("Neg", [y.name], [net.name()])]
    other_body = [rename_values(node, "o_") for node in body.nodes] + [rename_values(other[0], "o_")]
    outputs = [y.info(), Tensor(other_body[-1].output[0], y.shape).info()]
    then_branch = helper.make_graph(body.nodes, net.name(), [], outputs[:1])
    else_branch = helper.make_graph(retarget(other_body, body.nodes), net.name(), [], outputs[1:])
    result = net.node("If", "p", then_branch=then_branch, else_branch=else_branch)
    return Tensor(result, y.shape)


def rename_values(node: onnx.NodeProto, prefix: str) -> onnx.NodeProto:
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    copy.output[:] = [prefix + name for name in node.output]
    return copy


def retarget(nodes: list[onnx.NodeProto], originals: list[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """Rename the values of a node, so that copies of nodes read each other."""
    names = {name for node in originals for name in node.output}
    for node in nodes:
        node.input[:] = [f"o_{name}" if name in names else name for name in node.input]
    return nodes


def pair(net: Network, x: Tensor) -> Tensor:
    """A product, followed by nodes that the passes fuse into it."""
    return net.draw(st.sampled_from([normalization, addition]))(net, product(net, x))


STEPS = (
    *(product, normalization, addition, pair, pair) * 3,
    *(identity, relu, cast, clip, pad, part, squeeze, reduction, dropout, enlargement, softmax),
)


@st.composite
def models(draw: Draw) -> onnx.ModelProto:
    """A network of up to ten steps; some results in the middle are outputs too, or read twice."""
    opset, ir_version = draw(st.integers(7, 18)), draw(st.sampled_from([3, 8]))
    net = Network(draw, opset)
    spatial = draw(st.integers(0, 3))
    x = Tensor("x", (draw(st.integers(1, 4)), *(3,) * spatial))
    tensors = [x]
    for _ in range(draw(st.integers(1, 10))):
        source = tensors[-1] if draw(st.integers(0, 4)) else draw(st.sampled_from(tensors))
        step = draw(st.sampled_from([*STEPS, *STEPS, branches, branches]))
        tensors.append(step(net, source))
    outputs = {tensors[-1].name: tensors[-1]}
    for tensor in draw(st.lists(st.sampled_from(tensors[1:]), max_size=2)):
        outputs[tensor.name] = tensor
    inputs = [x.info(), helper.make_tensor_value_info("p", TensorProto.BOOL, [])]
    if ir_version < 4:
        inputs += [helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in net.initializers]
    graph = helper.make_graph(net.nodes, "g", inputs, [t.info() for t in outputs.values()], net.initializers)
    return helper.make_model(graph, ir_version=ir_version, opset_imports=[helper.make_opsetid("", opset)])
