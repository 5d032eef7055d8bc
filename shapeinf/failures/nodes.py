"""`NodeIndex`: the nodes of a model that an error text may name, the likeliest first.

A runtime names the nodes of the graph that it runs, which its optimizations changed: names have prefixes and suffixes,
several nodes are one, and a node may be named by its output or by its number.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.engine.runs import walk_runs
from shapeinf.failures.report import Evidence, NodeMatch
from shapeinf.graph import MISSING, UNUSED
from shapeinf.lattice import TensorType, Type
from shapeinf.lattice.dtypes import KINDS
from shapeinf.runtime_messages import RuntimeMessage
from shapeinf.sharing import cached_property

_SCORES: dict[Evidence, int] = {
    "number": 100,
    "name": 100,
    "output": 95,
    "part of a name": 70,
    "operands": 65,
    "location": 60,
    "operator": 30,
    "condition": 10,
}
_SAME_OPERATOR = 15
_UNNAMED = 5
_SEPARATORS = re.compile(r"[/_.:+ ,-]")
_MOST_PARTS = 64
MOST_NEIGHBORS = 8
"""The nodes on each side of a node that a runtime may have fused with it."""


class GraphNode(NamedTuple):
    """A node of the graph or of a body.

    Args:
        inference: of its graph.
        step: the node.
        number: its position in the file, from 0; None in a body.
    """

    inference: Inference
    step: NodeStep
    number: int | None

    @property
    def name(self) -> str:
        """The name in sources and diagnostics: with the path of its body."""
        return self.inference.path + self.step.node_name

    @property
    def own_name(self) -> str:
        """The name in the file; empty for a node without one."""
        return self.step.compiled.rows[self.step.index][3]

    @property
    def op(self) -> str:
        """The operator."""
        return self.step.operation.kind.op

    @property
    def outputs(self) -> list[str]:
        """The names of its outputs."""
        names = self.step.compiled.names
        return [names[slot] for slot in self.step.outputs if slot != UNUSED]

    @property
    def location(self) -> str:
        """The position in the source text; empty for formats without one."""
        return self.inference.compiled.graph.locations.get(self.step.node.name, "")

    def as_match(self, evidence: Evidence) -> NodeMatch:
        """The record of the node."""
        return NodeMatch(self.name, self.op, evidence, self.location)


class Candidate(NamedTuple):
    """A node that a message may name, with its evidence and its score."""

    node: GraphNode
    evidence: Evidence
    score: int

    @property
    def match(self) -> NodeMatch:
        """The record of the node."""
        return self.node.as_match(self.evidence)


class NodeIndex:
    """The nodes of a model and of its bodies."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.nodes: list[GraphNode] = []
        for run in walk_runs(inference):
            compiled = run.inference.compiled
            rows = range(len(compiled.rows))
            self.nodes += [GraphNode(run.inference, compiled.step(index), None) for index in rows]
        self._number_nodes()
        self.by_path = {node.name: node for node in reversed(self.nodes)}

    def _number_nodes(self) -> None:
        """Number the nodes of the outermost graph as the file lists them; rows are in the order of execution."""
        listed = {tuple(filter(None, node.outputs)): i for i, node in enumerate(self.inference.compiled.graph.nodes)}
        for index, node in enumerate(self.nodes):
            if node.inference is self.inference:
                self.nodes[index] = node._replace(number=listed.get(tuple(node.outputs)))

    def find(self, message: RuntimeMessage) -> list[Candidate]:
        """The nodes that a message may name, the likeliest first; those of an operator only where no name is known."""
        best: dict[int, Candidate] = {}
        for candidate in self._candidates(message):
            known = best.get(id(candidate.node.step))
            if known is None or known.score < candidate.score:
                best[id(candidate.node.step)] = candidate
        return sorted(best.values(), key=lambda candidate: -candidate.score)

    def _candidates(self, message: RuntimeMessage) -> Iterator[Candidate]:
        operators = tuple(map(normal_operator, message.operators))
        is_named = False
        for depth, name in enumerate(message.names):
            for candidate in self._named(name) if name else ():
                is_named = True
                weighed = self._weigh(candidate, operators, -10 * depth)
                yield weighed
                if depth == 0 and operators and not same_operator(weighed.node.op, operators):
                    yield from self._renamed(weighed, operators)
        for node in self.nodes:
            if message.number is not None and node.number == message.number:
                is_named = True
                yield self._weigh((node, "number"), operators, 0)
            if message.locations and node.location:
                rank = next(
                    (i for i, position in enumerate(message.locations) if _is_at(position, node.location)), None
                )
                if rank is not None and (not operators or same_operator(node.op, operators)):
                    is_named = True
                    yield self._weigh((node, "location"), operators, -rank)
        if not is_named and message.operands:
            for node in self._readers(message.operands):
                is_named = True
                yield self._weigh((node, "operands"), operators, 0)
        if not is_named:
            for node in self.nodes:
                if same_operator(node.op, operators):
                    unnamed = bool(message.names) and message.names[0] == "" and not node.own_name
                    first = same_operator(node.op, operators[:1])
                    yield Candidate(node, "operator", _SCORES["operator"] + unnamed * _UNNAMED + first * 2)

    def _renamed(self, candidate: Candidate, operators: tuple[str, ...]) -> Iterator[Candidate]:
        """The next node that has the operator of the message: a runtime may give it the name of this node."""
        for node in neighbors(candidate.node):
            if same_operator(node.op, operators[:1]):
                yield Candidate(self.by_path.get(node.name, node), "neighbor", candidate.score + 1)
                return

    def _readers(self, operands: Sequence[str]) -> list[GraphNode]:
        """The nodes that read the most of these operands, named as values or as the nodes that compute them."""
        counts: dict[int, int] = {}
        for index, node in enumerate(self.nodes):
            compiled = node.step.compiled
            read = {compiled.names[slot] for slot in node.step.inputs if slot >= 0}
            producers = [compiled.producers[slot] for slot in node.step.inputs if slot >= 0]
            read |= {compiled.rows[producer][3] for producer in producers if producer is not None}
            counts[index] = sum(operand in read for operand in operands)
        most = max(counts.values(), default=0)
        return [self.nodes[index] for index, count in counts.items() if most and count == most]

    def with_conditions(self, names: Container[str]) -> list[Candidate]:
        """The nodes of these names, as candidates by their conditions alone."""
        return [Candidate(n, "condition", _SCORES["condition"]) for n in self.nodes if n.name in names]

    def _weigh(self, match: tuple[GraphNode, Evidence], operators: tuple[str, ...], penalty: int) -> Candidate:
        node, evidence = match
        bonus = _SAME_OPERATOR if same_operator(node.op, operators) else 0
        return Candidate(node, evidence, _SCORES[evidence] + bonus + penalty)

    def _named(self, name: str) -> Iterator[tuple[GraphNode, Evidence]]:
        """The nodes that have this name, or that a runtime made this name of."""
        exact = self._with_name(name)
        if exact:
            yield from exact
            return
        numbered = self._numbered(name)
        if numbered is not None:
            yield numbered, "number"
            return
        for part in name_parts(name):
            nodes = [node for node, _ in self._with_name(part)]
            if nodes:
                yield from ((node, "part of a name") for node in nodes)
                return

    @cached_property
    def _by_name(self) -> dict[str, list[tuple[GraphNode, Evidence]]]:
        """The nodes by their names, with and without the path of the body, and by the names of their outputs."""
        named: dict[str, list[tuple[GraphNode, Evidence]]] = {}
        for node in self.nodes:
            names = dict.fromkeys((node.own_name, node.name))
            for name in filter(None, names):
                named.setdefault(name, []).append((node, "name"))
            for output in node.outputs:
                if output not in names:
                    named.setdefault(output, []).append((node, "output"))
        return named

    def _with_name(self, name: str) -> list[tuple[GraphNode, Evidence]]:
        """The nodes of this name, or that compute the tensor of this name (`x:0`)."""
        listed = self._by_name.get(name)
        if listed is not None:
            return listed
        tensor = re.sub(r":\d{1,4}$", "", name)
        return [(node, "output") for node, _ in self._by_name.get(tensor, [])] if tensor != name else []

    def _numbered(self, name: str) -> GraphNode | None:
        """The node that a name such as `Add_12` counts: the 12th of the file, else the 12th of its operator."""
        match = re.fullmatch(r"([A-Za-z]\w{0,100}?)_(\d{1,7})", name)
        if match is None:
            return None
        op, number = normal_operator(match[1]), int(match[2])
        same = [node for node in self.nodes if node.number is not None and normal_operator(node.op) == op]
        same.sort(key=lambda node: node.number or 0)
        exact = next((node for node in same if node.number == number), None)
        return exact or (same[number] if number < len(same) else None)


