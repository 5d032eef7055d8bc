"""Damage to the declarations of a file."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import attrs
import onnx

from damage.patient import Damage, Patient, damage, declared_dims, labels


@damage
def stale_value_info(p: Patient) -> Iterator[Damage]:
    """The graph was edited, the declared shape of a value was not."""
    producers = {o: n for n in p.model.graph.node for o in n.output}
    order = list(range(len(p.model.graph.value_info)))
    p.rng.shuffle(order)
    for i in order:
        value = p.model.graph.value_info[i]
        fixed = [a for a, d in enumerate(declared_dims(value)) if d.dim_value > 1]
        if fixed and value.name in producers:
            model = p.copy()
            axis = p.rng.choice(fixed)
            declared_dims(model.graph.value_info[i])[axis].dim_value += p.rng.choice([-1, 1, 8])
            yield Damage(
                "", f"{value.name}.shape[{axis}]", model, labels(producers[value.name]) | {value.name}, "", True
            )


@damage
def wrong_output_dim(p: Patient) -> Iterator[Damage]:
    """An output is declared with the sizes of the export."""
    producers = {o: n for n in p.model.graph.node for o in n.output}
    for i, value in enumerate(p.model.graph.output):
        shapes = p.shapes(value.name)
        named = [a for a, d in enumerate(declared_dims(value)) if d.dim_param]
        if shapes and named:
            model = p.copy()
            axis = p.rng.choice(named)
            declared_dims(model.graph.output[i])[axis].dim_value = shapes[0][axis]
            yield Damage(
                "", f"{value.name}.shape[{axis}]", model, labels(producers[value.name]) | {value.name}, "", True
            )


@damage
def renamed_dim(p: Patient) -> Iterator[Damage]:
    """A name is misspelled in one of the inputs that share it."""
    for i in p.inputs():
        for axis, dim in enumerate(declared_dims(p.model.graph.input[i])):
            others = {d.dim_param for j in p.inputs() if j != i for d in declared_dims(p.model.graph.input[j])}
            if dim.dim_param in others and dim.dim_param:
                model = p.copy()
                misspelled = dim.dim_param[:-1] + "sh" if p.rng.random() < 0.5 else f"{dim.dim_param} _size"
                declared_dims(model.graph.input[i])[axis].dim_param = misspelled
                input_change = input_damage(p, model, i, f"{dim.dim_param} -> {misspelled}")
                yield attrs.evolve(input_change, misnamed=True)


def reads(node: onnx.NodeProto, name: str) -> bool:
    """Whether a node reads a value, itself or in a body of it."""
    bodies = [a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
    return name in node.input or any(reads(inner, name) for body in bodies for inner in body.node)


def input_damage(p: Patient, model: onnx.ModelProto, i: int, change: str) -> Damage:
    """Damage of an input: seen at the input, or at a node that reads it."""
    name = p.model.graph.input[i].name
    readers = [labels(n) for n in p.model.graph.node if reads(n, name)]
    return Damage("", f"{name}: {change}", model, frozenset({name}).union(*readers), name, True)


@damage
def one_name_for_two_sizes(p: Patient) -> Iterator[Damage]:
    """Two axes of the inputs that are different sizes get one name."""
    named = {d.dim_param for i in p.inputs() for d in declared_dims(p.model.graph.input[i]) if d.dim_param}
    for i in p.inputs():
        for axis, dim in enumerate(declared_dims(p.model.graph.input[i])):
            if not dim.dim_param and dim.dim_value > 1 and named:
                model = p.copy()
                name = p.rng.choice(sorted(named))
                declared_dims(model.graph.input[i])[axis].dim_param = name
                yield input_damage(p, model, i, f"axis {axis}: {dim.dim_value} -> {name}")


@damage
def swapped_input_dims(p: Patient) -> Iterator[Damage]:
    """Channels last for channels first."""
    for i in p.inputs():
        dims = [d.dim_param or d.dim_value for d in declared_dims(p.model.graph.input[i])]
        pairs = [(a, b) for a in range(len(dims)) for b in range(a) if dims[a] != dims[b]]
        if pairs:
            model = p.copy()
            a, b = p.rng.choice(pairs)
            both = declared_dims(model.graph.input[i])
            first, second = copy.deepcopy(both[a]), copy.deepcopy(both[b])
            both[a].CopyFrom(second)
            both[b].CopyFrom(first)
            yield input_damage(p, model, i, f"axes {b}, {a} of {dims}")


@damage
def other_output_name(p: Patient) -> Iterator[Damage]:
    """A dim of an output is declared by another name of the inputs, or by a multiple of its own."""
    producers = {o: n for n in p.model.graph.node for o in n.output}
    names = sorted({d.dim_param for i in p.inputs() for d in declared_dims(p.model.graph.input[i]) if d.dim_param})
    for i, value in enumerate(p.model.graph.output):
        named = [a for a, d in enumerate(declared_dims(value)) if d.dim_param in names]
        if named and value.name in producers:
            model = p.copy()
            axis = p.rng.choice(named)
            was = declared_dims(value)[axis].dim_param
            other = p.rng.choice([n for n in names if n != was] + [f"2*{was}", f"{was} + 1"])
            declared_dims(model.graph.output[i])[axis].dim_param = other
            description = f"{value.name}.shape[{axis}]: {was} -> {other}"
            yield Damage("", description, model, labels(producers[value.name]) | {value.name}, "", True)


@damage
def swapped_output_dims(p: Patient) -> Iterator[Damage]:
    """Two dims of a declared output are exchanged."""
    producers = {o: n for n in p.model.graph.node for o in n.output}
    for i, value in enumerate(p.model.graph.output):
        dims = [d.dim_param or d.dim_value for d in declared_dims(value)]
        pairs = [(a, b) for a in range(len(dims)) for b in range(a) if dims[a] != dims[b] and dims[a] and dims[b]]
        if pairs and value.name in producers:
            model = p.copy()
            a, b = p.rng.choice(pairs)
            both = declared_dims(model.graph.output[i])
            first, second = copy.deepcopy(both[a]), copy.deepcopy(both[b])
            both[a].CopyFrom(second)
            both[b].CopyFrom(first)
            yield Damage("", f"{value.name}: {dims}", model, labels(producers[value.name]) | {value.name}, "", True)
