"""Smaller graphs with the same discrepancy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx

from tests.differential.random_graphs.comparing import Discrepancy, Tally, compare, executed
from tests.differential.random_graphs.drawing import Arrays, Drawn
from tests.differential.random_graphs.eager import declared, read


def shrunk(drawn: Drawn, discrepancy: Discrepancy) -> Drawn:
    """The smallest graph with a discrepancy of this kind, at one binding."""
    best = Drawn(drawn.model, (drawn.feeds[discrepancy.turn],), drawn.broken or _broken_by(drawn, discrepancy))
    if not _shows(best, discrepancy):
        return drawn
    changed = True
    while changed:
        changed = False
        for smaller in _smaller(best):
            if _shows(smaller, discrepancy):
                best, changed = smaller, True
                break
    return best


def _broken_by(drawn: Drawn, discrepancy: Discrepancy) -> str:
    """A rejection at one binding counts where another runs."""
    return "refused" if discrepancy.kind == "yes" else ""


def _shows(drawn: Drawn, discrepancy: Discrepancy) -> bool:
    """Whether the graph has a discrepancy of the same kind; for a rejected node, of the same node."""
    try:
        return any(_alike(repeated, discrepancy) for repeated in compare(drawn, executed(drawn), Tally()))
    except Exception:  # the model is no longer valid
        return False


def _alike(first: Discrepancy, other: Discrepancy) -> bool:
    return first.kind == other.kind and (first.kind != "yes" or first.value == other.value)


def _smaller(drawn: Drawn) -> Iterator[Drawn]:
    """Smaller graphs: cut after a node, with a value turned into an input, with shorter axes."""
    for index in range(len(drawn.model.graph.node)):
        yield from _without(drawn, index)
    yield from _shorter(drawn)


def _without(drawn: Drawn, index: int) -> Iterator[Drawn]:
    """The graph without a node, which has no reader, or whose outputs become inputs."""
    node = drawn.model.graph.node[index]
    rest = [other for i, other in enumerate(drawn.model.graph.node) if i != index]
    used = set(read(rest)) & set(node.output)
    if not used:
        yield _rebuilt(drawn, rest, {})
        return
    if node.op_type == "Constant":
        return
    alone = _rebuilt(drawn, list(drawn.model.graph.node[: index + 1]), {})
    (real,) = executed(alone)
    if not isinstance(real, str) and all(isinstance(real.get(name), np.ndarray) for name in used):
        yield _rebuilt(drawn, rest, {name: real[name] for name in used})


def _rebuilt(drawn: Drawn, nodes: list[onnx.NodeProto], values: Arrays) -> Drawn:
    """The graph of these nodes, with some values as inputs, without unused inputs and weights."""
    model = onnx.ModelProto()
    model.CopyFrom(drawn.model)
    graph = model.graph
    wanted = set(read(nodes))
    inputs = [info for info in graph.input if info.name in wanted]
    inputs += [declared(name, array, [f"{name}_{i}" for i in range(array.ndim)]) for name, array in values.items()]
    weights = [info for info in graph.initializer if info.name in wanted]
    written = {name for node in nodes if node.op_type != "Constant" for name in node.output}
    outputs = [info for info in graph.output if info.name in written]
    for field, entries in (("node", nodes), ("input", inputs), ("initializer", weights), ("output", outputs)):
        graph.ClearField(field)
        getattr(graph, field).extend(entries)
    names = {info.name for info in inputs}
    feeds = {name: array for name, array in {**drawn.feeds[0], **values}.items() if name in names}
    return Drawn(model, (feeds,), drawn.broken)


def _shorter(drawn: Drawn) -> Iterator[Drawn]:
    """The graph with smaller sizes of named dims, at all bindings."""
    named: dict[str, int] = {}
    for info in drawn.model.graph.input:
        shape = drawn.feeds[0][info.name].shape
        for dim, size in zip(info.type.tensor_type.shape.dim, shape, strict=False):
            if dim.dim_param:
                named[dim.dim_param] = size
    for name, size in named.items():
        for less in {1, 2, size // 2, size - 1}:
            if 0 < less < size:
                yield Drawn(drawn.model, (_cut(drawn, name, less),), drawn.broken)


def _cut(drawn: Drawn, name: str, size: int) -> Arrays:
    arrays = dict(drawn.feeds[0])
    for info in drawn.model.graph.input:
        for axis, dim in enumerate(info.type.tensor_type.shape.dim):
            if dim.dim_param == name:
                arrays[info.name] = np.take(arrays[info.name], range(size), axis)
    return arrays


def text_of(drawn: Drawn) -> str:
    """The model as text, and the sizes and small contents of its inputs."""
    feeds = ", ".join(f"{name}={_format_text(array)}" for name, array in drawn.feeds[0].items())
    return f"{onnx.printer.to_text(drawn.model)}\n# {feeds}"


def _format_text(array: np.ndarray) -> str:
    return str(array.tolist()) if array.dtype.kind in "iub" and array.size < 10 else f"{array.dtype}{list(array.shape)}"
