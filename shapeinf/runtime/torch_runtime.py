"""torch: a program of torch.export, or a PNNX network, which is run operator by operator.

Each operator of a network is a class or function of torch with a name of `torch_names`, called with the arguments in
the file. Neither the Python program that PNNX writes nor any other name in a file is executed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs

from shapeinf.errors import MissingPackageError, ModelError
from shapeinf.graph import Graph, Node
from shapeinf.runtime.pnnx_weights import Weights
from shapeinf.runtime.protocol import Buffer, Observation, Refusal, StoppedRun, WrittenOutput, refusals
from shapeinf.runtime.torch_calls import Arguments, Call, NotRunnable, function_call
from shapeinf.runtime.torch_expression import expression_call
from shapeinf.runtime.torch_modules import module_call
from shapeinf.runtime.torch_program import TorchProgram
from shapeinf.runtime.torch_values import observe_value, to_tensor
from shapeinf.texts import exact_bytes

MAX_LIVE = 1 << 33
"""The most bytes of all tensors that a run holds at a time."""


def runtime() -> Torch:
    """The installed torch. Raises MissingPackageError."""
    try:
        import torch
    except ImportError as error:
        raise MissingPackageError("verify --runtime torch", "torch", "torch") from error
    return Torch(torch)


@attrs.frozen
class Torch:
    """The package, on the CPU."""

    package: Any
    name: str = "torch"

    @property
    def version(self) -> str:
        """The version of the package."""
        return str(self.package.__version__)

    def open(self, graph: Graph, timeout: float | None) -> TorchNetwork | TorchProgram:
        """A program, or a network, whose modules are constructed when a method needs them.

        Raises ModelError for other models.
        """
        models: dict[str, type[TorchProgram | TorchNetwork]] = {"torch": TorchProgram, "pnnx": TorchNetwork}
        model = models.get(graph.dialect)
        if model is None:
            raise ModelError("only programs of torch.export and PNNX networks run in torch", node=graph.source)
        return model(self.package, graph, timeout)


@attrs.frozen
class _Step:
    """A node with its inputs and its call, or with the reason why it has no call."""

    node: Node
    inputs: tuple[str, ...]
    call: Call | None
    reason: str = ""


class TorchNetwork:
    """The operators of one network in order, with weights of the `.bin` file or random ones."""

    def __init__(self, package: Any, graph: Graph, timeout: float | None) -> None:
        """`timeout`: the most seconds that one run may take; it ends after the operator in which they pass."""
        self.package = package
        self.graph = graph
        self.timeout = timeout
        self.weights = Weights(package, graph)
        self._steps: list[_Step] | None = None
        self._traced: tuple[Any, dict[str, Observation]] | None = None

    def load(self) -> None:
        """Construct all modules."""
        self.steps()

    def steps(self) -> list[_Step]:
        """The nodes of the graph with their calls."""
        if self._steps is None:
            self.weights.refuse_huge()
            self._steps = [self._step(node) for node in self.graph.nodes]
        return self._steps

    def _step(self, node: Node) -> _Step:
        torch = self.package
        try:
            arguments = Arguments.read(torch, node)
            with _node_refusals(node):
                call = (
                    expression_call(torch, node, arguments)
                    or module_call(torch, node, arguments, self.weights.tensor)
                    or function_call(torch, node, arguments)
                )
        except NotRunnable as error:
            return _Step(node, (), None, str(error))
        return _Step(node, arguments.inputs, call, "" if call else f"{node.op} is not run in torch here")

    def tensor_names(self) -> frozenset[str]:
        """The outputs of all nodes; `observe` has a reason for those that are not computed."""
        return frozenset(name for node in self.graph.nodes for name in node.outputs)

    def prepare(self, arrays: Mapping[str, Any], dtypes: Mapping[str, str]) -> dict[str, Any]:
        """Arrays as tensors."""
        with refusals():
            return {name: to_tensor(self.package, array, dtypes[name]) for name, array in arrays.items()}

    def observe(self, names: Sequence[str], feeds: Mapping[str, Any]) -> list[Observation]:
        """The types of these values; all calls with the same feeds share one run."""
        if self._traced is None or self._traced[0] is not feeds:
            self._traced = feeds, self._run(dict(feeds))
        return [self._traced[1][name] for name in names]

    def outputs(self, feeds: Mapping[str, Any]) -> list[Any]:
        """The values of the outputs of the network. Raises Refusal for one that cannot be computed."""
        values = dict(feeds)
        observed = self._run(values, self.graph.outputs)
        for name in self.graph.outputs:
            if name not in values:
                raise Refusal(f"output {name}: {observed.get(name)}")
        return [values[name] for name in self.graph.outputs]

    def _run(self, values: dict[str, Any], outputs: Iterable[str] = ()) -> dict[str, Observation]:
        """Run the network from `values`, to which `outputs` are added, and return the types of all values."""
        torch, steps = self.package, self.steps()
        last_use = {name: index for index, step in enumerate(steps) for name in step.inputs}
        last_use.update(dict.fromkeys(outputs, len(steps)))
        observed: dict[str, Observation] = {}
        end = time.monotonic() + self.timeout if self.timeout else None
        for name in {name for step in steps for name in step.inputs} & self.graph.constants.keys():
            values[name] = self.weights.tensor(name)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of deprecated names
            for index, step in enumerate(steps):
                self._compute(step, values, observed)
                for name in {*step.inputs, *step.node.outputs}:
                    if last_use.get(name, -1) <= index:
                        values.pop(name, None)
                if end is not None and time.monotonic() > end:
                    raise StoppedRun(self.timeout)
        return observed

    def _compute(self, step: _Step, values: dict[str, Any], observed: dict[str, Observation]) -> None:
        """Run one operator. Where it cannot run, or lacks an input, its outputs are observed as the reason."""
        missing = next((name for name in step.inputs if name not in values), None)
        if step.call is None or missing is not None:
            reason = step.reason or f"its input {missing} is not computed"
            observed.update(dict.fromkeys(step.node.outputs, reason))
            return
        with _node_refusals(step.node):
            result = step.call([values[name] for name in step.inputs])
            outputs = _outputs(step.node.op, result, len(step.node.outputs))
        for name, value in zip(step.node.outputs, outputs, strict=True):
            values[name] = value
            observed[name] = observe_value(self.package, value)
        live = _size(values.values())
        if live > MAX_LIVE:
            raise Refusal(f"its tensors take {exact_bytes(live)} at node {step.node.name}: bind smaller sizes")

    def fetch(self, name: str, feeds: Mapping[str, Any]) -> Any:
        """There is nothing to fetch: `observe` has the items of tuples and lists too."""
        raise Refusal("the network has no node with an output of this name")

    def binding_refusal(self, feeds: Mapping[str, Any]) -> str:
        """Outputs cannot be bound: torch allocates them."""
        return "torch writes no outputs into buffers"

    def run_into(self, buffers: Sequence[Buffer], feeds: Mapping[str, Any]) -> list[WrittenOutput]:
        """See `binding_refusal`."""
        raise Refusal("torch writes no outputs into buffers")


@contextmanager
def _node_refusals(node: Node) -> Iterator[None]:
    """Turn every exception of torch into a Refusal that names the node."""
    try:
        with refusals():
            yield
    except NotRunnable:
        raise
    except Refusal as refusal:
        raise Refusal(f"{refusal} (node '{node.name}')") from refusal


def _outputs(function: str, result: Any, count: int) -> Sequence[Any]:
    """The outputs of a call; a list that is the only output stays one value.

    Where the file has one output, it is the first of named results (`torch.max` of an axis), and the only part of a
    tensor that is split (`torch.chunk`). Raises Refusal for another number of outputs.
    """
    if count == 1:
        single = type(result) is tuple and len(result) == 1 and function.startswith("torch.")
        return [result[0] if single or type(result).__module__ == "torch.return_types" else result]
    if not isinstance(result, (tuple, list)) or len(result) != count:
        returned = len(result) if isinstance(result, (tuple, list)) else 1
        raise Refusal(f"torch returns {returned} values, the file has {count} outputs")
    return result


def _size(values: Iterable[Any]) -> int:
    """The bytes of values and of their items, each object once; views count like copies."""
    total, seen, pending = 0, set[int](), list(values)
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, (list, tuple)):
            pending.extend(value)
        elif hasattr(value, "element_size"):
            total += int(value.numel() * value.element_size())
    return total
