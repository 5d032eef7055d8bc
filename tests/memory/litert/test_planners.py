"""Laws of the planners of LiteRT and TensorFlow Lite Micro: what is in use together, alignment, shared memory."""

from __future__ import annotations

from itertools import combinations

import attrs
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.memory.runtimes.litert.planner import (
    ALIGNMENT,
    ArenaGraph,
    ArenaNode,
    ArenaTensor,
    Storage,
    find_lifetimes,
    plan_arena,
)
from shapeinf.memory.runtimes.tflite_micro.offline import plan_offline
from shapeinf.memory.runtimes.tflite_micro.planner import ALIGNMENT as MICRO_ALIGNMENT
from shapeinf.memory.runtimes.tflite_micro.planner import MicroNode, MicroSubgraph, find_buffers, find_offsets, head_of

SIZES = st.sampled_from([0, 1, 4, 16, 64, 100, 128, 1000])
KINDS: st.SearchStrategy[Storage] = st.sampled_from(["arena"] * 6 + ["heap", "late", "persistent"])


@st.composite
def graphs(draw: st.DrawFn) -> ArenaGraph:
    """Graphs in which each node writes one tensor, reads earlier ones, and may need a temporary and share memory."""
    tensors = [ArenaTensor(draw(SIZES)) for _ in range(draw(st.integers(1, 3)))]
    inputs = tuple(range(len(tensors)))
    nodes = []
    for _ in range(draw(st.integers(1, 8))):
        read = tuple(draw(st.lists(st.sampled_from(range(len(tensors))), min_size=1, max_size=3)))
        tensors.append(ArenaTensor(draw(SIZES), draw(KINDS), draw(SIZES)))
        output = len(tensors) - 1
        temporaries: tuple[int, ...] = ()
        if draw(st.booleans()):
            tensors.append(ArenaTensor(draw(SIZES)))
            temporaries = (len(tensors) - 1,)
        shared = read[: draw(st.integers(0, 2))]
        nodes.append(ArenaNode(read, (output,), temporaries, shared, draw(st.booleans())))
    written = [node.outputs[0] for node in nodes]
    outputs = tuple(sorted(set(draw(st.lists(st.sampled_from(written), min_size=1, max_size=2)))))
    temporary = {i for node in nodes for i in node.temporaries}
    nodes = [attrs.evolve(n, inputs=tuple(i for i in n.inputs if i not in temporary)) for n in nodes]
    return ArenaGraph(tuple(tensors), tuple(nodes), inputs, outputs)


@given(graphs())
def test_tensors_that_are_in_use_together_do_not_overlap(graph: ArenaGraph) -> None:
    plan = plan_arena(graph)
    for a, b in combinations(plan.placed.values(), 2):
        if a.overlaps(b.first, b.last):
            assert a.offset + a.size <= b.offset or b.offset + b.size <= a.offset


@given(graphs())
def test_offsets_are_aligned_and_the_arena_ends_with_a_tensor(graph: ArenaGraph) -> None:
    plan = plan_arena(graph)
    assert all(placed.offset % ALIGNMENT == 0 for placed in (*plan.placed.values(), *plan.persistently.values()))
    assert plan.invoked == max([p.offset + p.size for p in plan.placed.values()], default=0)
    assert plan.allocated <= plan.invoked


@given(graphs())
def test_shared_memory_is_that_of_an_equal_tensor_that_is_in_use_as_long(graph: ArenaGraph) -> None:
    plan = plan_arena(graph)
    for index, root in plan.shared.items():
        if graph.tensors[index].storage in ("arena", "late") and graph.tensors[index].size and root in plan.placed:
            assert graph.tensors[index].size == graph.tensors[root].size
            assert index not in graph.outputs and index not in plan.placed
            readers = [number for number, node in enumerate(graph.nodes) if index in node.inputs]
            last = plan.placed[root].last
            assert last is None or last >= max(readers, default=0)


@given(graphs())
def test_lifetimes_do_not_depend_on_sizes_other_than_their_equality(graph: ArenaGraph) -> None:
    numbers = {size: 1000 + i for i, size in enumerate(sorted({t.size for t in graph.tensors}))}
    small = {size for size in numbers if size <= 4}
    renamed = [
        attrs.evolve(t, size=t.size if t.size in small else numbers[t.size], stated=t.stated) for t in graph.tensors
    ]
    same = [t.stated for t in graph.tensors if t.stated > 4]
    if not same:
        assert find_lifetimes(graph) == find_lifetimes(attrs.evolve(graph, tensors=tuple(renamed)))


@given(graphs())
def test_without_sharing_all_tensors_are_in_use_to_the_end(graph: ArenaGraph) -> None:
    plan = plan_arena(graph, sharing=False)
    assert not plan.shared and all(placed.last is None for placed in plan.placed.values())


def micro(graph: ArenaGraph) -> MicroSubgraph:
    """The same graph for TensorFlow Lite Micro; temporaries are scratch buffers."""
    scratch = {i for node in graph.nodes for i in node.temporaries}
    nodes = [MicroNode(n.inputs, n.outputs, tuple([graph.tensors[i].size for i in n.temporaries])) for n in graph.nodes]
    sizes = [0 if i in scratch else tensor.size for i, tensor in enumerate(graph.tensors)]
    return MicroSubgraph(tuple(sizes), tuple(nodes), graph.inputs, graph.outputs)


@given(graphs())
def test_buffers_of_micro_do_not_overlap(graph: ArenaGraph) -> None:
    placed = find_offsets(find_buffers([micro(graph)]))
    for a, b in combinations(placed, 2):
        assert not a.overlaps(b) or a.end <= b.offset or b.end <= a.offset
    assert all(buffer.offset % MICRO_ALIGNMENT == 0 and buffer.offset >= 0 for buffer in placed)


@given(graphs())
def test_an_offline_plan_is_no_larger_than_that_of_the_interpreter(graph: ArenaGraph) -> None:
    buffers = find_buffers([micro(graph)])
    offline = plan_offline(buffers)
    assert offline.head == head_of(offline.buffers) <= offline.greedy_head == head_of(find_offsets(buffers))
    for a, b in combinations(offline.buffers, 2):
        assert not a.overlaps(b) or a.end <= b.offset or b.end <= a.offset


def test_a_body_is_in_use_inside_of_its_node() -> None:
    main = MicroSubgraph((16, 32, 16), (MicroNode((0,), (1,), (), (1,)), MicroNode((1,), (2,))), (0,), (2,))
    body = MicroSubgraph((48, 48), (MicroNode((0,), (1,), (8,)),), (0,), (1,))
    buffers = find_buffers([main, body])
    spans = [(b.subgraph, b.tensor, b.first, b.last) for b in buffers]
    assert spans == [(0, 0, 0, 3), (0, 1, 1, 4), (0, 2, 4, 4), (1, 0, 2, 3), (1, 1, 3, 3), (1, None, 3, 3)]
