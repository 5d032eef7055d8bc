"""An inference as annotations of a file: what is known of the values of all graphs and functions."""

from __future__ import annotations

from shapeinf.engine.inference import Inference
from shapeinf.engine.tensor_info import TensorInfo, infos
from shapeinf.formats.annotation import Annotation
from shapeinf.graph import FunctionKey


def annotation(inference: Inference) -> Annotation:
    """The annotation of a whole model."""
    return Annotation(infos(inference), _bodies(inference), _functions(inference))


def _bodies(inference: Inference) -> dict[tuple[str, ...], dict[str, Annotation]]:
    """The subgraphs of nodes; functions are no part of their callers."""
    step = inference.compiled.step
    return {
        step(index).node.outputs: {
            name: Annotation(infos(child), _bodies(child))
            for name, child in children.items()
            if name in step(index).operation.bodies
        }
        for index, children in inference.children.items()
        if step(index).operation.bodies
    }


def _functions(inference: Inference) -> dict[FunctionKey, dict[str, TensorInfo]]:
    """What is the same in all calls of each function."""
    found: dict[FunctionKey, dict[str, TensorInfo]] = {}
    for key, call in _calls(inference):
        known = {name: info for name, info in infos(call).items() if info.dtype is not None}
        before = found.get(key)
        found[key] = known if before is None else {n: i for n, i in known.items() if before.get(n) == i}
    return found


def _calls(inference: Inference) -> list[tuple[FunctionKey, Inference]]:
    step = inference.compiled.step
    found: list[tuple[FunctionKey, Inference]] = []
    for index, children in inference.children.items():
        key = step(index).operation.body
        for child in children.values():
            if key is not None:
                found.append((key, child))
            found += _calls(child)
    return found
