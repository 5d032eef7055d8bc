"""What runs of a drawn graph show to be wrong of what is inferred."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, Literal

import attrs
import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from shapeinf import Result, infer_shapes
from shapeinf.expr import Dimension, evaluate
from shapeinf.program import EvaluatedShapes
from tests.differential.ort import contains, session_of
from tests.differential.random_graphs.drawing import Arrays, Drawn
from tests.differential.random_graphs.eager import model_of_nodes, read

SECONDS = 20
"""A graph that takes longer to infer hangs; onnxruntime is killed after as long."""


@attrs.frozen
class Discrepancy:
    """What is wrong at a binding.

    `kind` is "shape" (a tensor is not what is said), "error" (there is one, yet the graph runs), "no" (the contract
    says no, yet it runs), "yes" (a plain yes, yet onnxruntime refuses a node), "failure" (of a rule) or "hang".
    """

    kind: str
    turn: int
    text: str
    value: str = ""


@attrs.define
class Tally:
    """Counts of what was compared."""

    runs: int = 0
    refused: int = 0
    yes: int = 0


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raise TimeoutError after so long."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


Executed = list[dict[str, Any] | str]
"""What onnxruntime makes at each binding, or why it refuses."""


def compare(drawn: Drawn, real: Executed, tally: Tally) -> list[Discrepancy]:
    """Everything that is wrong, the first of each binding."""
    if all(isinstance(one, str) for one in real) and not drawn.broken:
        return []  # nothing can be said of a graph that never runs
    try:
        with at_most(SECONDS):
            return list(_compared(drawn, real, tally))
    except TimeoutError:
        return [Discrepancy("hang", 0, "inference does not end")]


def executed(drawn: Drawn) -> Executed:
    """A graph run in onnxruntime; the process dies where that hangs."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(SECONDS)
    try:
        session = session_of(drawn.model)
    except Exception as refusal:  # onnxruntime has no class of its own for what it refuses
        return [str(refusal)] * len(drawn.feeds)
    else:
        return [_run(session, feeds) for feeds in drawn.feeds]
    finally:
        signal.alarm(0)


def _run(session: Any, feeds: Arrays) -> dict[str, Any] | str:
    names = [one.name for one in session.get_outputs()]
    given = {one.name: feeds[one.name] for one in session.get_inputs()}
    try:
        return dict(zip(names, session.run(names, given), strict=True))
    except Exception as refusal:
        return str(refusal)


def _compared(drawn: Drawn, real: Executed, tally: Tally) -> Iterator[Discrepancy]:
    result = infer_shapes(drawn.model)
    for note in result.diagnostics:
        if note.code == "S301":
            yield Discrepancy("failure", 0, str(note))
    shapes = evaluated(drawn, result)
    for turn, (feeds, made) in enumerate(zip(drawn.feeds, real, strict=True)):
        if isinstance(made, str):
            tally.refused += 1
            verdict = result.contract.check(binding_of(drawn.model, feeds))
            if verdict.verdict is True and not verdict.reasons and not by_data(drawn.model, made):
                tally.yes += 1
                yield Discrepancy("yes", turn, made.strip().splitlines()[-1][-300:], refused_node(made))
            continue
        tally.runs += 1
        found = next(contradicted(Run(drawn.model, feeds, made, turn), result, shapes), None)
        if found is not None and confirmed(drawn.model, feeds, made, found):
            yield found


DATA = {"NonZero", "Compress", "Unique", "NonMaxSuppression", "If", "Loop"}
"""Operators whose sizes depend on what tensors hold."""


def refused_node(refusal: str) -> str:
    """The name of the node that onnxruntime refuses, empty where it says none."""
    found = re.search(r"while running \w+ node. Name:'(\w*)'|Node \((\w+)\) Op", refusal)
    return (found[1] or found[2]) if found else ""


def by_data(model: onnx.ModelProto, refusal: str) -> bool:
    """Whether data are to blame: a division by 0, or sizes that depend on data in what the refused node reads."""
    if "by zero" in refusal:
        return True
    makers = {output: node for node in model.graph.node for output in node.output}
    integers = {one.name for one in model.graph.input if not one.type.tensor_type.shape.dim}
    refused = refused_node(refusal)
    waiting, seen = [refused] if refused in makers else list(makers), set()
    while waiting:
        node = makers.get(waiting.pop())
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if node.op_type in DATA or integers.intersection(node.input):
            return True
        waiting += read([node])
    return False


