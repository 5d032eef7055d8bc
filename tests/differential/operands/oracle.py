"""What onnxruntime, or the reference implementation of `onnx`, makes of a model; in a process that may die of it."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import onnx

Outcome = dict[str, tuple[int, ...]] | str
"""The shapes of all outputs that are arrays, or why the model does not run."""

PATIENCE = 60
"""Seconds that one run may take."""


def outcomes(oracle: str, runs: Iterable[tuple[onnx.ModelProto, dict[str, np.ndarray]]]) -> Iterator[Outcome]:
    """What an oracle ("onnxruntime" or "reference") makes of each model with its inputs."""
    process = _Process(oracle)
    try:
        for model, inputs in runs:
            yield process.ask(model.SerializeToString(), inputs)
    finally:
        process.end()


class _Process:
    def __init__(self, oracle: str) -> None:
        self.oracle = oracle
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.end_here, there = context.Pipe()
        self.child = context.Process(target=_serve, args=(self.oracle, there), daemon=True)
        self.child.start()
        there.close()

    def ask(self, model: bytes, inputs: dict[str, np.ndarray]) -> Outcome:
        self.end_here.send((model, inputs))
        try:
            if self.end_here.poll(PATIENCE):
                return self.end_here.recv()
            why = f"takes more than {PATIENCE} s"
        except (EOFError, ConnectionError):
            why = "dies"
        self.end()
        self._start()
        return why

    def end(self) -> None:
        self.child.kill()
        self.child.join()
        self.end_here.close()


def _serve(oracle: str, pipe: Any) -> None:
    run = {"onnxruntime": _in_onnxruntime, "reference": _in_reference}[oracle]
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


def _in_onnxruntime(model: bytes, inputs: dict[str, np.ndarray]) -> Iterator[tuple[str, Any]]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return zip(names, session.run(names, inputs), strict=True)


def _in_reference(model: bytes, inputs: dict[str, np.ndarray]) -> Iterator[tuple[str, Any]]:
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(onnx.load_from_string(model))
    with np.errstate(all="ignore"):
        return zip(evaluator.output_names, evaluator.run(None, inputs), strict=True)
