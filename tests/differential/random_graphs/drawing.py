"""A random graph: a model, and inputs to run it with."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import onnx

Arrays = dict[str, np.ndarray[Any, Any]]


@attrs.frozen
class Drawn:
    """A model, and inputs at some bindings; `broken` names a value of a node that has an operand of a wrong size."""

    model: onnx.ModelProto
    feeds: tuple[Arrays, ...]
    broken: str = ""
