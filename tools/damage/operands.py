"""Damage to operands: lengths of weights, tables, and changed or removed inputs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx import TensorProto, helper

from damage.patient import Damage, Patient, attribute, damage, labels, set_attribute

_LARGEST = 4_000_000
"""Elements of a replaced operand."""
_NUMBERS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT8, TensorProto.UINT8, TensorProto.INT32)


def with_zeros(p: Patient, i: int, position: int, dims: list[int]) -> Damage:
    """The node with another operand: zeros of these dims, of the element type of the old one."""
    old = p.initializer(p.model.graph.node[i].input[position])
    assert old is not None
    model = p.copy()
    node = model.graph.node[i]
    name = f"damaged_{node.name}_{position}"
    dtype = helper.tensor_dtype_to_np_dtype(old.data_type)
    zeros = np.zeros(dims, dtype).tobytes()
    model.graph.initializer.append(helper.make_tensor(name, old.data_type, dims, zeros, raw=True))
    node.input[position] = name
    return Damage("", f"operand {position} of {node.name}: {list(old.dims)} -> {dims}", model, labels(node) | {name})


def operands(p: Patient, i: int, least: int = 1) -> list[int]:
    """The operands of a node from one on that are weights or vectors of numbers, in a random order."""
    positions = []
    for position, name in enumerate(p.model.graph.node[i].input):
        tensor = p.initializer(name) if position >= least else None
        if tensor is not None and tensor.data_type in _NUMBERS and 1 < np.prod(tensor.dims) < _LARGEST:
            positions.append(position)
    p.rng.shuffle(positions)
    return positions


@damage
def resized_operand(p: Patient) -> Iterator[Damage]:
    """A weight, bias, scale or slope is one longer or shorter on an axis than the node needs."""
    for i in p.nodes():
        for position in operands(p, i)[:1]:
            tensor = p.initializer(p.model.graph.node[i].input[position])
            assert tensor is not None
            dims = list(tensor.dims)
            axis = p.rng.choice([a for a, n in enumerate(dims) if n > 1])
            dims[axis] += p.rng.choice([-1, 1])
            yield with_zeros(p, i, position, dims)


@damage
def resized_vector(p: Patient) -> Iterator[Damage]:
    """The same of the vectors that go with an operand: biases, scales, slopes."""
    for i in p.nodes():
        for position in operands(p, i):
            tensor = p.initializer(p.model.graph.node[i].input[position])
            assert tensor is not None
            if max(tensor.dims) == np.prod(tensor.dims):
                dims = [n + (n > 1) * p.rng.choice([-1, 1, n]) for n in tensor.dims]
                yield with_zeros(p, i, position, dims)


@damage
def short_table(p: Patient) -> Iterator[Damage]:
    """A table that is sliced has too few rows."""
    for i in p.nodes("Slice"):
        node = p.model.graph.node[i]
        table, axes = p.initializer(node.input[0]), p.constant(node.input[3]) if len(node.input) > 3 else None
        if table is not None and axes is not None and axes.size == 1 and np.prod(table.dims) < _LARGEST:
            dims = list(table.dims)
            axis = int(axes.reshape(-1)[0])
            if dims[axis] > 3:
                dims[axis] = p.rng.choice([2, 3])
                yield with_zeros(p, i, 0, dims)


@damage
def exchanged_operands(p: Patient) -> Iterator[Damage]:
    """A product reads its operands in the other order."""
    for i in p.nodes("MatMul", "Gemm"):
        model = p.copy()
        node = model.graph.node[i]
        node.input[0], node.input[1] = node.input[1], node.input[0]
        yield Damage("", node.name, model, labels(node))


@damage
def repeated_part(p: Patient) -> Iterator[Damage]:
    """A Concat reads one of its inputs twice."""
    for i in p.nodes("Concat"):
        model = p.copy()
        node = model.graph.node[i]
        node.input.append(p.rng.choice(list(node.input)))
        yield Damage("", f"{node.name}: {node.input[-1]} again", model, labels(node))


@damage
def missing_part(p: Patient) -> Iterator[Damage]:
    """A Concat has lost one of its inputs."""
    for i in p.nodes("Concat"):
        if len(p.model.graph.node[i].input) > 1:
            model = p.copy()
            node = model.graph.node[i]
            gone = node.input.pop(p.rng.randrange(len(node.input)))
            yield Damage("", f"{node.name} without {gone}", model, labels(node))


@damage
def added_transpose(p: Patient) -> Iterator[Damage]:
    """A layout pass has transposed an input of a node."""
    for i in p.nodes("MatMul", "Conv", "Add", "Gemm", "LayerNormalization", "Concat"):
        node = p.model.graph.node[i]
        shapes = p.shapes(node.input[0])
        rank = len(shapes[0]) if shapes else 0
        if rank > 1:
            perm = list(range(rank))
            a, b = p.rng.sample(perm, 2)
            perm[a], perm[b] = perm[b], perm[a]
            model = p.copy()
            turn = helper.make_node("Transpose", [node.input[0]], [f"turned_{i}"], name=f"turn_{i}", perm=perm)
            model.graph.node[i].input[0] = f"turned_{i}"
            model.graph.node.insert(i, turn)
            yield Damage("", f"{node.name} reads {perm} of {node.input[0]}", model, labels(node) | labels(turn))


@damage
def dropped_transpose(p: Patient) -> Iterator[Damage]:
    """A Transpose is gone."""
    for i in p.nodes("Transpose"):
        model = p.copy()
        node = model.graph.node[i]
        node.op_type = "Identity"
        del node.attribute[:]
        yield Damage("", node.name, model, labels(node))


@damage
def other_group(p: Patient) -> Iterator[Damage]:
    """A convolution has another number of groups."""
    for i in p.nodes("Conv", "ConvTranspose"):
        node = p.model.graph.node[i]
        group = attribute(node, "group") or 1
        other = p.rng.choice([1, group * 2, group // 2] if group > 1 else [2])
        yield Damage("", f"{node.name}: {group} -> {other}", set_attribute(p, i, "group", other), labels(node))


@damage
def flipped_product(p: Patient) -> Iterator[Damage]:
    """A Gemm transposes an operand that it should not, or the other way round."""
    for i in p.nodes("Gemm"):
        node = p.model.graph.node[i]
        name = p.rng.choice(["transA", "transB"])
        other = 0 if attribute(node, name) else 1
        yield Damage("", f"{node.name}: {name}={other}", set_attribute(p, i, name, other), labels(node))