def binding_of(model: onnx.ModelProto, feeds: Arrays) -> dict[str, int]:
    """The sizes of the inputs, by the names of their dims."""
    found = {}
    for one in model.graph.input:
        for dim, size in zip(one.type.tensor_type.shape.dim, feeds[one.name].shape, strict=False):
            if dim.dim_param:
                found[dim.dim_param] = int(size)
    return found


def evaluated(drawn: Drawn, result: Result) -> EvaluatedShapes | None:
    """All shapes at all bindings by the program, None where that needs sizes that have no name."""
    program, bindings = result.program(), [binding_of(drawn.model, feeds) for feeds in drawn.feeds]
    if not bindings[0] or not set(program.needed) <= bindings[0].keys():
        return None
    return program.masked({name: [binding[name] for binding in bindings] for name in bindings[0]})


@attrs.frozen
class Run:
    """A model that onnxruntime ran: with which inputs, and what it made."""

    model: onnx.ModelProto
    feeds: Arrays
    made: Mapping[str, Any]
    turn: int

    @property
    def binding(self) -> dict[str, int]:
        """The sizes of the inputs by name."""
        return binding_of(self.model, self.feeds)


def contradicted(run: Run, result: Result, shapes: EvaluatedShapes | None) -> Iterator[Discrepancy]:
    """What a run shows to be wrong: for any sizes, and inferred again for these."""
    given = {one.name: list(run.feeds[one.name].shape) for one in run.model.graph.input}
    static = infer_shapes(run.model, inputs=given)
    assumed = _as_assumed(result, run.binding)
    claimed = (result, static) if assumed else (static,)
    own = _of_loops_without_trips(run.model, run.made)
    for name, value in run.made.items():  # in the order of the nodes: the first that is wrong is the cause
        if name in own:
            continue
        texts = [text for known in claimed for text in _differences(known, name, value, run.binding)]
        texts += _miscalculated(shapes, name, value, run.turn) if shapes is not None and assumed else []
        yield from (Discrepancy("shape", run.turn, text, name) for text in texts)
    for words, known in (("for any sizes", result), ("for these sizes", static)):
        for note in known.diagnostics:
            if note.severity == "error":
                yield Discrepancy("error", run.turn, f"{words}: {note}", note.node.partition("/")[0])
    yield from _denied(run, result, shapes if assumed else None)


def _miscalculated(shapes: EvaluatedShapes, name: str, value: Any, turn: int) -> list[str]:
    """That the program of all shapes makes something else."""
    if not shapes.valid[turn] or name not in shapes or isinstance(value, list):
        return []
    found = shapes[name][turn]
    wrong = found.mask.any() or tuple(found.tolist()) != np.shape(value)
    return [f"{name}: the program makes {found} of it, not {np.shape(value)}"] if wrong else []


def _denied(run: Run, result: Result, shapes: EvaluatedShapes | None) -> Iterator[Discrepancy]:
    """That the contract or the program says no to what ran."""
    verdict = result.contract.check(run.binding)
    texts = [str(verdict)] if verdict.verdict is False else []
    if shapes is not None and not shapes.valid[run.turn]:
        texts += [f"the program says {problem}" for problem in shapes.problems]
    for text in texts:
        named = _NODE.search(text)
        yield Discrepancy("no", run.turn, text, named[1] if named else "")


def _as_assumed(result: Result, binding: dict[str, int]) -> bool:
    """Whether sizes are as the contract says that they are assumed to be: nothing is claimed of others."""
    assumed = [one.clauses for one in result.contract if one.kind == "assumption"]
    return all(any(clause.holds(binding) is True for clause in clauses) for clauses in assumed if clauses)


def _of_loops_without_trips(model: onnx.ModelProto, made: Mapping[str, Any]) -> set[str]:
    """What onnxruntime makes of a loop without a trip is its own affair, and so is what is made of that."""
    found: set[str] = set()
    for node in model.graph.node:
        empty = node.op_type == "Loop" and any(np.shape(made[name])[:1] == (0,) for name in node.output)
        if empty or found.intersection(read([node])):
            found.update(node.output)
    return found


