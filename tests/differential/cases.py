"""Small models, and variants of them that declare fewer sizes or contents."""

from __future__ import annotations

from typing import Any, Literal

import attrs
import numpy as np
import onnx
from onnx import helper


@attrs.frozen(repr=False, eq=False)
class Case:
    """A model of few nodes; `deciding` are the inputs on whose contents shapes depend.

    `exact`: if all of these are known, every shape is known; otherwise some shapes depend on other data.
    """

    nodes: list[onnx.NodeProto]
    inputs: list[np.ndarray | None]
    deciding: frozenset[int]
    opset: int
    domain: str
    exact: bool

    def __repr__(self) -> str:
        nodes = ", ".join(f"{n.op_type}({_attributes(n)})" for n in self.nodes)
        inputs = ", ".join(_format_input(i, array, self.deciding) for i, array in enumerate(self.inputs))
        return f"<opset {self.opset}: {nodes} of {inputs}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    @property
    def outputs(self) -> list[str]:
        return [name for node in self.nodes for name in node.output if name]


def case(
    op: str,
    *inputs: Any,
    outputs: int = 1,
    deciding: Any = (),
    opset: int = 21,
    domain: str = "",
    exact: bool = True,
    **attributes: Any,
) -> Case:
    """A model of one node. Inputs and attributes of None are left out."""
    present = {k: v for k, v in attributes.items() if v is not None and not (isinstance(v, list) and not v)}
    names = ["" if x is None else f"i{k}" for k, x in enumerate(inputs)]
    node = helper.make_node(op, names, [f"o{k}" for k in range(outputs)], domain=domain, **present)
    return chain([node], *inputs, deciding=deciding, opset=opset, domain=domain, exact=exact)


def chain(
    nodes: list[onnx.NodeProto], *inputs: Any, deciding: Any = (), opset: int = 21, domain: str = "", exact: bool = True
) -> Case:
    """A model of several nodes over inputs that are named `i0`, `i1`, ..."""
    arrays = [None if x is None else np.asarray(x) for x in inputs]
    return Case(nodes, arrays, frozenset(deciding), opset, domain, exact)


def tensor(shape: Any, dtype: Any = "float32", seed: int = 0) -> np.ndarray:
    """Small integers, some of them zero and some equal."""
    values = np.random.default_rng(seed).integers(-3, 4, tuple(shape))
    if dtype == "string":
        return values.astype(str).astype(object)
    return (np.abs(values) if np.dtype(dtype).kind == "u" else values).astype(dtype)


def ints(*values: Any) -> np.ndarray:
    """A vector."""
    return np.array(values, dtype=np.int64)


def onnx_dtype(array: np.ndarray) -> int:
    """ONNX's number of an element type."""
    return onnx.TensorProto.STRING if array.dtype.kind == "O" else helper.np_dtype_to_tensor_dtype(array.dtype)


# -- variants --------------------------------------------------------------------------------------------------------


@attrs.frozen
class Variant:
    """How a model declares its inputs.

    Sizes are numbers, a name each, a name for all equal sizes, or not declared, nor is the rank. Contents that decide
    shapes are constants, sizes of other tensors (with names), or unknown.
    """

    sizes: Literal["known", "named", "shared", "unranked"] = "known"
    contents: Literal["known", "named", "unknown"] = "known"
    min_dim: int = 1


KNOWN = Variant()
VARIANTS = tuple(
    Variant(sizes, contents, min_dim)
    for sizes in ("known", "named", "shared", "unranked")
    for contents in ("known", "named", "unknown")
    for min_dim in (0, 1)
)


def distinct_variants(c: Case) -> list[Variant]:
    """The variants that differ for a case. Sizes of 0 have no name under the policy that named dims are at least 1."""
    empty = any(0 in a.shape for a in c.inputs if a is not None)
    variants = [v for v in VARIANTS if v.contents == "known" or c.deciding]
    variants = [v for v in variants if not (empty and v.min_dim and v.sizes in ("named", "shared"))]
    return [v for v in variants if v.min_dim or v.sizes in ("named", "shared") or v.contents == "named"]


def create_binding(c: Case) -> dict[str, int]:
    """The values of all names."""
    binding: dict[str, int] = {}
    for k, array in enumerate(c.inputs):
        if array is None:
            continue
        for axis, n in enumerate(array.shape):
            binding |= {f"i{k}d{axis}": n, f"s{n}": n}
        if k in c.deciding and array.dtype == np.int64:
            binding |= {f"i{k}e{j}": int(n) for j, n in enumerate(array.reshape(-1))}
    return binding


def create_model(c: Case, variant: Variant) -> onnx.ModelProto:
    """The model with the declarations of a variant."""
    inputs, constants, nodes = [], [], []
    for k, array in enumerate(c.inputs):
        if array is None:
            continue
        named = variant.contents == "named" and array.dtype == np.int64 and array.ndim < 2 and array.size
        if k in c.deciding and variant.contents != "unknown" and not named:
            constants.append(onnx.numpy_helper.from_array(array, f"i{k}"))
        elif k in c.deciding and named:
            more, weights, producers = _sizes_of_others(k, array, variant.min_dim)
            inputs, constants, nodes = inputs + more, constants + weights, nodes + producers
        else:
            inputs.append(helper.make_tensor_value_info(f"i{k}", onnx_dtype(array), _dims(k, array.shape, variant)))
    outputs = [onnx.ValueInfoProto(name=name) for name in c.outputs]
    graph = helper.make_graph([*nodes, *c.nodes], "case", inputs, outputs, constants)
    opsets = [helper.make_opsetid("", 18 if c.domain else c.opset)]
    if c.domain:
        opsets.append(helper.make_opsetid(c.domain, c.opset))
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def _dims(k: int, shape: tuple[int, ...], variant: Variant) -> list[Any] | None:
    names = {
        "known": list(shape),
        "named": [f"i{k}d{axis}" for axis in range(len(shape))],
        "shared": [f"s{n}" for n in shape],
        "unranked": None,
    }
    return names[variant.sizes]


def _sizes_of_others(k: int, array: np.ndarray, min_dim: int) -> tuple[list[Any], list[Any], list[Any]]:
    """Inputs, constants and nodes that compute an int64 vector or scalar; elements of at least `min_dim` are sizes."""
    inputs, constants, nodes = [], [], []
    for j, n in enumerate(array.reshape(-1).tolist()):
        name = f"i{k}e{j}"
        if n < min_dim:
            constants.append(onnx.numpy_helper.from_array(np.array([n]), name))
        else:
            inputs.append(helper.make_tensor_value_info(f"{name}.of", onnx.TensorProto.FLOAT, [name]))
            nodes.append(helper.make_node("Shape", [f"{name}.of"], [name]))
    parts = [f"i{k}e{j}" for j in range(array.size)]
    nodes.append(helper.make_node("Concat", parts, [f"i{k}" if array.ndim else f"i{k}.vector"], axis=0))
    if not array.ndim:
        constants.append(onnx.numpy_helper.from_array(np.array(0), f"i{k}.place"))
        nodes.append(helper.make_node("Gather", [f"i{k}.vector", f"i{k}.place"], [f"i{k}"]))
    return inputs, constants, nodes


def _attributes(node: onnx.NodeProto) -> str:
    return ", ".join(f"{a.name}={helper.get_attribute_value(a)}" for a in node.attribute)


def _format_input(k: int, array: np.ndarray | None, deciding: frozenset[int]) -> str:
    if array is None:
        return "-"
    return f"{array.dtype}{list(array.shape)}" + (f"={array.tolist()}" if k in deciding else "")
