"""Discrepancies between runs of a random graph and its inference."""

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
from shapeinf.lattice import FloatInterval
from shapeinf.program import EvaluatedShapes
from tests.differential.ort import contains, session_of, sizes_in_run
from tests.differential.random_graphs.drawing import Arrays, Drawn
from tests.differential.random_graphs.eager import model_of_nodes, read
from tests.differential.random_graphs.strict import with_strict_concats

SECONDS = 20
"""The most seconds for an inference, and for a run of onnxruntime, before it counts as a hang."""


@attrs.frozen
class Discrepancy:
    """A discrepancy at a binding.

    `kind` is "shape" (a tensor is not as inferred), "error" (reported, but the graph runs), "no" (the contract rejects
    sizes that run), "yes" (it accepts without reservation, but onnxruntime rejects a node), "failure" (of a rule) or
    "hang".
    """

    kind: str
    turn: int
    text: str
    value: str = ""


@attrs.define
class Tally:
    """Counts of compared runs."""

    runs: int = 0
    refused: int = 0
    yes: int = 0


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raise TimeoutError after this time."""

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
"""The values of onnxruntime at each binding, or its error."""


def compare(drawn: Drawn, real: Executed, tally: Tally) -> list[Discrepancy]:
    """The first discrepancy of each binding."""
    if all(isinstance(run, str) for run in real) and not drawn.broken:
        return []  # a graph that never runs proves nothing
    try:
        with at_most(SECONDS):
            return list(_compared(drawn, real, tally))
    except TimeoutError:
        return [Discrepancy("hang", 0, "inference does not end")]


def executed(drawn: Drawn) -> Executed:
    """The results of onnxruntime; the process is killed if it hangs."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(SECONDS)
    try:
        session = session_of(with_strict_concats(drawn.model))
    except Exception as refusal:  # onnxruntime has no class of its own for what fails at run time
        return [str(refusal)] * len(drawn.feeds)
    else:
        return [_run(session, feeds) for feeds in drawn.feeds]
    finally:
        signal.alarm(0)


def _run(session: Any, feeds: Arrays) -> dict[str, Any] | str:
    names = [value.name for value in session.get_outputs()]
    inputs = {value.name: feeds[value.name] for value in session.get_inputs()}
    try:
        return dict(zip(names, session.run(names, inputs), strict=True))
    except Exception as refusal:
        return str(refusal)


def _compared(drawn: Drawn, real: Executed, tally: Tally) -> Iterator[Discrepancy]:
    result = infer_shapes(drawn.model)
    for note in result.diagnostics:
        if note.code == "S301":
            yield Discrepancy("failure", 0, str(note))
    shapes = evaluated(drawn, result)
    for turn, (feeds, computed) in enumerate(zip(drawn.feeds, real, strict=True)):
        if isinstance(computed, str):
            tally.refused += 1
            verdict = result.contract.check(binding_of(drawn.model, feeds))
            if verdict.verdict is True and not verdict.reasons and not by_data(drawn.model, computed):
                tally.yes += 1
                yield Discrepancy("yes", turn, computed.strip().splitlines()[-1][-300:], refused_node(computed))
            continue
        tally.runs += 1
        discrepancy = next(contradicted(Run(drawn.model, feeds, computed, turn), result, shapes), None)
        if discrepancy is not None and confirmed(drawn.model, feeds, computed, discrepancy):
            yield discrepancy


DATA = {"NonZero", "Compress", "Unique", "NonMaxSuppression", "If", "Loop"}
"""Operators whose sizes depend on the contents of tensors."""


def refused_node(refusal: str) -> str:
    """The name of the node that onnxruntime rejects; empty if its error does not contain one."""
    match = re.search(r"while running \w+ node. Name:'(\w*)'|Node \((\w+)\) Op", refusal)
    return (match[1] or match[2]) if match else ""


def by_data(model: onnx.ModelProto, refusal: str) -> bool:
    """Whether data cause the error: a division by 0, or data-dependent sizes before the rejected node."""
    if "by zero" in refusal:
        return True
    producers = {output: node for node in model.graph.node for output in node.output}
    integers = {value.name for value in model.graph.input if not value.type.tensor_type.shape.dim}
    refused = refused_node(refusal)
    waiting, seen = [refused] if refused in producers else list(producers), set()
    while waiting:
        node = producers.get(waiting.pop())
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if node.op_type in DATA or integers.intersection(node.input):
            return True
        waiting += read([node])
    return False


