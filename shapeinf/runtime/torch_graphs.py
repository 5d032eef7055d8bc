"""Runs graphs of torch node by node and observes the types of all values, also of those inside bodies of nodes.

Torch runs the body of a `cond` or a loop by a call of its module: while a node runs, the modules of its bodies run node
by node as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from shapeinf.graph import Graph, Node, NodeKind, subgraphs
from shapeinf.ops import default_registry
from shapeinf.runtime.protocol import Observation, Refusal
from shapeinf.runtime.torch_values import item_observations

_NOT_RUN = "its body does not run with these inputs"
_DIFFERS = "its type differs between the runs of its body"


def observed_names(graph: Graph, path: str = "") -> Iterator[str]:
    """The outputs of all nodes; those inside bodies with their paths, as `Result.body_tensors` has them."""
    bodies = _Bodies(graph)
    for node in graph.nodes:
        yield from (path + name for name in node.outputs if name)
        for body, inner in bodies.of(node, path).values():
            yield from observed_names(body, inner)


class _Bodies:
    """The bodies of the nodes of a graph: a file has them without the names by which results know them."""

    def __init__(self, graph: Graph) -> None:
        dialect = default_registry().dialect(graph.dialect)
        self._kinds: dict[str, NodeKind] = {}
        if any(True for node in graph.nodes for _ in subgraphs(node.kind)):
            bound = graph if dialect is None or dialect.connect is None else dialect.connect(graph)
            self._kinds = {node.name: node.kind for node in bound.nodes}

    def of(self, node: Node, path: str) -> Mapping[str, tuple[Graph, str]]:
        """The bodies of a node by the names that the file has for them, each with the path of its values."""
        bound = {body.name: name for name, body in subgraphs(self._kinds.get(node.name, node.kind))}
        return {
            body.name: (body, f"{path}{node.name}/{bound[body.name]}/" if len(bound) > 1 else f"{path}{node.name}/")
            for _, body in subgraphs(node.kind)
            if body.name in bound
        }


class GraphRuns:
    """The observations of a run; `check` is called after each node."""

    def __init__(self, torch: Any, check: Callable[[], None]) -> None:
        self.torch = torch
        self.check = check
        self.observed: dict[str, Observation] = {}

    def run(self, module: Any, graph: Graph, inputs: Sequence[Any], path: str = "") -> Any:
        """Run a graph. Raises Refusal where torch's graph has other nodes than that of the file."""
        calls = [node for node in module.graph.nodes if _is_call(node)]
        if len(calls) != len(graph.nodes):
            raise Refusal(f"torch's graph has {len(calls)} nodes, and that of the file {len(graph.nodes)}")
        nodes = dict(zip(calls, graph.nodes, strict=True))
        bodies = _Bodies(graph)

        def run_node(call: Any, run: Callable[[], Any]) -> Any:
            node = nodes.get(call)
            if node is None:
                return run()
            with self._observed_bodies(module, call, bodies.of(node, path)):
                result = run()
            for name, type_ in _observe(self.torch, node.outputs, result):
                self._record(path + name, type_)
            self.check()
            return result

        return _interpreter(self.torch, module, run_node).run(*inputs)

    def _record(self, name: str, type_: Observation) -> None:
        """Record the type of a value, which a body may compute several times."""
        known = self.observed.setdefault(name, type_)
        if known != type_:
            self.observed[name] = _DIFFERS

    @contextmanager
    def _observed_bodies(self, module: Any, call: Any, bodies: Mapping[str, tuple[Graph, str]]) -> Iterator[None]:
        """Observe the bodies of a node while it runs."""
        replaced = []
        for operand in call.all_input_nodes if bodies else ():
            if operand.op == "get_attr" and operand.target in bodies:
                body, path = bodies[operand.target]
                inner = module.get_submodule(operand.target)
                inner.forward = partial(self._run_body, inner, body, path)
                replaced.append(inner)
        try:
            yield
        finally:
            for inner in replaced:
                vars(inner).pop("forward", None)

    def _run_body(self, module: Any, graph: Graph, path: str, *inputs: Any) -> Any:
        return self.run(module, graph, inputs, path)

    def add_missing(self, graph: Graph) -> None:
        """Record why values of bodies are not observed."""
        for name in observed_names(graph):
            self.observed.setdefault(name, _NOT_RUN)


def _is_call(node: Any) -> bool:
    """Whether a node of torch's graph is one of the file, which has no nodes for the items of results."""
    return node.op == "call_function" and getattr(node.target, "__name__", "") != "getitem"


def _observe(torch: Any, names: Sequence[str], result: Any) -> Iterator[tuple[str, Observation]]:
    """The types of the outputs of a node, the items of lists in order."""
    types = item_observations(torch, result)
    if len(types) != len(names):
        types = [f"torch returns {len(types)} values, the file has {len(names)} outputs"] * len(names)
    return ((name, type_) for name, type_ in zip(names, types, strict=True) if name)


def _interpreter(torch: Any, module: Any, run_node: Callable[[Any, Callable[[], Any]], Any]) -> Any:
    """What runs a graph of torch; `run_node` gets each node, and what runs it."""

    class Interpreter(torch.fx.Interpreter):  # type: ignore[misc]
        def run_node(self, n: Any) -> Any:
            return run_node(n, partial(super().run_node, n))

    return Interpreter(module)
