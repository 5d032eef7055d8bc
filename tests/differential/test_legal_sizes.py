"""The legal sizes of a contract are those at which onnxruntime runs the graph."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from shapeinf import infer_shapes
from tests.differential.ort import session_of

SIZES = range(1, 257)


class Net:
    """A small graph on images [1, 4, H, 32] (or [1, H, 4]), built node by node."""

    def __init__(self, shape=(1, 4, "H", 32)):
        self.nodes, self.weights, self.shape = [], [], shape

    def add(self, op, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"{op}{len(self.nodes)}", **attributes))
        return name

    def constant(self, values, dtype=np.int64):
        name = f"c{len(self.weights)}"
        self.weights.append(onnx.numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def filters(self, *shape):
        return self.constant(np.zeros(shape), np.float32)

    def conv(self, x, k=3, stride=1, pad=1, channels=(4, 4)):
        filters = self.filters(channels[1], channels[0], k, k)
        return self.add("Conv", x, filters, strides=[stride] * 2, pads=[pad] * 4)

    def up(self, x, scale=2):
        return self.add("Resize", x, "", self.constant([1, 1, scale, scale], np.float32), mode="nearest")

    def grow(self, x):
        return self.add("ConvTranspose", x, self.filters(4, 4, 2, 2), strides=[2, 2])

    def model(self, y):
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)]
        outputs = [helper.make_tensor_value_info(y, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "net", inputs, outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def unet(depth, grow):
    net = Net()
    x, skips = "x", []
    for _ in range(depth):
        x = net.conv(x)
        skips.append(x)
        x = net.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    for skip in reversed(skips):
        x = net.add("Concat", skip, getattr(net, grow)(x), axis=1)
        x = net.conv(x, channels=(8, 4))
    return net.model(x)


def pyramid(levels):
    """Feature maps at strides 2, 4, ...: each is enlarged and added to the previous one."""
    net = Net()
    maps = ["x"]
    for _ in range(levels):
        maps.append(net.conv(maps[-1], stride=2))
    x = maps.pop()
    while maps:
        x = net.add("Add", net.conv(maps.pop(), k=1, pad=0), net.up(x))
    return net.model(x)


def detector():
    """As the heads of YOLO: strides 8, 16 and 32, the coarse maps enlarged and concatenated to the fine ones."""
    net = Net()
    p3 = net.conv(net.conv(net.conv("x", stride=2), stride=2), stride=2)
    p4 = net.conv(p3, stride=2)
    p5 = net.conv(p4, stride=2)
    n4 = net.conv(net.add("Concat", net.up(p5), p4, axis=1), channels=(8, 4))
    n3 = net.conv(net.add("Concat", net.up(n4), p3, axis=1), channels=(8, 4))
    d4 = net.conv(net.add("Concat", net.conv(n3, stride=2), n4, axis=1), channels=(8, 4))
    return net.model(net.add("Concat", net.conv(d4, stride=2), p5, axis=1))


def pixel_unshuffle(block):
    net = Net()
    return net.model(net.add("SpaceToDepth", net.conv("x"), blocksize=block))


def shuffled_skip():
    net = Net()
    small = net.conv("x", stride=2, channels=(4, 16))
    return net.model(net.add("Add", "x", net.add("DepthToSpace", small, blocksize=2)))


def windows(size):
    """The partition of window attention: an image as rows of windows, then the windows as a batch."""
    net = Net((1, "H", 32, 4))
    parts = net.add("Reshape", "x", net.constant([1, -1, size, 32 // 8, 8, 4]))
    moved = net.add("Transpose", parts, perm=[0, 1, 3, 2, 4, 5])
    return net.model(net.add("Reshape", moved, net.constant([-1, size * 8, 4])))


def patches(size):
    net = Net()
    return net.model(net.add("Reshape", "x", net.constant([1, 4, -1, size, 32])))


def positions(count):
    """A table of positions that is added to a sequence."""
    net = Net((1, "H", 4))
    return net.model(net.add("Add", "x", net.filters(1, count, 4)))


def split(parts):
    net = Net((1, "H", 4))
    net.nodes.append(helper.make_node("Split", ["x"], [f"p{i}" for i in range(parts)], axis=1, name="Split"))
    return net.model(net.add("Add", "p0", f"p{parts - 1}"))


def valid_convolutions():
    net = Net()
    return net.model(net.conv(net.conv("x", pad=0), k=5, pad=0, stride=2))


CASES = {
    "unet of 1, enlarged": lambda: unet(1, "up"),
    "unet of 2, enlarged": lambda: unet(2, "up"),
    "unet of 3, transposed": lambda: unet(3, "grow"),
    "unet of 4, transposed": lambda: unet(4, "grow"),
    "pyramid of 2": lambda: pyramid(2),
    "pyramid of 4": lambda: pyramid(4),
    "detector": detector,
    "pixel unshuffle of 2": lambda: pixel_unshuffle(2),
    "pixel unshuffle of 4": lambda: pixel_unshuffle(4),
    "shuffled skip": shuffled_skip,
    "windows of 7": lambda: windows(7),
    "windows of 8": lambda: windows(8),
    "patches of 16": lambda: patches(16),
    "positions": lambda: positions(100),
    "split in 3": lambda: split(3),
    "valid convolutions": valid_convolutions,
}


def runs(model):
    """The sizes at which onnxruntime runs."""
    session = session_of(model)
    legal = []
    shape = [d.dim_value or "H" for d in model.graph.input[0].type.tensor_type.shape.dim]
    for size in SIZES:
        try:
            session.run(None, {"x": np.zeros([size if d == "H" else d for d in shape], np.float32)})
        except Exception:  # onnxruntime has no class of its own for what fails at run time
            continue
        legal.append(size)
    return legal


@pytest.mark.parametrize("case", CASES)
def test_legal_sizes(case):
    model = CASES[case]()
    contract = infer_shapes(model).contract
    assert list(contract.solve("H", SIZES)) == runs(model), (contract, contract.solve("H", SIZES))


@pytest.mark.parametrize("pads", [(1, -1), (-1, 1), (2, -2), (-2, 1)], ids=str)
def test_an_axis_that_grows_needs_an_element_after_the_crop(pads):
    for size in (1, 2, 3, 4):
        net = Net((size,))
        proto = net.model(net.add("Pad", "x", net.constant(pads), mode="edge"))
        accepted = not [d for d in infer_shapes(proto).diagnostics if d.severity == "error"]
        try:
            session_of(proto).run(None, {"x": np.zeros(size, np.float32)})
        except Exception as error:  # onnxruntime has no class of its own
            assert "ONNXRuntimeError" in str(error) and not accepted, size
        else:
            assert accepted, size


def test_the_heads_of_a_query_are_a_multiple_of_those_of_its_keys():
    """By the definition of Attention."""
    text = """<ir_version: 10, opset_import: ["" : 23]>
        g (float[n, h, s, 8] q, float[n, g, t, 8] k, float[n, g, t, 8] v) => (y) { y = Attention(q, k, v) }"""
    contract = infer_shapes(onnx.parser.parse_model(text)).contract
    for h, g in [(h, g) for h in range(1, 9) for g in range(1, 9)]:
        sizes = {"n": 1, "h": h, "s": 3, "t": 4, "g": g}
        assert all(p.holds(sizes) for p in contract.preconditions) == (h % g == 0), (h, g)
