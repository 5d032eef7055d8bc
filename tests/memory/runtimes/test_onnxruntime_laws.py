"""Laws of the plan, the pattern and the arena of onnxruntime, for graphs and runs that hypothesis draws."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.engine.compiled import CompiledGraph, compile_graph
from shapeinf.graph import Graph, Node
from shapeinf.memory.runtimes.onnxruntime.arena import Arena
from shapeinf.memory.runtimes.onnxruntime.node_inference import PlannerShape
from shapeinf.memory.runtimes.onnxruntime.order import execution_order
from shapeinf.memory.runtimes.onnxruntime.pattern import block_size
from shapeinf.memory.runtimes.onnxruntime.sharing import PlannedGraph, plan_buffers
from shapeinf.memory.runtimes.trace import Event, peak_of
from shapeinf.ops import default_registry
from tests.memory.runtimes.kernel_models import kernels

OPERATORS = ("Relu", "Identity", "Exp", "Add", "Clip")
SHAPES: tuple[PlannerShape, ...] = (None, (), (4,), (8,), ("n",), ("m", 4), (None,))


@attrs.frozen
class Values:
    """The shapes that a session knows, by slot."""

    shapes: Sequence[PlannerShape]

    def shape(self, slot: int) -> PlannerShape:
        return self.shapes[slot % len(self.shapes)]

    def width(self, slot: int) -> int | None:
        return 32


@st.composite
def graphs(draw: st.DrawFn) -> CompiledGraph:
    """A graph of nodes with one or two inputs each; an output of the graph may have readers, too."""
    nodes: list[Node] = []
    names = ["x", "w"]
    for index in range(draw(st.integers(1, 12))):
        op = draw(st.sampled_from(OPERATORS))
        inputs = [draw(st.sampled_from(names)) for _ in range(2 if op == "Add" else 1)]
        nodes.append(Node.make(op, tuple(inputs), (f"v{index}",)))
        names.append(f"v{index}")
    outputs = draw(st.lists(st.sampled_from(names[2:]), min_size=1, max_size=3, unique=True))
    graph = Graph(dialect="onnx", opsets={"": 17}, inputs=["x", "w"], outputs=outputs, nodes=nodes)
    return compile_graph(graph, default_registry())


@given(graphs(), st.booleans())
def test_the_order_is_topological(compiled: CompiledGraph, as_file: bool) -> None:
    order = execution_order(compiled, as_file=as_file)
    assert sorted(order) == list(range(len(compiled.rows)))
    edges = [(compiled.producers[slot], row) for row, (_, inputs, _, _) in enumerate(compiled.rows) for slot in inputs]
    graph = nx.DiGraph([(a, b) for a, b in edges if a is not None])
    positions = {row: position for position, row in enumerate(order)}
    assert all(positions[a] < positions[b] for a, b in graph.edges)


@given(graphs(), st.lists(st.sampled_from(SHAPES), min_size=1, max_size=6), st.booleans())
def test_a_plan_never_overwrites_a_value_that_is_read_later(
    compiled: CompiledGraph, shapes: list[PlannerShape], reuse: bool
) -> None:
    """Each read finds the value that was written last: of an alias that of its source."""
    steps = [compiled.step(index) for index in execution_order(compiled)]
    outputs = {compiled.slots[name] for name in compiled.graph.outputs}
    held = {compiled.slots[name] for name in compiled.graph.inputs}
    planned = PlannedGraph(steps, len(compiled.names), outputs, held)
    buffers = plan_buffers(planned, Values(shapes), kernels(), reuse=reuse)
    contents = {slot: slot for slot in held}  # by buffer, the value in it
    values = {slot: slot for slot in held}  # by slot, the value that it stands for
    for step in steps:
        for slot in step.inputs:
            assert contents[buffers[slot]] == values[slot]
        kind, (output,) = step.operation.kind, step.outputs
        is_alias = kernels().find_alias(kind.domain, kind.op, 17) == 0 and output not in outputs
        values[output] = values[step.inputs[0]] if is_alias else output
        contents[buffers[output]] = values[output]
    assert all(contents[buffers[slot]] == slot and buffers[slot] == slot for slot in outputs)


@st.composite
def runs(draw: st.DrawFn) -> list[Event]:
    """Allocations and frees of buffers of some sizes."""
    events: list[Event] = []
    live: list[int] = []
    sizes: list[int] = []
    for _ in range(draw(st.integers(1, 25))):
        if live and draw(st.booleans()):
            buffer = live.pop(draw(st.integers(0, len(live) - 1)))
            events.append(Event(buffer, sizes[buffer], True))
        else:
            live.append(len(sizes))
            sizes.append(draw(st.sampled_from([0, 64, 256, 1000, 4096, 70_000, 1 << 20, 3 << 20])))
            events.append(Event(live[-1], sizes[-1]))
    return events


@given(runs())
def test_a_block_has_room_for_the_peak(events: list[Event]) -> None:
    total = sum(-(-event.size // 256) * 256 for event in events if not event.frees)
    assert peak_of(events) <= block_size(events) <= total


@given(runs(), runs())
def test_an_arena_has_room_for_the_peak_and_never_shrinks(first: list[Event], second: list[Event]) -> None:
    arena = Arena()
    arena.run(first)
    before = list(arena.regions)
    assert sum(before) >= peak_of(first)
    arena.run(first)
    assert arena.regions == before or len(arena.regions) > len(before)
    arena.run(second)
    assert sum(arena.regions) >= peak_of(second) and arena.regions[: len(before)] == before
