"""The outcome of a model in a runtime, in a child process that the runtime may crash.

| oracle | |
|---|---|
| onnxruntime | runs the model |
| reference | the reference implementation of `onnx` runs the model; it checks little |
| inference | onnxruntime loads the model and infers shapes, of operators without a kernel for the CPU |
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import onnx

from tests.differential.operands.nodes import Node

Outcome = dict[str, tuple[int, ...]] | str
"""The shapes of all outputs that are arrays, or the error."""

PATIENCE = 60
"""Seconds that one run may take."""

SINGLE_SIDED = ("reference", "inference")
"""Oracles that check little: that they accept a node proves nothing."""

NO_KERNEL = ("NOT_IMPLEMENTED", "InsertedPrecisionFreeCast", "during initialization")
"""Errors after inference: no kernel; no kernel of float32 for float16; the kernel rejects an attribute."""


def outcomes(oracle: str, nodes: Iterable[Node]) -> Iterator[Outcome]:
    """The outcome of each node."""
    process = _Process(oracle)
    try:
        for node in nodes:
            yield process.run(node.model().SerializeToString(), node.feeds())
    finally:
        process.end()


class _Process:
    def __init__(self, oracle: str) -> None:
        self.oracle = oracle
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, child_pipe = context.Pipe()
        self.child = context.Process(target=_serve, args=(self.oracle, child_pipe), daemon=True)
        self.child.start()
        child_pipe.close()

    def run(self, model: bytes, inputs: dict[str, np.ndarray]) -> Outcome:
        self.pipe.send((model, inputs))
        try:
            if self.pipe.poll(PATIENCE):
                return self.pipe.recv()
            error = f"takes more than {PATIENCE} s"
        except (EOFError, ConnectionError):
            error = "crashes"
        self.end()
        self._start()
        return error

    def end(self) -> None:
        self.child.kill()
        self.child.join()
        self.pipe.close()


def _serve(oracle: str, pipe: Any) -> None:
    run = {"onnxruntime": _run, "reference": _evaluate, "inference": _load}[oracle]
    while True:
        try:
            model, inputs = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send({name: np.shape(value) for name, value in run(model, inputs) if _is_array(value)})
        except Exception as refusal:  # oracles raise classes of their own and plain RuntimeErrors
            pipe.send(f"{type(refusal).__name__}: {refusal}")


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic)


def _session(model: bytes, *, strict: bool = False) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.add_session_config_entry("session.strict_shape_type_inference", str(int(strict)))
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _run(model: bytes, inputs: dict[str, np.ndarray]) -> Iterator[tuple[str, Any]]:
    session = _session(model)
    names = [o.name for o in session.get_outputs()]
    return zip(names, session.run(names, inputs), strict=True)


def _load(model: bytes, inputs: dict[str, np.ndarray]) -> Iterator[tuple[str, Any]]:
    try:
        _session(model, strict=True)
    except Exception as refusal:
        if not any(text in str(refusal) for text in NO_KERNEL):
            raise
    return iter(())


def _evaluate(model: bytes, inputs: dict[str, np.ndarray]) -> Iterator[tuple[str, Any]]:
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(onnx.load_from_string(model))
    with np.errstate(all="ignore"):
        return zip(evaluator.output_names, evaluator.run(None, inputs), strict=True)
