"""Contents that a rule computes from known contents of its inputs, compared with those that a runtime computes.

Inputs are known as they are, or with a symbol for each positive integer, or every second element is unknown.
"""

from __future__ import annotations

import attrs
import numpy as np

from shapeinf.lattice import PartialTensor, Shape, ShapeStore, TensorType
from shapeinf.ops import Call
from tests.differential.tf.contents import MODES, _element_problems


@attrs.frozen
class Case:
    """A call: the arrays of the inputs, None for an absent one; `partial`: the outputs with unknown elements."""

    op: str
    inputs: tuple
    attributes: dict = attrs.field(factory=dict)
    domain: str = ""
    outputs: int = 1
    opset: int = 0
    partial: tuple = ()

    def __str__(self):
        operands = ",".join("_" if x is None else _text(x) for x in self.inputs)
        return f"{self.domain}{'.' * bool(self.domain)}{self.op}({operands})" + "".join(
            f" {name}={value}" for name, value in self.attributes.items()
        )


def _text(array):
    listed = str(array.tolist()).replace(" ", "")
    return f"{array.dtype.name}{listed if len(listed) < 60 else list(array.shape)}"


def dtype_name(array):
    return "string" if array.dtype.kind in "OSU" else array.dtype.name


def infer(op_def, case, mode):
    """The types that the rule infers, its store, and the value of each symbol."""
    store, sizes = ShapeStore(), {}
    types = [None if x is None else _operand(x, store, sizes, f"i{i}", MODES[mode]) for i, x in enumerate(case.inputs)]
    version = op_def.since if hasattr(op_def, "since") else 0
    call = Call(op_def, case.attributes, version, (True,) * case.outputs)
    return call.run(types, store, "node").types, store, sizes


def _operand(array, store, sizes, label, replace):
    elements = array.reshape(-1).tolist()
    known = elements if replace is None else replace(store, sizes, label, elements)
    return PartialTensor(dtype_name(array), Shape(array.shape), known)


def problems(op_def, case, real, mode):
    """The differences of inferred types and elements from those of a run; unknown elements do not count."""
    types, store, sizes = infer(op_def, case, mode)
    for index, (got, array) in enumerate(zip(types, real, strict=False)):
        if array is None:
            continue
        array = np.asarray(array)
        assert isinstance(got, TensorType)
        if got.dtype not in (None, dtype_name(array)):
            yield f"output {index} is {got.dtype}, not {dtype_name(array)}"
        shape = store.canon_shape(got.shape)
        if shape.is_concrete and shape.dims is not None and list(shape.dims) != list(array.shape):
            yield f"output {index} has the shape {shape}, not {list(array.shape)}"
            continue
        yield from _element_problems(store, sizes, index, got, array.shape, array.reshape(-1).tolist())


def unknown_elements(op_def, case):
    """The outputs with an unknown element, although all inputs are known."""
    types, _, _ = infer(op_def, case, "known")
    for index, got in enumerate(types):
        if index not in case.partial and (getattr(got, "elements", None) is None or None in got.elements):
            yield f"output {index} is {got}"