_NODE = re.compile(r"'(v\d+)")


def _differences(result: Result, name: str, value: Any, binding: dict[str, int]) -> Iterator[str]:
    """What of a value is not as inferred."""
    info = result.tensors[name]
    if isinstance(value, list) != (info.kind == "sequence") and info.shape.dims is not None:
        yield f"{name} is a {info.kind}"
    for one in value if isinstance(value, list) else [value]:
        array = np.asarray(one)
        dtype = "string" if array.dtype.kind in "OU" else array.dtype.name
        if info.dtype not in (None, dtype):
            yield f"{name}: {info.dtype} is not {dtype}"
        if not contains(result, info.shape, array.shape, binding, exact=False):
            yield f"{name}: {info.shape} is not {list(array.shape)}"
        elif not isinstance(value, list):
            elements = contents(result, name)
            if not all(fits(result, *pair, binding) for pair in zip(elements, array.flat, strict=False)):
                yield f"{name}: {elements} is not {array.tolist()}"


def contents(result: Result, name: str) -> tuple[Any, ...]:
    """The known elements of a tensor."""
    inference = result.inference
    return getattr(inference.current(inference.compiled.slots[name]), "elements", None) or ()


def fits(result: Result, element: Any, real: Any, binding: dict[str, int]) -> bool:
    """Whether an element may be what it is."""
    if isinstance(element, Dimension):
        inside = int(real) in result.interval(element)
        return inside and (element.is_anonymous or evaluate(element, binding) == real)
    return not isinstance(element, (int, float)) or element == real


def confirmed(model: onnx.ModelProto, feeds: Arrays, made: Mapping[str, Any], discrepancy: Discrepancy) -> bool:
    """Whether the reference of onnx makes the same shapes: onnxruntime lets some broken laws pass.

    Of a value it is asked for the node that makes it, and whether it refuses the nodes that read it: what they require
    is learned. What the reference does not know is taken as it is.
    """
    if discrepancy.kind in ("failure", "yes", "hang"):
        return True
    if _of_reference(model, feeds, made, discrepancy.value) in ("other", "refused"):
        return False
    readers = [node.output[0] for node in model.graph.node if discrepancy.value and discrepancy.value in node.input]
    return not any(_of_reference(model, feeds, made, name) == "refused" for name in readers if name in made)


def _of_reference(
    model: onnx.ModelProto, feeds: Arrays, made: Mapping[str, Any], value: str
) -> Literal["same", "other", "refused", "unknown"]:
    """What the reference makes of a value, compared with what onnxruntime made."""
    try:
        model, feeds, wanted = _of_value(model, feeds, made, value)
    except KeyError:  # an input that is no output of the graph
        return "unknown"
    try:
        again = ReferenceEvaluator(model).run(wanted, dict(feeds))
    except Exception as refusal:
        foreign = "implementation" in str(refusal).lower() or any(n.domain for n in model.graph.node)
        return "unknown" if foreign else "refused"
    return "same" if [_shapes(one) for one in again] == [_shapes(made[name]) for name in wanted] else "other"


def _of_value(
    model: onnx.ModelProto, feeds: Arrays, made: Mapping[str, Any], value: str
) -> tuple[onnx.ModelProto, Arrays, list[str]]:
    """The one node that makes a value, its inputs and outputs; without a value the whole model."""
    makers = [node for node in model.graph.node if value in node.output and value]
    if not makers or any(a.type == onnx.AttributeProto.GRAPH for a in makers[0].attribute):
        return model, feeds, [one.name for one in model.graph.output]
    node = makers[0]
    everything = {**{w.name: onnx.numpy_helper.to_array(w) for w in model.graph.initializer}, **feeds, **made}
    for other in model.graph.node:
        if other.op_type == "Constant":
            everything[other.output[0]] = onnx.numpy_helper.to_array(other.attribute[0].t)
    given = {name: everything[name] for name in node.input if name}
    alone = model_of_nodes([node], given, model.opset_import, model.ir_version, model.functions)
    return alone, given, [one.name for one in alone.graph.output]


def _shapes(value: Any) -> Any:
    return [np.shape(one) for one in value] if isinstance(value, list) else np.shape(value)
