"""Gathering, scattering, selection by data, and sequences, against onnxruntime."""

import numpy as np
import pytest
from hypothesis import strategies as st
from onnx import helper

from tests.differential import ort
from tests.differential.cases import case, chain, ints, tensor
from tests.differential.draws import axis_of, flag, opset, shapes

SEED = st.integers(0, 999)


def _indices(draw, shape, size):
    """Indices into an axis, some counted from the end."""
    return np.array(
        draw(st.lists(st.integers(-size, size - 1), min_size=int(np.prod(shape)), max_size=int(np.prod(shape)))),
        np.int64,
    ).reshape(shape)


def gather(draw):
    shape = draw(shapes(low=1))
    at = draw(axis_of(len(shape)))
    indices = _indices(draw, draw(shapes(high=2, size=3, least=0)), shape[at])
    deciding = draw(st.sampled_from(((), (0, 1))))
    return case("Gather", tensor(shape, "int64"), indices, deciding=deciding, axis=at, opset=draw(opset(11, 13)))


def gather_elements(draw):
    shape = draw(shapes(low=1))
    at = draw(axis_of(len(shape)))
    indices = _indices(draw, [draw(st.integers(1, n)) for n in shape], shape[at])
    return case("GatherElements", tensor(shape), indices, axis=at, opset=draw(opset(11, 13)))


def _deep(draw, shape, batch):
    """Indices of tuples, after batch axes."""
    depth = draw(st.integers(1, len(shape) - batch))
    outer = [*shape[:batch], *draw(shapes(high=2, size=3))]
    columns = [_indices(draw, outer, n) for n in shape[batch : batch + depth]]
    return np.stack(columns, axis=-1)


def gather_nd(draw):
    shape = draw(shapes(low=1))
    batch = draw(st.integers(0, min(1, len(shape) - 1)))
    return case("GatherND", tensor(shape), _deep(draw, shape, batch), batch_dims=batch, opset=draw(opset(12, 13)))


def scatter_nd(draw):
    shape = draw(shapes(low=1))
    indices = _deep(draw, shape, 0)
    updates = tensor([*indices.shape[:-1], *shape[indices.shape[-1] :]], "int64")
    deciding = draw(st.sampled_from(((), (0, 1, 2))))
    return case(
        "ScatterND", tensor(shape, "int64"), indices, updates, deciding=deciding, opset=draw(opset(11, 13, 16, 18))
    )


def scatter_elements(draw):
    shape = draw(shapes(low=1))
    at = draw(axis_of(len(shape)))
    indices = _indices(draw, [draw(st.integers(1, n)) for n in shape], shape[at])
    version = draw(opset(9, 11, 13, 18))
    op = "Scatter" if version < 11 else "ScatterElements"
    at = at % len(shape) if version < 11 else at
    return case(op, tensor(shape), indices, tensor(indices.shape), axis=at, opset=version)


def reverse_sequence(draw):
    shape = draw(shapes(low=2, size=4))
    lengths = np.full(shape[1], 1, np.int64)
    return case("ReverseSequence", tensor(shape), lengths, batch_axis=1, time_axis=0, opset=10)


def top_k(draw):
    shape = draw(shapes(low=1))
    at = draw(st.sampled_from((None, draw(axis_of(len(shape))))))
    k = draw(st.integers(0, shape[-1 if at is None else at]))
    if draw(st.booleans()):
        at = at if at is None else at % len(shape)
        return case("TopK", tensor(shape), k=max(k, 1), axis=at, outputs=2, opset=9)
    attributes = {"axis": at, "largest": draw(flag), "sorted": draw(flag)}
    return case("TopK", tensor(shape), ints(k), deciding=(1,), outputs=2, opset=draw(opset(11, 21)), **attributes)


def non_zero(draw):
    """Of a scalar ONNX wants [0, count], where onnxruntime gives [1, count]."""
    array = tensor(draw(shapes(low=1, least=0)), seed=draw(SEED))
    deciding = draw(st.sampled_from(((), (0,))))
    return case("NonZero", array, deciding=deciding, exact=bool(deciding) and array.size < 32, opset=draw(opset(9, 13)))


def unique(draw):
    shape = draw(shapes(low=1))
    at = draw(st.sampled_from((None, draw(axis_of(len(shape))))))
    array = tensor(shape, seed=draw(SEED))
    outputs = draw(st.integers(1, 4))
    return case(
        "Unique", array, axis=at, outputs=outputs, sorted=draw(st.sampled_from((None, 0, 1))), exact=False, opset=11
    )


