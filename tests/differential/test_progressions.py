"""Contents that are inferred as progressions, against onnxruntime at all sizes, for random graphs."""

import random

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from shapeinf.lattice import Progression
from tests.differential.ort import session_of
from tests.differential.test_position_tables import tokens, with_past

SIZES = [{"batch": 2, "seq": seq, "past": past} for seq, past in ((1, 1), (1, 4), (2, 3), (5, 1), (7, 9))]


def plus(net, x, chance):
    return net.add(chance.choice(("Add", "Sub")), x, chance.choice((net.scalar(chance.randrange(-3, 4)), past(net))))


def minus(net, x, chance):
    return net.add("Sub", net.ints(chance.randrange(9)), x)


def times(net, x, chance):
    return net.add("Mul", *chance.sample((x, net.scalar(chance.randrange(-3, 4))), 2))


def doubled(net, x, chance):
    return net.add("Add", x, x)


def outer(net, x, chance):
    return net.add(chance.choice(("Add", "Sub")), x, net.add("Unsqueeze", x, net.ints(-1)))


def unsqueezed(net, x, chance):
    return net.add("Unsqueeze", x, net.ints(chance.choice((0, -1))))


def squeezed(net, x, chance):
    return net.add("Squeeze", net.add("Unsqueeze", x, net.ints(0)), net.ints(0))


def transposed(net, x, chance):
    return net.add("Transpose", x)


def cut(net, x, chance):
    start = chance.choice((net.ints(0), net.ints(1), net.ints(-2), net.add("Unsqueeze", past(net), net.ints(0))))
    end = chance.choice((net.ints(2**31 - 1), net.ints(3), net.add("Shape", x, start=0, end=1)))
    return net.add("Slice", x, start, end, net.ints(chance.choice((0, -1))), net.ints(chance.choice((1, 2))))


def turned(net, x, chance):
    return net.add("Slice", x, net.ints(-1), net.ints(-(2**31)), net.ints(0), net.ints(-1))


def expanded(net, x, chance):
    sizes = net.add("Concat", net.ints(3), net.add("Shape", x), axis=0)
    return net.add("Expand", x, sizes)


def cast(net, x, chance):
    narrow = net.add("Cast", x, to=TensorProto.INT32)
    return net.add("Cast", narrow, to=TensorProto.INT64)


def past(net):
    return net.size("cache", 2)


STEPS = (plus, minus, times, doubled, outer, unsqueezed, squeezed, transposed, cut, turned, expanded, cast)


def sums(net, chance):
    fill = onnx.helper.make_tensor("fill", TensorProto.INT64, [1], [chance.randrange(-2, 3)])
    ones = net.add("ConstantOfShape", net.add("Shape", "ids"), value=fill)
    return net.add(
        "CumSum", ones, net.scalar(chance.choice((0, 1))), exclusive=chance.randrange(2), reverse=chance.randrange(2)
    )


def positions(net, chance):
    first = chance.choice((0, 2, past(net)))
    last = net.add("Add", net.size("ids", 1), past(net)) if chance.random() < 0.7 else net.size("ids", 1)
    return net.range(first, last, chance.choice((1, 1, 2)))


def buffer(net, chance):
    values = range(2, 66, chance.choice((1, 2)))
    end = net.add("Unsqueeze", net.size("ids", 1), net.ints(0))
    return net.add("Slice", net.ints(*values), net.ints(chance.randrange(2)), end, net.ints(0))


def drawn(seed):
    chance = random.Random(seed)
    net = with_past()
    x = chance.choice((positions, sums, buffer))(net, chance)
    for _ in range(chance.randrange(5)):
        x = chance.choice(STEPS)(net, x, chance)
    model = net.model(x)
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    return model


def elements(progression, sizes):
    dims = [evaluate(d, sizes) for d in progression.shape]
    grids = np.indices(dims) if dims else []
    grown = (step * grid for step, grid in zip(progression.steps, grids, strict=True))
    return sum(grown, np.full(dims, evaluate(progression.base, sizes), np.int64))


def output_of(model):
    inference = infer_shapes(model).engine.inference
    return inference.type_of(inference.compiled.slots[model.graph.output[0].name])


@pytest.mark.parametrize("seed", range(120))
def test_progressions(seed):
    model = drawn(seed)
    progression = output_of(model)
    if not isinstance(progression, Progression):
        return
    session = session_of(model)
    for sizes in SIZES:
        feeds = {"ids": np.zeros((2, sizes["seq"]), np.int64), "cache": np.zeros((2, 2, sizes["past"], 4), np.float32)}
        try:
            (expected,) = session.run(None, {i.name: feeds[i.name] for i in session.get_inputs()})
        except Exception:  # sizes that do not broadcast; onnxruntime has no class of its own for what fails
            continue
        np.testing.assert_array_equal(elements(progression, sizes), expected)


def test_most_are_followed():
    assert sum(isinstance(output_of(drawn(seed)), Progression) for seed in range(120)) >= 60


def filled(net, value):
    fill = onnx.helper.make_tensor("fill", TensorProto.INT64, [1], [value])
    return net.add("ConstantOfShape", net.add("Shape", "ids"), value=fill)


def wrapped_in_a_cast(net):
    return net.add("Cast", filled(net, 2**32 + 1), to=TensorProto.INT32)


def wrapped_in_a_sum(net):
    most = filled(net, 2**63 - 1)
    return net.add("Add", net.add("Add", most, most), net.scalar(3))


def wrapped_in_steps(net):
    far = net.add("Mul", net.range(0, 2**17 + 1), net.scalar(2**15))
    return net.add("Cast", far, to=TensorProto.INT32)


@pytest.mark.parametrize("wrapped", (wrapped_in_a_cast, wrapped_in_a_sum, wrapped_in_steps))
def test_elements_that_wrap_around_are_not_out_of_range(wrapped):
    net = tokens()
    last = net.add("Slice", wrapped(net), net.ints(-1), net.ints(2**31 - 1), net.ints(0))
    model = net.model(net.gather_rows(net.table(5), last))
    session_of(model).run(None, {"ids": np.zeros((2, 3), np.int64)})
    result = infer_shapes(model)
    assert not [d for d in result.diagnostics if d.severity == "error"]
    assert not list(result.contract)
