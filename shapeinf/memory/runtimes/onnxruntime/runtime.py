"""`runtime()`: onnxruntime as a `MemoryRuntime`."""

from __future__ import annotations

from shapeinf.engine.inference import Inference
from shapeinf.errors import ShapeInferenceError
from shapeinf.memory.runtimes.kernels import RuntimeKernels, find_kernels
from shapeinf.memory.runtimes.onnxruntime.bodies import run_bodies
from shapeinf.memory.runtimes.onnxruntime.walk import Walk
from shapeinf.memory.runtimes.protocol import RuntimeOptions
from shapeinf.memory.timeline import Timeline


class OnnxRuntime:
    """See `MemoryRuntime`."""

    name = "onnxruntime"

    def timeline(self, inference: Inference, options: RuntimeOptions) -> Timeline:
        """The buffers of one run on processors, with the temporaries of kernels."""
        return Walk(inference, self.kernels(inference), options, run_bodies).timeline()

    def kernels(self, inference: Inference) -> RuntimeKernels:
        """The kernels for the operators of a model. Raises ShapeInferenceError for a dialect that it does not run."""
        compiled = inference.compiled
        kernels = find_kernels(compiled.registry.dialect(compiled.graph.dialect), self.name)
        if kernels is None:
            raise ShapeInferenceError(f"{self.name} runs no models of the dialect {compiled.graph.dialect!r}")
        return kernels


def runtime() -> OnnxRuntime:
    """The runtime."""
    return OnnxRuntime()
