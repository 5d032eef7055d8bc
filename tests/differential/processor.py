"""What a runtime does because of the processor that it runs on.

A runtime refuses some operators on processors without an instruction set, and lays channels out in blocks of another
width. Neither is a property of the model: tests skip what is refused, with the runtime's reason, and ask the runtime
for the width.
"""

from __future__ import annotations

import functools
from typing import Any

import pytest
from onnx import TensorProto, helper

REFUSALS = ("not yet supported on this hardware", "hardware platform", "not supported on this CPU")
"""Parts of the messages with which onnxruntime refuses a node because of the processor."""

BLOCKED = "com.microsoft.nchwc"
"""The domain of operators on blocks of channels; a processor without them has no kernels of this domain."""

NO_KERNEL = ("NOT_IMPLEMENTED", "Could not find an implementation", "Failed to find kernel")


def is_refused_by_processor(error: object, domain: str = "") -> bool:
    """Whether the error of a runtime, for a node of this domain, is due to the processor."""
    text = str(error)
    return any(part in text for part in REFUSALS) or (domain == BLOCKED and any(part in text for part in NO_KERNEL))


def skip_if_refused_by_processor(error: object, domain: str = "") -> None:
    """Skip the test with the runtime's reason if the error is due to the processor."""
    if is_refused_by_processor(error, domain):
        pytest.skip(f"the runtime refuses it on this processor: {error}")


@functools.cache
def block_of_channels() -> int:
    """The number of channels in a block of onnxruntime on this processor. Skips the test where it has no blocks."""
    runtime: Any = pytest.importorskip("onnxruntime", reason="onnxruntime determines the width of a block")
    import numpy as np

    image = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 2, 2])
    node = helper.make_node("ReorderInput", ["x"], ["y"], domain=BLOCKED)
    graph = helper.make_graph([node], "g", [image], [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(BLOCKED, 1)])
    model.ir_version = 9
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises classes of its own and plain RuntimeErrors
        skip_if_refused_by_processor(error, BLOCKED)
        raise
    return int(session.run(None, {"x": np.zeros((1, 4, 2, 2), np.float32)})[0].shape[1])
