"""Compare random graphs with onnxruntime, in a process of its own: some inputs make onnxruntime divide by zero and die.

    python -m tests.differential.random_graphs bodies 0 100

Prints the number of each graph before it is run, then what is wrong, and at last how many runs there were.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

from shapeinf import Result, infer_shapes
from shapeinf.algebra import Dimension, evaluate
from tests.differential.ort import contains, session_of
from tests.differential.random_graphs import bodies, sizes

KINDS = {"bodies": bodies.drawn, "sizes": sizes.drawn}
BINDINGS = 5

Arrays = Mapping[str, np.ndarray[Any, Any]]


def compare(kind: str, seed: int) -> int:
    """Print what is wrong of a graph; the number of bindings that onnxruntime runs it with."""
    model = KINDS[kind](seed)
    try:
        session = session_of(model)
    except Exception:  # onnxruntime has no class of its own for what it refuses
        return 0
    result = infer_shapes(model)
    for note in result.diagnostics:
        if note.code == "S301":
            print(f"{kind} {seed}: {note}")
    runs = 0
    for turn in range(BINDINGS):
        feeds = fed(np.random.default_rng(1000 * seed + turn), same=turn % 2 == 1)
        feeds = {one.name: feeds[one.name] for one in session.get_inputs()}
        try:
            found = dict(zip((o.name for o in session.get_outputs()), session.run(None, feeds), strict=True))
        except Exception:
            continue
        runs += 1
        wrong = list(contradicted(model, result, feeds, found))
        if wrong and same_by_reference(model, feeds, found):
            print(f"{kind} {seed}, {binding_of(feeds)}: {wrong[0]}")
    return runs


def fed(rng: np.random.Generator, same: bool) -> dict[str, np.ndarray[Any, Any]]:
    """Inputs of random sizes; with `same`, of equal rows."""
    a, b, c = rng.integers(1, 5, 3)
    return {
        "x": rng.standard_normal((a, b)).astype(np.float32),
        "z": rng.standard_normal((a if same else c, b)).astype(np.float32),
        "n": np.array(rng.integers(0, 5)),
        "flag": np.array(rng.random() < 0.5),
    }


def binding_of(feeds: Arrays) -> dict[str, int]:
    """The sizes of the inputs, by the names of their dims."""
    named = {"x": "ab", "z": "cb"}
    return {name: size for k in named if k in feeds for name, size in zip(named[k], feeds[k].shape, strict=True)}


def contradicted(model: onnx.ModelProto, result: Result, feeds: Arrays, found: Arrays) -> Iterator[str]:
    """What a run shows to be wrong: for any sizes, and inferred again for these."""
    binding = binding_of(feeds)
    yield from (f"error: {note}" for note in result.diagnostics if note.severity == "error")
    verdict = result.contract.check(binding)
    if verdict.verdict is False:
        yield f"contract: {verdict}"
    of_loops = {o for node in model.graph.node if node.op_type == "Loop" for o in node.output}
    for known in (result, infer_shapes(model, bind=binding)):
        for name, array in found.items():
            shape = known.tensors[name].shape
            if array.shape[:1] == (0,) and name in of_loops:
                continue  # what onnxruntime makes of a loop without a trip is its own affair
            if not contains(known, shape, array.shape, binding, exact=False):
                yield f"{name}: {shape} is not {list(array.shape)}"
            elif not all(fits(known, *pair, binding) for pair in zip(contents(known, name), array.flat, strict=False)):
                yield f"{name}: {contents(known, name)} is not {array.tolist()}"


def contents(result: Result, name: str) -> tuple[Any, ...]:
    """The known elements of a tensor."""
    inference = result.inference
    return getattr(inference.current(inference.program.slots[name]), "elements", None) or ()


def fits(result: Result, element: Any, real: Any, binding: dict[str, int]) -> bool:
    """Whether an element may be what it is."""
    if isinstance(element, Dimension):
        inside = int(real) in result.interval(element)
        return inside and (element.is_anonymous or evaluate(element, binding) == real)
    return not isinstance(element, (int, float)) or element == real


def same_by_reference(model: onnx.ModelProto, feeds: Arrays, found: Arrays) -> bool:
    """Whether the reference of onnx makes the same shapes: onnxruntime lets some broken laws pass for empty tensors."""
    try:
        shapes = [np.shape(one) for one in ReferenceEvaluator(model).run(None, dict(feeds))]
    except Exception:
        return False
    return shapes == [array.shape for array in found.values()]


def main(kind: str, start: str, stop: str) -> None:
    onnxruntime.set_default_logger_severity(4)
    runs = 0
    for seed in range(int(start), int(stop)):
        print("graph", seed, flush=True)
        runs += compare(kind, seed)
        print("runs", runs, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
