"""A graph that is drawn node by node, with the values that it has at one binding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.differential.random_graphs.block import Block, Draw
from tests.differential.random_graphs.eager import Refused, Value, declared, run

Array = np.ndarray[Any, Any]
Fits = Callable[[Array], bool]
LENIENT = ("PRelu",)
"""Operators for which onnxruntime accepts more than the specification: with a wrong operand they may run."""
WRONG = 0.2
"""The share of calls that get a wrong operand, in a graph with a broken node."""


class Net(Block):
    """Nodes over inputs with sizes by name.

    `values` has every value at the first binding; `pool` are those to go on with. `singles`, `vectors` and `matrices`
    are the operands of shape arithmetic.
    """

    def __init__(self, draw: Draw, opset: int, sizes: dict[str, int], wrong: bool) -> None:
        super().__init__(draw)
        self.opset = opset
        self.sizes = sizes
        self.to_break = wrong
        self.broken: onnx.NodeProto | None = None
        self.values: dict[str, Value] = {}
        self.inputs: dict[str, list[int | str | None] | None] = {}
        self.weights: list[onnx.TensorProto] = []
        self.functions: list[onnx.FunctionProto] = []
        self.pool: list[str] = []
        self.zeros: set[str] = set()
        """Inputs of ints that are always 0: safe as indices."""
        self.vectors: list[str] = []
        self.singles: list[str] = []

    # -- values ------------------------------------------------------------------------------------------------------

    def input(self, dims: Sequence[int | str | None], array: Array, *, ranked: bool = True, zero: bool = False) -> str:
        """Add an input, whose array has its sizes at the first binding."""
        name = self.draw.name()
        self.values[name] = array
        self.inputs[name] = list(dims) if ranked else None
        self.pool.append(name)
        if zero:
            self.zeros.add(name)
        return name

    def constant(self, array: Array) -> str:
        """An initializer, sometimes a constant."""
        if self.draw.random() < 0.2:
            name = self.draw.name()
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array)))
        else:
            name = self.draw.name()
            self.weights.append(numpy_helper.from_array(array, name))
        self.values[name] = array
        return name

    def known(self, value: Any, dtype: type = np.int64) -> str:
        return self.constant(np.array(value, dtype))

    def weight(self, *shape: int, dtype: Any = np.float32) -> str:
        """An initializer of small numbers."""
        rng = np.random.default_rng(self.draw.randrange(1000))
        if np.dtype(dtype).kind in "iub":
            return self.constant(rng.integers(0, 2, shape).astype(dtype))
        return self.constant((rng.random(shape) * 0.5 + 0.25).astype(dtype))

    # -- nodes -------------------------------------------------------------------------------------------------------

    def split(self, op: str, outputs: int, *inputs: str, **attributes: Any) -> list[str]:
        """A node of several outputs, whose values are computed at the first binding. Raises Refused."""
        present = {key: value for key, value in attributes.items() if value is not None}
        names = [self.draw.name() for _ in range(outputs)]
        self.append([helper.make_node(op, inputs, names, names[0], **present)])
        return names

    def append(self, nodes: Sequence[onnx.NodeProto]) -> None:
        """Nodes that onnxruntime runs. Raises Refused."""
        computed = run(nodes, self.values, self.opset, self.functions)
        if self.to_break and len(nodes) == 1 and nodes[0].op_type not in LENIENT and self.draw.random() < WRONG:
            self._broken(nodes[0])
        self.values.update(computed)
        self.nodes += nodes
        self.pool += [name for name in computed if name in nodes[-1].output]

    def _broken(self, good: onnx.NodeProto) -> None:
        """Insert a node with an operand of a wrong size, if onnxruntime rejects it; its outputs have no reader."""
        node = onnx.NodeProto()
        node.CopyFrom(good)
        operands = [i for i, name in enumerate(node.input) if name and isinstance(self.values[name], np.ndarray)]
        operands = [i for i in operands if self.values[node.input[i]].ndim]
        if not operands:
            return
        operand = self.draw.choice(operands)
        array = self.values[node.input[operand]]
        shape = list(array.shape)
        axis = self.draw.randrange(len(shape))
        shape[axis] = max(0, shape[axis] + self.draw.choice((-1, 1, 1, 2)))
        node.input[operand] = self.constant(np.resize(array, shape).astype(array.dtype))
        for i, name in enumerate(node.output):
            node.output[i] = self.draw.name() if name else ""
        node.name = node.output[0]
        try:
            run([node], self.values, self.opset, self.functions)
        except Refused as refusal:
            if "NOT_IMPLEMENTED" in str(refusal) or "Could not find an implementation" in str(refusal):
                return
            self.nodes.append(node)
            self.broken, self.to_break = node, False

    # -- choosing ----------------------------------------------------------------------------------------------------

    def pick(self, fits: Fits = lambda array: True) -> str:
        """A tensor that fits, more likely a recent one. Raises Refused."""
        names = [n for n in self.pool if isinstance(self.values[n], np.ndarray) and fits(self.values[n])]
        if not names:
            raise Refused("nothing fits")
        return names[max(self.draw.randrange(len(names)), self.draw.randrange(len(names)))]

    def floats(self, rank: int | None = None, least: int = 0) -> str:
        """A tensor of float32. Raises Refused."""
        return self.pick(lambda a: a.dtype == np.float32 and a.ndim >= least and rank in (None, a.ndim) and a.size > 0)

    def numbers(self, least: int = 0) -> str:
        """A tensor of any numbers. Raises Refused."""
        return self.pick(lambda a: a.dtype.kind in "fiu" and a.ndim >= least)

    def ints(self, least: int = 0) -> str:
        """A tensor of int64. Raises Refused."""
        return self.pick(lambda a: a.dtype == np.int64 and a.ndim >= least)

    def like(self, name: str) -> str:
        """A tensor of the type and shape of another, perhaps the same."""
        wanted = self.shape(name)
        dtype = self.values[name].dtype
        return self.pick(lambda a: a.dtype == dtype and a.shape == wanted)

    @property
    def has_sequences(self) -> bool:
        """Whether there is a sequence."""
        return any(isinstance(self.values[name], list) for name in self.pool)

    def sequence(self) -> str:
        """A sequence of float tensors. Raises Refused."""
        names = [name for name in self.pool if isinstance(self.values[name], list) and self.values[name]]
        if not names:
            raise Refused("no sequence")
        return self.draw.choice(names)

    def shape(self, name: str) -> tuple[int, ...]:
        """The sizes at the first binding."""
        sizes: tuple[int, ...] = self.values[name].shape
        return sizes

    def axis(self, name: str) -> int:
        """An axis of a tensor, perhaps counted from the end. Raises Refused for a scalar."""
        rank = len(self.shape(name))
        if not rank:
            raise Refused("a scalar has no axis")
        return self.draw.randrange(-rank, rank)

    def some_axes(self, name: str) -> list[int]:
        """Some axes of a tensor, at least one. Raises Refused for a scalar."""
        rank = len(self.shape(name))
        if not rank:
            raise Refused("a scalar has no axis")
        return self.draw.sample(range(rank), self.draw.randint(1, rank))

    # -- operands of shape arithmetic ----------------------------------------------------------------------------------

    @property
    def matrices(self) -> list[str]:
        """The tensors of rank 2. Raises Refused if there are none."""
        names = [n for n in self.pool if isinstance(self.values[n], np.ndarray) and self.values[n].ndim == 2]
        if not names:
            raise Refused("no matrix")
        return names

    def vector(self) -> str:
        """A vector of ints computed from sizes."""
        return self.draw.choice(self.vectors + self.singles)

    def number(self) -> str:
        """An operand of arithmetic: without numbers near the limits of types, any number."""
        return self.single()

    def single(self) -> str:
        """A vector of one int, more likely a size."""
        if self.draw.random() < 0.75:
            return self.draw.choice(self.singles)
        return self.known([self.draw.choice((-1, 0, 1, 2, 3, 4))])

    def scalar(self) -> str:
        """An int computed from sizes."""
        return self.add("Reshape", self.single(), self.known([], np.int64))

    def condition(self) -> str:
        """A vector of one boolean, computed from sizes."""
        return self.add(self.draw.choice(("Less", "Greater", "Equal")), self.single(), self.single())

    # -- the model ---------------------------------------------------------------------------------------------------

    def graph_inputs(self) -> list[onnx.ValueInfoProto]:
        """The declared inputs."""
        infos = []
        for name, dims in self.inputs.items():
            info = declared(name, self.values[name], dims or [])
            if dims is None:
                info.type.tensor_type.ClearField("shape")
            infos.append(info)
        return infos
