"""A case: a small network in torch, converted by pnnx, with the shapes when torch runs the network of pnnx.

`python -m tests.differential.pnnx.record FAMILY` converts and runs the cases, with torch and pnnx. The tests compare
the shapes inferred from the recorded `.param` texts with the recorded shapes; they need neither.
"""

from __future__ import annotations

import re

import attrs
from attrs import Factory

from shapeinf import infer_shapes
from shapeinf.expr import Dimension, evaluate
from shapeinf.lattice import Quotient, SequenceType
from shapeinf.lattice.dtypes import SHORT_NAMES


@attrs.frozen
class Case:
    """A network as text: `forward` is an expression (or a tuple of some) over `x`, `y` and `z` and its modules.

    `inputs` and `others` are two texts such as `f32[1,3,16,16] i64[2]`: the inputs of the static conversion, and the
    second inputs of the dynamic conversion, which takes place only with `others`. `modules` are the module attributes
    by name, as texts. `open` are the operators whose sizes depend on data, for which bounds suffice. `network` is a
    class of `networks.py` instead of `forward`; `third` are inputs that are run but not traced.
    """

    name: str
    forward: str
    inputs: str
    others: str = ""
    modules: dict = Factory(dict)
    open: tuple = ()
    network: str = ""
    third: str = ""

    def __str__(self):
        return self.name


def parse_types(text):
    """The (element type, sizes) of each tensor in a text such as `f32[1,3,16,16] i64[2]`."""
    return [(dtype, [int(d) for d in dims.split(",") if d]) for dtype, dims in re.findall(r"(\w+)\[(.*?)\]", text)]


def problems(param, runs, open_types=()):
    """Texts of all wrong and unknown results of an inference, with symbolic sizes and with the sizes of runs.

    `runs` are the inputs and the values of one execution each, as recorded by `record.py`.
    """
    symbols = [[f"in{i}_{axis}" for axis in range(len(x["shape"]))] for i, x in enumerate(runs[0]["inputs"])]
    traced = infer_shapes(param)
    blobs = traced.graph.inputs
    shapes = {
        blob: [d if isinstance(d, int) else name for d, name in zip(traced.tensor(blob).shape, names, strict=True)]
        for blob, names in zip(blobs, symbols, strict=True)
    }
    symbolic = infer_shapes(param, inputs=shapes, declared="ignore")
    for run in runs:
        sizes = [x["shape"] for x in run["inputs"]]
        binding = {
            name: d for names, dims in zip(symbols, sizes, strict=True) for name, d in zip(names, dims, strict=True)
        }
        yield from _differences(symbolic, run["blobs"], binding, open_types)
        concrete = infer_shapes(param, inputs=dict(zip(blobs, sizes, strict=True)), declared="ignore")
        yield from _differences(concrete, run["blobs"], {}, open_types)


def _differences(result, blobs, binding, open_types):
    producers = {output: node.op for node in result.graph.nodes for output in node.outputs}
    errors = [d for d in result.diagnostics if d.severity == "error"]
    yield from (f"{d.node}: {d.message}" for d in errors)
    for name, truth in blobs.items():
        bounded = producers.get(name) in open_types
        inferred = _type_of(result, name)
        for problem in _compare(inferred, truth, binding, bounded):
            yield f"{name} of {producers.get(name, 'input')} {binding or ''}: {problem}"


def _type_of(result, name):
    """The inferred type with the known contents."""
    inference = result.engine.inference
    return inference.table.types[inference.numbers[list(inference.compiled.names).index(name)]]


def _compare(inferred, truth, binding, bounded):
    if truth["kind"] == "tensor":
        yield from _compare_tensor(inferred, truth, binding, bounded)
    elif truth["kind"] in ("list", "scalar"):
        values = truth["value"] if truth["kind"] == "list" else [truth["value"]]
        elements = None if inferred is None else inferred.elements
        if elements is None or None in elements:
            yield f"the value is unknown, not {values}"
        elif [_value(e, binding) for e in elements] != values:
            yield f"{elements} is not {values}"
    elif truth["kind"] == "tuple" and isinstance(inferred, SequenceType) and not bounded:
        items = inferred.items or ()
        if len(items) != len(truth["items"]):
            yield f"{inferred} is not a tuple of {len(truth['items'])}"
        for item, true in zip(items, truth["items"], strict=False):
            if true != {"kind": "scalar", "value": None}:
                yield from _compare(item, true, binding, bounded)


def _compare_tensor(inferred, truth, binding, bounded):
    dims = None if inferred is None else inferred.shape.dims
    if dims is None:
        if not bounded:
            yield f"the rank is unknown, not {truth['shape']}"
        return
    sizes = [_value(d, binding) for d in dims]
    if len(sizes) != len(truth["shape"]):
        yield f"the shape is {sizes}, not {truth['shape']}"
        return
    for size, true in zip(sizes, truth["shape"], strict=True):
        if size != true and not (size is None and bounded):
            yield f"the shape is {inferred.shape}, so {sizes}, not {truth['shape']}"
    dtype = SHORT_NAMES.get(truth["dtype"])
    if inferred.dtype != dtype:
        yield f"the element type is {inferred.dtype}, not {dtype}"


def _value(element, binding):
    """A size, or a fraction of sizes, at a binding; None if it contains an unknown."""
    if isinstance(element, Quotient):
        parts = _value(element.numerator, binding), _value(element.denominator, binding)
        return None if None in parts else parts[0] / parts[1]
    if not isinstance(element, Dimension):
        return element
    names = {str(s) for s in element.symbols()}
    return evaluate(element, binding) if names <= binding.keys() else None