def binding_of(model: onnx.ModelProto, feeds: Arrays) -> dict[str, int]:
    """The sizes of the inputs, by the names of their dims."""
    binding = {}
    for value in model.graph.input:
        for dim, size in zip(value.type.tensor_type.shape.dim, feeds[value.name].shape, strict=False):
            if dim.dim_param:
                binding[dim.dim_param] = int(size)
    return binding


def evaluated(drawn: Drawn, result: Result) -> EvaluatedShapes | None:
    """All shapes at all bindings, computed by the program; None if it depends on sizes without a name."""
    program, bindings = result.program(), [binding_of(drawn.model, feeds) for feeds in drawn.feeds]
    if not bindings[0] or not set(program.needed) <= bindings[0].keys():
        return None
    return program.masked({name: [binding[name] for binding in bindings] for name in bindings[0]})


@attrs.frozen
class Run:
    """A run of onnxruntime: the model, its inputs and the computed values."""

    model: onnx.ModelProto
    feeds: Arrays
    computed: Mapping[str, Any]
    turn: int

    @property
    def binding(self) -> dict[str, int]:
        """The sizes of the inputs by name."""
        return binding_of(self.model, self.feeds)


def contradicted(run: Run, result: Result, shapes: EvaluatedShapes | None) -> Iterator[Discrepancy]:
    """Discrepancies of a run with the inference for all sizes, and with that for these sizes."""
    shapes_of_inputs = {value_info.name: list(run.feeds[value_info.name].shape) for value_info in run.model.graph.input}
    static = infer_shapes(run.model, inputs=shapes_of_inputs)
    assumed = _as_assumed(result, run.binding)
    claimed = (result, static) if assumed else (static,)
    own = _of_loops_without_trips(run.model, run.computed)
    defined = {name: value for name, value in run.computed.items() if name not in own}
    bindings = [sizes_in_run(known, defined, run.binding) for known in claimed]
    for name, value in defined.items():  # in the order of the nodes: the first difference is the cause
        texts = [
            text
            for known, sizes in zip(claimed, bindings, strict=True)
            for text in _differences(known, name, value, run.binding if isinstance(value, list) else sizes)
        ]
        texts += _miscalculated(shapes, name, value, run.turn) if shapes is not None and assumed else []
        yield from (Discrepancy("shape", run.turn, text, name) for text in texts)
    for words, known in (("for any sizes", result), ("for these sizes", static)):
        for note in known.diagnostics:
            if note.severity == "error":
                yield Discrepancy("error", run.turn, f"{words}: {note}", note.node.partition("/")[0])
    yield from _denied(run, result, shapes if assumed else None)


def _miscalculated(shapes: EvaluatedShapes, name: str, value: Any, turn: int) -> list[str]:
    """Whether the program of all shapes computes another shape."""
    if not shapes.valid[turn] or name not in shapes or isinstance(value, list):
        return []
    evaluated = shapes[name][turn]
    wrong = evaluated.mask.any() or tuple(evaluated.tolist()) != np.shape(value)
    return [f"{name}: the program makes {evaluated} of it, not {np.shape(value)}"] if wrong else []


def _denied(run: Run, result: Result, shapes: EvaluatedShapes | None) -> Iterator[Discrepancy]:
    """Whether the contract or the program rejects sizes that ran."""
    verdict = result.contract.check(run.binding)
    texts = [str(verdict)] if verdict.verdict is False else []
    if shapes is not None and not shapes.valid[run.turn]:
        texts += [f"the program reports {problem}" for problem in shapes.problems]
    for text in texts:
        named = _NODE.search(text)
        yield Discrepancy("no", run.turn, text, named[1] if named else "")


def _as_assumed(result: Result, binding: dict[str, int]) -> bool:
    """Whether sizes satisfy the assumptions of the contract: others are not compared."""
    assumed = [precondition.clauses for precondition in result.contract if precondition.kind == "assumption"]
    return all(any(clause.holds(binding) is True for clause in clauses) for clauses in assumed if clauses)


