"""Calls of shape functions recorded from TensorFlow's own tests: run with the rules, and compared."""

from __future__ import annotations

import re

import numpy as np

from opdefs.tf import tf
from shapeinf.errors import ShapeError
from shapeinf.graph import DeclaredType, FunctionReference
from shapeinf.lattice import HandleType, PartialTensor, Shape, ShapeStore, TensorType
from shapeinf.ops import Call

DTYPES = {"float": "float32", "double": "float64", "half": "float16"}


def dtype_of(name):
    return DTYPES.get(name, name)


def attribute(value):
    """An attribute of a vector in the form in which readers return it."""
    if isinstance(value, list):
        return tuple(attribute(item) for item in value)
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "type":
        return dtype_of(inner)
    if kind == "shape":
        return DeclaredType(dims=None if inner is None else tuple(None if d in (-1, None) else d for d in inner))
    if kind == "tensor":
        return array_type(inner)
    return FunctionReference(("", inner, "")) if kind == "func" else inner


def array_type(data):
    dtype = dtype_of(data["dtype"])
    if data["values"] is None:
        return PartialTensor(None, Shape([d if d >= 0 else ShapeStore().scope.fresh("d") for d in data["shape"]]), None)
    return PartialTensor.from_array(np.array(data["values"], dtype=dtype).reshape(data["shape"]))


class Inputs:
    """The inputs of a vector: each unknown size is a symbol of its own, `?` is an unknown rank."""

    def __init__(self, text):
        self.store = ShapeStore()
        self.shapes = [self.shape(i, part) for i, part in enumerate(text.split(";"))] if text else []
        self.before = list(self.shapes)

    def shape(self, index, text):
        if text == "?":
            return Shape.unknown()
        sizes = [d.strip() for d in text.strip("[]").split(",") if d.strip()]
        return Shape(
            [int(d) if d != "?" else self.store.scope.fresh(f"d{index}_{axis}", 0) for axis, d in enumerate(sizes)]
        )

    def types(self, record, op_def, attributes):
        flat = op_def.flatten(attributes, len(self.shapes), 0)
        tensors = [*record.get("input_tensors", ()), *[None] * len(self.shapes)]
        handles = [*(record.get("input_handles") or ()), *[None] * len(self.shapes)]
        for index, (shape, tensor, handle) in enumerate(zip(self.shapes, tensors, handles, strict=False)):
            arg = flat.input(index)
            dtype = None if arg is None else arg.type or attributes.get(arg.type_attr or "")
            if tensor is not None and _agrees(shape, tensor["shape"]):
                yield array_type(tensor)
            elif handle is not None:
                values = [TensorType(dtype_of(d), self.shape(f"h{index}", text)) for text, d in handle]
                yield HandleType(dtype or "resource", shape, values)
            else:
                yield PartialTensor(dtype if isinstance(dtype, str) else None, shape, None)

    def dim(self, name):
        index, axis = (int(n) for n in name[1:].split("_"))
        return self.store.canon_shape(self.shapes[index])[axis]


def run(record):
    """The output shapes of a vector's call, and its inputs. Raises ShapeError."""
    op_def = tf.lookup("", record["op"], record.get("graph_def_version", 0))
    assert op_def is not None and op_def.rule is not None, f"no rule for {record['op']}"
    attributes = {name: attribute(value) for name, value in record["attrs"].items()}
    inputs = Inputs(record["ins"])
    count = len(record["tf"].get("outs", [0]))
    types = list(inputs.types(record, op_def, attributes))
    attributes |= placeholders(op_def, attributes, len(types))
    outcome = Call(op_def, attributes, record.get("graph_def_version", 0), (True,) * count).run(
        types, inputs.store, "node"
    )
    return [inputs.store.canon_shape(t.shape) for t in outcome.types], inputs


def _agrees(shape, sizes):
    """Whether contents have the rank of an input: some tests keep those of other calls."""
    return shape.dims is None or len(shape.dims) == len(sizes)


EXAMPLES = {
    "type": "float32",
    "int": 1,
    "float": 1.0,
    "bool": False,
    "string": "",
    "shape": DeclaredType(),
    "list(int)": (1, 1, 1, 1),
}


def placeholders(op_def, attributes, inputs):
    """Values for attributes that the tests of TensorFlow omit, because its shape functions do not read them."""
    missing = {n: a for n, a in op_def.attributes.items() if n not in attributes and not a.has_default}
    return {n: EXAMPLES[a.type] for n, a in missing.items() if a.type in EXAMPLES and not _is_count(op_def, n)}


def _is_count(op_def, name):
    return any(arg.number_attr == name for arg in (*op_def.inputs, *op_def.outputs))


def problem(record):
    """Why a vector fails, None when it passes."""
    try:
        shapes, inputs = run(record)
    except ShapeError as error:
        wanted = record["tf"].get("error")
        if wanted is None:
            return f"raised {error}"
        text = record.get("error") or re.split(r" for '\{\{node", wanted)[0]
        text = text.removesuffix(" for")  # followed by the node
        return None if text in str(error) else f"raised {error}, wanted {text}"
    except AssertionError as error:
        return str(error)
    if "error" in record["tf"]:
        return f"gave {shapes}, wanted the error {record['tf']['error']}"
    for index, (got, want) in enumerate(zip(shapes, record["tf"]["outs"], strict=True)):
        why = _difference(got, want, inputs)
        if why:
            return f"output {index}: {got} for {want['shape']}: {why}"
    return None


def _difference(got, want, inputs):
    store = inputs.store
    for index in want.get("same_as_inputs", ()):
        same = store.canon_shape(inputs.shapes[index])
        if got != same:
            return f"is not provably input {index}, {same}"
    if want["shape"] == "?":
        return None
    if got.dims is None:
        return "unknown rank"
    dims = want.get("dims", ())
    if len(got.dims) != len(dims):
        return "another rank"
    for axis, (dim, expected) in enumerate(zip(got.dims, dims, strict=True)):
        if expected["v"] is not None:
            if dim != expected["v"]:
                return f"axis {axis} is not {expected['v']}"
            continue
        for name in expected["eq"]:
            if store.prove_eq(dim, inputs.dim(name)) is not True:
                return f"axis {axis} is not provably {name}"
    return None
