"""Damage to nodes: their attributes and inputs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from damage.patient import Damage, Patient, attribute, damage, labels, set_attribute


@damage
def other_concat_axis(p: Patient) -> Iterator[Damage]:
    """A Concat joins along another axis."""
    for i in p.nodes("Concat"):
        node = p.model.graph.node[i]
        shapes = p.shapes(node.output[0])
        if shapes and len(shapes[0]) > 1:
            axis = attribute(node, "axis") % len(shapes[0])
            other = p.rng.choice([a for a in range(len(shapes[0])) if a != axis])
            yield Damage("", f"{node.name}: {axis} -> {other}", set_attribute(p, i, "axis", other), labels(node))


@damage
def wrong_perm(p: Patient) -> Iterator[Damage]:
    """Two axes of a Transpose are exchanged."""
    for i in p.nodes("Transpose"):
        node = p.model.graph.node[i]
        perm = list(attribute(node, "perm") or ())
        if len(perm) > 1:
            a, b = p.rng.sample(range(len(perm)), 2)
            perm[a], perm[b] = perm[b], perm[a]
            yield Damage("", f"{node.name}: {perm}", set_attribute(p, i, "perm", perm), labels(node))


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
            yield Damage("", node.name, model, labels(node))


@damage
def other_strides(p: Patient) -> Iterator[Damage]:
    """A window moves by other steps."""
    for i in p.nodes("Conv", "MaxPool", "AveragePool", "ConvTranspose"):
        node = p.model.graph.node[i]
        shapes = p.shapes(node.output[0])
        if shapes and len(shapes[0]) > 2:
            strides = list(attribute(node, "strides") or [1] * (len(shapes[0]) - 2))
            strides[0] += 1
            yield Damage("", f"{node.name}: {strides}", set_attribute(p, i, "strides", strides), labels(node))


@damage
def other_gather_axis(p: Patient) -> Iterator[Damage]:
    """A Gather, Softmax-like reduction or Split works along another axis."""
    for i in p.nodes("Gather", "Split"):
        node = p.model.graph.node[i]
        shapes = p.shapes(node.input[0])
        if shapes and len(shapes[0]) > 1:
            axis = (attribute(node, "axis") or 0) % len(shapes[0])
            other = (axis + 1) % len(shapes[0])
            yield Damage("", f"{node.name}: {axis} -> {other}", set_attribute(p, i, "axis", other), labels(node))


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
            yield Damage("", f"{node.name} reads {other}", model, labels(node))


@damage
def other_window(p: Patient) -> Iterator[Damage]:
    """The pads or dilations of a window are larger."""
    for i in p.nodes("Conv", "MaxPool", "AveragePool", "ConvTranspose"):
        node = p.model.graph.node[i]
        shapes = p.shapes(node.output[0])
        if shapes and len(shapes[0]) > 2:
            axes = len(shapes[0]) - 2
            name = p.rng.choice(["pads", "dilations"])
            numbers = list(attribute(node, name) or ([0] * 2 * axes if name == "pads" else [1] * axes))
            numbers[0] += 1
            yield Damage("", f"{node.name}: {name} {numbers}", set_attribute(p, i, name, numbers), labels(node))


@damage
def flipped_keepdims(p: Patient) -> Iterator[Damage]:
    """A reduction keeps the reduced axes, or does not."""
    for i in p.nodes("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2", "ArgMax"):
        node = p.model.graph.node[i]
        keep = attribute(node, "keepdims")
        other = 0 if keep in (None, 1) else 1
        yield Damage("", f"{node.name}: keepdims={other}", set_attribute(p, i, "keepdims", other), labels(node))


@damage
def other_flatten(p: Patient) -> Iterator[Damage]:
    """A Flatten begins elsewhere, a DepthToSpace has another block, a Shape reads other axes."""
    names = {"Flatten": "axis", "DepthToSpace": "blocksize", "SpaceToDepth": "blocksize", "Shape": "start"}
    for i in p.nodes(*names):
        node = p.model.graph.node[i]
        was = attribute(node, names[node.op_type])
        if was is not None:
            other = was + p.rng.choice([-1, 1]) if node.op_type != "Shape" else max(0, was - 1) if was else 1
            model = set_attribute(p, i, names[node.op_type], other)
            if node.op_type == "Shape" and attribute(node, "end") is not None:
                end = attribute(node, "end") + other - was
                moved = [a for a in model.graph.node[i].attribute if a.name == "end"]
                moved[0].i = end
            yield Damage("", f"{node.name}: {was} -> {other}", model, labels(node))