def name_parts(name: str) -> Iterator[str]:
    """The names of which a runtime may have made a name, the likeliest first.

    It joins the names of fused nodes, and adds words before or after them.

    >>> list(name_parts("fused /a/Conv_1"))[:2], list(name_parts("/a/MatMul/MatMulAddFusion"))[:1]
    (['/a/Conv_1', 'fused /a/Conv'], ['/a/MatMul'])
    """
    pieces = [piece for piece in re.split(r" \+ |\.\.\.|[\[\]{}(),] ?| && ", name) if piece]
    if len(pieces) > 1:
        yield from pieces[:_MOST_PARTS]
    words = name.split(" ")
    if len(words) > 1:
        yield " ".join(words[1:])
    yield from _shorter(name, from_start=False)
    yield from _shorter(" ".join(words[1:]), from_start=False)
    yield from _shorter(name, from_start=True)


def _shorter(name: str, *, from_start: bool) -> Iterator[str]:
    """The name without its last, or first, words; of the last words at least two characters."""
    cuts = [match.start() for match in _SEPARATORS.finditer(name)][: 4 * _MOST_PARTS]
    for cut in cuts if from_start else reversed(cuts[-_MOST_PARTS:]):
        part = name[cut + 1 :] if from_start else name[:cut]
        if len(part) > from_start:
            yield part


