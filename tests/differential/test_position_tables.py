"""Lookups of positions in a table: the preconditions hold exactly for the sizes that onnxruntime runs."""

import itertools

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from shapeinf import infer_shapes
from tests.differential.ort import session_of

INTS = (TensorProto.INT64, np.int64)
FLOATS = (TensorProto.FLOAT, np.float32)


class Net:
    """A small graph, built node by node; its inputs are zeros, so that no index from data is out of range."""

    def __init__(self, **inputs):
        self.nodes, self.weights, self.inputs, self.known = [], [], inputs, {}

    def add(self, op, *inputs, name="", **attributes):
        output = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], name=name, **attributes))
        return output

    def ints(self, *values, shape=None):
        return self.weight(np.reshape(np.array(values, np.int64), (len(values),) if shape is None else shape))

    def scalar(self, value):
        return self.ints(value, shape=())

    def weight(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(onnx.numpy_helper.from_array(array, name))
        return name

    def table(self, rows, *rest):
        return self.weight(np.zeros((rows, *(rest or (2,))), np.float32))

    def size(self, of, axis):
        return self.add("Gather", self.add("Shape", of), self.scalar(axis))

    def range(self, first, last, step=1):
        ends = (self.scalar(e) if isinstance(e, int) else e for e in (first, last, step))
        return self.add("Range", *ends)

    def gather_rows(self, table, indices, op="Gather", **attributes):
        return self.add(op, table, indices, name="positions", **attributes)

    def model(self, y):
        inputs = [helper.make_tensor_value_info(n, k[0], s) for n, (k, s) in self.inputs.items()]
        outputs = [helper.make_tensor_value_info(y, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "net", inputs, outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def tokens():
    return Net(ids=(INTS, ["batch", "seq"]))


def with_past():
    return Net(ids=(INTS, ["batch", "seq"]), cache=(FLOATS, ["batch", 2, "past", 4]))


def bert():
    """Positions number the tokens and are repeated for each sample; their rows are added to those of the tokens."""
    net = tokens()
    row = net.add("Unsqueeze", net.range(0, net.size("ids", 1)), net.ints(0))
    positions = net.add("Expand", row, net.add("Shape", "ids"))
    return net.model(net.add("Add", net.gather_rows(net.table(12), positions), net.add("Gather", net.table(5), "ids")))


def roberta():
    """Positions from 2 on, as running sums of ones."""
    net = tokens()
    scalar = helper.make_tensor("one", TensorProto.INT64, [1], [1])
    sums = net.add("CumSum", net.add("ConstantOfShape", net.add("Shape", "ids"), value=scalar), net.scalar(1))
    return net.model(net.gather_rows(net.table(12), net.add("Add", sums, net.ints(1))))


def buffer():
    """The front of a constant buffer of positions: a longer sequence does not broadcast."""
    net = tokens()
    known = net.ints(*range(12), shape=(1, 12))
    positions = net.add("Slice", known, net.ints(0), net.add("Unsqueeze", net.size("ids", 1), net.ints(0)), net.ints(1))
    return net.model(net.add("Add", net.gather_rows(net.table(12), positions), net.add("Gather", net.table(5), "ids")))


def long_buffer():
    """A buffer of more positions than the table has rows."""
    net = tokens()
    known = net.ints(*range(3, 30), shape=(1, 27))
    positions = net.add("Slice", known, net.ints(0), net.add("Unsqueeze", net.size("ids", 1), net.ints(0)), net.ints(1))
    return net.model(net.gather_rows(net.table(12), positions))


def flat_buffer():
    """As `buffer`, of rank 1."""
    net = tokens()
    end = net.add("Unsqueeze", net.size("ids", 1), net.ints(0))
    return net.model(net.gather_rows(net.table(12), net.add("Slice", net.ints(*range(3, 30)), net.ints(0), end)))


def decoder():
    net = with_past()
    past = net.size("cache", 2)
    positions = net.range(past, net.add("Add", past, net.size("ids", 1)))
    return net.model(net.gather_rows(net.table(12), net.add("Unsqueeze", positions, net.ints(0))))


def shifted_decoder():
    """The past is added to positions from 0 on, and an offset of 2, in int32."""
    net = with_past()
    positions = net.add("Add", net.range(0, net.size("ids", 1)), net.size("cache", 2))
    positions = net.add("Cast", net.add("Add", positions, net.scalar(2)), to=TensorProto.INT32)
    return net.model(net.gather_rows(net.table(12), net.add("Reshape", positions, net.ints(1, -1))))


def cut_decoder():
    """All positions, without the past ones, which are sliced off."""
    net = with_past()
    past = net.size("cache", 2)
    positions = net.range(0, net.add("Add", past, net.size("ids", 1)))
    start = net.add("Unsqueeze", past, net.ints(0))
    return net.model(
        net.gather_rows(net.table(12), net.add("Slice", positions, start, net.ints(2**31 - 1), net.ints(0)))
    )


def last_token():
    net = Net(hidden=(FLOATS, [1, "seq", 2]), cache=(FLOATS, [1, "past"]))
    index = net.add("Sub", net.size("cache", 1), net.scalar(1))
    return net.model(net.gather_rows("hidden", index, axis=1))


def fourth_token():
    return (net := Net(hidden=(FLOATS, ["batch", "seq", 2]))).model(net.gather_rows("hidden", net.scalar(3), axis=1))


def third_from_the_end():
    net = Net(hidden=(FLOATS, ["batch", "seq", 2]))
    return net.model(net.gather_rows("hidden", net.ints(-3, 0, shape=(2, 1)), axis=1))


def relative():
    """Distances between two positions, from `-(seq - 1)` to `past + seq - 1`, moved to start at 0."""
    net = with_past()
    queries = net.add("Unsqueeze", net.range(0, net.size("ids", 1)), net.ints(1))
    keys = net.add("Unsqueeze", net.range(0, net.size("cache", 2)), net.ints(0))
    return net.model(net.gather_rows(net.table(16), net.add("Add", net.add("Sub", queries, keys), net.scalar(8))))


def every_third():
    net = tokens()
    return net.model(net.gather_rows(net.table(12), net.range(1, net.size("ids", 1), 3)))


def backwards():
    net = tokens()
    return net.model(net.gather_rows(net.table(12), net.range(net.size("ids", 1), 0, -1)))


def doubled():
    net = tokens()
    positions = net.add("Mul", net.range(0, net.size("ids", 1)), net.scalar(-2))
    return net.model(net.gather_rows(net.table(12), net.add("Transpose", positions)))


def elements():
    net = tokens()
    positions = net.add("Unsqueeze", net.range(0, net.size("ids", 1)), net.ints(1))
    return net.model(net.gather_rows(net.table(12, 1), positions, "GatherElements", axis=0))


def written():
    """A cache whose new rows are written behind the old ones."""
    net = Net(new=(FLOATS, ["seq", 2]), cache=(FLOATS, ["past", 1]))
    past = net.size("cache", 0)
    positions = net.range(past, net.add("Add", past, net.size("new", 0)))
    index = net.add("Unsqueeze", positions, net.ints(-1))
    return net.model(net.add("ScatterND", net.table(12), index, "new", name="positions"))


def clipped():
    """Positions past the end are clipped to the last one: all lengths run."""
    net = tokens()
    positions = net.add("Min", net.range(0, net.size("ids", 1)), net.scalar(11))
    return net.model(net.gather_rows(net.table(12), positions))


CASES: dict = {
    "bert": (bert, ["seq <= 12"]),
    "roberta": (roberta, ["seq <= 10"]),
    "buffer": (buffer, ["seq <= 12"]),
    "long buffer": (long_buffer, ["seq <= 9"]),
    "flat buffer": (flat_buffer, ["seq <= 9"]),
    "decoder": (decoder, ["seq + past <= 12"]),
    "shifted decoder": (shifted_decoder, ["seq + past <= 10"]),
    "cut decoder": (cut_decoder, ["seq + past <= 12"]),
    "last token": (last_token, ["past <= seq"]),
    "fourth token": (fourth_token, ["seq >= 4"]),
    "third from the end": (third_from_the_end, ["seq >= 3"]),
    "relative": (relative, ["seq <= 8", "past <= 25"]),
    "every third": (every_third, [], ["seq <= 13"]),
    "backwards": (backwards, ["seq <= 11"]),
    "doubled": (doubled, ["seq <= 7"]),
    "elements": (elements, ["seq <= 12"]),
    "written": (written, ["seq + past <= 12"]),
    "clipped": (clipped, []),
}


def runs(session, sizes):
    types = {"tensor(int64)": np.int64, "tensor(float)": np.float32}
    feeds = {i.name: np.zeros([sizes.get(d, d) for d in i.shape], types[i.type]) for i in session.get_inputs()}
    try:
        session.run(None, feeds)
    except Exception:  # onnxruntime has no class of its own for what fails at run time
        return False
    return True


@pytest.mark.parametrize("case", CASES)
def test_a_listed_condition_holds_exactly_where_the_graph_runs(case):
    make, expected, *others = CASES[case]
    legal, model = others[0] if others else expected, make()
    contract = infer_shapes(model).contract
    assert [c.text for c in contract] == expected
    assert {c.op for c in contract} <= {"Gather", "GatherElements", "ScatterND"} or case == "buffer"
    session = session_of(model)
    names = sorted({d for i in session.get_inputs() for d in i.shape if isinstance(d, str)})
    around = [range(1, 31) if len({*names} - {"batch"}) == 1 else range(1, 15) if n != "batch" else (2,) for n in names]
    for values in itertools.product(*around):
        sizes = dict(zip(names, values, strict=True))
        ran = runs(session, sizes)
        assert ran is all(eval(text, {}, sizes) for text in legal), (sizes, ran)
        answer = contract.check(sizes)
        assert answer.verdict is ran, (sizes, str(answer))