def compress(draw):
    shape = draw(shapes(low=1))
    at = draw(st.sampled_from((None, draw(axis_of(len(shape))))))
    length = int(np.prod(shape)) if at is None else shape[at]
    condition = np.array(draw(st.lists(st.booleans(), min_size=1, max_size=min(length, 6))))
    return case("Compress", tensor(shape), condition, deciding=(1,), axis=at, opset=draw(opset(9, 11)))


def non_max_suppression(draw):
    batch, classes, count = draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.integers(1, 5))
    boxes = np.abs(tensor([batch, count, 4], seed=draw(SEED)))
    limit = draw(st.sampled_from((None, ints(0), ints(1), ints(9), np.array(2))))
    scores = np.abs(tensor([batch, classes, count], seed=draw(SEED)))
    return case("NonMaxSuppression", boxes, scores, limit, deciding=(2,), exact=False, opset=draw(opset(10, 11)))


def where_of_non_zero(draw):
    """Contents that decide a shape after some arithmetic: data -> NonZero -> Shape -> ConstantOfShape."""
    nodes = [
        helper.make_node("NonZero", ["i0"], ["places"]),
        helper.make_node("Shape", ["places"], ["sizes"]),
        helper.make_node("ConstantOfShape", ["sizes"], ["filled"]),
        helper.make_node("Concat", ["filled", "filled"], ["twice"], axis=1),
    ]
    return chain(nodes, tensor(draw(shapes(low=1)), seed=draw(SEED)), exact=False)


# -- sequences -------------------------------------------------------------------------------------------------------


def _parts(draw, same):
    """Tensors of one rank that differ along one axis, or not at all."""
    shape = draw(shapes(low=1, high=3))
    at = draw(st.integers(0, len(shape) - 1))
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        part = list(shape)
        part[at] = part[at] if same else draw(st.integers(1, 4))
        parts.append(tensor(part))
    return parts, at


def _construct(parts):
    return helper.make_node("SequenceConstruct", [f"i{k}" for k in range(len(parts))], ["s"])


def sequence(draw):
    parts, _ = _parts(draw, same=draw(st.booleans()))
    nodes = [_construct(parts), helper.make_node("SequenceAt", ["s", f"i{len(parts)}"], ["one"])]
    nodes.append(helper.make_node("SequenceLength", ["s"], ["length"]))
    return chain(nodes, *parts, np.array(draw(st.integers(-len(parts), len(parts) - 1))), opset=draw(opset(11, 21)))


def sequence_changes(draw):
    parts, _ = _parts(draw, same=draw(st.booleans()))
    new = tensor(draw(shapes(high=3)))
    n = len(parts)
    inputs = ["s", f"i{n}", f"i{n + 1}"] if draw(st.booleans()) else ["s", f"i{n}"]
    nodes = [_construct(parts), helper.make_node("SequenceInsert", inputs, ["more"])]
    nodes.append(helper.make_node("SequenceErase", ["more", f"i{n + 1}"], ["less"]))
    return chain(nodes, *parts, new, np.array(draw(st.integers(0, n - 1))), opset=draw(opset(11, 21)))


def concat_from_sequence(draw):
    new_axis = draw(flag)
    parts, at = _parts(draw, same=bool(new_axis))
    nodes = [_construct(parts), helper.make_node("ConcatFromSequence", ["s"], ["all"], axis=at, new_axis=new_axis)]
    return chain(nodes, *parts, opset=draw(opset(11, 21)))


def split_to_sequence(draw):
    shape = draw(shapes(low=1, size=6))
    at = draw(axis_of(len(shape)))
    kind = draw(st.sampled_from(("none", "size", "sizes")))
    split = None
    if kind == "size":
        split = np.array(draw(st.integers(1, 7)))
    elif kind == "sizes":
        split = ints(*draw(st.lists(st.integers(0, 3), min_size=1, max_size=3)))
        shape[at] = max(int(split.sum()), 1)
        split[0] += shape[at] - split.sum()
    keep = draw(flag) if split is None else None
    return case(
        "SplitToSequence", tensor(shape), split, deciding=(1,), axis=at, keepdims=keep, opset=draw(opset(11, 21))
    )


def sequence_empty(draw):
    nodes = [
        helper.make_node("SequenceEmpty", [], ["none"], dtype=1),
        helper.make_node("SequenceInsert", ["none", "i0"], ["some"]),
        helper.make_node("ConcatFromSequence", ["some"], ["all"], axis=0),
    ]
    return chain(nodes, tensor(draw(shapes(low=1))), opset=draw(opset(11, 21)))


@ort.sizes
@pytest.mark.parametrize("family", ort.families(globals()))
def test_shapes_match_onnxruntime(family, examples):
    ort.verify(family, examples)
