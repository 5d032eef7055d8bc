"""Damage to constants that hold sizes, and to weights."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from damage.patient import Damage, Patient, damage, labels, set_constant


@damage
def pinned_batch(p: Patient) -> Iterator[Damage]:
    """A Reshape has the sizes of the export as its constant."""
    for i in p.nodes("Reshape"):
        node = p.model.graph.node[i]
        shapes = p.shapes(node.output[0])
        if shapes and shapes[0] != shapes[1]:
            model = p.copy()
            set_constant(model, model.graph.node[i], 1, np.array(shapes[0], np.int64))
            yield Damage("", f"{node.name} to {shapes[0]}", model, labels(node))


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
            set_constant(model, model.graph.node[i], len(node.input) - 1, np.array(sizes, np.int64))
            yield Damage("", f"{node.name} to {sizes}", model, labels(node))


@damage
def changed_slice_end(p: Patient) -> Iterator[Damage]:
    """A Slice ends elsewhere."""
    for i in p.nodes("Slice"):
        node = p.model.graph.node[i]
        shapes = p.shapes(node.input[0])
        ends = p.constant(node.input[2]) if len(node.input) > 2 else None
        if shapes and shapes[0] and ends is not None and ends.size:
            model = p.copy()
            position = p.rng.randrange(ends.size)
            wrong = ends.copy()
            wrong.reshape(-1)[position] = -1 if ends.reshape(-1)[position] != -1 else -2
            set_constant(model, model.graph.node[i], 2, wrong)
            yield Damage("", f"{node.name} ends at {wrong.tolist()}", model, labels(node))


@damage
def wrong_weight(p: Patient) -> Iterator[Damage]:
    """The weight of a product has its axes exchanged."""
    for i in p.nodes("MatMul", "Gemm"):
        node = p.model.graph.node[i]
        for j, initializer in enumerate(p.model.graph.initializer):
            if (
                initializer.name == node.input[1]
                and len(initializer.dims) == 2
                and initializer.dims[0] != initializer.dims[1]
            ):
                model = p.copy()
                weight = model.graph.initializer[j]
                weight.dims[0], weight.dims[1] = weight.dims[1], weight.dims[0]
                readers = [labels(n) for n in p.model.graph.node if initializer.name in n.input]
                yield Damage(
                    "", f"{initializer.name} of {node.name}", model, frozenset({initializer.name}).union(*readers)
                )


@damage
def other_reshape(p: Patient) -> Iterator[Damage]:
    """A number in the constant of a Reshape is another one."""
    for i in p.nodes("Reshape"):
        node = p.model.graph.node[i]
        sizes = p.constant(node.input[1])
        fixed = [] if sizes is None else [a for a, n in enumerate(sizes.reshape(-1)) if n > 0]
        if sizes is not None and fixed:
            model = p.copy()
            other, axis = sizes.reshape(-1).copy(), p.rng.choice(fixed)
            other[axis] = p.rng.choice([n for n in (other[axis] * 2, other[axis] // 2, other[axis] + 1) if n])
            set_constant(model, model.graph.node[i], 1, other)
            yield Damage("", f"{node.name} to {other.tolist()}", model, labels(node))


@damage
def merged_reshape(p: Patient) -> Iterator[Damage]:
    """A Reshape has one axis less: a number of its constant is missing."""
    for i in p.nodes("Reshape"):
        node = p.model.graph.node[i]
        sizes = p.constant(node.input[1])
        if sizes is not None and sizes.size > 2:
            model = p.copy()
            other = np.delete(sizes.reshape(-1), p.rng.randrange(sizes.size))
            set_constant(model, model.graph.node[i], 1, other)
            yield Damage("", f"{node.name} to {other.tolist()}", model, labels(node))


@damage
def other_split(p: Patient) -> Iterator[Damage]:
    """The parts of a Split have other sizes."""
    for i in p.nodes("Split"):
        node = p.model.graph.node[i]
        sizes = p.constant(node.input[1]) if len(node.input) > 1 else None
        if sizes is not None and sizes.size > 1 and min(sizes) > 1:
            model = p.copy()
            a, b = p.rng.sample(range(sizes.size), 2)
            other = sizes.copy()
            other[a] += 1
            other[b] -= 1
            set_constant(model, model.graph.node[i], 1, other)
            yield Damage("", f"{node.name} to {other.tolist()}", model, labels(node))


@damage
def other_axes(p: Patient) -> Iterator[Damage]:
    """An Unsqueeze, Squeeze or reduction works on another axis than it did."""
    for i in p.nodes("Unsqueeze", "Squeeze", "ReduceMean", "ReduceSum", "ReduceMax"):
        node = p.model.graph.node[i]
        axes = p.constant(node.input[1]) if len(node.input) > 1 and node.input[1] else None
        shapes = p.shapes(node.input[0])
        if axes is not None and axes.size == 1 and shapes and len(shapes[0]) > 1:
            rank = len(shapes[0]) + (node.op_type == "Unsqueeze")
            axis = int(axes.reshape(-1)[0]) % rank
            model = p.copy()
            other = np.array([p.rng.choice([a for a in range(rank) if a != axis])], np.int64)
            set_constant(model, model.graph.node[i], 1, other)
            yield Damage("", f"{node.name}: {axis} -> {other.tolist()}", model, labels(node))


@damage
def other_shape_axis(p: Patient) -> Iterator[Damage]:
    """A size is read from another axis of a shape."""
    for i in p.nodes("Gather"):
        node = p.model.graph.node[i]
        producer, index = p.producer(node.input[0]), p.constant(node.input[1])
        shapes = p.shapes(producer.input[0]) if producer is not None and producer.op_type == "Shape" else None
        if shapes and index is not None and index.size == 1 and len(shapes[0]) > 1:
            was = int(index.reshape(-1)[0]) % len(shapes[0])
            model = p.copy()
            other = p.rng.choice([a for a in range(len(shapes[0])) if a != was])
            set_constant(model, model.graph.node[i], 1, np.full(index.shape, other, index.dtype))
            yield Damage("", f"{node.name}: {was} -> {other}", model, labels(node))


@damage
def other_sizes(p: Patient) -> Iterator[Damage]:
    """The scales or sizes of a Resize, the repeats of a Tile, the amounts of a Pad are others on one axis."""
    for i in p.nodes("Resize", "Upsample", "Tile", "Pad"):
        node = p.model.graph.node[i]
        for position in [n for n in (1, 2, 3) if n < len(node.input)]:
            numbers = p.constant(node.input[position])
            if numbers is not None and numbers.size > 1:
                model = p.copy()
                other = numbers.copy()
                other.reshape(-1)[-1] += 1
                set_constant(model, model.graph.node[i], position, other)
                yield Damage("", f"{node.name}: {other.tolist()}", model, labels(node))
                break
