"""A case: an operator with inputs and attributes, run eagerly by TensorFlow's kernel and inferred by its rule.

`python -m tests.differential.tf.record FAMILY` runs the kernels, and records their outputs in `recorded/FAMILY.json`.
The tests compare the rules with the records, and do not need TensorFlow.
"""

from __future__ import annotations

import re
from zlib import crc32

import attrs
import numpy as np

from opdefs.tf import tf
from shapeinf.expr import Dimension, evaluate
from shapeinf.graph import DeclaredType
from shapeinf.lattice import PartialTensor, Shape, ShapeStore
from shapeinf.lattice.types import numpy_dtype
from shapeinf.ops import Call

LABEL = 150
"""Labels contain the checksum of contents that are longer than this."""

DTYPES = {"int64": np.int64, "int32": np.int32, "bool": np.bool_}


@attrs.frozen
class Runtime:
    """An input whose contents are known only when the operator runs."""

    array: np.ndarray


@attrs.frozen
class Case:
    """Inputs are texts such as `float32[2, 3]` (random contents), arrays of constants, `Runtime` contents, or lists of
    these for an argument with several values.

    `data`: sizes depend on contents, so bounds suffice. `ranked`: the rank is known even if sizes are symbolic.
    """

    op: str
    inputs: tuple | list
    attributes: dict = attrs.field(factory=dict)
    data: bool = False
    ranked: bool = True

    def __str__(self):
        operands = ",".join(_label(spec) for spec in self.inputs)
        return f"{self.op}({operands})" + "".join(f" {k}={v}" for k, v in self.attributes.items())

    def arguments(self):
        """The array of each argument, or a list of arrays for an argument with several values."""
        random = np.random.default_rng(0)
        return [
            [_array(s, random) for s in spec] if isinstance(spec, list) else _array(spec, random)
            for spec in self.inputs
        ]

    def specs(self):
        """The specs, one per value."""
        return [s for spec in self.inputs for s in (spec if isinstance(spec, list) else [spec])]

    def arrays(self):
        """The arrays, one per value."""
        return [a for argument in self.arguments() for a in (argument if isinstance(argument, list) else [argument])]


def _label(spec):
    if isinstance(spec, list):
        return "[" + ",".join(map(_label, spec)) + "]"
    array = spec.array if isinstance(spec, Runtime) else spec
    if isinstance(array, str):
        return array.replace(" ", "")
    if np.size(array) == 1 and isinstance(np.asarray(array).item(), bytes):
        return f"{len(np.asarray(array).item())}bytes"
    text = (
        "x".join(map(str, np.shape(array))) if np.size(array) > 8 else str(np.asarray(array).tolist()).replace(" ", "")
    )
    if len(text) > LABEL:
        text = f"{len(text)} characters {crc32(text.encode()):08x}"
    return f"?{text}" if isinstance(spec, Runtime) else text


def _array(spec, random):
    if isinstance(spec, Runtime):
        return np.asarray(spec.array)
    if not isinstance(spec, str):
        return np.asarray(spec)
    name, dims = re.fullmatch(r"(\w+)\[(.*)\]", spec).groups()
    shape = [int(d) for d in dims.split(",") if d.strip()]
    if name == "string":
        return np.full(shape, b"text", dtype=object)
    dtype = numpy_dtype(name)
    if dtype.kind == "c":
        return (random.random(shape) + 1j * random.random(shape)).astype(dtype)
    if dtype.kind in "biu":
        return np.asarray(random.integers(0, 2, shape)).astype(dtype)
    return np.asarray(random.random(shape) * 0.5 + 0.25).astype(dtype)


def dtype_name(array):
    return "string" if array.dtype.kind in "OSU" else array.dtype.name


# -- the rule ----------------------------------------------------------------------------------------------------------


def call_of(case, outputs):
    """The call of the rule, with the attributes that TensorFlow derives from the inputs."""
    op_def = tf.lookup("", case.op, 0)
    assert op_def is not None and op_def.rule is not None, f"no rule for {case.op}"
    attributes = {name: _attribute(op_def.attributes[name].type, value) for name, value in case.attributes.items()}
    for arg, argument in zip(op_def.inputs, case.arguments(), strict=True):
        items = argument if isinstance(argument, list) else [argument]
        derived = {arg.number_attr: len(items)}
        if arg.type_attr and items:
            derived[arg.type_attr] = dtype_name(items[0])
        derived[arg.type_list_attr] = tuple(dtype_name(item) for item in items)
        attributes |= {name: value for name, value in derived.items() if name and name not in attributes}
    return Call(op_def, attributes, 0, (True,) * outputs)


def _attribute(kind, value):
    if kind.startswith("list("):
        return tuple(_attribute(kind[5:-1], item) for item in value)
    if kind == "shape":
        return DeclaredType(dims=None if value is None else tuple(None if d in (-1, None) else d for d in value))
    return value


def infer(case, outputs, *, symbolic, contents=True, elements=None):
    """The types that the rule infers, its store, and the value of each symbol.

    `elements(store, sizes, label, array)` returns the elements of known contents, instead of those of the array.
    """
    store, sizes, types = ShapeStore(), {}, []
    for index, (spec, array) in enumerate(zip(case.specs(), case.arrays(), strict=True)):
        dtype, dims = dtype_name(array), list(array.shape)
        if contents and not isinstance(spec, (str, Runtime)):
            own = [e.decode("utf-8", "replace") if isinstance(e, bytes) else e for e in array.reshape(-1).tolist()]
            known = own if elements is None else elements(store, sizes, f"i{index}", own)
            types.append(PartialTensor(dtype, Shape(dims), known))
            continue
        if symbolic:
            names = [f"i{index}d{axis}" for axis in range(array.ndim)]
            sizes.update(zip(names, dims, strict=True))
            dims = [store.scope.symbol(name, min(1, size)) for name, size in zip(names, array.shape, strict=True)]
        types.append(PartialTensor(dtype, Shape(dims), None))
    outcome = call_of(case, outputs).run(types, store, "node")
    return outcome.types, store, sizes


def problems(case, recorded, **options):
    """The differences between inferred and recorded types: what is wrong, and what should be known but is not."""
    types, store, sizes = infer(case, len(recorded), **options)
    exact = not options["symbolic"] and options.get("contents", True) and not case.data
    for index, (got, (dtype, dims)) in enumerate(zip(types, recorded, strict=True)):
        shape = store.canon_shape(got.shape)
        if dtype not in ("resource", "variant") and got.dtype != dtype:
            yield f"output {index} is {got.dtype}, not {dtype}"
        if shape.dims is None:
            if exact or (case.ranked and options.get("contents", True)):
                yield f"output {index}: unknown rank, not {dims}"
            continue
        if len(shape.dims) != len(dims):
            yield f"output {index}: {shape} is of another rank than {dims}"
            continue
        for axis, (dim, size) in enumerate(zip(shape.dims, dims, strict=True)):
            why = _dim_problem(store, dim, size, sizes, exact)
            if why:
                yield f"output {index}, axis {axis}: {dim} {why} {size}"


def _dim_problem(store, dim, size, sizes, exact):
    if isinstance(dim, int) or (isinstance(dim, Dimension) and not dim.is_anonymous):
        value = evaluate(dim, sizes)
        return None if value == size else f"is {value}, not"
    low, high = store.bounds(dim)
    if not low <= size <= high:
        return f"in {low}..{high} excludes"
    return "is not known to be" if exact else None
