"""Running a graph on the storage of a timeline: every read must get what was written."""

from __future__ import annotations

VIEWS = {"Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Optional", "OptionalGetElement"}
"""Operators of ONNX whose output is the elements of their first input, untouched (without Dropout)."""


def replay(result, shared, base):
    """Simulate all nodes of the model's own graph: each block holds what was last written to it.

    A node with bodies is simulated as one step. `base` is the timeline in which nothing is shared.
    """
    graph = result.graph
    block = {name: b for b in shared.buffers for name in b.values}
    plain = {name: b for b in base.buffers for name in b.values}
    assert set(block) == set(plain), "every value has one block"
    assert len(block) == sum(len(b.values) for b in shared.buffers)
    for name, buffer in plain.items():
        holder = block[name]
        assert holder.birth <= buffer.birth
        assert holder.death >= buffer.death
        assert (holder.role in ("weight", "input")) == (plain[holder.name].role in ("weight", "input"))
    content = {name: name for name in (*graph.inputs, *graph.constants)}
    held = {block[name].name: name for name in content}
    for node in graph.nodes:
        for name in node.inputs:
            if name and name in block and name in content:
                assert held[block[name].name] == content[name], f"{node.name} reads {name}, which is overwritten"
        for name in node.outputs:
            if name and name in block:
                view = node.op in VIEWS and node.inputs[0] in content
                content[name] = content[node.inputs[0]] if view else name
                held[block[name].name] = content[name]
    for name in (*graph.outputs, *graph.inputs, *graph.constants):
        if name in block and name in content:
            assert held[block[name].name] == content[name], f"{name} is overwritten"
    for name in graph.outputs:
        if name in plain and plain[name].role == "output":
            assert block[name].role == "output"
            assert sum(value in graph.outputs for value in block[name].values) == 1