def _of_loops_without_trips(model: onnx.ModelProto, computed: Mapping[str, Any]) -> set[str]:
    """Outputs of loops without trips, and all values that depend on them, which the specification leaves open."""
    names: set[str] = set()
    for node in model.graph.node:
        empty = node.op_type == "Loop" and any(np.shape(computed[name])[:1] == (0,) for name in node.output)
        if empty or names.intersection(read([node])):
            names.update(node.output)
    return names


_NODE = re.compile(r"'(v\d+)")


def _differences(result: Result, name: str, value: Any, binding: dict[str, int]) -> Iterator[str]:
    """The differences of a value from its inferred type."""
    info = result.tensors[name]
    if isinstance(value, list) != (info.kind == "sequence") and info.shape.dims is not None:
        yield f"{name} is a {info.kind}"
    for item in value if isinstance(value, list) else [value]:
        array = np.asarray(item)
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
    inference = result.engine.inference
    return getattr(inference.type_of(inference.compiled.slots[name]), "elements", None) or ()


def fits(result: Result, element: Any, real: Any, binding: dict[str, int]) -> bool:
    """Whether an inferred element may have a computed value."""
    if isinstance(element, Dimension):
        inside = int(real) in result.interval(element)
        known = not element.is_anonymous or all(symbol.name in binding for symbol in element.symbols())
        return inside and (not known or evaluate(element, binding) == real)
    if isinstance(element, FloatInterval):
        return bool(element.low <= real <= element.high)
    return not isinstance(element, (int, float)) or element == real or (element != element and real != real)


def confirmed(model: onnx.ModelProto, feeds: Arrays, computed: Mapping[str, Any], discrepancy: Discrepancy) -> bool:
    """Whether the reference of onnx computes the same shapes: onnxruntime accepts some violations.

    For a value, the node that produces it and those that read it are run: inference learns from both. Operators that
    the reference lacks count as confirmed.
    """
    if discrepancy.kind in ("failure", "yes", "hang"):
        return True
    if _of_reference(model, feeds, computed, discrepancy.value) in ("other", "refused"):
        return False
    readers = [node.output[0] for node in model.graph.node if discrepancy.value and discrepancy.value in node.input]
    return not any(_of_reference(model, feeds, computed, name) == "refused" for name in readers if name in computed)


def _of_reference(
    model: onnx.ModelProto, feeds: Arrays, computed: Mapping[str, Any], value: str
) -> Literal["same", "other", "refused", "unknown"]:
    """The reference's value compared with onnxruntime's."""
    try:
        model, feeds, wanted = _of_value(model, feeds, computed, value)
    except KeyError:  # an input that is not an output of the graph
        return "unknown"
    try:
        again = ReferenceEvaluator(model).run(wanted, dict(feeds))
    except Exception as refusal:
        foreign = "implementation" in str(refusal).lower() or any(n.domain for n in model.graph.node)
        return "unknown" if foreign else "refused"
    return "same" if [_shapes(item) for item in again] == [_shapes(computed[name]) for name in wanted] else "other"


def _of_value(
    model: onnx.ModelProto, feeds: Arrays, computed: Mapping[str, Any], value: str
) -> tuple[onnx.ModelProto, Arrays, list[str]]:
    """The producer of a value as a model, its inputs and outputs; without a value the model itself."""
    producers = [node for node in model.graph.node if value in node.output and value]
    if not producers or any(a.type == onnx.AttributeProto.GRAPH for a in producers[0].attribute):
        return model, feeds, [info.name for info in model.graph.output]
    node = producers[0]
    everything = {**{w.name: onnx.numpy_helper.to_array(w) for w in model.graph.initializer}, **feeds, **computed}
    for other in model.graph.node:
        if other.op_type == "Constant":
            everything[other.output[0]] = onnx.numpy_helper.to_array(other.attribute[0].t)
    inputs = {name: everything[name] for name in node.input if name}
    alone = model_of_nodes([node], inputs, model.opset_import, model.ir_version, model.functions)
    return alone, inputs, [info.name for info in alone.graph.output]


def _shapes(value: Any) -> Any:
    return [np.shape(item) for item in value] if isinstance(value, list) else np.shape(value)