def normal_operator(name: str) -> str:
    """An operator without version, domain and case.

    >>> normal_operator("AddV2"), normal_operator("FULLY_CONNECTED"), normal_operator("aten.add.Tensor")
    ('add', 'fullyconnected', 'add')
    """
    parts = [part for part in re.split(r"[.:>]", name) if part]
    known = [part for part in parts if part not in _NAMESPACES] or parts
    base = re.sub(r"[vV]\d{1,2}$", "", known[0] if known else name)
    return base.replace("_", "").lower()


_NAMESPACES = ("torch", "ops", "aten", "com", "microsoft", "ai", "onnx", "nn", "F", "Tensor", "prims")


def same_operator(op: str, operators: Iterable[str]) -> bool:
    """Whether an operator is one of these, or is part of the name of one that a runtime fused.

    >>> same_operator("Gemm", ["fusedgemm"]), same_operator("Add", ["padding"]), same_operator("Conv", ["conv"])
    (True, False, True)
    """
    own = normal_operator(op)
    for other in operators:
        if own == other:
            return True
        if len(own) > 3 and (other.startswith(own) or other.endswith(own)):
            return True
    return False


def _is_at(position: str, location: str) -> bool:
    """Whether a position `model.py:12` is that of a node, whose location may have a folder and a column."""
    path, _, line = position.rpartition(":")
    match = re.search(r"([^/\\:]{1,300}):(\d{1,9})(?::\d{1,9})?", location)
    return match is not None and match[1] == path and match[2] == line


def unknown_integers(candidates: Iterable[Candidate]) -> list[str]:
    """The operands of nodes that are tensors of integers with unknown values, such as indices."""
    names: dict[str, None] = {}
    for candidate in candidates:
        node = candidate.node
        for slot in node.step.arguments:
            name = "" if slot == MISSING else node.step.compiled.names[slot]
            value = None if slot == MISSING else node.inference.type_of(slot)
            if name not in node.inference.compiled.graph.constants and _has_unknown_integers(value):
                names[node.inference.path + name] = None
    return list(names)


def _has_unknown_integers(value: Type | None) -> bool:
    if not isinstance(value, TensorType) or KINDS.get(value.dtype or "") != "integer":
        return False
    return value.elements is None or None in value.elements


def neighbors(node: GraphNode) -> Iterator[GraphNode]:
    """The nodes that read what a node computes, then those that read these, and the same towards the inputs."""
    compiled = node.step.compiled
    for forward in (True, False):
        current, seen = [node.step.index], {node.step.index}
        while current and len(seen) <= MOST_NEIGHBORS:
            step = compiled.step(current.pop(0))
            if forward:
                following = [index for slot in step.outputs if slot >= 0 for index in compiled.dependents[slot]]
            else:
                producers = [compiled.producers[slot] for slot in step.inputs if slot >= 0]
                following = [index for index in producers if index is not None]
            for index in following:
                if index not in seen and len(seen) <= MOST_NEIGHBORS:
                    seen.add(index)
                    current.append(index)
                    yield GraphNode(node.inference, compiled.step(index), None)
