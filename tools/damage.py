"""Damages ONNX models in the ways in which real ones get damaged, to measure what `shapeinf check` finds.

Models are `NAME.onnx` files with a `NAME.truth.json` of observed shapes beside them. `tools/measure_damage.py` prints
how much of the damage is found.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


@attrs.frozen
class Damage:
    """A damaged model. `places` are the names that a finding about it may carry: a node or a tensor.

    `input` is the input whose declaration was damaged, if one was; `declaration` says that no node was, `misnamed` that
    only a name was misspelt.
    """

    kind: str
    what: str
    model: onnx.ModelProto
    places: frozenset[str]
    input: str = ""
    declaration: bool = False
    misnamed: bool = False


@attrs.define
class Patient:
    """A model with observed shapes; each damage works on a copy. `runs` has what onnxruntime made of it, once asked."""

    model: onnx.ModelProto
    truth: dict[str, Any]
    rng: random.Random
    runs: list[dict[str, tuple[int, ...]] | None] = attrs.Factory(list)

    def shapes(self, tensor: str) -> list[list[int]] | None:
        known = self.truth["tensors"].get(tensor) or self.truth["inputs"].get(tensor)
        shapes = known.get("shapes") if known else None
        return shapes if shapes and all(isinstance(s, list) for s in shapes) else None

    def constant(self, name: str) -> np.ndarray | None:
        """The contents of a constant: an initializer inside of the file, or a Constant node."""
        for one in self.model.graph.initializer:
            if one.name == name and one.data_location != TensorProto.EXTERNAL:
                return numpy_helper.to_array(one)
        for node in self.model.graph.node:
            if name in node.output and node.op_type == "Constant":
                tensors = [a.t for a in node.attribute if a.name == "value"]
                return numpy_helper.to_array(tensors[0]) if tensors else None
        return None

    def nodes(self, *ops: str) -> list[int]:
        """Places of nodes of these operators, in a random order."""
        found = [i for i, n in enumerate(self.model.graph.node) if n.op_type in ops and n.domain in ("", "ai.onnx")]
        self.rng.shuffle(found)
        return found

    def inputs(self) -> list[int]:
        constants = {one.name for one in self.model.graph.initializer}
        found = [i for i, one in enumerate(self.model.graph.input) if one.name not in constants]
        self.rng.shuffle(found)
        return found

    def copy(self) -> onnx.ModelProto:
        return copy.deepcopy(self.model)


Doctor = Callable[[Patient], Iterator[Damage]]
KINDS: dict[str, Doctor] = {}


def damage(kind: Doctor) -> Doctor:
    KINDS[kind.__name__] = kind
    return kind


def places(node: onnx.NodeProto) -> frozenset[str]:
    return frozenset([node.name, *node.output]) - {""}


def with_constant(model: onnx.ModelProto, node: onnx.NodeProto, position: int, array: np.ndarray) -> None:
    name = f"damaged_{node.name}_{position}"
    model.graph.initializer.append(numpy_helper.from_array(array, name))
    node.input[position] = name


def dims_of(value: onnx.ValueInfoProto) -> Any:
    return value.type.tensor_type.shape.dim


# -- declarations


@damage
def stale_value_info(p: Patient) -> Iterator[Damage]:
    """The graph was edited, the declared shape of a value was not."""
    makers = {o: n for n in p.model.graph.node for o in n.output}
    order = list(range(len(p.model.graph.value_info)))
    p.rng.shuffle(order)
    for i in order:
        value = p.model.graph.value_info[i]
        fixed = [a for a, d in enumerate(dims_of(value)) if d.dim_value > 1]
        if fixed and value.name in makers:
            model = p.copy()
            axis = p.rng.choice(fixed)
            dims_of(model.graph.value_info[i])[axis].dim_value += p.rng.choice([-1, 1, 8])
            yield Damage("", f"{value.name}.shape[{axis}]", model, places(makers[value.name]) | {value.name}, "", True)


@damage
def wrong_output_dim(p: Patient) -> Iterator[Damage]:
    """An output is declared with the sizes of the export."""
    makers = {o: n for n in p.model.graph.node for o in n.output}
    for i, value in enumerate(p.model.graph.output):
        shapes = p.shapes(value.name)
        named = [a for a, d in enumerate(dims_of(value)) if d.dim_param]
        if shapes and named:
            model = p.copy()
            axis = p.rng.choice(named)
            dims_of(model.graph.output[i])[axis].dim_value = shapes[0][axis]
            yield Damage("", f"{value.name}.shape[{axis}]", model, places(makers[value.name]) | {value.name}, "", True)


@damage
def renamed_dim(p: Patient) -> Iterator[Damage]:
    """A name is misspelt in one of the inputs that share it."""
    for i in p.inputs():
        for axis, dim in enumerate(dims_of(p.model.graph.input[i])):
            others = {d.dim_param for j in p.inputs() if j != i for d in dims_of(p.model.graph.input[j])}
            if dim.dim_param in others and dim.dim_param:
                model = p.copy()
                misspelt = dim.dim_param[:-1] + "sh" if p.rng.random() < 0.5 else f"{dim.dim_param} _size"
                dims_of(model.graph.input[i])[axis].dim_param = misspelt
                found = input_damage(p, model, i, f"{dim.dim_param} -> {misspelt}")
                yield attrs.evolve(found, misnamed=True)


def reads(node: onnx.NodeProto, name: str) -> bool:
    """Whether a node reads a value, itself or in a body of it."""
    bodies = [a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
    return name in node.input or any(reads(inner, name) for body in bodies for inner in body.node)


def input_damage(p: Patient, model: onnx.ModelProto, i: int, what: str) -> Damage:
    """Damage of an input: seen at the input, or at a node that reads it."""
    name = p.model.graph.input[i].name
    readers = [places(n) for n in p.model.graph.node if reads(n, name)]
    return Damage("", f"{name}: {what}", model, frozenset({name}).union(*readers), name, True)


@damage
def one_name_for_two_sizes(p: Patient) -> Iterator[Damage]:
    """Two axes of the inputs that are different sizes get one name."""
    named = {d.dim_param for i in p.inputs() for d in dims_of(p.model.graph.input[i]) if d.dim_param}
    for i in p.inputs():
        for axis, dim in enumerate(dims_of(p.model.graph.input[i])):
            if not dim.dim_param and dim.dim_value > 1 and named:
                model = p.copy()
                name = p.rng.choice(sorted(named))
                dims_of(model.graph.input[i])[axis].dim_param = name
                yield input_damage(p, model, i, f"axis {axis}: {dim.dim_value} -> {name}")


@damage
def swapped_input_dims(p: Patient) -> Iterator[Damage]:
    """Channels last for channels first."""
    for i in p.inputs():
        dims = [d.dim_param or d.dim_value for d in dims_of(p.model.graph.input[i])]
        pairs = [(a, b) for a in range(len(dims)) for b in range(a) if dims[a] != dims[b]]
        if pairs:
            model = p.copy()
            a, b = p.rng.choice(pairs)
            both = dims_of(model.graph.input[i])
            one, two = copy.deepcopy(both[a]), copy.deepcopy(both[b])
            both[a].CopyFrom(two)
            both[b].CopyFrom(one)
            yield input_damage(p, model, i, f"axes {b}, {a} of {dims}")


# -- constants


@damage
def pinned_batch(p: Patient) -> Iterator[Damage]:
    """A Reshape has the sizes of the export as its constant."""
    for i in p.nodes("Reshape"):
        node = p.model.graph.node[i]
        shapes = p.shapes(node.output[0])
        if shapes and shapes[0] != shapes[1]:
            model = p.copy()
            with_constant(model, model.graph.node[i], 1, np.array(shapes[0], np.int64))
            yield Damage("", f"{node.name} to {shapes[0]}", model, places(node))


@damage
def wrong_expand(p: Patient) -> Iterator[Damage]:
    """An Expand has the sizes of the export, one of them wrong."""
    for i in p.nodes("Expand", "ConstantOfShape"):
        node = p.model.graph.node[i]
        shapes = p.shapes(node.output[0])
        if shapes and shapes[0]:
            model = p.copy()
            axis = p.rng.randrange(len(shapes[0]))
            sizes = [n + (a == axis) * 3 for a, n in enumerate(shapes[0])]
            with_constant(model, model.graph.node[i], len(node.input) - 1, np.array(sizes, np.int64))
            yield Damage("", f"{node.name} to {sizes}", model, places(node))


@damage
def changed_slice_end(p: Patient) -> Iterator[Damage]:
    """A Slice ends elsewhere."""
    for i in p.nodes("Slice"):
        node = p.model.graph.node[i]
        shapes = p.shapes(node.input[0])
        ends = p.constant(node.input[2]) if len(node.input) > 2 else None
        if shapes and shapes[0] and ends is not None and ends.size:
            model = p.copy()
            place = p.rng.randrange(ends.size)
            wrong = ends.copy()
            wrong.reshape(-1)[place] = -1 if ends.reshape(-1)[place] != -1 else -2
            with_constant(model, model.graph.node[i], 2, wrong)
            yield Damage("", f"{node.name} ends at {wrong.tolist()}", model, places(node))


@damage
def wrong_weight(p: Patient) -> Iterator[Damage]:
    """The weight of a product has its axes exchanged."""
    for i in p.nodes("MatMul", "Gemm"):
        node = p.model.graph.node[i]
        for j, one in enumerate(p.model.graph.initializer):
            if one.name == node.input[1] and len(one.dims) == 2 and one.dims[0] != one.dims[1]:
                model = p.copy()
                weight = model.graph.initializer[j]
                weight.dims[0], weight.dims[1] = weight.dims[1], weight.dims[0]
                readers = [places(n) for n in p.model.graph.node if one.name in n.input]
                yield Damage("", f"{one.name} of {node.name}", model, frozenset({one.name}).union(*readers))


# -- nodes


def with_attribute(p: Patient, i: int, name: str, value: Any) -> onnx.ModelProto:
    model = p.copy()
    node = model.graph.node[i]
    kept = [a for a in node.attribute if a.name != name]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(name, value)])
    return model


def attribute(node: onnx.NodeProto, name: str) -> Any:
    return next((helper.get_attribute_value(a) for a in node.attribute if a.name == name), None)


@damage
def other_concat_axis(p: Patient) -> Iterator[Damage]:
    """A Concat joins along another axis."""
    for i in p.nodes("Concat"):
        node = p.model.graph.node[i]
        shapes = p.shapes(node.output[0])
        if shapes and len(shapes[0]) > 1:
            axis = attribute(node, "axis") % len(shapes[0])
            other = p.rng.choice([a for a in range(len(shapes[0])) if a != axis])
            yield Damage("", f"{node.name}: {axis} -> {other}", with_attribute(p, i, "axis", other), places(node))


@damage
def wrong_perm(p: Patient) -> Iterator[Damage]:
    """Two axes of a Transpose are exchanged."""
    for i in p.nodes("Transpose"):
        node = p.model.graph.node[i]
        perm = list(attribute(node, "perm") or ())
        if len(perm) > 1:
            a, b = p.rng.sample(range(len(perm)), 2)
            perm[a], perm[b] = perm[b], perm[a]
            yield Damage("", f"{node.name}: {perm}", with_attribute(p, i, "perm", perm), places(node))


@damage
def dropped_unsqueeze(p: Patient) -> Iterator[Damage]:
    """An Unsqueeze or Squeeze of data is gone."""
    for i in p.nodes("Unsqueeze", "Squeeze"):
        node = p.model.graph.node[i]
        shapes = p.shapes(node.input[0])
        if shapes and shapes[0] and max(map(np.prod, shapes)) > 1:
            model = p.copy()
            gone = model.graph.node[i]
            gone.op_type = "Identity"
            del gone.input[1:]
            del gone.attribute[:]
            yield Damage("", node.name, model, places(node))


@damage
def other_strides(p: Patient) -> Iterator[Damage]:
    """A window moves by other steps."""
    for i in p.nodes("Conv", "MaxPool", "AveragePool", "ConvTranspose"):
        node = p.model.graph.node[i]
        shapes = p.shapes(node.output[0])
        if shapes and len(shapes[0]) > 2:
            strides = list(attribute(node, "strides") or [1] * (len(shapes[0]) - 2))
            strides[0] += 1
            yield Damage("", f"{node.name}: {strides}", with_attribute(p, i, "strides", strides), places(node))


@damage
def other_gather_axis(p: Patient) -> Iterator[Damage]:
    """A Gather, Softmax-like reduction or Split works along another axis."""
    for i in p.nodes("Gather", "Split"):
        node = p.model.graph.node[i]
        shapes = p.shapes(node.input[0])
        if shapes and len(shapes[0]) > 1:
            axis = (attribute(node, "axis") or 0) % len(shapes[0])
            other = (axis + 1) % len(shapes[0])
            yield Damage("", f"{node.name}: {axis} -> {other}", with_attribute(p, i, "axis", other), places(node))


@damage
def wrong_source(p: Patient) -> Iterator[Damage]:
    """A node reads another value of the same rank."""
    for i in p.nodes("Add", "Mul", "Concat", "MatMul"):
        node = p.model.graph.node[i]
        mine = p.shapes(node.input[0])
        before = [o for n in p.model.graph.node[:i] for o in n.output if p.shapes(o)]
        fits = [o for o in before if mine and mine[0] and len(p.shapes(o)[0]) == len(mine[0]) and p.shapes(o) != mine]
        if fits:
            model = p.copy()
            other = p.rng.choice(fits)
            model.graph.node[i].input[0] = other
            yield Damage("", f"{node.name} reads {other}", model, places(node))


# -- a model with declarations that owe nothing to shapeinf


def patient(path: Path, seed: int, bare: bool = False) -> Patient:
    """A model with names for all nodes, and declared shapes as onnx's own inference sees them (outputs only, if bare).

    What onnx cannot tell of an output is declared by the name of an input's dim that had its size in every run.
    """
    model = onnx.load(str(path), load_external_data=False)
    truth = json.loads(path.with_name(path.name.removesuffix(".onnx") + ".truth.json").read_text(encoding="utf-8"))
    return prepared(model, truth, f"{seed}:{path.name}", bare)


def prepared(model: onnx.ModelProto, truth: dict[str, Any], seed: str, bare: bool = False) -> Patient:
    """The same of a model at hand, with the shapes that were observed."""
    for i, node in enumerate(model.graph.node):
        node.name = node.name or f"{node.op_type}_{i}"
    model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    if bare:
        del model.graph.value_info[:]
    found = Patient(model, truth, random.Random(seed))
    for one in model.graph.output:
        name_dims(found, one)
    return found


def name_dims(p: Patient, value: onnx.ValueInfoProto) -> None:
    """Name the dims of an output that onnx only has an invented name for."""
    shapes = p.shapes(value.name) or []
    for dim, sizes in zip(dims_of(value), zip(*shapes, strict=False), strict=False):
        if not dim.dim_value and (not dim.dim_param or dim.dim_param.startswith("unk__")):
            names = [n for n in p.truth["bindings"][0] if tuple(b[n] for b in p.truth["bindings"]) == sizes]
            if len(names) == 1 and len(set(sizes)) > 1:
                dim.dim_param = names[0]


def damages(p: Patient, each: int = 1) -> Iterator[Damage]:
    """Up to so many damages of each kind."""
    for kind, doctor in KINDS.items():
        for number, found in enumerate(doctor(p)):
            if number == each:
                break
            yield attrs.evolve(found, kind=kind)
