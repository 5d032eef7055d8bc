"""Sequences that grow and shrink at positions counted from either end, in loops too, against onnxruntime."""

import numpy as np
import pytest
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from tests.differential import ort
from tests.differential.cases import chain, ints, tensor
from tests.differential.draws import axis_of, opset, shapes


class _Steps:
    """Nodes on one sequence, their inputs, and which of these are positions."""

    def __init__(self, draw):
        self.draw = draw
        self.nodes, self.inputs, self.positions = [], [], []
        self.length = 0

    def input(self, array):
        self.inputs.append(array)
        return f"i{len(self.inputs) - 1}"

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def position(self, low, high):
        """A position in a range: an input, or the negative of one, which may come from a size."""
        at = self.draw(st.integers(low, high))
        negated = at < 0 and self.draw(st.booleans())
        name = self.input(np.array(-at if negated else at))
        self.positions.append(len(self.inputs) - 1)
        return self.node("Neg", [name], f"{name}.negative") if negated else name

    def tensor(self):
        return self.input(tensor(self.draw(shapes(rank=2, least=1, size=4)), seed=len(self.inputs)))

    def start(self):
        self.length = self.draw(st.integers(1, 3))
        return self.node("SequenceConstruct", [self.tensor() for _ in range(self.length)], "s0")

    def changed(self, name, number):
        """The sequence with an element inserted or erased."""
        n = self.length
        if n and self.draw(st.booleans()):
            where = [self.position(-n, n - 1)] if self.draw(st.booleans()) else []
            self.length -= 1
            return self.node("SequenceErase", [name, *where], f"s{number}")
        where = [self.position(-n, n)] if self.draw(st.booleans()) else []
        self.length += 1
        return self.node("SequenceInsert", [name, self.tensor(), *where], f"s{number}")

    def case(self):
        return chain(self.nodes, *self.inputs, deciding=self.positions, opset=self.draw(opset(11, 18)))


def changes(draw):
    steps = _Steps(draw)
    name = steps.start()
    for number in range(1, draw(st.integers(2, 4))):
        name = steps.changed(name, number)
    steps.node("SequenceLength", [name], "length")
    if steps.length:
        steps.node("SequenceAt", [name, steps.position(-steps.length, steps.length - 1)], "one")
    return steps.case()


