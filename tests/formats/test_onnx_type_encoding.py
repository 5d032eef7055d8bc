"""Types and constants as bytes: what protobuf reads from them is what it would have written."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from shapeinf.errors import ModelError
from shapeinf.expr import DimSize, Scope
from shapeinf.formats.onnx.rewriting import constant_node, initializer
from shapeinf.formats.onnx.type_encoding import encode_type, set_type, set_value_type
from shapeinf.lattice import PartialTensor, Shape

N = Scope().symbol("n")


@attrs.frozen
class Declared:
    """A type as writers read it."""

    dtype: str | None
    shape: Shape
    kind: str = "tensor"


DIMS: st.SearchStrategy[list[DimSize]] = st.lists(
    st.one_of(st.integers(0, 2**40), st.sampled_from([N, N + 1, 2 * N])), max_size=5
)


def dim_of(proto: onnx.TensorShapeProto.Dimension) -> int | str | None:
    return getattr(proto, proto.WhichOneof("value")) if proto.WhichOneof("value") else None


def shape_of(proto: onnx.TypeProto) -> list[int | str | None]:
    return [dim_of(dim) for dim in proto.tensor_type.shape.dim]


def texts(dims: Sequence[DimSize]) -> list[int | str]:
    return [d if isinstance(d, int) else str(d) for d in dims]


@given(DIMS)
def test_a_new_type_is_the_one_that_onnx_writes(dims: list[DimSize]) -> None:
    data = encode_type(Declared("float32", Shape(dims)))
    assert data == helper.make_tensor_type_proto(TensorProto.FLOAT, texts(dims)).SerializeToString()


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("sequence", helper.make_sequence_type_proto),
        ("optional", helper.make_optional_type_proto),
        ("map(int64)", lambda inner: helper.make_map_type_proto(TensorProto.INT64, inner)),
    ],
)
def test_a_type_of_tensors(kind: str, make: object) -> None:
    inner = helper.make_tensor_type_proto(TensorProto.INT32, [3, "n"])
    data = encode_type(Declared("int32", Shape([3, N]), f"{kind}(tensor)"))
    assert data == make(inner).SerializeToString()  # type: ignore[operator]


def test_a_type_without_a_rank_and_axes_with_names() -> None:
    assert encode_type(Declared("int8", Shape(None))) == helper.make_tensor_type_proto(3, None).SerializeToString()
    named = encode_type(Declared("int8", Shape([2, N])), {0: "rows"})
    assert named == helper.make_tensor_type_proto(3, ["rows", "n"]).SerializeToString()


@given(DIMS, DIMS)
def test_a_declared_type_gets_new_dims(old: list[DimSize], new: list[DimSize]) -> None:
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, texts(old), doc_string="kept")
    value.type.denotation = "IMAGE"
    if old:
        value.type.tensor_type.shape.dim[0].denotation = "BATCH"
    data = set_value_type(value.SerializeToString(), Declared("int64", Shape(new)))
    changed = onnx.ValueInfoProto.FromString(data)
    assert (changed.name, changed.doc_string, changed.type.denotation) == ("x", "kept", "IMAGE")
    assert changed.type.tensor_type.elem_type == TensorProto.INT64
    assert shape_of(changed.type) == texts(new)
    if old and len(old) == len(new):
        assert changed.type.tensor_type.shape.dim[0].denotation == "BATCH"


def test_a_tensor_in_a_sequence_and_a_sparse_one_get_new_dims_and_a_map_stays() -> None:
    wanted, inner = Declared("int64", Shape([7])), helper.make_tensor_type_proto(TensorProto.FLOAT, ["m"])
    sequence = onnx.TypeProto.FromString(set_type(helper.make_sequence_type_proto(inner).SerializeToString(), wanted))
    assert shape_of(sequence.sequence_type.elem_type) == [7]
    sparse = onnx.TypeProto.FromString(
        set_type(helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, ["m"]).SerializeToString(), wanted)
    )
    assert [dim_of(d) for d in sparse.sparse_tensor_type.shape.dim] == [7]
    mapping = helper.make_map_type_proto(TensorProto.INT64, inner).SerializeToString()
    assert set_type(mapping, wanted) == mapping
    assert onnx.TypeProto.FromString(set_type(b"", wanted)).tensor_type.elem_type == TensorProto.INT64


TENSOR = PartialTensor("int64", Shape([2]), (3, -1))


def test_an_initializer_gets_new_contents() -> None:
    old = numpy_helper.from_array(np.array([1, 2], np.int64), "shape").SerializeToString()
    data = initializer(old, 0, len(old), {"shape": TENSOR})
    assert data == numpy_helper.from_array(np.array([3, -1], np.int64), "shape").SerializeToString()
    assert initializer(old, 0, len(old), {"other": TENSOR}) is None


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"value": numpy_helper.from_array(np.array([1, 2]), "t")}, numpy_helper.from_array(np.array([3, -1]), "t")),
        ({"value_ints": [1, 2, 4]}, [3, -1]),
        ({"value_int": 1}, 3),
    ],
    ids=["value", "value_ints", "value_int"],
)
def test_a_constant_node_gets_new_contents(attributes: dict[str, object], expected: object) -> None:
    node = helper.make_node("Constant", [], ["shape"], name="c", doc_string="kept", **attributes)
    changed = onnx.NodeProto.FromString(constant_node(node.SerializeToString(), {"shape": TENSOR}))
    assert (changed.name, changed.doc_string, list(changed.output)) == ("c", "kept", ["shape"])
    assert helper.get_attribute_value(changed.attribute[0]) == expected


@pytest.mark.parametrize(
    "tensor", [PartialTensor("string", Shape([1]), ("x",)), PartialTensor("int8", Shape([1]), (300,))]
)
def test_contents_that_have_no_raw_data_are_refused(tensor: PartialTensor) -> None:
    old = numpy_helper.from_array(np.array([1]), "shape").SerializeToString()
    with pytest.raises(ModelError, match="contents cannot be rewritten"):
        initializer(old, 0, len(old), {"shape": tensor})
    node = helper.make_node("Constant", [], ["shape"], value_float=1.0)
    with pytest.raises(ModelError, match="contents cannot be rewritten"):
        constant_node(node.SerializeToString(), {"shape": TENSOR})
