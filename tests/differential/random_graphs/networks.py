"""Random graphs of operators of all kinds over inputs with symbolic sizes."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tests.differential.random_graphs import layers, nested, parts, sizes
from tests.differential.random_graphs.block import Draw
from tests.differential.random_graphs.drawing import Arrays, Drawn
from tests.differential.random_graphs.eager import Refused, imports_of, ir_version_of
from tests.differential.random_graphs.net import Net

BINDINGS = 5
NAMES = {"N": 2, "H": 8, "W": 6, "S": 5, "C": 4, "T": 3}
MOST_TRIES = 60


def drawn(seed: int) -> Drawn:
    """A model of a few to two dozen nodes."""
    draw = Draw(seed)
    net = Net(draw, draw.choice((*range(7, 24), 13, 15, 17, 17, 23)), _sizes(draw), wrong=draw.random() < 0.3)
    _inputs(net)
    tries, wanted = 0, draw.randint(3, 16)
    kinds = draw.choice((_EVEN, _EVEN, _LAYERS, _NESTED, _SIZES))
    while len(net.nodes) < wanted and tries < MOST_TRIES:
        tries += 1
        try:
            _step(net, kinds)
        except Refused:
            continue
    rng = np.random.default_rng(seed)
    feeds = tuple(_fed(net, rng, draw, turn) for turn in range(BINDINGS))
    return Drawn(_model(net), feeds, net.broken.output[0] if net.broken else "")


_EVEN = (parts.FAMILIES, layers.FAMILIES, nested.FAMILIES)
_LAYERS = (layers.FAMILIES, layers.FAMILIES, parts.FAMILIES)
_NESTED = (nested.FAMILIES, nested.FAMILIES, parts.FAMILIES)
_SIZES = (sizes.ARITHMETIC, sizes.ARITHMETIC, parts.FAMILIES)


def _step(net: Net, kinds: tuple[Any, ...]) -> None:
    """Add a family; shape arithmetic is followed by a node that uses it."""
    family = net.draw.choice(net.draw.choice(kinds))
    if family not in sizes.ARITHMETIC:
        family(net)
        return
    if not net.singles:
        name = net.floats(least=2)
        net.vectors.append(net.add("Shape", name))
        net.singles += [net.add("Gather", net.vectors[-1], net.known([at])) for at in (0, 1)]
    for _ in range(net.draw.choice((1, 2, 3))):
        net.draw.choice(sizes.ARITHMETIC)(net)
    target = net.draw.choice(("Reshape", "Expand", "Slice", "ConstantOfShape"))
    x = net.floats(least=1)
    if target == "Slice":
        net.add(target, x, net.single(), net.single(), net.known([0]), net.known([1]))
    elif target == "ConstantOfShape":
        net.add(target, net.vector())
    else:
        net.add(target, x, net.add("Concat", net.single(), net.known([-1 if target == "Reshape" else 1]), axis=0))


def _sizes(draw: random.Random) -> dict[str, int]:
    """The named dims of the inputs, with their sizes at the first binding."""
    return {name: NAMES[name] for name in draw.sample(sorted(NAMES), draw.randint(2, 4))}


def _inputs(net: Net) -> None:
    """A few float tensors, sometimes indices, numbers and a flag."""
    draw = net.draw
    rng = np.random.default_rng(draw.randrange(10**6))
    for rank in draw.sample((2, 3, 4, 4, 3, 2, 1), draw.randint(2, 4)):
        dims = [_dim(net, axis) for axis in range(rank)]
        shape = [_size(net, d) for d in dims]
        net.input(dims, rng.standard_normal(shape).astype(np.float32), ranked=draw.random() < 0.95)
    if draw.random() < 0.4:
        dims = [draw.choice(sorted(net.sizes))]
        net.input(dims, np.zeros(_size(net, dims[0]), np.int64), zero=True)
    if draw.random() < 0.3:
        dims = [draw.choice(sorted(net.sizes)) for _ in range(2)]
        net.input(dims, rng.integers(-3, 4, [_size(net, d) for d in dims]))
    for name, array in (("n", np.array(2)), ("flag", np.array(True))):
        net.values[name], net.inputs[name] = array, []


UNNAMED = 7


def _dim(net: Net, axis: int) -> int | str | None:
    draw = net.draw
    if draw.random() < 0.65:
        return draw.choice(sorted(net.sizes))
    return draw.choice((1, 2, 3, 4, 4, 4 if axis == 1 else None))


def _size(net: Net, dim: int | str | None) -> int:
    return net.sizes[dim] if isinstance(dim, str) else UNNAMED if dim is None else dim


def _fed(net: Net, rng: np.random.Generator, draw: random.Random, turn: int) -> Arrays:
    """The inputs of one binding: the first as drawn, later ones with some or all sizes changed."""
    sizes = dict(net.sizes)
    for name in sizes if turn else ():
        if turn > 2 or draw.random() < 0.5:
            sizes[name] = draw.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, sizes[name], 2 * sizes[name]))
    unnamed = UNNAMED if turn < 2 else draw.randint(1, 9)
    feeds = {}
    for name, dims in net.inputs.items():
        array = net.values[name]
        shape = array.shape
        if dims is not None:
            shape = tuple(sizes[d] if isinstance(d, str) else unnamed if d is None else d for d in dims)
        feeds[name] = _filled(rng, array, shape, name in net.zeros, turn)
    return feeds


def _filled(
    rng: np.random.Generator, like: np.ndarray[Any, Any], shape: tuple[int, ...], zero: bool, turn: int
) -> np.ndarray[Any, Any]:
    if zero:
        return np.zeros(shape, like.dtype)
    if like.dtype == np.bool_:
        return np.array(turn % 2 == 0)
    if like.dtype == np.int64:
        return rng.integers(0, 4, shape) if not shape else rng.integers(-3, 4, shape)
    return rng.standard_normal(shape).astype(like.dtype)


def _model(net: Net) -> onnx.ModelProto:
    """The model; every value that a node computes is an output."""
    names = [name for node in net.nodes if node.op_type != "Constant" for name in node.output if name]
    outputs = [helper.make_empty_tensor_value_info(name) for name in names]
    graph = helper.make_graph(net.nodes, "g", net.graph_inputs(), outputs, net.weights)
    return helper.make_model(
        graph,
        opset_imports=imports_of(net.opset),
        ir_version=ir_version_of(net.opset),
        functions=net.functions,
    )