def parts(draw):
    """Parts of one tensor: one of them, and all of them but one."""
    steps = _Steps(draw)
    shape = draw(shapes(rank=2, least=2, size=6))
    axis = draw(axis_of(2))
    size = shape[axis]
    x = steps.input(tensor(shape))
    kind = draw(st.sampled_from(("step", "sizes", "each")))
    if kind == "step":
        step = draw(st.integers(1, size))
        operands, steps.length = [steps.input(np.array(step))], -(-size // step)
    elif kind == "sizes":
        first = draw(st.integers(0, size))
        operands, steps.length = [steps.input(ints(first, size - first))], 2
    else:
        operands, steps.length = [], size
    steps.positions += range(1, len(steps.inputs))
    name = steps.node("SplitToSequence", [x, *operands], "s0", axis=axis)
    steps.node("SequenceAt", [name, steps.position(-steps.length, steps.length - 1)], "one")
    if steps.length > 1:
        name = steps.changed(name, 1) if kind == "each" else name
        steps.node("ConcatFromSequence", [name], "all", axis=axis) if name == "s0" else None
    return steps.case()


def _body(nodes, inputs, outputs):
    """A body: the iteration number, the unchanged condition, then the inputs."""
    kinds = {"i": helper.make_tensor_value_info("i", TensorProto.INT64, []),
             "go": helper.make_tensor_value_info("go", TensorProto.BOOL, [])}  # fmt: skip
    infos = [kinds["i"], kinds["go"], *inputs]
    going = helper.make_node("Identity", ["go"], ["go2"])
    gone = helper.make_tensor_value_info("go2", TensorProto.BOOL, [])
    return helper.make_graph([going, *nodes], "body", infos, [gone, *outputs])


def _some(name):
    return helper.make_tensor_sequence_value_info(name, TensorProto.FLOAT, None)


def looped(draw):
    """A sequence carried by a loop that inserts or erases at a position of every trip, from either end."""
    steps = _Steps(draw)
    name = steps.start()
    trips = draw(st.integers(0, 3))
    erase = trips <= steps.length and draw(st.booleans())
    target = draw(st.sampled_from(("first", "last", "number", "none")))
    constants = {"first": 0, "last": -1, "number": None, "none": None}
    nodes = []
    where = {"first": ["at"], "last": ["at"], "number": ["i"], "none": []}[target]
    if erase:
        where = [] if target == "number" else where
        nodes.append(helper.make_node("SequenceErase", ["h", *where], ["h2"]))
    else:
        where = ["at"] if target == "last" and steps.length else [w for w in where if target != "last"]
        nodes.append(helper.make_node("SequenceInsert", ["h", "new", *where], ["h2"]))
    new = steps.tensor()
    prologue = [helper.make_node("Identity", [new], ["new"])]
    if constants[target] is not None and where:
        prologue.append(
            helper.make_node("Constant", [], ["at"], value=numpy_helper.from_array(np.array(constants[target])))
        )
    body = _body(nodes, [_some("h")], [_some("h2")])
    count = steps.input(np.array(trips))
    steps.positions.append(len(steps.inputs) - 1)
    steps.nodes += prologue
    steps.node("Loop", [count, "", name], "s1", body=body)
    steps.length += -trips if erase else trips
    steps.node("SequenceLength", ["s1"], "length")
    if steps.length:
        steps.node("SequenceAt", ["s1", steps.position(-steps.length, steps.length - 1)], "one")
    case = steps.case()
    return chain(case.nodes, *case.inputs, deciding=case.deciding, opset=16, exact=False)


def picked_in_a_loop(draw):
    """A loop that picks an element of an outer sequence in every trip, by its number from either end."""
    steps = _Steps(draw)
    shape = draw(shapes(rank=2, least=1, size=4))
    steps.length = draw(st.integers(1, 3))
    elements = [steps.input(tensor(shape, seed=k)) for k in range(steps.length)]
    name = steps.node("SequenceConstruct", elements, "s0")
    trips = draw(st.integers(1, steps.length))
    nodes, at = [], "i"
    if draw(st.booleans()):
        minus = helper.make_node("Constant", [], ["one"], value=numpy_helper.from_array(np.array(1)))
        nodes += [minus, helper.make_node("Add", ["i", "one"], ["n"]), helper.make_node("Neg", ["n"], ["at"])]
        at = "at"
    nodes.append(helper.make_node("SequenceAt", [name, at], ["row"]))
    body = _body(nodes, [], [helper.make_tensor_value_info("row", TensorProto.FLOAT, None)])
    count = steps.input(np.array(trips))
    steps.positions.append(len(steps.inputs) - 1)
    steps.node("Loop", [count, ""], "rows", body=body)
    case = steps.case()
    return chain(case.nodes, *case.inputs, deciding=case.deciding, opset=16, exact=False)


def mapped(draw):
    """A body for each element, among them those of another sequence."""
    steps = _Steps(draw)
    name = steps.start()
    name = steps.changed(name, 1)
    if not steps.length:
        name = steps.node("SequenceInsert", [name, steps.tensor()], "s2")
    item = helper.make_tensor_value_info("e", TensorProto.FLOAT, None)
    node = helper.make_node("Concat", ["e", "e"], ["d"], axis=draw(st.integers(0, 1)))
    output = helper.make_tensor_value_info("d", TensorProto.FLOAT, None)
    steps.node("SequenceMap", [name], "m", body=helper.make_graph([node], "body", [item], [output]))
    steps.node("SequenceAt", ["m", steps.input(np.array(-1))], "one")
    steps.positions.append(len(steps.inputs) - 1)
    return chain(steps.nodes, *steps.inputs, deciding=steps.positions, opset=18)


@ort.sizes
@pytest.mark.parametrize("family", ort.families(globals()))
def test_shapes_match_onnxruntime(family, examples):
    ort.verify(family, examples)
