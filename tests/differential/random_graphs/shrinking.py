"""Smaller graphs that show the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx

from tests.differential.random_graphs.comparing import Discrepancy, Tally, compare, executed
from tests.differential.random_graphs.drawing import Arrays, Drawn
from tests.differential.random_graphs.eager import declared, read


def shrunk(drawn: Drawn, discrepancy: Discrepancy) -> Drawn:
    """The smallest graph that was found which shows a finding of this kind, at one binding."""
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
    """That a graph is refused at one binding counts, where it ran at another."""
    return "refused" if discrepancy.kind == "yes" else ""


def _shows(drawn: Drawn, discrepancy: Discrepancy) -> bool:
    """A finding of that kind; where onnxruntime refuses a node, the same one."""
    try:
        return any(_alike(one, discrepancy) for one in compare(drawn, executed(drawn), Tally()))
    except Exception:  # a model that is none any more shows nothing
        return False


def _alike(one: Discrepancy, other: Discrepancy) -> bool:
    return one.kind == other.kind and (one.kind != "yes" or one.value == other.value)


def _smaller(drawn: Drawn) -> Iterator[Drawn]:
    """Graphs with a bit less: without what follows a node, with a value given as an input, with shorter axes."""
    for place in range(len(drawn.model.graph.node)):
        yield from _without(drawn, place)
    yield from _shorter(drawn)


def _without(drawn: Drawn, place: int) -> Iterator[Drawn]:
    """Leave out a node: nothing reads it, or what it makes becomes an input."""
    node = drawn.model.graph.node[place]
    rest = [other for i, other in enumerate(drawn.model.graph.node) if i != place]
    used = set(read(rest)) & set(node.output)
    if not used:
        yield _rebuilt(drawn, rest, {})
        return
    if node.op_type == "Constant":
        return
    alone = _rebuilt(drawn, list(drawn.model.graph.node[: place + 1]), {})
    (real,) = executed(alone)
    if not isinstance(real, str) and all(isinstance(real[name], np.ndarray) for name in used):
        yield _rebuilt(drawn, rest, {name: real[name] for name in used})


def _rebuilt(drawn: Drawn, nodes: list[onnx.NodeProto], given: Arrays) -> Drawn:
    """The graph of these nodes, with some values given; inputs and weights that nobody reads are gone."""
    model = onnx.ModelProto()
    model.CopyFrom(drawn.model)
    graph = model.graph
    wanted = set(read(nodes))
    inputs = [one for one in graph.input if one.name in wanted]
    inputs += [declared(name, array, [f"{name}_{i}" for i in range(array.ndim)]) for name, array in given.items()]
    weights = [one for one in graph.initializer if one.name in wanted]
    made = {name for node in nodes if node.op_type != "Constant" for name in node.output}
    outputs = [one for one in graph.output if one.name in made]
    for field, kept in (("node", nodes), ("input", inputs), ("initializer", weights), ("output", outputs)):
        graph.ClearField(field)
        getattr(graph, field).extend(kept)
    names = {one.name for one in inputs}
    feeds = {name: array for name, array in {**drawn.feeds[0], **given}.items() if name in names}
    return Drawn(model, (feeds,), drawn.broken)


def _shorter(drawn: Drawn) -> Iterator[Drawn]:
    """Sizes by name made smaller, everywhere at once."""
    named: dict[str, int] = {}
    for one in drawn.model.graph.input:
        shape = drawn.feeds[0][one.name].shape
        for dim, size in zip(one.type.tensor_type.shape.dim, shape, strict=False):
            if dim.dim_param:
                named[dim.dim_param] = size
    for name, size in named.items():
        for less in {1, 2, size // 2, size - 1}:
            if 0 < less < size:
                yield Drawn(drawn.model, (_cut(drawn, name, less),), drawn.broken)


def _cut(drawn: Drawn, name: str, size: int) -> Arrays:
    found = dict(drawn.feeds[0])
    for one in drawn.model.graph.input:
        for axis, dim in enumerate(one.type.tensor_type.shape.dim):
            if dim.dim_param == name:
                found[one.name] = np.take(found[one.name], range(size), axis)
    return found


def text_of(drawn: Drawn) -> str:
    """The model as text, and the sizes and small contents of its inputs."""
    feeds = ", ".join(f"{name}={_format_text(array)}" for name, array in drawn.feeds[0].items())
    return f"{onnx.printer.to_text(drawn.model)}\n# {feeds}"


def _format_text(array: np.ndarray) -> str:
    return str(array.tolist()) if array.dtype.kind in "iub" and array.size < 10 else f"{array.dtype}{list(array.shape)}"
